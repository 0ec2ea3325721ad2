// Circuit breakers: core's pure functions say how one changes; here each change takes effect, on the lanes it covers and in
// the journal, in the same transaction as what brought it.

import type { ActionName, Breaker, BreakerQuery, By, Outage, Page, Scope, TenantId } from '@reprise/core'
import {
  afterFailure,
  afterSuccess,
  afterTime,
  breakerEntry,
  breakerId,
  breakerKeys,
  breakerPage,
  isForgotten,
  isListed,
  isOutage,
  isToReset,
  resetEntry,
} from '@reprise/core/engine'
import { type LaneOfBreakers, storedBreakers } from './breaker-book.ts'
import type { Database } from './database.ts'
import { refreshHolds } from './gates.ts'
import type { Transaction } from './transaction.ts'

/** An attempt in this lane failed with an outage. Whether it is to be parked. */
export function tellFailure(
  transaction: Transaction,
  outage: Outage,
  lane: LaneOfBreakers,
  startedAt: number,
): boolean {
  const { breakers, now } = transaction
  const attempt = { action: lane.action as ActionName, tenant: lane.tenant as TenantId, startedAt }
  const counting: string[] = []
  for (const { name, settings } of outage.breakers) {
    for (const key of breakerKeys(name, attempt.tenant)) {
      const id = breakerId(key)
      const before = breakers.get(id) ?? null
      if (before === null && !breakers.hasRoomFor(key)) continue
      counting.push(id)
      become(transaction, before, afterFailure(before, key, settings, attempt, now))
    }
  }
  return counting.some((id) => {
    const breaker = breakers.get(id)
    return breaker !== undefined && isOutage(breaker, startedAt)
  })
}

/** An attempt in this lane succeeded; its lease still stands. */
export function tellSuccess(transaction: Transaction, lane: LaneOfBreakers, seq: number): void {
  const { breakers, db, now } = transaction
  if (breakers.isEmpty || breakers.countSuccess(lane, now)) return
  const covering = breakers.existingOn(lane, now)
  if (covering.length === 0) return
  const startedAt = db.get<{ started_at: number }>('leaseStart', seq)?.started_at ?? now
  const attempt = { tenant: lane.tenant as TenantId, startedAt }
  for (const breaker of covering) become(transaction, breaker, afterSuccess(breaker, attempt, now))
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
    if (was === 'open' || status === 'open') refreshLanes(transaction, breaker, breaker.actions)
    transaction.journal(breakerEntry(breaker))
  } else if (status === 'open') refreshLanes(transaction, breaker, joined)
  // A waiting worker may have some now, or has a new time to look again.
  if (was !== status || status === 'ramping') transaction.wakeEverybody()
}

/** The lanes of these actions begin or end to be held: those of its tenant, or all. */
function refreshLanes(transaction: Transaction, { tenant }: Breaker, actions: readonly ActionName[]): void {
  for (const action of actions) {
    const scope: Scope = tenant === null ? { action } : { action, tenant }
    refreshHolds(transaction, scope)
  }
}

export function resetBreaker(
  transaction: Transaction,
  name: string,
  by: By,
  tenants: readonly (TenantId | null)[] | undefined,
): boolean {
  const { breakers, now } = transaction
  const found = breakers.existing(now).filter((breaker) => isToReset(breaker, name, tenants))
  for (const breaker of found) {
    breakers.remove(breakerId(breaker))
    refreshLanes(transaction, breaker, breaker.actions)
    if (isListed(breaker, now)) transaction.journal(resetEntry(breaker, by))
  }
  if (found.length > 0) transaction.wakeEverybody()
  return found.some((breaker) => isListed(breaker, now))
}

export const listBreakers = (db: Database, query: BreakerQuery | undefined, now: number): Page<Breaker> =>
  breakerPage(storedBreakers(db), query, now)

/** As they stand in the store, for those who look; by id. */
export function existingBreakers(db: Database, now: number): Breaker[] {
  return storedBreakers(db).filter((breaker) => !isForgotten(breaker, now))
}
