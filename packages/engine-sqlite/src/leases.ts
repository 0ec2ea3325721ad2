// Renewing leases, and finding what is past its time.

import {
  type ExpiredResult,
  type Overdue,
  type RenewRequest,
  type RenewResult,
  TIMEOUT_GRACE_MS,
  type WorkerId,
} from '@reprise/core'
import { attemptLogText, checkBatch, checkLeaseMs, checkLimit } from '@reprise/core/engine'
import type { Database } from './database.ts'
import { becauseOf, heldLease, overdueKind } from './ending.ts'
import { saveLog } from './logs.ts'
import { expiresAtOf, isUnderWay, type LeaseRow, snapshotOf, spentOf, type TaskRow, tokenText } from './rows.ts'
import type { Transaction } from './transaction.ts'

export function renew(transaction: Transaction, leases: readonly RenewRequest[], leaseMs: number): RenewResult[] {
  checkBatch(leases.length)
  checkLeaseMs(leaseMs)
  const logs = leases.map(({ log }) => (log === undefined ? null : attemptLogText(log)))
  return leases.map((request, index) => renewOne(transaction, request, leaseMs, logs[index] ?? null))
}

function renewOne(transaction: Transaction, request: RenewRequest, leaseMs: number, log: string | null): RenewResult {
  const { db, now } = transaction
  const lease = heldLease(db, request)
  if (lease === undefined) {
    const task = db.get<TaskRow>('taskById', request.taskId)
    return { outcome: 'superseded', because: becauseOf(transaction, task, request.attempt) }
  }
  const { timeoutAt, until } = extension(lease, leaseMs, now)
  db.run(
    'renewLease',
    until,
    timeoutAt,
    now,
    request.progress === null ? null : JSON.stringify(request.progress),
    request.handle ?? null,
    lease.seq,
  )
  if (log !== null) saveLog(db, lease.seq, lease.attempt, log)
  return { outcome: 'extended', leaseUntil: Math.max(lease.until, until) }
}

function extension(
  lease: LeaseRow,
  leaseMs: number,
  now: number,
): { readonly timeoutAt: number; readonly until: number } {
  if (isUnderWay(lease.stage)) return { timeoutAt: lease.timeout_at, until: now + leaseMs }
  // A worker that was due to renew and could not, or a clock that jumped: such time does not count as run.
  const missedMs = Math.max(now - (lease.renewed_at ?? lease.started_at) - leaseMs, 0)
  const timeoutAt = lease.timeout_at + missedMs
  return { timeoutAt, until: Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS) }
}

/** Only looks. Leases first, then queue entries. A worker counts as silent when it was not heard of for `staleMs`. */
export function expired({ db, now, hasInboxes }: Transaction, limit: number, staleMs: number): ExpiredResult {
  checkLimit(limit)
  const overdue: Overdue[] = []
  for (const { seq, since } of endedLeases(db, limit, now, hasInboxes ? staleMs : null)) {
    const task = db.get<TaskRow>('taskBySeq', seq)
    if (task !== undefined) overdue.push(overdueLease(task, since))
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

interface EndedLease {
  readonly seq: number
  readonly since: number
}

/** Leases whose time is up, and those in the inbox of a worker that is silent or gone (if any lies in one); longest ago first. */
function endedLeases(db: Database, limit: number, now: number, staleMs: number | null): readonly EndedLease[] {
  const ended = db.all<EndedLease>('expiredLeases', now, limit)
  const undelivered = staleMs === null ? [] : db.all<EndedLease>('undeliveredLeases', now, staleMs, limit)
  if (undelivered.length === 0) return ended
  // One that is in both counts since it became undelivered.
  const bySeq = new Map([...ended, ...undelivered].map((lease) => [lease.seq, lease]))
  return [...bySeq.values()].sort((a, b) => a.since - b.since || a.seq - b.seq).slice(0, limit)
}

function overdueLease(task: TaskRow, since: number): Overdue {
  // Renewed past its time-out: the worker lives, the attempt is stuck. Otherwise the worker is what went missing.
  const isStuck = task.lease_renewed_at !== null && task.lease_renewed_at >= (task.lease_timeout_at ?? 0)
  return {
    kind: isUnderWay(task.lease_stage ?? 0) ? 'undelivered' : isStuck ? 'timeout' : 'lease',
    ref: { taskId: task.id, attempt: task.lease_attempt ?? 0, token: tokenText(task.lease_token ?? 0, task.seq) },
    worker: task.lease_worker ?? ('' as WorkerId),
    ...factsOf(task),
    startedAt: task.lease_started_at,
    since,
  }
}

function overdueEntry(task: TaskRow, now: number): Overdue | null {
  const kind = overdueKind(task, now)
  if (kind === null) return null
  return {
    kind,
    ref: { taskId: task.id, attempt: task.attempt + 1 },
    ...factsOf(task),
    startedAt: null,
    since: (kind === 'deadline' ? task.deadline_at : expiresAtOf(task, now)) ?? now,
  }
}

const factsOf = (task: TaskRow) => ({
  snapshot: snapshotOf(task),
  ...spentOf(task),
  acceptedAt: task.accepted_at,
})
