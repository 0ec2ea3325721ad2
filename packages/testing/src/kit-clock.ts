// The clock of a test kit. It knows the timers of the test and of its handlers from those of the parts that run all the time:
// heartbeats, sweeps, waits for work. Time jumps over the latter while nothing happens, and stops at each of the former.

import { type Clock, type Timer, VirtualClock } from '@reprise/core'

export class KitClock extends VirtualClock {
  readonly #own = new Set<{ readonly at: number }>()

  /** The same time, for engine, client and worker. */
  readonly background: Clock = {
    now: () => this.now(),
    monotonic: () => this.monotonic(),
    after: (delayMs, callback) => super.after(delayMs, callback),
    soon: (callback) => this.soon(callback),
  }

  override after(delayMs: number, callback: () => void): Timer {
    const own = { at: this.now() + Math.max(Math.ceil(delayMs), 0) }
    this.#own.add(own)
    const timer = super.after(delayMs, () => {
      this.#own.delete(own)
      callback()
    })
    return {
      cancel: () => {
        this.#own.delete(own)
        timer.cancel()
      },
    }
  }

  /** When each timer of the test and of its handlers fires. */
  ownMoments(): readonly number[] {
    return [...this.#own].map(({ at }) => at)
  }
}
