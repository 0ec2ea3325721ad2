// Slows down callers that keep coming with wrong credentials: by address, never by account, so nobody can lock out somebody else by
// guessing at their name. Credentials that were good a moment ago pass in any case: a worker with a wrong token
// must not stop the others behind the same address. Those that are not known yet may be looked up only a few at a time: while
// the store is away each look-up takes long, and made-up tokens cost nothing.

import { type Clock, RequestError } from '@reprise/core'
import { digestOf, Recent } from '@reprise/operations'
import { RemoteAddresses } from './remote-address.ts'

export interface FailureBounds {
  /** How many failures an address has at once. */
  readonly burst: number
  /** How long it takes to get one back. */
  readonly everyMs: number
}

const FAILURE_BOUNDS: FailureBounds = { burst: 30, everyMs: 2_000 }

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
  /** When the address will have all its failures back. */
  readonly #spent: Recent<number>
  readonly #good: Recent<true>
  /** How many requests wait for each credential that is not known yet, by address. Holds what is under way only. */
  readonly #waiting = new Map<string, Map<string, number>>()

  constructor(clock: Clock, bounds: FailureBounds = FAILURE_BOUNDS) {
    this.#clock = clock
    this.#bounds = bounds
    this.#spent = new Recent({ clock, keepMs: bounds.burst * bounds.everyMs, entriesMax: ADDRESSES_MAX })
    this.#good = new Recent({ clock, keepMs: GOOD_MS, entriesMax: GOOD_MAX })
  }

  /** Checks credentials, unless the address had too many wrong ones. Only 401 counts as wrong. */
  async guarded<T>(address: string, credential: string, check: () => Promise<T>): Promise<T> {
    const group = RemoteAddresses.groupOf(address)
    const digest = digestOf(credential)
    const isNew = this.#good.get(digest) === undefined
    if (isNew) {
      this.#refuseTooMany(group)
      this.#begin(group, digest)
    }
    try {
      const answer = await check()
      this.#good.set(digest, true)
      return answer
    } catch (error) {
      if (error instanceof RequestError && error.code === 'REPRISE_UNAUTHENTICATED') {
        this.#good.delete(digest)
        this.#count(group)
      }
      throw error
    } finally {
      if (isNew) this.#end(group, digest)
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
