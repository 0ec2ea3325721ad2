// Counts the handlers that wait for results of other tasks, and warns when they have all slots: if the tasks they wait for
// need this worker, none of them can start, and nothing moves until the handlers time out.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type HandlerScope, type Logger, provideHandlers } from '@reprise/core'

const running = new AsyncLocalStorage<HandlerScope>()

export class AwaitingHandlers {
  readonly #concurrency: number
  readonly #log: Logger
  #awaiting = 0
  #isTold = false

  constructor(concurrency: number, log: Logger) {
    this.#concurrency = concurrency
    this.#log = log
    provideHandlers(() => running.getStore() ?? null)
  }

  /** Runs one handler. */
  run(handler: () => Promise<void>): Promise<void> {
    let results = 0
    const awaits = (): (() => void) => {
      if (results++ === 0) this.#begun()
      return () => {
        if (--results === 0) this.#ended()
      }
    }
    return running.run({ awaits }, handler)
  }

  #begun(): void {
    this.#awaiting++
    if (this.#awaiting < this.#concurrency || this.#isTold) return
    this.#isTold = true
    this.#log.warn(
      'Every slot of this worker runs a handler that waits for the result of another task. If those tasks need this worker, they can not start. Give them a pool and workers of their own, raise concurrency, or submit them without waiting.',
      { concurrency: this.#concurrency },
    )
  }

  /** Told again once it was well in between: when half of the slots were free of it. */
  #ended(): void {
    this.#awaiting--
    if (this.#awaiting <= this.#concurrency / 2) this.#isTold = false
  }
}
