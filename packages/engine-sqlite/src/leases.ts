// Renewing leases, and finding what is past its time.

import {
  checkBatch,
  checkLeaseMs,
  checkLimit,
  type ExpiredResult,
  type Overdue,
  type RenewRequest,
  type RenewResult,
  TIMEOUT_GRACE_MS,
  type WorkerId,
} from '@reprise/core'
import type { Database } from './database.ts'
import { becauseOf, overdueKind } from './ending.ts'
import { expiresAtOf, type LeaseRow, parseToken, snapshotOf, type TaskRow, tokenText } from './rows.ts'
import type { Transaction } from './transaction.ts'

export function renew(transaction: Transaction, leases: readonly RenewRequest[], leaseMs: number): RenewResult[] {
  checkBatch(leases.length)
  checkLeaseMs(leaseMs)
  return leases.map((request) => renewOne(transaction, request, leaseMs))
}

function renewOne(transaction: Transaction, request: RenewRequest, leaseMs: number): RenewResult {
  const { db, now } = transaction
  const parsed = parseToken(request.token)
  const lease = parsed === null ? undefined : db.get<LeaseRow>('leaseBySeq', parsed.seq)
  if (
    lease === undefined ||
    lease.token !== parsed?.token ||
    lease.attempt !== request.attempt ||
    lease.id !== request.taskId
  ) {
    return {
      outcome: 'superseded',
      because: becauseOf(transaction, db.get<TaskRow>('taskById', request.taskId), request.attempt),
    }
  }
  // A worker that was due to renew and could not, or a clock that jumped: such time does not count as run.
  const missedMs = Math.max(now - (lease.renewed_at ?? lease.started_at) - leaseMs, 0)
  const timeoutAt = lease.timeout_at + missedMs
  const until = Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
  db.run(
    'renewLease',
    until,
    timeoutAt,
    now,
    request.progress === null ? null : JSON.stringify(request.progress),
    lease.seq,
  )
  return { outcome: 'extended', leaseUntil: Math.max(lease.until, until) }
}

/** Only looks. Leases first, then queue entries. */
export function expired(db: Database, limit: number, now: number): ExpiredResult {
  checkLimit(limit)
  const overdue: Overdue[] = []
  for (const { seq } of db.all<{ seq: number }>('expiredLeases', now, limit)) {
    const task = db.get<TaskRow>('taskBySeq', seq)
    if (task !== undefined) overdue.push(overdueLease(task))
  }
  const seen = new Set<number>()
  for (const source of ['retiredEntries', 'entriesPastDeadline', 'entriesPastTtl'] as const) {
    const room = limit - overdue.length
    if (room <= 0) break
    const rows =
      source === 'retiredEntries' ? db.all<{ seq: number }>(source, room) : db.all<{ seq: number }>(source, now, room)
    for (const { seq } of rows) {
      if (seen.has(seq)) continue
      seen.add(seq)
      const task = db.get<TaskRow>('taskBySeq', seq)
      const entry = task === undefined ? null : overdueEntry(task, now)
      if (entry !== null) overdue.push(entry)
    }
  }
  return { overdue, now }
}

function overdueLease(task: TaskRow): Overdue {
  // Renewed past its time-out: the worker lives, the attempt is stuck. Otherwise the worker is what went missing.
  const isStuck = task.lease_renewed_at !== null && task.lease_renewed_at >= (task.lease_timeout_at ?? 0)
  return {
    kind: isStuck ? 'timeout' : 'lease',
    ref: { taskId: task.id, attempt: task.lease_attempt ?? 0, token: tokenText(task.lease_token ?? 0, task.seq) },
    worker: task.lease_worker ?? ('' as WorkerId),
    snapshot: snapshotOf(task),
    generation: task.generation,
    failures: task.failures,
    losses: task.losses,
    since: task.lease_until ?? 0,
  }
}

function overdueEntry(task: TaskRow, now: number): Overdue | null {
  const kind = overdueKind(task, now)
  if (kind === null) return null
  return {
    kind,
    ref: { taskId: task.id, attempt: task.attempt + 1 },
    snapshot: snapshotOf(task),
    generation: task.generation,
    failures: task.failures,
    losses: task.losses,
    since: (kind === 'deadline' ? task.deadline_at : expiresAtOf(task, now)) ?? now,
  }
}
