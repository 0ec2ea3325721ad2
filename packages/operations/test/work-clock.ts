// A clock on which only work takes time, as much as a test says. It tells the longest work between two turns of the event loop,
// so that a test of turns goes by what is done and not by how busy the machine is.

import { type Clock, systemClock } from '@reprise/core'

export class WorkClock implements Clock {
  #workedMs = 0
  #inTurnMs = 0
  #longestMs = 0

  /** The longest work that was done without a turn for others. */
  get longestMs(): number {
    return this.#longestMs
  }

  work(ms: number): void {
    if (this.#inTurnMs === 0) {
      setImmediate(() => {
        this.#inTurnMs = 0
      })
    }
    this.#workedMs += ms
    this.#inTurnMs += ms
    this.#longestMs = Math.max(this.#longestMs, this.#inTurnMs)
  }

  now(): number {
    return systemClock.now()
  }

  monotonic(): number {
    return this.#workedMs
  }

  after(...given: Parameters<Clock['after']>): ReturnType<Clock['after']> {
    return systemClock.after(...given)
  }

  soon(callback: () => void): void {
    systemClock.soon(callback)
  }
}
