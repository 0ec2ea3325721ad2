// Reserving one attempt that an outside message asks for: the same step as a claim, with the message's attempt number
// as the idempotency gate (A2) and the ceiling checked for every sender (A6).

import {
  BudgetExhaustedError,
  type Claimed,
  ConflictError,
  DuplicateExecutionError,
  NoAvailableSlotError,
  type RepriseError,
  type ReserveRequest,
  TaskConflictError,
} from '@reprise/core'
import { ACTORS, attemptCeiling, checkReserve, taskDifferences } from '@reprise/core/engine'
import { tellTime } from './breakers.ts'
import { saveRequeued } from './change.ts'
import { laneHolder } from './gates.ts'
import type { Lane } from './lane.ts'
import { LeaseStarter } from './lease-starter.ts'
import type { WorkerRow } from './registry.ts'
import { limitRooms, roomsOver } from './rooms.ts'
import { latestAttempt, type ScopeRow, snapshotOf, spentOf, statusOf, type TaskRow } from './rows.ts'
import { RETIRED_PLACE } from './stored-numbers.ts'
import { acceptTask, differencesFrom, holderOf } from './submit.ts'
import type { Transaction } from './transaction.ts'

/**
 * The reserved execution, or the refusal: returned, not thrown, since a dropped message leaves a journal entry, and one that
 * finds no slot what time has made of the breakers.
 */
export function reserve(transaction: Transaction, request: ReserveRequest): Claimed | RepriseError {
  checkReserve(request)
  const { db } = transaction
  const { task: spec, attempt } = request
  const known = db.get<TaskRow>('taskById', spec.id)
  const differs = known === undefined ? [] : taskDifferences(known, spec)
  if (differs.length > 0) return new TaskConflictError(spec.id, differs)
  const base = known === undefined ? 0 : known.attempt_base + known.losses + known.parks
  const maxAttempt =
    base + attemptCeiling(known === undefined ? spec.settings : snapshotOf(known).settings, request.maxRetries)
  if (attempt > maxAttempt) return dropMessage(transaction, request, maxAttempt)
  const refusal = known === undefined ? keyRefusal(transaction, request) : refusalFor(known, attempt)
  if (refusal !== null) return refusal
  tellTime(transaction)
  const full = slotRefusal(transaction, known ?? spec)
  if (full !== null) return full
  if (known === undefined) acceptTask(transaction, { ...spec, delayMs: 0, dueAt: null }, attempt - 1)
  const task = known ?? db.get<TaskRow>('taskById', spec.id)
  if (task === undefined) throw new Error(`Task '${spec.id}' vanished.`)
  const lane = transaction.lane(task.lane)
  return takeOut(transaction, lane, task, request)
}

function dropMessage(transaction: Transaction, request: ReserveRequest, maxAttempt: number): RepriseError {
  const error = new BudgetExhaustedError(request.task.id, request.attempt, maxAttempt)
  transaction.journal({
    type: 'message.dropped',
    taskId: request.task.id,
    attempt: request.attempt,
    actor: ACTORS.caller,
    reason: error.message,
    data: { attempt: request.attempt },
  })
  return error
}

function refusalFor(task: TaskRow, attempt: number): RepriseError | null {
  const status = statusOf(task)
  const latest = latestAttempt(task)
  if (attempt <= latest || status === 'succeeded' || status === 'cancelled' || status === 'discarded')
    return new DuplicateExecutionError(task.id, attempt)
  if (status === 'running')
    return new ConflictError(
      `Task '${task.id}' is running attempt ${latest}; attempt ${attempt} can start when that has ended.`,
    )
  if (attempt > latest + 1)
    return new ConflictError(`Task '${task.id}' is at attempt ${latest}; attempt ${attempt} would leave a gap.`)
  return null
}

function keyRefusal(transaction: Transaction, { task, attempt }: ReserveRequest): RepriseError | null {
  const holder = holderOf(transaction, task)
  if (holder === undefined) return null
  const differs = differencesFrom(transaction.db, holder, task)
  return differs.length === 0 ? new DuplicateExecutionError(task.id, attempt) : new TaskConflictError(holder, differs)
}

/** Asked before a lane is created: a refusal leaves nothing behind. */
function slotRefusal(transaction: Transaction, lane: ScopeRow): RepriseError | null {
  const holder = laneHolder(transaction, lane)
  if (holder !== null) return new NoAvailableSlotError(holder, 0)
  const full = roomsOver(limitRooms(transaction), lane).find((room) => room.left <= 0)
  return full === undefined ? null : new NoAvailableSlotError(full.of, full.concurrency)
}

/** Takes the task from where it stands and starts its lease. */
function takeOut(transaction: Transaction, lane: Lane, task: TaskRow, request: ReserveRequest): Claimed {
  const { db } = transaction
  const from = statusOf(task) as 'queued' | 'waiting' | 'dead'
  let retryReason = task.retry_reason
  if (from === 'queued') {
    db.run('deleteReady', task.lane, task.place, task.rank)
    if (task.place !== RETIRED_PLACE) lane.ready--
  } else {
    if (from === 'waiting') db.run('deleteWaiting', task.pool, task.due_at, task.seq)
    else {
      db.run('leaveFailureGroup', task.fingerprint)
      retryReason = 'manual'
    }
    saveRequeued(transaction, { ...task, retry_reason: retryReason })
  }
  const snapshot = snapshotOf(task)
  const row = db.get<WorkerRow>('findWorker', request.worker)
  const leases = new LeaseStarter(transaction, request.worker, row, request.leaseMs, request.stage ?? 'run')
  const lease = leases.start(lane, {
    seq: task.seq,
    id: task.id,
    attempt: request.attempt,
    from,
    settings: snapshot.settings,
  })
  leases.flush()
  return {
    ...lease,
    snapshot,
    ...spentOf(task),
    retryReason,
    acceptedAt: task.accepted_at,
  }
}
