// How late this process's event loop is, from samples of how late a timer fired. One pause, however long, says nothing
// (a large collection of garbage, a laptop that slept): it takes two among the last few to count.

import { type Clock, sleep } from '@reprise/core'

/** How many are looked at, and how many a heartbeat takes. */
export const LAG_SAMPLES = 5

export class LoopLag {
  readonly #lastMs: number[] = []

  note(lateMs: number): void {
    this.#lastMs.push(Math.max(Math.round(lateMs), 0))
    if (this.#lastMs.length > LAG_SAMPLES) this.#lastMs.shift()
  }

  /** The second largest of the last samples: what the loop is late by more than once. */
  get ms(): number {
    return this.#lastMs.toSorted((a, b) => b - a)[1] ?? 0
  }
}

/** Sleeps, and notes how much longer it took than it should have. */
export async function sleepAndNote(clock: Clock, lag: LoopLag, delayMs: number, signal: AbortSignal): Promise<void> {
  const startedAt = clock.monotonic()
  await sleep(clock, delayMs, signal, { hold: true })
  lag.note(clock.monotonic() - startedAt - delayMs)
}
