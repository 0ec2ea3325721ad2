// A bar for long work, on standard error and only on a terminal: standard output and logs have nothing of it.

import { cutTo, plain } from './plain-text.ts'

export interface Progress {
  /** How much is done, and how much there is in all; null if nobody knows. */
  update(done: number, total: number | null, note?: string): void
  /** Takes it off the screen again. */
  end(): void
}

export interface ProgressSink {
  readonly isTerminal: boolean
  readonly columns: number
  write(text: string): void
}

const BAR = 24

export function progressBar(label: string, sink: ProgressSink, now: () => number): Progress {
  if (!sink.isTerminal) return { update: () => undefined, end: () => undefined }
  let shownAt = Number.NEGATIVE_INFINITY
  const intervalMs = 50
  return {
    update(done, total, note = '') {
      const at = now()
      if (at - shownAt < intervalMs && done !== total) return
      shownAt = at
      sink.write(`\r\u001b[K${cutTo(line(label, done, total, note), sink.columns - 1)}`)
    },
    end: () => sink.write('\r\u001b[K'),
  }
}

function line(label: string, done: number, total: number | null, note: string): string {
  if (total === null || total <= 0) return `${label} ${done} ${plain(note)}`
  const share = Math.min(1, done / total)
  const full = Math.round(share * BAR)
  return `${label} ${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${Math.floor(share * 100)}% ${done}/${total} ${plain(note)}`
}
