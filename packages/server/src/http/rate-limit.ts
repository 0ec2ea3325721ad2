// How often somebody may ask: a token bucket for each caller, by who they are, or by their address while nobody is known. All tokens
// that a limited caller made have one bucket, and all callers of one tenant share another: a new token is no new bucket.
// Told in the headers of every answer (RateLimit, RateLimit-Policy), and by 429 with Retry-After when the bucket is empty.
// Each server counts for itself: the limit protects it, it is no quota for the whole.

import { type Clock, RequestError } from '@reprise/core'
import type { Caller } from '@reprise/operations'

export interface RateLimitOptions {
  /** Requests per second that a caller may keep up. */
  readonly perSecond: number
  /** How many it may send at once after a pause. */
  readonly burst: number
}

interface Bucket {
  tokens: number
  /** On the monotonic clock. */
  at: number
}

/** More callers than this at once, and the one that was quiet for longest starts with a full bucket again. */
const CALLERS_MAX = 10_000

/** All callers of one tenant together may ask as often as this number of them. */
const CALLERS_PER_TENANT = 4

export class RateLimit {
  readonly #options: RateLimitOptions
  readonly #clock: Clock
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: RateLimitOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  /** Takes one; throws if there is none. Gives the headers for the answer. */
  take(key: string): Readonly<Record<string, string>> {
    const now = this.#clock.monotonic()
    const bucket = this.#filled(key, 1, now)
    if (bucket.tokens < 1) throw this.#over('this caller', bucket, 1)
    bucket.tokens--
    return this.#headers(bucket)
  }

  /** The same for a caller who is known. One with several tenants counts for itself: a request does not say whose it is. */
  takeFor({ actor, madeBy, tenants }: Pick<Caller, 'actor' | 'madeBy' | 'tenants'>): Readonly<Record<string, string>> {
    const [tenant] = tenants ?? []
    // Names hold no line feed.
    if (tenants?.length !== 1 || tenant === undefined) return this.take(madeBy ?? actor)
    const shared = this.#filled(`tenant\n${tenant}`, CALLERS_PER_TENANT, this.#clock.monotonic())
    if (shared.tokens < 1) throw this.#over(`tenant '${tenant}'`, shared, CALLERS_PER_TENANT)
    const headers = this.take(madeBy ?? actor)
    shared.tokens--
    return headers
  }

  /** The bucket as it is now. Some are several times as large as a caller's. */
  #filled(key: string, times: number, now: number): Bucket {
    const { perSecond, burst } = this.#options
    const bucket = this.#bucketOf(key, times * burst, now)
    bucket.tokens = Math.min(bucket.tokens + ((now - bucket.at) / 1_000) * times * perSecond, times * burst)
    bucket.at = now
    return bucket
  }

  #over(whose: string, { tokens }: Bucket, times: number): RequestError {
    const perSecond = times * this.#options.perSecond
    const retryAfterMs = Math.ceil(((1 - tokens) / perSecond) * 1_000)
    return new RequestError(
      'REPRISE_RATE_LIMITED',
      `More than ${perSecond} requests per second came from ${whose}. Wait, then go on more slowly.`,
      { retryAfterMs },
    )
  }

  #headers({ tokens }: Bucket): Readonly<Record<string, string>> {
    const { perSecond, burst } = this.#options
    const left = Math.floor(tokens)
    const seconds = Math.ceil((burst - tokens) / perSecond)
    return {
      'ratelimit-policy': `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`,
      ratelimit: `"default";r=${left};t=${seconds}`,
    }
  }

  #bucketOf(caller: string, full: number, now: number): Bucket {
    const known = this.#buckets.get(caller)
    if (known !== undefined) {
      // The map keeps the order of use only if what is used moves to its end; once in a while is enough.
      if (now - known.at > 1_000) {
        this.#buckets.delete(caller)
        this.#buckets.set(caller, known)
      }
      return known
    }
    if (this.#buckets.size >= CALLERS_MAX) {
      const [oldest] = this.#buckets.keys()
      if (oldest !== undefined) this.#buckets.delete(oldest)
    }
    const fresh = { tokens: full, at: now }
    this.#buckets.set(caller, fresh)
    return fresh
  }
}
