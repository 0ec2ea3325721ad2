// How many more tasks may start: what is left of each limit, an operator's or that of breakers, during one claim or for
// one message. And which lanes need not be read, since a limit that covers them has nothing left.

import type { Scope } from '@reprise/core'
import { scopeMatches, scopeText } from '@reprise/core/engine'
import { type LimitRow, laneScope, runningIn } from './gates.ts'
import type { LaneFilter } from './lane.ts'
import { type ScopeRow, scopeOfRow } from './rows.ts'
import type { Transaction } from './transaction.ts'

export interface Room {
  /** Whose limit it is, in words. */
  readonly of: string
  readonly scope: Scope
  readonly concurrency: number
  left: number
}

export function limitRooms(transaction: Transaction): Room[] {
  const limits = transaction.db.all<LimitRow>('allLimits')
  if (limits.length > 0) transaction.saveLanes()
  const rooms = limits.map((row): Room => {
    const scope = scopeOfRow(row)
    const { concurrency } = row
    return { of: scopeText(scope), scope, concurrency, left: concurrency - runningIn(transaction.db, row) }
  })
  return transaction.breakers.isLimiting ? [...rooms, ...breakerRooms(transaction)] : rooms
}

interface BreakerLimit {
  readonly scope: ScopeRow
  concurrency: number
  since: number
  running: number
}

/**
 * The breakers of all tenants that are half open or ramping are one limit on an action together: the lowest of theirs, on what
 * started since the latest of them became half open. The breakers of a tenant are another one, on its tasks of the action.
 */
function breakerRooms({ breakers, db, now }: Transaction): Room[] {
  const limits = new Map<string, BreakerLimit>()
  for (const { actions, tenant, settings, state } of breakers.existing(now)) {
    if (state.status !== 'half_open' && state.status !== 'ramping') continue
    const concurrency = state.status === 'ramping' ? state.concurrency : settings.probes
    for (const action of actions) {
      const scope = { pool: '', action, tenant: tenant ?? '' }
      const limit = limits.get(limitKey(scope)) ?? { scope, concurrency, since: state.since, running: 0 }
      limit.concurrency = Math.min(limit.concurrency, concurrency)
      limit.since = Math.max(limit.since, state.since)
      limits.set(limitKey(scope), limit)
    }
  }
  const earliest = Math.min(...[...limits.values()].map(({ since }) => since))
  const started = db.arrays<[action: string, tenant: string, startedAt: number]>('startedSince', earliest)
  for (const [action, tenant, startedAt] of started) {
    for (const whose of ['', tenant]) {
      const limit = limits.get(limitKey({ action, tenant: whose }))
      if (limit !== undefined && startedAt >= limit.since) limit.running++
    }
  }
  return [...limits.values()]
    .sort((a, b) => (a.scope.tenant < b.scope.tenant ? -1 : 1))
    .map(({ scope, concurrency, running }) => ({
      of: `action '${scope.action}', which a breaker limits,`,
      scope: scopeOfRow(scope),
      concurrency,
      left: concurrency - running,
    }))
}

const limitKey = ({ action, tenant }: Omit<ScopeRow, 'pool'>): string => `${action}\n${tenant}`

/** Those that a task of this lane needs. */
export function roomsOver(rooms: readonly Room[], lane: ScopeRow): readonly Room[] {
  if (rooms.length === 0) return rooms
  const names = laneScope(lane)
  return rooms.filter(({ scope }) => scopeMatches(scope, names))
}

/**
 * The lanes of a pool that are worth reading, of those with the wanted actions; null if none is. A limit on one lane alone
 * is not looked at here: the reader of that lane finds out.
 */
export function lanesWithRoom(
  rooms: readonly Room[],
  pool: string,
  wanted: ReadonlySet<string> | null,
): LaneFilter | null {
  const fullActions: string[] = []
  const fullTenants: string[] = []
  for (const { scope, left } of rooms) {
    if (left > 0 || (scope.pool !== undefined && scope.pool !== pool)) continue
    if (scope.action === undefined && scope.tenant === undefined) return null
    if (scope.tenant === undefined && scope.action !== undefined) fullActions.push(scope.action)
    if (scope.action === undefined && scope.tenant !== undefined) fullTenants.push(scope.tenant)
  }
  return { wanted, fullActions, fullTenants }
}
