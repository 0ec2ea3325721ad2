// Dead letters: how a task becomes one and joins the failure group of its fingerprint. A group's size is the number of
// tasks that are dead with that fingerprint now, so leaving a group needs no code.

import type { DeadReason, Failure, Fingerprint } from '@reprise/core'
import { tally } from './journal.ts'
import type { Group, State, TaskRecord } from './state.ts'

export function deadLetter(state: State, task: TaskRecord, reason: DeadReason, failure: Failure): void {
  task.state = { status: 'dead', at: state.now, reason, failure }
  task.retryReason = null
  task.diedOf = failure.fingerprint
  tally(state, task, 'dead')
  const lastTask = task.snapshot.id
  const group = state.groups.find(({ fingerprint }) => fingerprint === failure.fingerprint)
  if (group !== undefined) {
    Object.assign(group, { lastAt: state.now, lastTask, sample: failure })
    return
  }
  const created: Group = {
    fingerprint: failure.fingerprint,
    action: task.lane.action,
    firstAt: state.now,
    lastAt: state.now,
    lastTask,
    sample: failure,
  }
  state.groups.push(created)
}

export const fingerprintOfDead = (task: TaskRecord): Fingerprint | null =>
  task.state.status === 'dead' ? task.state.failure.fingerprint : null
