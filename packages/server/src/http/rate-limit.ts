// How often somebody may ask: a token bucket for each caller, by who they are, or by their address while nobody is known.
// Told in the headers of every answer (RateLimit, RateLimit-Policy), and by 429 with Retry-After when the bucket is empty.
// Each server counts for itself: the limit protects it, it is no quota for the whole.

import { type Clock, RequestError } from '@reprise/core'

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

export class RateLimit {
  readonly #options: RateLimitOptions
  readonly #clock: Clock
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: RateLimitOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  /** Takes one; throws if there is none. Gives the headers for the answer. */
  take(caller: string): Readonly<Record<string, string>> {
    const { perSecond, burst } = this.#options
    const now = this.#clock.monotonic()
    const bucket = this.#bucketOf(caller, now)
    bucket.tokens = Math.min(bucket.tokens + ((now - bucket.at) / 1_000) * perSecond, burst)
    bucket.at = now
    if (bucket.tokens < 1) {
      const retryAfterMs = Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000)
      throw new RequestError(
        'REPRISE_RATE_LIMITED',
        `More than ${perSecond} requests per second came from this caller. Wait, then go on more slowly.`,
        { retryAfterMs },
      )
    }
    bucket.tokens--
    return this.#headers(bucket)
  }

  /** Looks without taking: for answers to requests that were refused. */
  headers(caller: string): Readonly<Record<string, string>> {
    const bucket = this.#buckets.get(caller)
    return bucket === undefined ? {} : this.#headers(bucket)
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

  #bucketOf(caller: string, now: number): Bucket {
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
    const fresh = { tokens: this.#options.burst, at: now }
    this.#buckets.set(caller, fresh)
    return fresh
  }
}
