// How many tasks per second a tenant may submit: a token bucket for each tenant. Each server counts for itself. A batch is
// taken whole while anything is left, and what it takes too much is paid back before the next one.

import type { Clock, TenantId } from '@reprise/core'

interface Bucket {
  tokens: number
  /** On the monotonic clock. */
  at: number
}

/** More tenants than this at once, and the one that was quiet for longest starts with a full bucket again. */
const TENANTS_MAX = 10_000

export class TenantRate {
  readonly #clock: Clock
  readonly #buckets = new Map<TenantId, Bucket>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes so many and answers 0; or takes nothing and answers how many milliseconds to wait. */
  take(tenant: TenantId, count: number, perSecond: number): number {
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(tenant) ?? { tokens: perSecond, at: now }
    bucket.tokens = Math.min(bucket.tokens + ((now - bucket.at) / 1_000) * perSecond, perSecond)
    bucket.at = now
    // The map keeps the order of use.
    this.#buckets.delete(tenant)
    this.#buckets.set(tenant, bucket)
    if (this.#buckets.size > TENANTS_MAX) {
      const [oldest] = this.#buckets.keys()
      if (oldest !== undefined) this.#buckets.delete(oldest)
    }
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000)
    bucket.tokens -= count
    return 0
  }
}
