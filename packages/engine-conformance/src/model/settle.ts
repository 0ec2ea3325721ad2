// How attempts go on and end: renew, settle, and the list of what is past its time. Every write is fenced by
// (task, attempt, token); what does not apply changes nothing and says why.

import {
  blamesWorker,
  type Decision,
  type Execution,
  type ExpiredResult,
  type Failure,
  type LeaseRef,
  type Overdue,
  type RenewRequest,
  type RenewResult,
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  type TaskStatus,
  TIMEOUT_GRACE_MS,
} from '@reprise/core'
import { bury } from './bury.ts'
import { checkBatch, checkLeaseMs, checkLimit } from './checks.ts'
import { note, tally } from './journal.ts'
import { enqueue, overdueSince } from './lane.ts'
import { witness } from './registry.ts'
import { nextToken, type State, type TaskRecord } from './state.ts'

type Running = Extract<TaskRecord['state'], { readonly status: 'running' }>
type LeaseSettlement = Exclude<Settlement, { readonly kind: 'expired' }>
type EntrySettlement = Extract<Settlement, { readonly kind: 'expired' }>

export function renew(state: State, leases: readonly RenewRequest[], leaseMs: number): readonly RenewResult[] {
  checkBatch(leases, 'leases')
  checkLeaseMs(leaseMs)
  return leases.map((lease) => {
    const held = heldLease(state, lease)
    if (held === null) return { outcome: 'superseded', because: causeFor(state, lease) }
    const { task, running } = held
    const missedMs = Math.max(state.now - (task.renewedAt ?? running.startedAt) - leaseMs, 0)
    const timeoutAt = running.timeoutAt + missedMs
    const asked = Math.min(state.now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
    const leaseUntil = Math.max(running.leaseUntil, asked)
    task.state = { ...running, leaseUntil, timeoutAt, progress: lease.progress ?? running.progress }
    task.renewedAt = state.now
    return { outcome: 'extended', leaseUntil }
  })
}

function heldLease(state: State, ref: LeaseRef): { readonly task: TaskRecord; readonly running: Running } | null {
  const task = state.tasks.get(ref.taskId)
  if (task?.state.status !== 'running') return null
  const isHeld = task.state.attempt === ref.attempt && task.state.token === ref.token
  return isHeld ? { task, running: task.state } : null
}

/** Why a lease or an entry is no longer what the caller thinks. */
function causeFor(state: State, ref: Settlement['ref']): SupersededBecause {
  const task = state.tasks.get(ref.taskId)
  const execution = task?.executions.get(ref.attempt)
  if (execution !== undefined) return execution.status === 'running' ? 'replaced' : execution.status
  return task !== undefined && task.attempt < ref.attempt ? 'released' : 'unknown'
}

export function settle(state: State, settlements: readonly Settlement[]): readonly SettleResult[] {
  checkBatch(settlements, 'settlements')
  return settlements.map((settlement) =>
    settlement.kind === 'expired' ? settleEntry(state, settlement) : settleLease(state, settlement),
  )
}

function settleLease(state: State, settlement: LeaseSettlement): SettleResult {
  const held = heldLease(state, settlement.ref)
  if (held === null)
    return repeatedStatus(state, settlement) ?? refuse(state, settlement, causeFor(state, settlement.ref))
  if (settlement.kind === 'lost' && held.running.leaseUntil > state.now) return refuse(state, settlement, 'renewed')
  return { outcome: 'settled', status: apply(state, held.task, held.running, settlement), repeated: false }
}

function apply(state: State, task: TaskRecord, running: Running, settlement: LeaseSettlement): TaskStatus {
  const execution = task.executions.get(running.attempt)
  if (execution === undefined) throw new Error('A running task has an execution.')
  switch (settlement.kind) {
    case 'succeeded':
      task.executions.set(running.attempt, {
        ...unresolved(execution),
        status: 'succeeded',
        resolvedAt: state.now,
        ...NO_FAILURE,
      })
      task.state = { status: 'succeeded', at: state.now, result: settlement.result }
      tally(state, task, 'succeeded')
      witness(state, running.worker, true)
      break
    case 'failed':
      task.failures++
      tally(state, task, 'failed')
      endBadly(state, task, unresolved(execution), 'failed', settlement)
      if (blamesWorker(settlement.failure)) witness(state, running.worker, false)
      break
    case 'lost':
      task.losses++
      tally(state, task, 'lost')
      endBadly(state, task, unresolved(execution), 'lost', settlement)
      break
    case 'released': {
      const { reason } = settlement
      task.executions.delete(running.attempt)
      task.attempt--
      enqueue(state, task, 'where it was')
      note(state, {
        type: 'execution.released',
        taskId: task.snapshot.id,
        attempt: running.attempt,
        actor: `worker:${running.worker}`,
        reason,
        data: {},
      })
    }
  }
  state.changes++
  return task.state.status
}

function settleEntry(state: State, settlement: EntrySettlement): SettleResult {
  const { ref } = settlement
  const task = state.tasks.get(ref.taskId)
  if (task?.state.status !== 'queued' || task.attempt + 1 !== ref.attempt) {
    return repeatedStatus(state, settlement) ?? refuse(state, settlement, causeFor(state, ref))
  }
  if (overdueSince(state, task) === null) return refuse(state, settlement, 'renewed')
  task.attempt++
  task.failures++
  tally(state, task, 'failed')
  const execution: Unresolved = {
    taskId: ref.taskId,
    attempt: ref.attempt,
    generation: task.generation,
    worker: null,
    token: nextToken(state),
    dispatchedAt: state.now,
    retryReason: task.retryReason,
    taskSnapshot: task.snapshot,
  }
  endBadly(state, task, execution, 'expired', settlement)
  state.changes++
  return { outcome: 'settled', status: task.state.status, repeated: false }
}

type Unresolved = Pick<
  Execution,
  'taskId' | 'attempt' | 'generation' | 'worker' | 'token' | 'dispatchedAt' | 'retryReason' | 'taskSnapshot'
>

const NO_FAILURE = { errorCode: null, errorMessage: null, failure: null, decision: null } as const

function unresolved(execution: Execution): Unresolved {
  const { taskId, attempt, generation, worker, token, dispatchedAt, retryReason, taskSnapshot } = execution
  return { taskId, attempt, generation, worker, token, dispatchedAt, retryReason, taskSnapshot }
}

/** Writes the failed or lost attempt, takes the task where the decision says, and notes it. */
function endBadly(
  state: State,
  task: TaskRecord,
  execution: Unresolved,
  kind: 'failed' | 'lost' | 'expired',
  { failure, decision }: { readonly failure: Failure; readonly decision: Decision },
): void {
  const { now } = state
  task.executions.set(execution.attempt, {
    ...execution,
    status: kind === 'lost' ? 'lost' : 'failed',
    resolvedAt: now,
    errorCode: failure.code,
    errorMessage: failure.message,
    failure,
    decision,
  })
  const dueAt = decision.kind === 'retry' ? now + decision.delayMs : null
  if (decision.kind === 'retry') {
    task.state = { status: 'waiting', since: now, dueAt: now + decision.delayMs, reason: decision.reason }
    task.retryReason = decision.reason
    tally(state, task, 'retried')
  } else {
    bury(state, task, decision.reason, failure)
  }
  note(state, {
    type: `execution.${kind}`,
    taskId: execution.taskId,
    attempt: execution.attempt,
    actor: kind === 'failed' ? `worker:${execution.worker}` : 'sweep',
    reason: decision.sentence,
    data: {
      code: failure.code,
      reason: failure.reason,
      fingerprint: failure.fingerprint,
      decision: decision.kind,
      detail: decision.reason,
      dueAt,
    },
  })
}

/** If an earlier try of this very call took effect: the answer it got, or would have got. */
function repeatedStatus(state: State, settlement: Settlement): SettleResult | null {
  const { kind, ref } = settlement
  const task = state.tasks.get(ref.taskId)
  if (task === undefined) return null
  const execution = task.executions.get(ref.attempt)
  if (kind === 'released') {
    const isGone = execution === undefined && task.attempt < ref.attempt
    return isGone ? { outcome: 'settled', status: 'queued', repeated: true } : null
  }
  if (execution === undefined || execution.status !== (kind === 'expired' ? 'failed' : kind)) return null
  const isSameCall =
    settlement.kind === 'expired' ? execution.worker === null : execution.token === settlement.ref.token
  if (!isSameCall) return null
  const status = execution.decision === null ? 'succeeded' : execution.decision.kind === 'retry' ? 'waiting' : 'dead'
  return { outcome: 'settled', status, repeated: true }
}

function refuse(state: State, { kind, ref }: Settlement, because: SupersededBecause): SettleResult {
  if ((kind === 'succeeded' || kind === 'failed') && state.tasks.has(ref.taskId)) {
    note(state, {
      type: 'execution.superseded',
      taskId: ref.taskId,
      attempt: ref.attempt,
      actor: 'caller',
      reason: `${kind} refused: ${because}`,
      data: { kind, because },
    })
  }
  return { outcome: 'superseded', because }
}

/** Leases first, then queue entries, each by how long they are overdue. */
export function expired(state: State, limit: number): ExpiredResult {
  checkLimit(limit)
  const { now } = state
  const leases: Overdue[] = []
  const entries: Overdue[] = []
  for (const task of state.tasks.values()) {
    const { snapshot, generation, failures, losses } = task
    if (task.state.status === 'running' && task.state.leaseUntil <= now) {
      const { attempt, token, worker, leaseUntil, timeoutAt } = task.state
      const ref = { taskId: snapshot.id, attempt, token }
      leases.push({
        kind: task.renewedAt !== null && task.renewedAt >= timeoutAt ? 'timeout' : 'lease',
        ref,
        worker,
        snapshot,
        generation,
        failures,
        losses,
        since: leaseUntil,
      })
    }
    const overdue = overdueSince(state, task)
    if (overdue !== null) {
      const ref = { taskId: snapshot.id, attempt: task.attempt + 1 }
      entries.push({ ...overdue, ref, snapshot, generation, failures, losses })
    }
  }
  const bySince = (a: Overdue, b: Overdue): number => a.since - b.since
  return { overdue: [...leases.sort(bySince), ...entries.sort(bySince)].slice(0, limit), now }
}
