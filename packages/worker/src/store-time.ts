// The store's time as this process can tell it: the last time the store named, carried on by the monotonic clock. A
// host whose wall clock is an hour off then still wakes up when a task is due.

import type { Clock } from '@reprise/core'

export class StoreTime {
  readonly #clock: Clock
  #named: number
  #namedAt: number

  constructor(clock: Clock, storeNow: number) {
    this.#clock = clock
    this.#named = storeNow
    this.#namedAt = clock.monotonic()
  }

  observe(storeNow: number): void {
    this.#named = storeNow
    this.#namedAt = this.#clock.monotonic()
  }

  now(): number {
    return this.#named + (this.#clock.monotonic() - this.#namedAt)
  }
}
