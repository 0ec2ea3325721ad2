// Reads that many ask for at the same moment are made once: dozens of open pages that refresh the same list cost what one does.
// Nobody is answered with anything older than their own question: a read begins after all who share it have asked.

import type { Clock } from '@reprise/core'

export class SharedReads<Result> {
  readonly #clock: Clock
  /** Asked for, and not begun yet. */
  readonly #asked = new Map<string, Promise<Result>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Questions with one key must have one answer. */
  read(key: string, read: () => Promise<Result>): Promise<Result> {
    const shared = this.#asked.get(key)
    if (shared !== undefined) return shared
    const reading = new Promise<Result>((resolve, reject) => {
      this.#clock.soon(() => {
        // Callers from now on get a read of their own.
        this.#asked.delete(key)
        read().then(resolve, reject)
      })
    })
    this.#asked.set(key, reading)
    return reading
  }
}
