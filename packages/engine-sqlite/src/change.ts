// What operators do to many tasks: redrive, discard, cancel, promote, revert; and the retry of one. Bounded per call,
// resumable by cursor, one journal entry per task.

import {
  BATCH_MAX,
  type By,
  type ChangeKind,
  type ChangeRequest,
  type ChangeResult,
  type Decision,
  type Failure,
  type JournalEntryInput,
  operatorMayRetry,
  present,
  type RetryRequest,
  type RetryResult,
  type TaskId,
  type TaskStatus,
} from '@reprise/core'
import { checkChange, checkLimit, operatorRetries, pageCursor } from '@reprise/core/engine'
import { endedAttempt, endLease, recordAttempt } from './ending.ts'
import type { ExecutionRow } from './execution-rows.ts'
import { latestAttempt, scopeValues, snapshotOf, statusOf, type TaskRow } from './rows.ts'
import { CANCELLED, DISCARDED, EXECUTION_STATUS, RETIRED_PLACE } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

const APPLIES_TO: Readonly<Record<ChangeKind, ReadonlySet<TaskStatus>>> = {
  redrive: new Set<TaskStatus>(['dead']),
  discard: new Set<TaskStatus>(['dead']),
  cancel: new Set<TaskStatus>(['queued', 'waiting', 'running']),
  promote: new Set<TaskStatus>(['waiting']),
  revert: new Set<TaskStatus>(['queued', 'waiting', 'discarded']),
}

/** How many tasks one call looks at when no index leads to the right ones. */
const WINDOW = 10_000

export function change(transaction: Transaction, request: ChangeRequest): ChangeResult {
  const { kind, by, limit = BATCH_MAX } = request
  checkLimit(limit)
  checkChange(request)
  const { rows, next } = selectTasks(transaction, request, limit)
  const changed: TaskId[] = []
  for (const task of rows) {
    if (!APPLIES_TO[kind].has(statusOf(task))) continue
    if (kind === 'revert') {
      if (!revertOne(transaction, task, by)) continue
    } else applyTo(transaction, kind, task, by)
    changed.push(task.id)
  }
  return { changed, next }
}

function selectTasks(
  transaction: Transaction,
  request: ChangeRequest,
  limit: number,
): { readonly rows: Iterable<TaskRow>; readonly next: string | null } {
  const { db } = transaction
  const { kind } = request
  const after = pageCursor(request) ?? 0
  if ('ids' in request.select) {
    const { ids: all, generations } = request.select
    const found = new Map<TaskId, TaskRow>()
    for (let at = after; at < Math.min(after + limit, all.length); at++) {
      const row = db.get<TaskRow>('taskById', all[at] ?? '')
      if (row !== undefined && (generations?.[at] ?? row.generation) === row.generation) found.set(row.id, row)
    }
    return { rows: found.values(), next: after + limit < all.length ? String(after + limit) : null }
  }
  const scope = scopeValues(request.select)
  const { fingerprint } = request.select
  // Only dead letters have one: a fingerprint names nothing that could be cancelled or promoted.
  if (fingerprint !== undefined && (kind === 'cancel' || kind === 'promote')) return { rows: [], next: null }
  let last: number | null
  let seqs: { seq: number }[]
  if (kind === 'cancel') {
    const newest = db.get<{ seq: number }>('newestSeq')?.seq ?? 0
    const oldest = db.get<{ seq: number }>('oldestSeq')?.seq ?? 0
    const bottom = Math.max(after, oldest - 1)
    seqs = db.all('selectUnended', ...scope, bottom, limit, bottom + WINDOW)
    last = seqs.length === limit ? (seqs.at(-1)?.seq ?? bottom) : bottom + WINDOW
    if (last >= newest) last = null
  } else {
    if (kind === 'promote') seqs = db.all('selectWaiting', ...scope, after, limit)
    else if (fingerprint === undefined) seqs = db.all('selectDead', ...scope, after, limit)
    else seqs = db.all('selectDeadOfGroup', ...scope, after, limit, fingerprint)
    last = seqs.length === limit ? (seqs.at(-1)?.seq ?? null) : null
  }
  const rows = seqs.flatMap(({ seq }) => db.get<TaskRow>('taskBySeq', seq) ?? [])
  return { rows, next: last === null ? null : String(last) }
}

function applyTo(transaction: Transaction, kind: Exclude<ChangeKind, 'revert'>, task: TaskRow, by: By): void {
  switch (kind) {
    case 'redrive': {
      const generation = task.generation + 1
      leaveGroup(transaction, task)
      const unspent = { failures: 0, losses: 0, parks: 0, deferrals: 0, policy: null }
      requeue(transaction, task, {
        ...task,
        generation,
        attempt_base: task.attempt,
        ...unspent,
        retry_reason: 'manual',
      })
      note(transaction, 'task.redriven', task, by, { generation, ...keyNote(transaction, task) })
      return
    }
    case 'discard':
      leaveGroup(transaction, task)
      transaction.db.run('endTask', DISCARDED, transaction.now, task.attempt, task.seq)
      transaction.move(transaction.lane(task.lane), 'dead', 'discarded')
      note(transaction, 'task.discarded', task, by, { fingerprint: task.fingerprint })
      return
    case 'cancel':
      cancelOne(transaction, task, by)
      return
    case 'promote':
      leaveDelayQueue(transaction, task)
      requeue(transaction, task)
      note(transaction, 'task.promoted', task, by, {})
      return
  }
}

