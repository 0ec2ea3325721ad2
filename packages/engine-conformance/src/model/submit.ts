// Acceptance: each id once, one task at a time for each dedupe key, all of a batch or nothing when the backlog is full.

import {
  BacklogFullError,
  checkPast,
  type Snapshot,
  type SubmitResult,
  type TaskSpec,
  type TaskStatus,
} from '@reprise/core'
import { keyUntil, taskDifferences } from '@reprise/core/engine'
import { checkBatch } from './checks.ts'
import { tally } from './journal.ts'
import { enqueue, laneFor } from './lane.ts'
import { bringPast, noteImported } from './past.ts'
import type { State, TaskRecord } from './state.ts'

export function submit(state: State, specs: readonly TaskSpec[]): readonly SubmitResult[] {
  checkBatch(specs, 'tasks')
  for (const { id, past } of specs) checkPast(id, past)
  const added = countNew(state, specs)
  const backlog = [...state.tasks.values()].filter(
    ({ state: { status } }) => status === 'queued' || status === 'waiting',
  )
  if (added > 0 && backlog.length + added > state.maxBacklog) {
    throw new BacklogFullError(backlog.length, added, state.maxBacklog)
  }
  return specs.map((spec) => {
    const holder = holderOf(state, spec)
    if (holder !== null) return repeatOf(holder, spec)
    accept(state, spec, 0)
    return { outcome: 'accepted', id: spec.id }
  })
}

/** What a submission hears whose id or key is taken: the same again, or something else under the same name. */
function repeatOf({ snapshot }: TaskRecord, spec: TaskSpec): SubmitResult {
  const differs = taskDifferences(snapshot, spec)
  const { id } = snapshot
  return differs.length === 0 ? { outcome: 'duplicate', id } : { outcome: 'conflict', id, differs }
}

/** The task that already has this id or holds this dedupe key; null if none does. */
export function holderOf(state: State, spec: TaskSpec): TaskRecord | null {
  const own = state.tasks.get(spec.id)
  if (own !== undefined) return own
  return sharing(state, spec).find((task) => holdsKey(state, task)) ?? null
}

/** The tasks with the dedupe key of this one, which belongs to its tenant and action. */
const sharing = (state: State, { tenant, action, dedupeKey }: TaskSpec): TaskRecord[] =>
  [...state.tasks.values()].filter(({ snapshot }) => {
    return (
      dedupeKey !== null && snapshot.dedupeKey === dedupeKey && snapshot.tenant === tenant && snapshot.action === action
    )
  })

const LIVE: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['queued', 'waiting', 'running'])

export const holdsKey = ({ now }: State, { state: { status }, keyUntil: until }: TaskRecord): boolean =>
  until === null ? LIVE.has(status) : now < until

/** How many of them would be accepted, seen in order. */
function countNew(state: State, specs: readonly TaskSpec[]): number {
  const fresh: TaskSpec[] = []
  for (const spec of specs) {
    const isTaken =
      holderOf(state, spec) !== null ||
      fresh.some(
        (other) =>
          other.id === spec.id ||
          (spec.dedupeKey !== null &&
            other.dedupeKey === spec.dedupeKey &&
            other.tenant === spec.tenant &&
            other.action === spec.action),
      )
    if (!isTaken) fresh.push(spec)
  }
  return fresh.length
}

/** A moment that is past. */
export const KEY_LOST = 0

/** Creates the task, queued or waiting, with this many attempts behind it. */
export function accept(state: State, spec: TaskSpec, attempt: number): TaskRecord {
  const { now } = state
  const { delayMs, dueAt, deadlineMs, dedupeMs: _life, past, ...asked } = spec
  const deadlines = [spec.deadlineAt, deadlineMs === null ? null : now + deadlineMs].filter((at) => at !== null)
  const snapshot: Snapshot = { ...asked, deadlineAt: deadlines.length === 0 ? null : Math.min(...deadlines) }
  const due = Math.max(dueAt ?? 0, now + delayMs)
  const task: TaskRecord = {
    snapshot,
    seq: ++state.seqLast,
    acceptedAt: now,
    lane: laneFor(state, snapshot),
    executions: new Map(),
    logs: new Map(),
    generation: 1,
    attempt,
    attemptsBefore: 0,
    failures: 0,
    losses: 0,
    parks: 0,
    deferrals: 0,
    policy: null,
    retryReason: null,
    diedOf: null,
    renewedAt: null,
    assignedAs: null,
    rank: null,
    keyUntil: keyUntil(spec, now),
    state: { status: 'waiting', since: now, dueAt: due, reason: 'delayed', quota: null },
  }
  // A dead letter that had the key has lost it, whatever becomes of it.
  for (const other of sharing(state, spec)) other.keyUntil ??= KEY_LOST
  if (past !== undefined) bringPast(state, task, past)
  if (due <= now && task.state.status !== 'dead') enqueue(state, task, 'at the end')
  state.tasks.set(spec.id, task)
  tally(state, task, 'accepted')
  if (past !== undefined) noteImported(state, task, past)
  state.changes++
  return task
}
