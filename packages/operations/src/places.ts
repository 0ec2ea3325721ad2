// Room for what takes memory or time while it lasts: searches, exports, streams, long polls. Each has so many places in all, and
// so many for one caller and one tenant; some are kept for those who look after the whole store, so that tenants can't take
// them all. A caller finds a place or is refused; where waiting makes sense, some wait in line.

import { RequestError } from '@reprise/core'
import type { Caller } from './access/caller.ts'

export interface PlaceBounds {
  readonly all: number
  /** Of one caller. All tokens that one limited caller made are the same caller. */
  readonly perCaller: number
  readonly perTenant: number
  /** How many of all are kept for callers who are not limited to tenants. */
  readonly kept: number
}

/** Who takes a place. */
export type Taker = Pick<Caller, 'actor' | 'tenants' | 'madeBy'>

const RETRY_MS = 2_000

export class Places {
  /** In the plural: `searches`. */
  readonly #what: string
  readonly #bounds: PlaceBounds
  /** Places that are taken, by who takes them. */
  readonly #taken = new Map<string, number>()
  #size = 0
  #limitedSize = 0

  constructor(what: string, bounds: PlaceBounds) {
    this.#what = what
    this.#bounds = bounds
  }

  /** How many are taken. */
  get size(): number {
    return this.#size
  }

  hasRoom(taker: Taker): boolean {
    return this.#full(taker, 1) === null
  }

  /** Takes a place, or several, and answers how to leave. `REPRISE_RATE_LIMITED` if there are not enough. */
  enter(taker: Taker, count = 1): () => void {
    const full = this.#full(taker, count)
    if (full !== null) {
      throw new RequestError('REPRISE_RATE_LIMITED', `At most ${full} may be under way at once. Let some end first.`, {
        retryAfterMs: RETRY_MS,
      })
    }
    const { keys, isLimited } = countedBy(taker)
    const change = (by: number): void => {
      this.#size += by
      if (isLimited) this.#limitedSize += by
      for (const key of keys) {
        const taken = (this.#taken.get(key) ?? 0) + by
        if (taken === 0) this.#taken.delete(key)
        else this.#taken.set(key, taken)
      }
    }
    change(count)
    let isIn = true
    return () => {
      if (isIn) change(-count)
      isIn = false
    }
  }

  /** Which bound leaves no room; null if none does. */
  #full(taker: Taker, count: number): string | null {
    const { all, perCaller, perTenant, kept } = this.#bounds
    const { keys, isLimited } = countedBy(taker)
    const [caller = 0, ...tenants] = keys.map((key) => this.#taken.get(key) ?? 0)
    if (caller + count > perCaller) return `${perCaller} ${this.#what} of one caller`
    if (tenants.some((taken) => taken + count > perTenant)) return `${perTenant} ${this.#what} of one tenant`
    if (this.#size + count > all) return `${all} ${this.#what}`
    return isLimited && this.#limitedSize + count > all - kept ? `${all - kept} ${this.#what} of all tenants` : null
  }
}

function countedBy({ actor, tenants, madeBy }: Taker): {
  readonly keys: readonly string[]
  readonly isLimited: boolean
} {
  if (tenants === null) return { keys: [actor], isLimited: false }
  // Names hold no line feed.
  return { keys: [madeBy ?? actor, ...tenants.map((tenant) => `tenant\n${tenant}`)], isLimited: true }
}

export interface AtOnceBounds {
  readonly running: PlaceBounds
  readonly waiting: PlaceBounds
}

interface Waiting {
  readonly taker: Taker
  readonly begin: (leave: () => void) => void
}

/** Work of which a few pieces run at once, and the others wait in line. */
export class AtOnce {
  readonly #running: Places
  readonly #waiting: Places
  readonly #line: Waiting[] = []

  constructor(what: string, { running, waiting }: AtOnceBounds) {
    this.#running = new Places(what, running)
    this.#waiting = new Places(`${what} that wait`, waiting)
  }

  async run<T>(taker: Taker, work: () => Promise<T>): Promise<T> {
    const leave = this.#running.hasRoom(taker) ? this.#running.enter(taker) : await this.#turn(taker)
    try {
      return await work()
    } finally {
      leave()
      this.#callNext()
    }
  }

  async #turn(taker: Taker): Promise<() => void> {
    const stopWaiting = this.#waiting.enter(taker)
    try {
      return await new Promise((begin) => {
        this.#line.push({ taker, begin })
      })
    } finally {
      stopWaiting()
    }
  }

  /** The first in line for whom there is room: a caller with much to do is passed by others. */
  #callNext(): void {
    const at = this.#line.findIndex(({ taker }) => this.#running.hasRoom(taker))
    const [next] = at === -1 ? [] : this.#line.splice(at, 1)
    if (next !== undefined) next.begin(this.#running.enter(next.taker))
  }
}
