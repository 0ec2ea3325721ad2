// Circuit breakers: core's pure functions say how one changes; here each change takes effect, on the lanes it covers and in
// the journal, in the same transaction as what brought it.

import type { ActionName, Breaker, By, Outage, Page, PageRequest } from '@reprise/core'
import {
  afterFailure,
  afterSuccess,
  afterTime,
  breakerEntry,
  isForgotten,
  isOutage,
  pageLimit,
  resetEntry,
} from '@reprise/core/engine'
import { storedBreakers } from './breaker-book.ts'
import type { Database } from './database.ts'
import { refreshHolds } from './gates.ts'
import type { Transaction } from './transaction.ts'

/** An attempt of this action failed with an outage. Whether it is to be parked. */
export function tellFailure(transaction: Transaction, outage: Outage, action: string, startedAt: number): boolean {
  const { breakers, now } = transaction
  const attempt = { action: action as ActionName, startedAt }
  for (const ref of outage.breakers) {
    const before = breakers.get(ref.name) ?? null
    become(transaction, before, afterFailure(before, ref, attempt, now))
  }
  return outage.breakers.some(({ name }) => {
    const breaker = breakers.get(name)
    return breaker !== undefined && isOutage(breaker, startedAt)
  })
}

/** An attempt of this action succeeded; its lease still stands. */
export function tellSuccess(transaction: Transaction, action: string, seq: number): void {
  const { breakers, db, now } = transaction
  if (breakers.isEmpty) return
  const covering = breakers.existing(now, action)
  if (covering.length === 0) return
  const startedAt = db.get<{ started_at: number }>('leaseStart', seq)?.started_at ?? now
  for (const breaker of covering) become(transaction, breaker, afterSuccess(breaker, startedAt, now))
}

/** Open breakers whose time has come let probes through. The earliest time at which another one will; null if none is open. */
export function tellTime(transaction: Transaction): number | null {
  let nextAt: number | null = null
  for (const breaker of transaction.breakers.existing(transaction.now)) {
    const next = afterTime(breaker, transaction.now)
    become(transaction, breaker, next)
    if (next.state.status === 'open') nextAt = Math.min(next.state.until, nextAt ?? next.state.until)
  }
  return nextAt
}

function become(transaction: Transaction, before: Breaker | null, breaker: Breaker): void {
  if (breaker === before) return
  const was = before?.state.status ?? 'closed'
  const { status } = breaker.state
  transaction.breakers.put(breaker)
  const joined = before === null ? breaker.actions : breaker.actions.slice(before.actions.length)
  if (was !== status) {
    if (was === 'open' || status === 'open') for (const action of breaker.actions) refreshHolds(transaction, { action })
    transaction.journal(breakerEntry(breaker))
  } else if (status === 'open') for (const action of joined) refreshHolds(transaction, { action })
  // A waiting worker may have some now, or has a new time to look again.
  if (was !== status || status === 'ramping') transaction.wakeEverybody()
}

export function resetBreaker(transaction: Transaction, name: string, by: By): boolean {
  const { breakers, now } = transaction
  const breaker = breakers.get(name)
  if (breaker === undefined || isForgotten(breaker, now)) return false
  breakers.remove(name)
  for (const action of breaker.actions) refreshHolds(transaction, { action })
  transaction.wakeEverybody()
  transaction.journal(resetEntry(name, by))
  return true
}

export function listBreakers(db: Database, page: PageRequest | undefined, now: number): Page<Breaker> {
  const limit = pageLimit(page)
  const cursor = page?.cursor
  const rest = existingBreakers(db, now).filter(({ name }) => cursor === undefined || name > cursor)
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit ? (items.at(-1)?.name ?? null) : null }
}

/** As they stand in the store, for those who look; by name. */
export function existingBreakers(db: Database, now: number): Breaker[] {
  return storedBreakers(db).filter((breaker) => !isForgotten(breaker, now))
}
