// Lanes: how one is found or made, how its time stands still while it is held, what its limits and breakers say, and how
// a task enters its queue. Every way into the queue goes through enqueue().

import { type Breaker, NoAvailableSlotError, type Scope } from '@reprise/core'
import { covers, scopeMatches, scopeText } from '@reprise/core/engine'
import type { Lane, State, TaskRecord } from './state.ts'

function findLane(state: State, place: Required<Scope>): Lane | undefined {
  return state.lanes.find(
    (lane) => lane.pool === place.pool && lane.action === place.action && lane.tenant === place.tenant,
  )
}

export function laneFor(state: State, place: Required<Scope>): Lane {
  const known = findLane(state, place)
  if (known !== undefined) return known
  const lane: Lane = {
    pool: place.pool,
    action: place.action,
    tenant: place.tenant,
    turn: 0,
    picks: 0,
    heldMs: 0,
    heldSince: isHeld(state, place) ? state.now : null,
    removed: 0,
  }
  state.lanes.push(lane)
  return lane
}

export const virtualTime = (state: State, lane: Lane): number => state.virtualTimes.get(lane.pool) ?? 0

/** An absence earns no credit. */
function catchUp(state: State, lane: Lane): void {
  lane.turn = Math.max(lane.turn, virtualTime(state, lane))
}

/** Whether an operator's hold or an open breaker covers it. */
const isHeld = (state: State, place: Required<Scope>): boolean =>
  state.holds.some((hold) => scopeMatches(hold.scope, place)) || openBreaker(state, place) !== null

function openBreaker(state: State, place: Required<Scope>): Breaker | null {
  for (const breaker of state.breakers.values()) {
    if (breaker.state.status === 'open' && covers(breaker, place)) return breaker
  }
  return null
}

/** Lanes begin and end to be held, after holds or breakers changed. */
export function refreshHolds(state: State): void {
  for (const lane of state.lanes) {
    if (isHeld(state, lane)) lane.heldSince ??= state.now
    else if (lane.heldSince !== null) {
      lane.heldMs += state.now - lane.heldSince
      lane.heldSince = null
      catchUp(state, lane)
    }
  }
}

/** Stands still while the lane is held. */
const laneTime = (state: State, lane: Lane): number => (lane.heldSince ?? state.now) - lane.heldMs

/** A moment of lane time on the store's clock, as things stand now. */
export const wallTime = (state: State, lane: Lane, moment: number): number => moment + state.now - laneTime(state, lane)

const tasksIn = (state: State, lane: Lane): TaskRecord[] =>
  [...state.tasks.values()].filter((task) => task.lane === lane)

export const claimableIn = (state: State, lane: Lane): TaskRecord[] =>
  tasksIn(state, lane).filter((task) => task.state.status === 'queued' && !task.state.retired)

/** Puts a task into its lane's queue: at its end, unless a release gives it its old place back. */
export function enqueue(state: State, task: TaskRecord, place: 'at the end' | 'where it was'): void {
  const { lane, snapshot } = task
  state.changes++
  if (claimableIn(state, lane).length === 0) catchUp(state, lane)
  if (place === 'at the end' || task.rank === null) task.rank = ++state.rankLast
  const ttlMs = snapshot.settings.queueTtlMs
  const expires = ttlMs === null ? null : laneTime(state, lane) + ttlMs
  task.state = { status: 'queued', since: state.now, expires, retired: false }
}

/** What is past its time about a queue entry, and since when; null if nothing is. */
export function overdueSince(
  state: State,
  task: TaskRecord,
): { readonly kind: 'queue_ttl' | 'deadline'; readonly since: number } | null {
  if (task.state.status !== 'queued') return null
  const { deadlineAt } = task.snapshot
  // The deadline binds the first generation only: an operator who redrives a task wants it to run.
  if (deadlineAt !== null && task.generation === 1 && state.now >= deadlineAt) {
    return { kind: 'deadline', since: deadlineAt }
  }
  const { expires } = task.state
  if (expires !== null && laneTime(state, task.lane) >= expires) {
    return { kind: 'queue_ttl', since: wallTime(state, task.lane, expires) }
  }
  return null
}

const runningIn = (state: State, scope: Scope): number =>
  [...state.tasks.values()].filter((task) => task.state.status === 'running' && scopeMatches(scope, task.lane)).length

/** The limits that cover a lane, with what runs under each. */
export const limitsOn = (state: State, place: Required<Scope>) =>
  everyLimit(state)
    .filter((limit) => scopeMatches(limit.scope, place))
    .sort(byScope)

export const everyLimit = (state: State) =>
  state.limits.map(({ scope, concurrency, rank }) => ({ scope, running: runningIn(state, scope), concurrency, rank }))

/** By pool, action and tenant; what is not given comes first. */
export function byScope(a: { readonly scope: Scope }, b: { readonly scope: Scope }): number {
  for (const part of ['pool', 'action', 'tenant'] as const) {
    const [first = '', second = ''] = [a.scope[part], b.scope[part]]
    if (first !== second) return first < second ? -1 : 1
  }
  return 0
}

export const hasRoom = (state: State, place: Required<Scope>): boolean =>
  limitsOn(state, place).every((limit) => limit.running < limit.concurrency) && fullBreakers(state, place) === null

/**
 * How many the breakers of a lane let run, if they let no more start for now; null if none holds it back. Those of all tenants
 * are one limit together, on the action, and the tenant's own another one, on its tasks of the action.
 */
function fullBreakers(state: State, place: Required<Scope>): number | null {
  const covering = [...state.breakers.values()].filter((breaker) => covers(breaker, place))
  const { action, tenant } = place
  return (
    fullLevel(
      state,
      covering.filter((breaker) => breaker.tenant === null),
      { action },
    ) ??
    fullLevel(
      state,
      covering.filter((breaker) => breaker.tenant !== null),
      { action, tenant },
    )
  )
}

/** The lowest of what breakers let run, on what started since the latest of them became half open; null if that has room. */
function fullLevel(state: State, breakers: readonly Breaker[], scope: Scope): number | null {
  let lowest = Number.POSITIVE_INFINITY
  let latest = Number.NEGATIVE_INFINITY
  for (const { settings, state: at } of breakers) {
    if (at.status !== 'half_open' && at.status !== 'ramping') continue
    lowest = Math.min(lowest, at.status === 'ramping' ? at.concurrency : settings.probes)
    latest = Math.max(latest, at.since)
  }
  return startedSince(state, scope, latest) >= lowest ? lowest : null
}

const startedSince = (state: State, scope: Scope, since: number): number =>
  [...state.tasks.values()].filter(
    ({ lane, state: at }) => scopeMatches(scope, lane) && at.status === 'running' && at.startedAt >= since,
  ).length

/** Throws if nothing may start in this lane now. */
export function checkSlot(state: State, place: Required<Scope>): void {
  const hold = state.holds.find((candidate) => scopeMatches(candidate.scope, place))
  if (hold !== undefined) throw new NoAvailableSlotError(`${scopeText(hold.scope)} (paused)`, 0)
  const open = openBreaker(state, place)
  if (open !== null) throw new NoAvailableSlotError(`breaker '${open.name}' (open)`, 0)
  const full = limitsOn(state, place).find((limit) => limit.running >= limit.concurrency)
  if (full !== undefined) throw new NoAvailableSlotError(scopeText(full.scope), full.concurrency)
  const probing = fullBreakers(state, place)
  if (probing !== null) throw new NoAvailableSlotError(`action '${place.action}' (breaker)`, probing)
}
