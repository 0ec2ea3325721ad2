// Holding off: for a grace time after workers may not have reached the store, what looks ended is not settled, so that
// those who are well can renew first. Looking goes on meanwhile.

import type { ExpiredResult } from '@reprise/core'

/** Without a look that may be settled in between: a store that is always slow must not keep the sweep from its work. */
const REASONS_MAX = 6

export class HoldOff {
  readonly #graceMs: number
  #until = Number.NEGATIVE_INFINITY
  #reasons = 0
  #steadySince: number | undefined

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /** There was trouble until now, by the monotonic clock: live workers get so long from now on. */
  begin(now: number, forMs = this.#graceMs): void {
    if (this.#reasons >= REASONS_MAX) return
    this.#reasons++
    this.#until = Math.max(this.#until, now + forMs)
  }

  /** How long to hold off still; 0 if this look may be settled. */
  restMs(now: number, { now: storeNow, steadySince }: Pick<ExpiredResult, 'now' | 'steadySince'>): number {
    if (steadySince !== undefined && steadySince !== this.#steadySince) {
      // The store tells of trouble that this sweep may not have met itself.
      this.#steadySince = steadySince
      const restMs = this.#graceMs - (storeNow - steadySince)
      if (restMs > 0) this.begin(now, restMs)
    }
    if (now < this.#until) return this.#until - now
    this.#reasons = 0
    return 0
  }
}
