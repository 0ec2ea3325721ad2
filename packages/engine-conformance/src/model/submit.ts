// Acceptance: each id once, one task per idempotency key, all of a batch or nothing when the backlog is full.

import { BacklogFullError, type Snapshot, type SubmitResult, type TaskId, type TaskSpec } from '@reprise/core'
import { checkBatch } from './checks.ts'
import { tally } from './journal.ts'
import { enqueue, laneFor } from './lane.ts'
import type { State, TaskRecord } from './state.ts'

export function submit(state: State, specs: readonly TaskSpec[]): readonly SubmitResult[] {
  checkBatch(specs, 'tasks')
  const added = countNew(state, specs)
  const backlog = [...state.tasks.values()].filter(
    ({ state: { status } }) => status === 'queued' || status === 'waiting',
  )
  if (added > 0 && backlog.length + added > state.backlogMax) {
    throw new BacklogFullError(backlog.length, added, state.backlogMax)
  }
  return specs.map((spec) => {
    const holder = holderOf(state, spec)
    if (holder !== null) return { outcome: 'duplicate', id: holder }
    accept(state, spec, 0)
    return { outcome: 'accepted', id: spec.id }
  })
}

/** The task that already has this id or this idempotency key; null if none has. */
export function holderOf(state: State, spec: TaskSpec): TaskId | null {
  if (state.tasks.has(spec.id)) return spec.id
  if (spec.dedupeKey === null) return null
  const holder = [...state.tasks.values()].find(
    ({ snapshot }) => snapshot.tenant === spec.tenant && snapshot.dedupeKey === spec.dedupeKey,
  )
  return holder === undefined ? null : holder.snapshot.id
}

/** How many of them would be accepted, seen in order. */
function countNew(state: State, specs: readonly TaskSpec[]): number {
  const fresh: TaskSpec[] = []
  for (const spec of specs) {
    const isTaken =
      holderOf(state, spec) !== null ||
      fresh.some(
        (other) =>
          other.id === spec.id ||
          (spec.dedupeKey !== null && other.dedupeKey === spec.dedupeKey && other.tenant === spec.tenant),
      )
    if (!isTaken) fresh.push(spec)
  }
  return fresh.length
}

/** Creates the task, queued or waiting, with this many attempts behind it. */
export function accept(state: State, spec: TaskSpec, attempt: number): TaskRecord {
  const { now } = state
  const { delayMs, dueAt, deadlineMs, ...asked } = spec
  const deadlines = [spec.deadlineAt, deadlineMs === null ? null : now + deadlineMs].filter((at) => at !== null)
  const snapshot: Snapshot = { ...asked, deadlineAt: deadlines.length === 0 ? null : Math.min(...deadlines) }
  const due = Math.max(dueAt ?? 0, now + delayMs)
  const task: TaskRecord = {
    snapshot,
    seq: ++state.seqLast,
    acceptedAt: now,
    lane: laneFor(state, snapshot),
    executions: new Map(),
    generation: 1,
    attempt,
    attemptsBefore: 0,
    failures: 0,
    losses: 0,
    parks: 0,
    deferrals: 0,
    retryReason: null,
    renewedAt: null,
    assignedAs: null,
    rank: null,
    state: { status: 'waiting', since: now, dueAt: due, reason: 'delayed', quota: null },
  }
  if (due <= now) enqueue(state, task, 'at the end')
  state.tasks.set(spec.id, task)
  tally(state, task, 'accepted')
  state.changes++
  return task
}
