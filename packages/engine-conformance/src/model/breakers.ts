// Circuit breakers as the store keeps them: core's pure functions say how one changes; here is what each change means for
// lanes, what is noted of it, and which of them exist. A lane's gates are worked out from the breakers whenever asked.

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
import { note } from './journal.ts'
import { refreshHolds } from './lane.ts'
import type { State } from './state.ts'

/** Those that are not forgotten, by name. */
function existing(state: State): Breaker[] {
  return [...state.breakers.values()]
    .filter((breaker) => !isForgotten(breaker, state.now))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Those that cover an action, by name. */
export const breakersOn = (state: State, action: ActionName): Breaker[] =>
  existing(state).filter(({ actions }) => actions.includes(action))

/** An attempt of this action failed with an outage. Whether it is to be parked. */
export function tellFailure(state: State, outage: Outage, action: ActionName, startedAt: number): boolean {
  for (const ref of outage.breakers) {
    const known = state.breakers.get(ref.name) ?? null
    become(state, known, afterFailure(known, ref, { action, startedAt }, state.now))
  }
  return outage.breakers.some(({ name }) => {
    const breaker = state.breakers.get(name)
    return breaker !== undefined && isOutage(breaker, startedAt)
  })
}

export function tellSuccess(state: State, action: ActionName, startedAt: number): void {
  for (const breaker of breakersOn(state, action)) become(state, breaker, afterSuccess(breaker, startedAt, state.now))
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
  state.breakers.set(breaker.name, breaker)
  refreshHolds(state)
  state.changes++
  if (isChange) note(state, breakerEntry(breaker))
}

export function resetBreaker(state: State, name: string, by: By): boolean {
  if (!existing(state).some((breaker) => breaker.name === name)) return false
  state.breakers.delete(name)
  refreshHolds(state)
  state.changes++
  note(state, resetEntry(name, by))
  return true
}

/** When the next open breaker lets probes through; null if none is open. */
export function nextProbeAt(state: State): number | null {
  const times = existing(state).flatMap((breaker) => (breaker.state.status === 'open' ? [breaker.state.until] : []))
  return times.length === 0 ? null : Math.min(...times)
}

export function breakers(state: State, page: PageRequest = {}): Page<Breaker> {
  const limit = pageLimit(page)
  const { cursor } = page
  const rest = existing(state).filter(({ name }) => cursor === undefined || name > cursor)
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit ? (items.at(-1)?.name ?? null) : null }
}
