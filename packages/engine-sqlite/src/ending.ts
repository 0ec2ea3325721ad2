// What an attempt's end leaves behind: the record of a bad one and where its task goes, and what later calls find when they
// ask about an attempt that has ended.

import type { Decision, Failure, SettleResult, SupersededBecause, TaskStatus, WorkerId } from '@reprise/core'
import type { Database } from './database.ts'
import {
  DEAD,
  EXECUTION_NUMBER,
  EXECUTION_STATUS,
  type ExecutionRow,
  expiresAtOf,
  type LeaseRow,
  latestAttempt,
  successRowOf,
  type TaskRow,
  WAITING,
} from './rows.ts'
import type { Transaction } from './transaction.ts'

interface Ending {
  readonly kind: 'failed' | 'lost' | 'expired'
  readonly from: TaskStatus
  readonly actor: string
  readonly worker: WorkerId | null
  readonly token: number
  readonly dispatchedAt: number
}

type EndingTask = Pick<
  LeaseRow,
  'seq' | 'id' | 'lane' | 'attempt' | 'generation' | 'failures' | 'losses' | 'retry_reason'
>

/** Writes an attempt's bad end and lays its task where the decision says: in the delay queue, or among the dead letters. */
export function rest(
  transaction: Transaction,
  task: EndingTask,
  ending: Ending,
  failure: Failure,
  decision: Decision,
): TaskStatus {
  const { db, now } = transaction
  const lane = transaction.lane(task.lane)
  const isLost = ending.kind === 'lost'
  const dueAt = decision.kind === 'retry' ? now + decision.delayMs : null
  db.run(
    'insertExecution',
    task.seq,
    task.attempt,
    task.generation,
    EXECUTION_NUMBER[isLost ? 'lost' : 'failed'],
    ending.worker === null ? null : transaction.workerNames.idOf(ending.worker),
    ending.token,
    ending.dispatchedAt,
    now,
    task.retry_reason,
    JSON.stringify(failure),
    JSON.stringify(decision),
  )
  const isDead = decision.kind === 'dead'
  db.run(
    'restTask',
    isDead ? DEAD : WAITING,
    now,
    dueAt,
    isDead ? null : decision.reason,
    isDead ? null : decision.reason,
    isDead ? decision.reason : null,
    isDead ? failure.fingerprint : null,
    task.attempt,
    task.failures + (isLost ? 0 : 1),
    task.losses + (isLost ? 1 : 0),
    task.seq,
  )
  const status = isDead ? 'dead' : 'waiting'
  transaction.move(lane, ending.from, status)
  transaction.count(lane, isLost ? 'lost' : 'failed')
  transaction.count(lane, isDead ? 'dead' : 'retried')
  if (isDead) {
    db.run('upsertFailureGroup', failure.fingerprint, lane.action, now, now, task.id, JSON.stringify(failure))
    transaction.ended(task.id)
  } else if (dueAt !== null) {
    db.run('insertWaiting', lane.pool, dueAt, task.seq)
    transaction.wakePool(lane.pool)
  }
  transaction.journal({
    type: `execution.${ending.kind}`,
    taskId: task.id,
    attempt: task.attempt,
    actor: ending.actor,
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
  return status
}

export function overdueKind(task: TaskRow, now: number): 'deadline' | 'queue_ttl' | null {
  if (task.deadline_at !== null && task.generation === 1 && now >= task.deadline_at) return 'deadline'
  const expiresAt = expiresAtOf(task, now)
  return expiresAt !== null && now >= expiresAt ? 'queue_ttl' : null
}

/** The record of an ended attempt. */
export function endedAttempt(db: Database, task: TaskRow, attempt: number): ExecutionRow | undefined {
  if (attempt === task.success_attempt) return successRowOf(task)
  return db.get<ExecutionRow>('executionOf', task.seq, attempt)
}

/** The answer that the first of two equal calls got. */
export function repeated(ended: ExecutionRow): SettleResult {
  if (EXECUTION_STATUS[ended.status] === 'succeeded') return { outcome: 'settled', status: 'succeeded', repeated: true }
  const decision = JSON.parse(ended.decision ?? 'null') as Decision
  return { outcome: 'settled', status: decision.kind === 'retry' ? 'waiting' : 'dead', repeated: true }
}

/** Why a lease of this attempt is not held any more. */
export function becauseOf(transaction: Transaction, task: TaskRow | undefined, attempt: number): SupersededBecause {
  if (task === undefined) return 'unknown'
  const ended = endedAttempt(transaction.db, task, attempt)
  if (ended !== undefined) return EXECUTION_STATUS[ended.status]
  if (task.lease_attempt === attempt) return 'replaced'
  return latestAttempt(task) < attempt ? 'released' : 'unknown'
}
