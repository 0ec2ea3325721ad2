// The demo without a terminal, in a log or a pipe: one line about every second, and one for each event. No codes that
// move a cursor or set a colour.

import { type DemoProgress, ended } from './progress.ts'
import type { DemoEvent, DemoTitle, View } from './view.ts'
import { grouped, seconds } from './words.ts'

const LINE_EVERY_MS = 1_000

export class PlainView implements View {
  readonly #output: NodeJS.WritableStream
  #nextLineMs = 0

  constructor(output: NodeJS.WritableStream, { tasks, tenants, workers, seed }: DemoTitle) {
    this.#output = output
    this.#write(
      `Reprise demo: ${grouped(tasks)} tasks for ${tenants} tenants on ${workers} worker processes, seed ${seed}`,
    )
  }

  announce({ atMs, text }: DemoEvent): void {
    this.#line(atMs, text)
  }

  show(progress: DemoProgress): void {
    const { elapsedMs, counts, retries, lostAttempts } = progress
    const done = ended(counts)
    if (elapsedMs < this.#nextLineMs && done < counts.accepted) return
    this.#nextLineMs = elapsedMs + LINE_EVERY_MS
    const parts = [
      `${grouped(done)} of ${grouped(counts.accepted)} ended`,
      `queued ${counts.queued}`,
      `waiting ${counts.waiting}`,
      `running ${counts.running}`,
      `succeeded ${counts.succeeded}`,
      `dead ${counts.dead}`,
      `retries ${retries}`,
      `lost attempts ${lostAttempts}`,
    ]
    this.#line(elapsedMs, parts.join(', '))
  }

  close(): void {}

  #line(atMs: number, text: string): void {
    this.#write(`${seconds(atMs).padStart(7)}  ${text}`)
  }

  #write(line: string): void {
    this.#output.write(`${line}\n`)
  }
}
