// How attempts end. Every write is fenced by (task, attempt, token); what does not apply changes nothing and says why.

import {
  type Decision,
  type Execution,
  type Failure,
  type RetryQuota,
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  speaksAgainstWorker,
  type TaskStatus,
} from '@reprise/core'
import {
  ACTORS,
  badEndEntry,
  deadEntry,
  recoveredEntry,
  releasedEntry,
  STATUS_AFTER,
  succeededEntry,
  supersededEntry,
  workerActor,
} from '@reprise/core/engine'
import { tellFailure, tellSuccess } from './breakers.ts'
import { checkBatch } from './checks.ts'
import { deadLetter } from './dead-letter.ts'
import { note, tally } from './journal.ts'
import { enqueue, overdueSince } from './lane.ts'
import { causeFor, type Held, heldLease, isUnderWay } from './leases.ts'
import { placeRetry } from './quotas.ts'
import { progressed, witness } from './registry.ts'
import { nextToken, type State, type TaskRecord } from './state.ts'

type LeaseSettlement = Exclude<Settlement, { readonly kind: 'expired' }>
type EntrySettlement = Extract<Settlement, { readonly kind: 'expired' }>

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
  // Nothing of it has begun, so it can only be undone.
  if (isUnderWay(held.running) && settlement.kind !== 'released') return refuse(state, settlement, 'replaced')
  if (settlement.kind === 'lost' && settlement.gone !== true && held.running.leaseUntil > state.now)
    return refuse(state, settlement, 'renewed')
  const status = apply(state, held, settlement)
  state.changes++
  return { outcome: 'settled', status, repeated: false }
}

function apply(state: State, { task, running }: Held, settlement: LeaseSettlement): TaskStatus {
  const execution = task.executions.get(running.attempt)
  if (execution === undefined) throw new Error('A running task has an execution.')
  // An attempt that was launched, or never came to its worker, says nothing about anybody's health.
  const seenOf = running.stage === 'run' ? running.worker : null
  const { tenant } = task.lane
  const witnessed = (ok: boolean): void => (seenOf === null ? undefined : witness(state, seenOf, { tenant, ok }))
  if (seenOf !== null && settlement.kind !== 'lost') progressed(state, seenOf)
  switch (settlement.kind) {
    case 'succeeded':
      task.deferrals = 0
      task.executions.set(running.attempt, {
        ...unresolved(execution),
        status: 'succeeded',
        resolvedAt: state.now,
        ...NO_FAILURE,
      })
      task.state = { status: 'succeeded', at: state.now, result: settlement.result }
      tally(state, task, 'succeeded')
      tellSuccess(state, task.lane, running.startedAt)
      witnessed(true)
      if (task.retryReason !== null) {
        const { retryReason: reason, generation, diedOf } = task
        note(state, recoveredEntry(ended(task, execution), running.worker, { reason, generation, diedOf }))
      }
      if (task.snapshot.settings.notify === true) note(state, succeededEntry(ended(task, execution), running.worker))
      break
    case 'failed': {
      const { outage } = settlement
      const isParked = outage !== undefined && tellFailure(state, outage, task.lane, running.startedAt)
      task.deferrals = 0
      if (isParked) task.parks++
      else task.failures++
      tally(state, task, 'failed')
      const end = isParked ? { failure: settlement.failure, decision: outage.park } : settlement
      endExecution(state, task, unresolved(execution), 'failed', end)
      if (!isParked && speaksAgainstWorker(settlement)) witnessed(false)
      break
    }
    case 'lost':
      task.deferrals = 0
      task.losses++
      tally(state, task, 'lost')
      endExecution(state, task, unresolved(execution), 'lost', settlement)
      // Who registered again has begun anew.
      if (running.startedAt >= (state.workers.get(running.worker)?.registeredAt ?? 0)) witnessed(false)
      break
    case 'released':
      release(state, { task, running }, settlement)
  }
  return task.state.status
}

