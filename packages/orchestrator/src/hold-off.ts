// Holding off: for a grace time after workers may not have reached the store, what looks ended is not settled, so that
// those who are well can renew first. Looking goes on meanwhile.

import type { Clock, ExpiredResult } from '@reprise/core'
import { LATE_MS_MAX, PauseDetector } from './pause-detector.ts'

/** Without a look that may be settled in between: a store that is always slow must not keep the sweep from its work. */
const REASONS_MAX = 6

export class HoldOff {
  readonly #clock: Clock
  readonly #graceMs: number
  readonly #detector = new PauseDetector()
  #until = Number.NEGATIVE_INFINITY
  #reasons = 0
  #steadySince: number | undefined
  /** The last look failed: workers may not have reached the store either. */
  #troubled = false
  /** How long after the last look the next one was meant to come. */
  #plannedMs = 0

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
  }

  planned(delayMs: number): void {
    this.#plannedMs = delayMs
  }

  troubled(delayMs: number): void {
    this.#troubled = true
    this.#plannedMs = delayMs
  }

  /**
   * With each look, which was asked for at `askedAt`. If time went missing since the last one, live workers get the grace time
   * from now on, and the cause is given; null if all is well.
   */
  observe(storeNow: number, askedAt: number): { readonly cause: string; readonly missingMs: number } | null {
    const monotonic = this.#clock.monotonic()
    const steadiness = this.#detector.observe({ storeNow, monotonic }, this.#plannedMs)
    // If it had to wait for the store, so had every renewal.
    if (steadiness.kind === 'steady' && monotonic - askedAt <= LATE_MS_MAX && !this.#troubled) return null
    this.#troubled = false
    this.#begin(monotonic, this.#graceMs)
    return steadiness.kind === 'steady'
      ? { cause: 'trouble with the store', missingMs: 0 }
      : { cause: steadiness.kind, missingMs: Math.round(steadiness.ms) }
  }

  /** How long to hold off still; 0 if this look may be settled. */
  remainingMs({ now: storeNow, steadySince }: Pick<ExpiredResult, 'now' | 'steadySince'>): number {
    const now = this.#clock.monotonic()
    if (steadySince !== undefined && steadySince !== this.#steadySince) {
      // The store tells of trouble that this sweep may not have met itself.
      this.#steadySince = steadySince
      const graceMs = this.#graceMs - (storeNow - steadySince)
      if (graceMs > 0) this.#begin(now, graceMs)
    }
    if (now < this.#until) return this.#until - now
    this.#reasons = 0
    return 0
  }

  #begin(now: number, graceMs: number): void {
    if (this.#reasons >= REASONS_MAX) return
    this.#reasons++
    this.#until = Math.max(this.#until, now + graceMs)
  }
}
