// Leases that are not run by the one that claimed them: a dispatcher assigns them to a worker's inbox, where the worker collects
// them; a launcher looks after its own.

import {
  type Assignment,
  type AssignResult,
  type Claimed,
  type ClaimRequest,
  isAlive,
  type Launch,
  type LaunchPage,
  type LaunchQuery,
  present,
  TIMEOUT_GRACE_MS,
} from '@reprise/core'
import { pageLimit } from '@reprise/core/engine'
import { checkBatch, checkLeaseMs } from './checks.ts'
import { causeFor, heldLease, retoken } from './leases.ts'
import { buildOf, healthOf } from './registry.ts'
import type { State, TaskRecord } from './state.ts'

export function assign(state: State, assignments: readonly Assignment[]): readonly AssignResult[] {
  checkBatch(assignments, 'assignments')
  for (const { ttlMs } of assignments) checkLeaseMs(ttlMs)
  return assignments.map((assignment) => assignOne(state, assignment))
}

function assignOne(state: State, assignment: Assignment): AssignResult {
  const held = heldLease(state, assignment)
  if (held?.running.stage !== 'dispatch') return { outcome: 'superseded', because: causeFor(state, assignment) }
  const worker = state.workers.get(assignment.worker)
  if (worker === undefined || worker.draining) return { outcome: 'stale' }
  const { enabled, heartbeatStaleMs } = state.healthThresholds
  const isAnyHealth = assignment.regardless === true || !enabled
  const isFit = isAnyHealth
    ? isAlive(worker, state.now, heartbeatStaleMs)
    : healthOf(state, worker).status !== 'unhealthy'
  if (!isFit) return { outcome: 'stale' }
  const { task } = held
  const build = buildOf(state, assignment.worker, 'inbox')
  retoken(state, task, { worker: assignment.worker, stage: 'inbox', leaseUntil: state.now + assignment.ttlMs }, build)
  task.assignedAs = state.tokenLast
  state.changes++
  return { outcome: 'assigned' }
}

/** A worker takes what lies in its inbox, oldest first. Only now its attempts begin. */
export function collect(state: State, request: ClaimRequest, limit: number): Claimed[] {
  const { now } = state
  return [...state.tasks.values()]
    .filter(
      ({ state: at }) =>
        at.status === 'running' && at.stage === 'inbox' && at.worker === request.worker && at.leaseUntil > now,
    )
    .filter(
      ({ lane }) => request.regardless !== true || request.actions === null || request.actions.includes(lane.action),
    )
    .sort((a, b) => (a.assignedAs ?? 0) - (b.assignedAs ?? 0))
    .slice(0, limit)
    .map((task) => {
      const timeoutAt = now + task.snapshot.settings.timeoutMs
      const leaseUntil = Math.min(now + request.leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
      retoken(state, task, { stage: 'run', startedAt: now, leaseUntil, timeoutAt })
      task.renewedAt = null
      return claimedOf(task)
    })
}

/** A lease as the one who holds it is told of it. */
export function claimedOf(task: TaskRecord): Claimed {
  const { state, snapshot, generation, failures, losses, parks, deferrals, policy, retryReason, acceptedAt } = task
  if (state.status !== 'running') throw new Error('Only a running task has a lease.')
  const { attempt, token, startedAt, leaseUntil, timeoutAt } = state
  return {
    taskId: snapshot.id,
    attempt,
    token,
    snapshot,
    generation,
    failures,
    losses,
    parks,
    deferrals,
    ...present({ policy }),
    retryReason,
    acceptedAt,
    startedAt,
    leaseUntil,
    timeoutAt,
  }
}

export function launches(state: State, query: LaunchQuery): LaunchPage {
  const limit = pageLimit(query)
  const { cursor, pool } = query
  const rest = [...state.tasks.values()]
    .filter(({ lane }) => lane.pool === pool)
    .flatMap((task) => launchOf(task) ?? [])
    .filter(({ taskId }) => cursor === undefined || taskId > cursor)
    .sort((a, b) => (a.taskId < b.taskId ? -1 : 1))
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit ? (items.at(-1)?.taskId ?? null) : null, now: state.now }
}

function launchOf(task: TaskRecord): Launch | null {
  if (task.state.status !== 'running' || task.state.stage !== 'launch') return null
  const { worker, handle } = task.state
  const { retryReason: _reason, ...lease } = claimedOf(task)
  return { ...lease, worker, handle }
}