/** As if the attempt had never been; put off, if it is to be tried later. */
function release(
  state: State,
  { task, running }: Held,
  { reason, deferral }: Extract<Settlement, { readonly kind: 'released' }>,
): void {
  task.executions.delete(running.attempt)
  task.logs.delete(running.attempt)
  task.attempt--
  if (deferral === undefined) enqueue(state, task, 'where it was')
  else {
    task.deferrals++
    const dueAt = state.now + deferral.delayMs
    task.state = { status: 'waiting', since: state.now, dueAt, reason: deferral.reason, quota: null }
  }
  note(state, releasedEntry(task.snapshot.id, running.attempt, running.worker, reason))
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
    build: null,
    token: nextToken(state),
    dispatchedAt: state.now,
    retryReason: task.retryReason,
    taskSnapshot: task.snapshot,
  }
  endExecution(state, task, execution, 'expired', settlement)
  state.changes++
  return { outcome: 'settled', status: task.state.status, repeated: false }
}

type Unresolved = Pick<
  Execution,
  'taskId' | 'attempt' | 'generation' | 'worker' | 'build' | 'token' | 'dispatchedAt' | 'retryReason' | 'taskSnapshot'
>

const NO_FAILURE = { errorCode: null, errorMessage: null, failure: null, decision: null } as const

function unresolved(execution: Execution): Unresolved {
  const { taskId, attempt, generation, worker, build, token, dispatchedAt, retryReason, taskSnapshot } = execution
  return { taskId, attempt, generation, worker, build, token, dispatchedAt, retryReason, taskSnapshot }
}

interface BadEnd {
  readonly failure: Failure
  readonly decision: Decision
  readonly quota?: RetryQuota
}

/** Writes the failed or lost attempt, takes the task where the decision says, and notes it. */
function endExecution(
  state: State,
  task: TaskRecord,
  execution: Unresolved,
  kind: 'failed' | 'lost' | 'expired',
  { failure, decision, quota }: BadEnd,
): void {
  const { now } = state
  const { diedOf } = task
  task.executions.set(execution.attempt, {
    ...execution,
    status: kind === 'lost' ? 'lost' : 'failed',
    resolvedAt: now,
    errorCode: failure.code,
    errorMessage: failure.message,
    failure,
    decision,
  })
  let dueAt: number | null = null
  switch (decision.kind) {
    case 'retry': {
      const { reason } = decision
      const place = placeRetry(state, task, now + decision.delayMs, quota)
      dueAt = place.dueAt
      task.state = { status: 'waiting', since: now, reason, ...place }
      task.retryReason = reason
      tally(state, task, 'retried')
      break
    }
    case 'park':
      task.retryReason = decision.reason
      enqueue(state, task, 'at the end')
      break
    case 'dead':
      deadLetter(state, task, decision.reason, failure)
  }
  const { worker } = execution
  const actor = kind === 'failed' && worker !== null ? workerActor(worker) : ACTORS.sweep
  note(state, badEndEntry(kind, ended(task, execution), actor, failure, decision, dueAt, diedOf))
  if (decision.kind === 'dead' && task.snapshot.settings.notify === true) {
    note(state, deadEntry(ended(task, execution), actor, failure, decision))
  }
}

/** An attempt that has ended, as entries name it. */
const ended = ({ snapshot: { id, action } }: TaskRecord, { attempt }: Pick<Execution, 'attempt'>) => ({
  taskId: id,
  attempt,
  action,
})

/** If an earlier try of this very call took effect: the answer it got, or would have got. */
function repeatedStatus(state: State, settlement: Settlement): SettleResult | null {
  const { kind, ref } = settlement
  const task = state.tasks.get(ref.taskId)
  if (task === undefined) return null
  const execution = task.executions.get(ref.attempt)
  if (settlement.kind === 'released') {
    const isGone = execution === undefined && task.attempt < ref.attempt
    const status = settlement.deferral === undefined ? 'queued' : 'waiting'
    return isGone ? { outcome: 'settled', status, repeated: true } : null
  }
  if (execution === undefined || execution.status !== (kind === 'expired' ? 'failed' : kind)) return null
  const isSameCall =
    settlement.kind === 'expired' ? execution.worker === null : execution.token === settlement.ref.token
  if (!isSameCall) return null
  const { decision } = execution
  return { outcome: 'settled', status: decision === null ? 'succeeded' : STATUS_AFTER[decision.kind], repeated: true }
}

function refuse(state: State, { kind, ref }: Settlement, because: SupersededBecause): SettleResult {
  if ((kind === 'succeeded' || kind === 'failed') && state.tasks.has(ref.taskId)) {
    note(state, supersededEntry({ kind, ref }, because))
  }
  return { outcome: 'superseded', because }
}
