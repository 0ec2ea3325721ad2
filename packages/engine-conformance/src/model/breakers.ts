// Circuit breakers as the store keeps them: core's pure functions say how one changes; here is what each change means for
// lanes, what is noted of it, and which of them exist. A lane's gates are worked out from the breakers whenever asked.

import type { Breaker, BreakerQuery, By, Outage, Page, Scope, TenantId } from '@reprise/core'
import {
  afterFailure,
  afterSuccess,
  afterTime,
  BREAKERS_MAX,
  BREAKERS_OF_TENANT_MAX,
  type BreakerKey,
  breakerEntry,
  breakerId,
  breakerKeys,
  breakerPage,
  byBreakerId,
  covers,
  isForgotten,
  isListed,
  isOutage,
  isToReset,
  resetEntry,
} from '@reprise/core/engine'
import { note } from './journal.ts'
import { refreshHolds } from './lane.ts'
import type { State } from './state.ts'

/** Those that are not forgotten, by name and tenant. */
function existing(state: State): Breaker[] {
  return [...state.breakers.values()].filter((breaker) => !isForgotten(breaker, state.now)).sort(byBreakerId)
}

/** Those that cover a lane. */
export const breakersOn = (state: State, lane: Required<Scope>): Breaker[] =>
  existing(state).filter((breaker) => covers(breaker, lane))

/** An attempt in this lane failed with an outage. Whether it is to be parked. */
export function tellFailure(state: State, outage: Outage, lane: Required<Scope>, startedAt: number): boolean {
  const { action, tenant } = lane
  const counting: string[] = []
  for (const { name, settings } of outage.breakers) {
    for (const key of breakerKeys(name, tenant)) {
      const id = breakerId(key)
      const known = state.breakers.get(id) ?? null
      if (known === null && !hasRoom(state, key)) continue
      counting.push(id)
      become(state, known, afterFailure(known, key, settings, { action, tenant, startedAt }, state.now))
    }
  }
  return counting.some((id) => {
    const breaker = state.breakers.get(id)
    return breaker !== undefined && isOutage(breaker, startedAt)
  })
}

/** Whether there may be one more. */
function hasRoom(state: State, { tenant }: BreakerKey): boolean {
  const all = existing(state)
  if (all.length >= BREAKERS_MAX) return false
  return tenant === null || all.filter((one) => one.tenant === tenant).length < BREAKERS_OF_TENANT_MAX
}

export function tellSuccess(state: State, lane: Required<Scope>, startedAt: number): void {
  const { tenant } = lane
  for (const breaker of breakersOn(state, lane)) {
    become(state, breaker, afterSuccess(breaker, { tenant, startedAt }, state.now))
  }
}

/** Open breakers whose time has come let probes through. */
export function tellTime(state: State): void {
  for (const breaker of existing(state)) {
    const next = afterTime(breaker, state.now)
    if (next !== breaker) become(state, breaker, next)
  }
}

function become(state: State, before: Breaker | null, breaker: Breaker): void {
  const isChange = (before?.state.status ?? 'closed') !== breaker.state.status
  state.breakers.set(breakerId(breaker), breaker)
  refreshHolds(state)
  state.changes++
  if (isChange) note(state, breakerEntry(breaker))
}

export function resetBreaker(
  state: State,
  name: string,
  by: By,
  tenants: readonly (TenantId | null)[] | undefined,
): boolean {
  const found = existing(state).filter((breaker) => isToReset(breaker, name, tenants))
  for (const breaker of found) {
    state.breakers.delete(breakerId(breaker))
    refreshHolds(state)
    state.changes++
    if (isListed(breaker, state.now)) note(state, resetEntry(breaker, by))
  }
  return found.some((breaker) => isListed(breaker, state.now))
}

/** When the next open breaker lets probes through; null if none is open. */
export function nextProbeAt(state: State): number | null {
  const times = existing(state).flatMap((breaker) => (breaker.state.status === 'open' ? [breaker.state.until] : []))
  return times.length === 0 ? null : Math.min(...times)
}

export const breakers = (state: State, query?: BreakerQuery): Page<Breaker> =>
  breakerPage([...state.breakers.values()], query, state.now)
