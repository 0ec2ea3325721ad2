// How many trips to the store a busy worker has under way at a time. With two, the store works while the worker unpacks;
// but where other workers keep the store busy anyway, one larger trip costs it less. A worker can't know, so it tries: it
// measures how fast tasks come in either way, goes the better one, and now and then tries the other again.

import type { Clock } from '@reprise/core'

/** So many trips in a row, each as full as it could be, make one measurement. */
const WINDOW_TRIPS = 20
/** After so many measurements of the better way, the other is tried again. */
const WINDOWS_PER_TRIAL = 40

export class TripPacing {
  readonly #clock: Clock
  readonly #tripsMax: number
  /** Tasks per ms when it was last measured, by the number of trips. */
  readonly #rates = new Map<number, number>()
  #trips: number
  #windows = 0
  #returned = 0
  #tasks = 0
  #startedAt = 0

  constructor(clock: Clock, tripsMax: number) {
    this.#clock = clock
    this.#tripsMax = tripsMax
    this.#trips = tripsMax
  }

  /** How many to have under way now. */
  get trips(): number {
    return this.#trips
  }

  /** A trip came back with so many tasks; a full one brought all that there was room for. */
  returned(tasks: number, isFull: boolean): void {
    if (this.#tripsMax === 1) return
    if (!isFull) {
      this.#returned = 0
      return
    }
    if (this.#returned === 0) {
      this.#startedAt = this.#clock.monotonic()
      this.#tasks = 0
    } else {
      this.#tasks += tasks
    }
    this.#returned++
    if (this.#returned > WINDOW_TRIPS) this.#choose()
  }

  #choose(): void {
    this.#returned = 0
    const elapsedMs = this.#clock.monotonic() - this.#startedAt
    if (elapsedMs <= 0) return
    this.#rates.set(this.#trips, this.#tasks / elapsedMs)
    this.#windows++
    const other = this.#trips === 1 ? this.#tripsMax : 1
    const otherRate = this.#rates.get(other)
    const isTrialDue = otherRate === undefined || this.#windows % WINDOWS_PER_TRIAL === 0
    if (isTrialDue || otherRate > this.#tasks / elapsedMs) this.#trips = other
  }
}
