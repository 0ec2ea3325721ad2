// Tasks that come from elsewhere, with the attempts that they had there.

import type { Failure, TaskPast, WaitReason } from '@reprise/core'
import { importedData, standingAfter } from '@reprise/core/engine'
import { note } from './journal.ts'
import { type Group, nextToken, type State, type TaskRecord } from './state.ts'

/** The task as it is after its past: a dead letter, or one that goes on. */
export function bringPast(state: State, task: TaskRecord, past: TaskPast): void {
  const { dead, died, ...spent } = standingAfter(past)
  Object.assign(task, spent, { diedOf: died?.failure.fingerprint ?? null })
  for (const { failure, ...one } of past.attempts) {
    task.executions.set(one.attempt, {
      ...one,
      failure,
      errorCode: failure.code,
      errorMessage: failure.message,
      taskId: task.snapshot.id,
      token: nextToken(state),
      taskSnapshot: task.snapshot,
    })
  }
  if (dead !== null) {
    task.state = { status: 'dead', ...dead }
    joinGroupOfThen(state, task, dead)
    return
  }
  if (died !== null) knowGroup(state, task, { at: died.resolvedAt, failure: died.failure })
  if (task.state.status === 'waiting' && spent.retryReason !== null) {
    const reason: WaitReason = spent.retryReason
    task.state = { ...task.state, reason }
  }
}

/** It died when it died: a group reaches back to its first, and shows the latest. */
function joinGroupOfThen(state: State, task: TaskRecord, death: Death): void {
  const { at, failure } = death
  const group = knowGroup(state, task, death)
  group.firstAt = Math.min(group.firstAt, at)
  if (at >= group.lastAt) Object.assign(group, { lastAt: at, lastTask: task.snapshot.id, sample: failure })
}

interface Death {
  readonly at: number
  readonly failure: Failure
}

/** The group of this cause, also if nobody is in it: a task that came back from it may return to it. */
function knowGroup(state: State, { snapshot, lane }: TaskRecord, { at, failure }: Death): Group {
  const { fingerprint } = failure
  const known = state.groups.find((one) => one.fingerprint === fingerprint)
  if (known !== undefined) return known
  const { action } = lane
  const group: Group = { fingerprint, action, firstAt: at, lastAt: at, lastTask: snapshot.id, sample: failure }
  state.groups.push(group)
  return group
}

export function noteImported(
  state: State,
  { snapshot, lane, attempt, state: { status } }: TaskRecord,
  past: TaskPast,
): void {
  if (status !== 'dead' && status !== 'queued' && status !== 'waiting') return
  const { actor, reason } = past.by
  const data = importedData(past, lane.action, status)
  const entry = { type: 'task.imported', taskId: snapshot.id, attempt: attempt === 0 ? null : attempt } as const
  note(state, { ...entry, actor, reason, data })
}
