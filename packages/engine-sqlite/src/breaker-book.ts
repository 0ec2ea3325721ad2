// The breakers of a store as one process remembers them, from one transaction to the next. The store's version of them tells
// whether another process changed any since; while there are none, that costs nothing. What a change means for lanes
// and for the journal is not known here: see breakers.ts.

import type { ActionName, Breaker } from '@reprise/core'
import { isForgotten } from '@reprise/core/engine'
import type { Database } from './database.ts'

interface BreakerRow {
  readonly breaker: string
}

/** A version that no store has. */
const UNKNOWN = -1

export class BreakerBook {
  readonly #db: Database
  readonly #known = new Map<string, Breaker>()
  readonly #changed = new Set<string>()
  /** A store starts with version 0 and no breaker. */
  #version = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** Inside a transaction: makes sure that what is remembered is what the store holds. */
  refresh(version: number): void {
    if (version === this.#version) return
    this.#known.clear()
    this.#changed.clear()
    for (const breaker of storedBreakers(this.#db)) this.#known.set(breaker.name, breaker)
    this.#version = version
  }

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  get isChanged(): boolean {
    return this.#changed.size > 0
  }

  get(name: string): Breaker | undefined {
    return this.#known.get(name)
  }

  /** Those that are not forgotten, by name: all, or those that cover an action. What is forgotten goes. */
  existing(now: number, action: string | null = null): Breaker[] {
    const existing: Breaker[] = []
    for (const breaker of this.#known.values()) {
      if (action !== null && !breaker.actions.includes(action as ActionName)) continue
      if (isForgotten(breaker, now)) this.remove(breaker.name)
      else existing.push(breaker)
    }
    return existing.sort(byName)
  }

  /** Whether one of them limits how many tasks run. */
  get isLimiting(): boolean {
    for (const { state } of this.#known.values()) {
      if (state.status === 'half_open' || state.status === 'ramping') return true
    }
    return false
  }

  /** Whether an open one covers this action. */
  holds(action: string): boolean {
    for (const breaker of this.#known.values()) {
      if (breaker.state.status === 'open' && breaker.actions.includes(action as ActionName)) return true
    }
    return false
  }

  put(breaker: Breaker): void {
    this.#known.set(breaker.name, breaker)
    this.#changed.add(breaker.name)
  }

  remove(name: string): void {
    this.#known.delete(name)
    this.#changed.add(name)
  }

  /** Writes what changed, as this version. */
  save(version: number): void {
    for (const name of this.#changed) {
      const breaker = this.#known.get(name)
      if (breaker === undefined) this.#db.run('deleteBreaker', name)
      else this.#db.run('saveBreaker', name, JSON.stringify(breaker))
    }
    this.#changed.clear()
    this.#version = version
  }

  /** After a rollback nobody knows what the store holds. */
  forget(): void {
    this.#version = UNKNOWN
  }
}

/** All that are stored, by name; some may be forgotten by now. */
export function storedBreakers(db: Database): Breaker[] {
  return db.all<BreakerRow>('allBreakers').map((row) => JSON.parse(row.breaker) as Breaker)
}

function byName(a: Breaker, b: Breaker): number {
  return a.name < b.name ? -1 : 1
}
