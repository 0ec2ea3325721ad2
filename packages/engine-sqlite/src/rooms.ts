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

/**
 * The breakers of an action that are half open or ramping are one limit together: the lowest of theirs, on what started
 * since the latest of them became half open.
 */
function breakerRooms({ breakers, db, now }: Transaction): Room[] {
  const limits = new Map<string, { concurrency: number; since: number }>()
  for (const { actions, settings, state } of breakers.existing(now)) {
    if (state.status !== 'half_open' && state.status !== 'ramping') continue
    const concurrency = state.status === 'ramping' ? state.concurrency : settings.probes
    for (const action of actions) {
      const { concurrency: lowest, since: latest } = limits.get(action) ?? { concurrency, since: state.since }
      limits.set(action, { concurrency: Math.min(lowest, concurrency), since: Math.max(latest, state.since) })
    }
  }
  const since = [...limits].map(([action, limit]) => [action, limit.since] as const)
  const earliest = Math.min(...since.map(([, at]) => at))
  const running = new Map(
    db
      .arrays<[action: string, running: number]>('startedSince', JSON.stringify(Object.fromEntries(since)), earliest)
      .map(([action, count]) => [action, count]),
  )
  return [...limits].map(([action, { concurrency }]) => ({
    of: `action '${action}', which a breaker limits,`,
    scope: scopeOfRow({ pool: '', action, tenant: '' }),
    concurrency,
    left: concurrency - (running.get(action) ?? 0),
  }))
}

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
