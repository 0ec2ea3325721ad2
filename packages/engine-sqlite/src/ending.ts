// What an attempt's end leaves behind: the record of a bad one and where its task goes, and what later calls find when they
// ask about an attempt that has ended.

import type {
  Decision,
  Failure,
  LeaseRef,
  ParkDecision,
  RetryQuota,
  SettleResult,
  SupersededBecause,
  TaskStatus,
} from '@reprise/core'
import { badEndEntry, deadEntry, STATUS_AFTER } from '@reprise/core/engine'
import type { Database } from './database.ts'
import { type ExecutionRow, successRowOf } from './execution-rows.ts'
import { placeRetry } from './quotas.ts'
import { expiresAtOf, type LeaseRow, latestAttempt, parseToken, type TaskRow } from './rows.ts'
import { DEAD, EXECUTION_NUMBER, EXECUTION_STATUS, STAGE_NUMBER, WAITING } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

interface Ending {
  readonly kind: 'failed' | 'lost' | 'expired'
  readonly from: TaskStatus
  readonly actor: string
  /** The number of worker and build; null if the attempt had none. */
  readonly worker: number | null
  readonly token: number
  readonly dispatchedAt: number
}

type EndingTask = Pick<
  LeaseRow,
  | 'seq'
  | 'id'
  | 'lane'
  | 'profile'
  | 'attempt'
  | 'generation'
  | 'failures'
  | 'losses'
  | 'deferrals'
  | 'retry_reason'
  | 'fingerprint'
>

interface BadEnd {
  readonly failure: Failure
  readonly decision: Decision
  readonly quota?: RetryQuota
}

/** Ends an attempt badly. Its task goes where the decision says: into the delay queue, or among the dead letters. */
export function endExecution(
  transaction: Transaction,
  task: EndingTask,
  ending: Ending,
  { failure, decision, quota }: BadEnd,
): TaskStatus {
  const { db, now } = transaction
  const lane = transaction.lane(task.lane)
  const isLost = ending.kind === 'lost'
  const place = decision.kind === 'retry' ? placeRetry(transaction, lane, now + decision.delayMs, quota) : null
  const dueAt = place?.dueAt ?? null
  recordAttempt(transaction, task, ending.kind === 'lost' ? 'lost' : 'failed', ending, { failure, decision })
  const isDead = decision.kind === 'dead'
  db.run(
    'taskAfterBadEnd',
    isDead ? DEAD : WAITING,
    now,
    dueAt,
    isDead ? null : decision.reason,
    place?.quota ?? null,
    isDead ? null : decision.reason,
    isDead ? decision.reason : null,
    isDead ? failure.fingerprint : null,
    task.attempt,
    task.failures + (isLost ? 0 : 1),
    task.losses + (isLost ? 1 : 0),
    ending.kind === 'expired' ? task.deferrals : 0,
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
  const ended = { taskId: task.id, attempt: task.attempt, action: lane.action }
  transaction.journal(badEndEntry(ending.kind, ended, ending.actor, failure, decision, dueAt, task.fingerprint))
  if (isDead && transaction.profiles.settingsOf(task.profile).notify === true) {
    transaction.journal(deadEntry(ended, ending.actor, failure, decision))
  }
  return status
}

/** Parks a failed attempt: it is not charged, and its task goes back to the end of the queue, where a breaker holds it. */
export function parkAttempt(
  transaction: Transaction,
  task: LeaseRow,
  ending: Ending,
  failure: Failure,
  decision: ParkDecision,
): TaskStatus {
  const { db, now } = transaction
  const lane = transaction.lane(task.lane)
  const rank = transaction.nextRank()
  recordAttempt(transaction, task, ending.kind === 'lost' ? 'lost' : 'failed', ending, { failure, decision })
  db.run('parkTask', rank, now, decision.reason, task.attempt, task.seq)
  transaction.move(lane, ending.from, 'queued')
  transaction.count(lane, 'failed')
  transaction.enqueue(lane, task, rank, transaction.profiles.settingsOf(task.profile))
  const ended = { taskId: task.id, attempt: task.attempt, action: lane.action }
  transaction.journal(badEndEntry(ending.kind, ended, ending.actor, failure, decision, null, null))
  return 'queued'
}

/** Writes the record of an attempt that did not succeed. */
export function recordAttempt(
  { db, now }: Transaction,
  task: Pick<EndingTask, 'seq' | 'attempt' | 'generation' | 'retry_reason'>,
  status: Exclude<keyof typeof EXECUTION_NUMBER, 'succeeded'>,
  { worker, token, dispatchedAt }: Pick<Ending, 'worker' | 'token' | 'dispatchedAt'>,
  end: { readonly failure: Failure; readonly decision: Decision } | null = null,
): void {
  const ran = [worker, token, dispatchedAt, now]
  const why = [
    task.retry_reason,
    ...(end === null ? [null, null] : [JSON.stringify(end.failure), JSON.stringify(end.decision)]),
  ]
  db.run('insertExecution', task.seq, task.attempt, task.generation, EXECUTION_NUMBER[status], ...ran, ...why)
}

export function overdueKind(task: TaskRow, now: number): 'deadline' | 'queue_ttl' | null {
  if (task.deadline_at !== null && task.generation === 1 && now >= task.deadline_at) return 'deadline'
  const expiresAt = expiresAtOf(task, now)
  return expiresAt !== null && now >= expiresAt ? 'queue_ttl' : null
}

/** The lease that a call names, if the attempt still runs under this token. */
export function heldLease(db: Database, ref: LeaseRef): LeaseRow | undefined {
  const parsed = parseToken(ref.token)
  const lease = parsed === null ? undefined : db.get<LeaseRow>('leaseBySeq', parsed.seq)
  const isHeld = lease?.token === parsed?.token && lease?.attempt === ref.attempt && lease.id === ref.taskId
  return isHeld ? lease : undefined
}

/** Deletes a lease, of whatever stage. */
export function endLease(db: Database, seq: number, stage: number | null): void {
  db.run('deleteLease', seq)
  if (stage === STAGE_NUMBER.inbox) db.run('deleteInbox', seq)
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
  return { outcome: 'settled', status: STATUS_AFTER[decision.kind], repeated: true }
}

/** Why a lease of this attempt is not held any more. */
export function becauseOf(transaction: Transaction, task: TaskRow | undefined, attempt: number): SupersededBecause {
  if (task === undefined) return 'unknown'
  const ended = endedAttempt(transaction.db, task, attempt)
  if (ended !== undefined) return EXECUTION_STATUS[ended.status]
  if (task.lease_attempt === attempt) return 'replaced'
  return latestAttempt(task) < attempt ? 'released' : 'unknown'
}
