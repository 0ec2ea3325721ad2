// Notices that time went missing between two looks at the store: this process, the whole machine or the store stood
// still, or the store's clock jumped. Leases then look ended though their workers are well and about to renew.

export interface Moment {
  /** The store's time. */
  readonly storeNow: number
  /** This process's own, which no change of a clock touches. */
  readonly monotonic: number
}

export type Steadiness =
  | { readonly kind: 'steady' }
  /** Nobody looked for much longer than intended. */
  | { readonly kind: 'paused'; readonly ms: number }
  /** The store's clock went forward by this much more than time did. */
  | { readonly kind: 'jumped'; readonly ms: number }

/** Lateness and drift below this happen every day, and are far below any sensible lease. */
export const LATE_MS_MAX = 2_000

const STEADY: Steadiness = { kind: 'steady' }

export class PauseDetector {
  #last: Moment | null = null

  /** Compares this look with the one before. `plannedMs` is how far apart they were meant to be. */
  observe(moment: Moment, plannedMs: number): Steadiness {
    const last = this.#last
    this.#last = moment
    if (last === null) return STEADY
    const elapsedMs = moment.monotonic - last.monotonic
    if (elapsedMs - plannedMs > LATE_MS_MAX) return { kind: 'paused', ms: elapsedMs - plannedMs }
    // A clock set back only makes leases last longer: nobody is lost by it.
    const driftMs = moment.storeNow - last.storeNow - elapsedMs
    return driftMs > LATE_MS_MAX ? { kind: 'jumped', ms: driftMs } : STEADY
  }
}
