// The breakers of a store as one process remembers them, from one transaction to the next. The store's version of them tells
// whether another process changed any since; while there are none, that costs nothing. What a change means for lanes
// and for the journal is not known here: see breakers.ts.

import type { Breaker, TenantId } from '@reprise/core'
import {
  afterSuccessesWhileClosed,
  BREAKERS_MAX,
  BREAKERS_OF_TENANT_MAX,
  type BreakerKey,
  breakerId,
  byBreakerId,
  isForgotten,
  parseSettings,
} from '@reprise/core/engine'
import type { Database } from './database.ts'

interface BreakerRow {
  readonly breaker: string
}

/** A version that no store has. */
const UNKNOWN = -1

export class BreakerBook {
  readonly #db: Database
  /** By id. */
  readonly #known = new Map<string, Breaker>()
  /** The ids of those that cover a place: see placeOf(). */
  readonly #covering = new Map<string, Set<string>>()
  readonly #changed = new Set<string>()
  /** Successes of this transaction in lanes whose breakers are all closed. Counted together, before anybody looks at one. */
  readonly #successes = new Map<LaneOfBreakers, number>()
  #succeededAt = 0
  /** A store starts with version 0 and no breaker. */
  #version = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** Inside a transaction: makes sure that what is remembered is what the store holds. */
  refresh(version: number): void {
    if (version === this.#version) return
    this.#known.clear()
    this.#covering.clear()
    this.#changed.clear()
    for (const breaker of storedBreakers(this.#db)) this.#keep(breakerId(breaker), breaker)
    this.#version = version
  }

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  get isChanged(): boolean {
    this.#countSuccesses()
    return this.#changed.size > 0
  }

  /** Counts a success in a lane of this transaction, unless a breaker that covers it is not closed and has to be told. */
  countSuccess(lane: LaneOfBreakers, now: number): boolean {
    const before = this.#successes.get(lane)
    if (before === undefined) {
      for (const id of this.#idsOn(lane)) if (this.#known.get(id)?.state.status !== 'closed') return false
    }
    this.#successes.set(lane, (before ?? 0) + 1)
    this.#succeededAt = now
    return true
  }

  #countSuccesses(): void {
    if (this.#successes.size === 0) return
    const successes = [...this.#successes]
    this.#successes.clear()
    const now = this.#succeededAt
    for (const [lane, count] of successes) {
      for (const breaker of this.existingOn(lane, now)) {
        this.put(afterSuccessesWhileClosed(breaker, lane.tenant as TenantId, count, now))
      }
    }
  }

  get(id: string): Breaker | undefined {
    this.#countSuccesses()
    return this.#known.get(id)
  }

  /** Whether there may be one more like this. */
  hasRoomFor({ tenant }: BreakerKey): boolean {
    if (this.#known.size >= BREAKERS_MAX) return false
    if (tenant === null) return true
    let own = 0
    for (const breaker of this.#known.values()) if (breaker.tenant === tenant) own++
    return own < BREAKERS_OF_TENANT_MAX
  }

  /** Those that are not forgotten, by id. What is forgotten goes. */
  existing(now: number): Breaker[] {
    return this.#unforgotten(this.#known.keys(), now)
  }

  /** Of these, the ones that cover the tasks of a lane. */
  existingOn(lane: LaneOfBreakers, now: number): Breaker[] {
    return this.#unforgotten([...this.#idsOn(lane)], now)
  }

  #unforgotten(ids: Iterable<string>, now: number): Breaker[] {
    this.#countSuccesses()
    const existing: Breaker[] = []
    for (const id of ids) {
      const breaker = this.#known.get(id)
      if (breaker === undefined) continue
      if (isForgotten(breaker, now)) this.remove(id)
      else existing.push(breaker)
    }
    return existing.sort(byBreakerId)
  }

  *#idsOn({ action, tenant }: LaneOfBreakers): Generator<string> {
    yield* this.#covering.get(placeOf(action, null)) ?? []
    yield* this.#covering.get(placeOf(action, tenant)) ?? []
  }

  /** Whether one of them limits how many tasks run. */
  get isLimiting(): boolean {
    for (const { state } of this.#known.values()) {
      if (state.status === 'half_open' || state.status === 'ramping') return true
    }
    return false
  }

  /** Whether an open one covers the tasks of a lane. */
  holds(lane: LaneOfBreakers): boolean {
    if (this.isEmpty) return false
    for (const id of this.#idsOn(lane)) if (this.#known.get(id)?.state.status === 'open') return true
    return false
  }

  put(breaker: Breaker): void {
    const id = breakerId(breaker)
    if (this.#known.get(id)?.actions === breaker.actions) this.#known.set(id, breaker)
    else {
      this.#uncover(id)
      this.#keep(id, breaker)
    }
    this.#changed.add(id)
  }

  remove(id: string): void {
    this.#uncover(id)
    this.#known.delete(id)
    this.#changed.add(id)
  }

  #keep(id: string, breaker: Breaker): void {
    this.#known.set(id, breaker)
    for (const action of breaker.actions) {
      const place = placeOf(action, breaker.tenant)
      const ids = this.#covering.get(place)
      if (ids === undefined) this.#covering.set(place, new Set([id]))
      else ids.add(id)
    }
  }

  /** One that begins anew may cover less than before. */
  #uncover(id: string): void {
    const breaker = this.#known.get(id)
    for (const action of breaker?.actions ?? []) {
      const place = placeOf(action, breaker?.tenant ?? null)
      const ids = this.#covering.get(place)
      if (ids?.delete(id) === true && ids.size === 0) this.#covering.delete(place)
    }
  }

  /** Writes what changed, as this version. */
  save(version: number): void {
    for (const id of this.#changed) {
      const breaker = this.#known.get(id)
      if (breaker === undefined) this.#db.run('deleteBreaker', id)
      else this.#db.run('saveBreaker', id, JSON.stringify(breaker))
    }
    this.#changed.clear()
    this.#version = version
  }

  /** After a rollback nobody knows what the store holds. */
  forget(): void {
    this.#version = UNKNOWN
    this.#successes.clear()
  }
}

/** All that are stored, by id; some may be forgotten by now. One of an earlier version is of all tenants. */
export function storedBreakers(db: Database): Breaker[] {
  return db.all<BreakerRow>('allBreakers').map((row) => {
    return { tenant: null, voices: [], ...parseSettings<Omit<Breaker, 'tenant' | 'voices'>>(row.breaker) }
  })
}

/** What breakers look at of a lane. */
export interface LaneOfBreakers {
  readonly action: string
  readonly tenant: string
}

/** The tasks of an action, of one tenant or of all. */
const placeOf = (action: string, tenant: string | null): string => (tenant === null ? action : `${action}\n${tenant}`)
