// Slows down callers that keep coming with wrong credentials: by address, never by account, so nobody can lock out somebody else by
// guessing at their name. Guesses hold up guesses, and nothing else: each kind of credential is counted apart. A credential that
// can be checked here is checked first, and refused for others' failures never: a lease credential by its MAC, an ID token by its
// signature, a secret that we made by its seal, and any that was good a moment ago. What is left, made-up secrets and those of
// before there were seals, has to be looked up: only a few at a time, since a look-up takes long while the store is away.

import { type Clock, RequestError } from '@reprise/core'
import { digestOf, Recent } from '@reprise/operations'
import { RemoteAddresses } from './remote-address.ts'

export interface FailureBounds {
  /** How many failures an address has at once. */
  readonly burst: number
  /** How long it takes to get one back. */
  readonly everyMs: number
}

export interface GivenCredential {
  readonly kind: 'api-token' | 'id-token' | 'session' | 'link' | 'lease' | 'sign-in'
  readonly credential: string
  /** Whether it is one that we made, found out without asking anybody. */
  readonly isSealed?: () => boolean
}

const FAILURE_BOUNDS: FailureBounds = { burst: 30, everyMs: 2_000 }

/** A check of these takes no look-up: the answer is known before anybody is held up. */
const CHECKED_FIRST: ReadonlySet<GivenCredential['kind']> = new Set(['id-token', 'lease'])

/** How many different credentials of one address may be looked up at once, and how many requests may wait for that. */
const LOOK_UPS_MAX = 50
const WAITING_MAX = 1_000
const WAIT_MS = 1_000

const ADDRESSES_MAX = 10_000
const GOOD_MS = 600_000
const GOOD_MAX = 10_000

export class FailureLimit {
  readonly #clock: Clock
  readonly #bounds: FailureBounds
  /** When the address will have all its failures of one kind back. */
  readonly #spent: Recent<number>
  readonly #good: Recent<true>
  /** How many requests wait for each credential that is not known yet, by address. Holds what is under way only. */
  readonly #waiting = new Map<string, Map<string, number>>()

  constructor(clock: Clock, bounds: FailureBounds = FAILURE_BOUNDS) {
    this.#clock = clock
    this.#bounds = bounds
    this.#spent = new Recent({ clock, keepMs: bounds.burst * bounds.everyMs, maxEntries: ADDRESSES_MAX })
    this.#good = new Recent({ clock, keepMs: GOOD_MS, maxEntries: GOOD_MAX })
  }

  /** Checks credentials. Refuses guesses unchecked if the address had too many wrong ones. Only 401 counts as wrong. */
  async guarded<T>(address: string, given: GivenCredential, check: () => Promise<T>): Promise<T> {
    const group = `${given.kind} ${RemoteAddresses.groupOf(address)}`
    if (CHECKED_FIRST.has(given.kind)) return this.#checkedFirst(group, check)
    const digest = digestOf(given.credential)
    const isGuess = this.#good.get(digest) === undefined && given.isSealed?.() !== true
    if (isGuess) {
      this.#refuseTooMany(group)
      this.#begin(group, digest)
    }
    try {
      const answer = await check()
      this.#good.set(digest, true)
      return answer
    } catch (error) {
      if (isWrong(error)) {
        this.#good.delete(digest)
        this.#count(group)
      }
      throw error
    } finally {
      if (isGuess) this.#end(group, digest)
    }
  }

  async #checkedFirst<T>(group: string, check: () => Promise<T>): Promise<T> {
    try {
      return await check()
    } catch (error) {
      if (isWrong(error)) {
        this.#refuseTooMany(group)
        this.#count(group)
      }
      throw error
    }
  }

  #begin(group: string, digest: string): void {
    const waiting = this.#waiting.get(group) ?? new Map<string, number>()
    const requests = waiting.values().reduce((sum, count) => sum + count, 0)
    if (requests >= WAITING_MAX || (waiting.size >= LOOK_UPS_MAX && !waiting.has(digest))) {
      throw new RequestError(
        'REPRISE_RATE_LIMITED',
        'Too many credentials that are not known yet came from your address at once. Wait, then try again.',
        { retryAfterMs: WAIT_MS },
      )
    }
    waiting.set(digest, (waiting.get(digest) ?? 0) + 1)
    this.#waiting.set(group, waiting)
  }

  #end(group: string, digest: string): void {
    const waiting = this.#waiting.get(group)
    const left = (waiting?.get(digest) ?? 0) - 1
    if (left > 0) waiting?.set(digest, left)
    else waiting?.delete(digest)
    if (waiting?.size === 0) this.#waiting.delete(group)
  }

  #refuseTooMany(group: string): void {
    const { burst, everyMs } = this.#bounds
    const waitMs = (this.#spent.get(group) ?? 0) - this.#clock.monotonic() - (burst - 1) * everyMs
    if (waitMs <= 0) return
    throw new RequestError(
      'REPRISE_RATE_LIMITED',
      'Too many wrong credentials came from your address. Wait, and check the token before you try again.',
      { retryAfterMs: waitMs },
    )
  }

  #count(group: string): void {
    const now = this.#clock.monotonic()
    this.#spent.set(group, Math.max(this.#spent.get(group) ?? 0, now) + this.#bounds.everyMs)
  }
}

const isWrong = (error: unknown): boolean => error instanceof RequestError && error.code === 'REPRISE_UNAUTHENTICATED'
