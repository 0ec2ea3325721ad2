// Leases that are not run by the one that claimed them: a dispatcher assigns them to a worker's inbox, where the worker collects
// them; a launcher looks after its own.

import {
  type Assignment,
  type AssignResult,
  BATCH_MAX,
  type Claimed,
  type ClaimRequest,
  type HealthThresholds,
  isAlive,
  type Launch,
  type LaunchPage,
  type LaunchQuery,
  TIMEOUT_GRACE_MS,
  type WorkerId,
} from '@reprise/core'
import { assessHealth, checkBatch, checkLeaseMs, pageLimit } from '@reprise/core/engine'
import { buildText } from './builds.ts'
import type { Database } from './database.ts'
import { becauseOf, heldLease } from './ending.ts'
import { evidenceOf, workerWithInbox } from './registry.ts'
import { snapshotOf, spentOf, type TaskRow, tokenText } from './rows.ts'
import { STAGE_NUMBER } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

export function assign(
  transaction: Transaction,
  assignments: readonly Assignment[],
  thresholds: HealthThresholds,
): AssignResult[] {
  checkBatch(assignments.length)
  for (const { ttlMs } of assignments) checkLeaseMs(ttlMs)
  return assignments.map((assignment) => assignOne(transaction, assignment, thresholds))
}

function assignOne(transaction: Transaction, assignment: Assignment, thresholds: HealthThresholds): AssignResult {
  const { db, now } = transaction
  const lease = heldLease(db, assignment)
  if (lease?.stage !== STAGE_NUMBER.dispatch) {
    const task = db.get<TaskRow>('taskById', assignment.taskId)
    return { outcome: 'superseded', because: becauseOf(transaction, task, assignment.attempt) }
  }
  const { worker, ttlMs } = assignment
  const row = workerWithInbox(db, worker)
  if (row === undefined || row.draining === 1) return { outcome: 'stale' }
  const evidence = evidenceOf(row)
  const isFit =
    assignment.regardless === true || !thresholds.enabled
      ? isAlive(evidence, now, thresholds.heartbeatStaleMs)
      : assessHealth(evidence, now, thresholds).status !== 'unhealthy'
  if (!isFit) return { outcome: 'stale' }
  const token = transaction.nextToken()
  const workerNumber = transaction.workerNames.idOf(worker, buildText(row, 'inbox'))
  db.run('assignLease', token, workerNumber, now + ttlMs, lease.seq)
  db.run('insertInbox', lease.seq, workerNumber, token)
  transaction.hasInboxes = true
  transaction.wakeInbox(worker)
  return { outcome: 'assigned' }
}

/** What lies in a worker's inbox becomes its own, oldest first. Only now those attempts begin. */
export function collect(transaction: Transaction, request: ClaimRequest, limit: number): Claimed[] {
  const { db, now } = transaction
  // Where only some actions are meant, what lies before theirs is passed over.
  const only = request.regardless === true && request.actions !== null ? new Set<string>(request.actions) : null
  const rows = db.all<{ seq: number }>('inboxOf', request.worker, now, only === null ? limit : BATCH_MAX)
  if (rows.length === 0) {
    if (db.get('anyInbox') === undefined) transaction.hasInboxes = false
    return []
  }
  const tasks = rows.map(({ seq }) => {
    const task = db.get<TaskRow>('taskBySeq', seq)
    if (task === undefined) throw new Error(`The task of lease ${seq} vanished.`)
    return task
  })
  const meant = only === null ? tasks : tasks.filter(({ action }) => only.has(action)).slice(0, limit)
  return meant.map((task) => {
    const { seq } = task
    const token = transaction.nextToken()
    const timeoutAt = now + transaction.profiles.settingsOf(task.profile).timeoutMs
    const leaseUntil = Math.min(now + request.leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
    db.run('deleteInbox', seq)
    db.run('collectLease', token, now, leaseUntil, timeoutAt, seq)
    return {
      ...leaseFacts(task),
      token: tokenText(token, seq),
      retryReason: task.retry_reason,
      startedAt: now,
      leaseUntil,
      timeoutAt,
    }
  })
}

export function listLaunches(db: Database, query: LaunchQuery, now: number): LaunchPage {
  const limit = pageLimit(query)
  const rows = db.all<TaskRow>('launchesOfPool', query.pool, query.cursor ?? '', limit + 1)
  const items = rows.slice(0, limit).map(launchOf)
  return { items, next: rows.length > limit ? (items.at(-1)?.taskId ?? null) : null, now }
}

function launchOf(task: TaskRow): Launch {
  return {
    ...leaseFacts(task),
    token: tokenText(task.lease_token ?? 0, task.seq),
    worker: task.lease_worker ?? ('' as WorkerId),
    handle: task.lease_handle,
    startedAt: task.lease_started_at ?? 0,
    leaseUntil: task.lease_until ?? 0,
    timeoutAt: task.lease_timeout_at ?? 0,
  }
}

const leaseFacts = (task: TaskRow) => ({
  taskId: task.id,
  attempt: task.lease_attempt ?? 0,
  snapshot: snapshotOf(task),
  ...spentOf(task),
  acceptedAt: task.accepted_at,
})
