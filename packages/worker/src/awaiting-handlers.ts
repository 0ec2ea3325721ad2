// Counts the handlers that wait for results of other tasks, and warns when they have all slots: if the tasks they wait for
// need this worker, none of them can start, and nothing moves until the handlers time out.

import type { Logger } from '@reprise/core'

export class AwaitingHandlers {
  readonly #concurrency: number
  readonly #log: Logger
  #awaiting = 0
  #isTold = false

  constructor(concurrency: number, log: Logger) {
    this.#concurrency = concurrency
    this.#log = log
  }

  /** A handler waits for the first of its results. */
  begun(): void {
    this.#awaiting++
    if (this.#awaiting < this.#concurrency || this.#isTold) return
    this.#isTold = true
    this.#log.warn(
      'Every slot of this worker runs a handler that waits for the result of another task. If those tasks need this worker, they can not start. Give them a pool and workers of their own, raise concurrency, or submit them without waiting.',
      { concurrency: this.#concurrency },
    )
  }

  /** It waits for none any more. Told again once it was well in between: when half of the slots were free of it. */
  ended(): void {
    this.#awaiting--
    if (this.#awaiting <= this.#concurrency / 2) this.#isTold = false
  }
}
