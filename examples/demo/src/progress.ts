// How far the demo has come, read from the store: the kept counters, and what is new in the journal. The journal holds
// everything unusual (a task that succeeds at once leaves no entry) and is read from a cursor, so nothing is missed.

import type { Counts, Engine, JournalEntry } from '@reprise/core'
import type { Announce } from './view.ts'
import { seconds } from './words.ts'

/** A retry that was decided on. */
export interface RetryNote {
  readonly taskId: string
  readonly attempt: number
  readonly reason: string
  readonly code: string
  readonly dueAt: number
}

export interface DemoProgress {
  readonly elapsedMs: number
  readonly now: number
  readonly counts: Counts
  /** The newest last. */
  readonly recentRetries: readonly RetryNote[]
  readonly retries: number
  readonly lostAttempts: number
}

const RECENT_MAX = 12
const PAGE_MAX = 500

export const ended = ({ succeeded, dead, discarded, cancelled }: Counts): number =>
  succeeded + dead + discarded + cancelled

export class ProgressReader {
  readonly #engine: Engine
  readonly #announce: Announce
  readonly #startedAt: number
  readonly #fingerprints = new Set<string>()
  #recent: RetryNote[] = []
  #cursor: string | null = null
  #retries = 0
  #lostAttempts = 0

  /** `startedAt` is the beginning of the run, by performance.now(). */
  constructor(engine: Engine, startedAt: number, announce: Announce) {
    this.#engine = engine
    this.#startedAt = startedAt
    this.#announce = announce
  }

  async read(): Promise<DemoProgress> {
    await this.#readJournal()
    return {
      elapsedMs: performance.now() - this.#startedAt,
      now: Date.now(),
      counts: await this.#engine.counts(),
      recentRetries: this.#recent,
      retries: this.#retries,
      lostAttempts: this.#lostAttempts,
    }
  }

  async #readJournal(): Promise<void> {
    for (;;) {
      const from = this.#cursor === null ? {} : { cursor: this.#cursor }
      const { entries, cursor } = await this.#engine.journal.read({ limit: PAGE_MAX, ...from })
      this.#cursor = cursor
      for (const entry of entries) this.#note(entry)
      if (entries.length < PAGE_MAX) return
    }
  }

  #note(entry: JournalEntry): void {
    switch (entry.type) {
      case 'execution.lost':
        this.#lostAttempts++
        this.#noteDecision(entry)
        break
      case 'execution.failed':
      case 'execution.expired':
        this.#noteDecision(entry)
        break
      case 'worker.replaced': {
        const { worker, leases } = entry.data
        this.#announce('good', `${worker} is back; the ${leases} executions it held before are taken back`)
        break
      }
      default:
    }
  }

  #noteDecision({ taskId, attempt, data, reason, at }: JournalEntry): void {
    if (data.decision === 'dead') {
      this.#noteDead(String(taskId), String(data.fingerprint), reason)
      return
    }
    this.#retries++
    const note: RetryNote = {
      taskId: String(taskId),
      attempt: attempt ?? 0,
      reason: String(data.reason),
      code: String(data.code),
      dueAt: Number(data.dueAt ?? at),
    }
    this.#recent = [...this.#recent, note].slice(-RECENT_MAX)
  }

  /** Only the first dead letter of each failure group is news. */
  #noteDead(taskId: string, fingerprint: string, sentence: string): void {
    if (this.#fingerprints.has(fingerprint)) return
    this.#fingerprints.add(fingerprint)
    this.#announce('bad', `${taskId} is a dead letter, the first of its kind: ${sentence}`)
  }
}

/** When a retry is due, as seen from now. */
export function dueText({ dueAt }: RetryNote, now: number): string {
  return dueAt <= now ? 'now' : `in ${seconds(dueAt - now)}`
}