function cancelOne(transaction: Transaction, task: TaskRow, by: By): void {
  const { db, now } = transaction
  const lane = transaction.lane(task.lane)
  const from = statusOf(task)
  if (from === 'waiting') leaveDelayQueue(transaction, task)
  else if (from === 'queued') leaveQueue(transaction, task)
  else {
    endLease(db, task.seq, task.lease_stage)
    recordAttempt(transaction, { ...task, attempt: task.lease_attempt ?? 0 }, 'cancelled', {
      worker: task.lease_worker_number,
      token: task.lease_token ?? 0,
      dispatchedAt: task.lease_started_at ?? 0,
    })
  }
  db.run('endTask', CANCELLED, now, task.lease_attempt ?? task.attempt, task.seq)
  transaction.move(lane, from, 'cancelled')
  transaction.count(lane, 'cancelled')
  transaction.ended(task.id)
  note(transaction, 'task.cancelled', task, by, { from, ...present({ diedOf: task.fingerprint ?? undefined }) })
}

/** Takes back a redrive whose task has not started since, or a discard. False if there is nothing to take back. */
function revertOne(transaction: Transaction, task: TaskRow, by: By): boolean {
  const { db } = transaction
  const from = statusOf(task)
  const isUnstarted = task.generation > 1 && task.attempt === task.attempt_base
  if (from !== 'discarded' && !isUnstarted) return false
  const last = db.get<ExecutionRow>('executionOf', task.seq, task.attempt)
  const decision = JSON.parse(last?.decision ?? 'null') as Decision | null
  const failure = JSON.parse(last?.failure ?? 'null') as Failure | null
  if (last === undefined || failure === null || decision?.kind !== 'dead') return false
  const lane = transaction.lane(task.lane)
  if (from === 'waiting') leaveDelayQueue(transaction, task)
  else if (from === 'queued') leaveQueue(transaction, task)
  db.run('reviveDead', last.resolved_at, decision.reason, failure.fingerprint, task.seq)
  db.run('rejoinFailureGroup', failure.fingerprint)
  transaction.move(lane, from, 'dead')
  transaction.ended(task.id)
  note(transaction, 'task.reverted', task, by, { from, fingerprint: failure.fingerprint })
  return true
}

function leaveQueue(transaction: Transaction, task: TaskRow): void {
  transaction.db.run('deleteReady', task.lane, task.place, task.rank)
  if (task.place !== RETIRED_PLACE) transaction.lane(task.lane).ready--
}

/** An operator's retry of one failed task, within its budget (A8, A9). */
export function retry(transaction: Transaction, id: TaskId, { by, maxRetries, policy }: RetryRequest): RetryResult {
  const task = transaction.db.get<TaskRow>('taskById', id)
  if (task === undefined) return { outcome: 'not_found' }
  if (task.lease_attempt !== null) return { outcome: 'wrong_status', status: 'running' }
  const latest = endedAttempt(transaction.db, task, latestAttempt(task))
  if (latest === undefined) return { outcome: 'not_found' }
  const latestStatus = EXECUTION_STATUS[latest.status]
  if (latestStatus !== 'failed') return { outcome: 'wrong_status', status: latestStatus }
  const status = statusOf(task)
  if (status !== 'dead' && status !== 'waiting') return { outcome: 'wrong_status', status }
  const { settings } = snapshotOf(task)
  if (!operatorMayRetry(settings, task, maxRetries))
    return { outcome: 'exhausted', budget: operatorRetries(settings, maxRetries) }
  if (status === 'dead') leaveGroup(transaction, task)
  else leaveDelayQueue(transaction, task)
  requeue(transaction, task, { ...task, retry_reason: 'manual', policy: policy ?? task.policy })
  const attempt = task.attempt + 1
  note(transaction, 'task.retried', task, by, { attempt, ...present({ policy }), ...keyNote(transaction, task) })
  return { outcome: 'queued', attempt }
}

/** `as` says what is kept of what the task has spent. */
function requeue(transaction: Transaction, task: TaskRow, as: TaskRow = task): void {
  const lane = transaction.lane(task.lane)
  const rank = saveRequeued(transaction, as)
  transaction.move(lane, statusOf(task), 'queued')
  transaction.enqueue(lane, as, rank, transaction.profiles.settingsOf(task.profile))
}

/** Writes a task as one that is queued. Answers its rank. */
export function saveRequeued(transaction: Transaction, as: TaskRow): number {
  const { generation, attempt_base, failures, losses, parks, deferrals, retry_reason, policy, seq } = as
  const spent = [generation, attempt_base, failures, losses, parks, deferrals]
  const rank = transaction.nextRank()
  transaction.db.run('requeueTask', transaction.now, rank, ...spent, retry_reason, policy, seq)
  return rank
}

function leaveGroup(transaction: Transaction, task: TaskRow): void {
  transaction.db.run('leaveFailureGroup', task.fingerprint)
}

function leaveDelayQueue(transaction: Transaction, task: TaskRow): void {
  transaction.db.run('deleteWaiting', task.pool, task.due_at, task.seq)
}

/** Whether it goes on without its dedupe key, because another task has taken that. */
function keyNote({ db }: Transaction, { seq, dedupe_key }: TaskRow): { readonly withoutKey?: true } {
  const isLost = dedupe_key !== null && db.get<{ lost: 0 | 1 | null }>('hasLostKey', seq)?.lost === 1
  return isLost ? { withoutKey: true } : {}
}

function note(
  transaction: Transaction,
  type: JournalEntryInput['type'],
  task: TaskRow,
  by: By,
  data: JournalEntryInput['data'],
): void {
  const attempt = task.lease_attempt ?? (task.attempt === 0 ? null : task.attempt)
  transaction.journal({ type, taskId: task.id, attempt, actor: by.actor, reason: by.reason, data })
}
