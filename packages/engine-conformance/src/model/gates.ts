// What holds lanes back, as operators set it and as anybody sees it: pauses and limits, known by their exact scope, and
// beside them the breakers.

import type { By, Gate, Hold, HoldQuery, Page, Scope } from '@reprise/core'
import { checkRank, holdPage, laneGates, rankOf, scopeMatches } from '@reprise/core/engine'
import { breakersOn } from './breakers.ts'
import { checkWhole } from './checks.ts'
import { note } from './journal.ts'
import { byScope, everyLimit, limitsOn, refreshHolds } from './lane.ts'
import type { Lane, State } from './state.ts'

export function pause(state: State, scope: Scope, by: By): void {
  const known = state.holds.find((hold) => isSame(hold.scope, scope))
  checkRank('hold', scope, known?.rank ?? null, by)
  const owner = { by: { actor: by.actor, reason: by.reason }, rank: rankOf(by) }
  if (known === undefined) state.holds.push({ scope: plain(scope), since: state.now, ...owner })
  else Object.assign(known, owner)
  refreshHolds(state)
  noteLanes(state, 'lanes.paused', scope, by, {})
}

export function resume(state: State, scope: Scope, by: By): boolean {
  const index = state.holds.findIndex((hold) => isSame(hold.scope, scope))
  if (index === -1) return false
  checkRank('hold', scope, state.holds[index]?.rank ?? null, by)
  state.holds.splice(index, 1)
  refreshHolds(state)
  state.changes++
  noteLanes(state, 'lanes.resumed', scope, by, {})
  return true
}

export function limit(state: State, scope: Scope, concurrency: number | null, by: By): void {
  if (concurrency !== null) checkWhole(concurrency, 'concurrency', 0, Number.MAX_SAFE_INTEGER)
  const index = state.limits.findIndex((known) => isSame(known.scope, scope))
  const known = state.limits[index]
  checkRank('limit', scope, known?.rank ?? null, by)
  if (concurrency === null) {
    if (known !== undefined) state.limits.splice(index, 1)
  } else if (known === undefined) state.limits.push({ scope: plain(scope), concurrency, rank: rankOf(by) })
  else Object.assign(known, { concurrency, rank: rankOf(by) })
  state.changes++
  noteLanes(state, 'lanes.limited', scope, by, { concurrency })
}

/** What holds this lane now: its pauses, its breakers, then its full limits. */
export function gatesOf(state: State, lane: Lane): Gate[] {
  const [holds, limits] = [holdsOn(state, lane), limitsOn(state, lane)]
  return laneGates({ holds, limits, breakers: breakersOn(state, lane) })
}

export const holdsOn = (state: State, lane: Lane) =>
  state.holds
    .filter((hold) => scopeMatches(hold.scope, lane))
    .map(({ scope, by, since, rank }) => ({ scope, by, since, rank }))
    .sort(byScope)

export const listHolds = (state: State, query: HoldQuery | undefined): Page<Hold> =>
  holdPage({ holds: state.holds, limits: everyLimit(state) }, query)

const isSame = (a: Scope, b: Scope): boolean => a.pool === b.pool && a.action === b.action && a.tenant === b.tenant

/** Only what is given. */
const plain = ({ pool, action, tenant }: Scope): Scope => ({
  ...(pool === undefined ? {} : { pool }),
  ...(action === undefined ? {} : { action }),
  ...(tenant === undefined ? {} : { tenant }),
})

function noteLanes(
  state: State,
  type: 'lanes.paused' | 'lanes.resumed' | 'lanes.limited',
  scope: Scope,
  by: By,
  data: Readonly<Record<string, number | null>>,
): void {
  const { actor, reason } = by
  note(state, { type, taskId: null, attempt: null, actor, reason, data: { ...plain(scope), ...data } })
}
