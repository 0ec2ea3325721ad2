// Rows as SQLite holds them, and the domain values they stand for. The only place that knows the status numbers.

import type {
  ActionName,
  DeadReason,
  Decision,
  Execution,
  Failure,
  Fingerprint,
  JsonText,
  LeaseToken,
  PoolName,
  Priority,
  Progress,
  RetryToken,
  Scope,
  Snapshot,
  Task,
  TaskId,
  TaskSettings,
  TaskState,
  TaskStatus,
  TenantId,
  WaitReason,
  WorkerId,
} from '@reprise/core'

/** tasks.status. A live task is queued, running or succeeded, by the row it has beside this one. */
export const LIVE = 0
export const WAITING = 1
export const DEAD = 4
export const DISCARDED = 5
export const CANCELLED = 6

/** Statuses that have an index of their own. */
export const SET_ASIDE_NUMBER = { dead: DEAD, discarded: DISCARDED, cancelled: CANCELLED } as const

/** executions.status, by number. */
export const EXECUTION_STATUS = ['running', 'succeeded', 'failed', 'lost', 'cancelled'] as const
export const EXECUTION_NUMBER = { succeeded: 1, failed: 2, lost: 3, cancelled: 4 } as const

export const RETIRED_PLACE = 100

export interface TaskRow {
  readonly seq: number
  readonly id: TaskId
  readonly lane: number
  readonly profile: number
  readonly status: number
  readonly priority: Priority
  readonly generation: number
  readonly attempt: number
  readonly attempt_base: number
  readonly failures: number
  readonly losses: number
  readonly accepted_at: number
  readonly since: number
  readonly rank: number | null
  readonly due_at: number | null
  readonly deadline_at: number | null
  readonly wait_reason: WaitReason | null
  readonly retry_reason: WaitReason | null
  readonly dead_reason: DeadReason | null
  readonly fingerprint: Fingerprint | null
  readonly retry_token: RetryToken | null
  readonly dedupe_key: string | null
  readonly labels: string | null
  readonly result: JsonText | null
  readonly payload: JsonText
  readonly pool: PoolName
  readonly action: ActionName
  readonly tenant: TenantId
  readonly held_since: number | null
  readonly held_ms: number
  readonly settings: string
  readonly place: number | null
  readonly queued_since: number | null
  readonly expires: number | null
  readonly lease_attempt: number | null
  readonly lease_token: number | null
  readonly lease_worker: WorkerId | null
  readonly lease_started_at: number | null
  readonly lease_until: number | null
  readonly lease_timeout_at: number | null
  readonly lease_renewed_at: number | null
  readonly lease_progress: string | null
  readonly success_attempt: number | null
  readonly success_token: number | null
  readonly success_worker: WorkerId | null
  readonly success_dispatched_at: number | null
  readonly success_resolved_at: number | null
  readonly failure: string | null
}

export interface ExecutionRow {
  readonly seq: number
  readonly attempt: number
  readonly generation: number
  readonly status: 1 | 2 | 3 | 4
  readonly worker: WorkerId | null
  readonly token: number
  readonly dispatched_at: number
  readonly resolved_at: number
  readonly retry_reason: WaitReason | null
  readonly failure: string | null
  readonly decision: string | null
}

/** A lease with what ending or renewing it needs of its task. */
export interface LeaseRow {
  readonly seq: number
  readonly attempt: number
  readonly token: number
  readonly worker: WorkerId
  readonly started_at: number
  readonly until: number
  readonly timeout_at: number
  readonly renewed_at: number | null
  readonly id: TaskId
  readonly lane: number
  readonly profile: number
  readonly generation: number
  readonly failures: number
  readonly losses: number
  readonly retry_reason: string | null
  readonly priority: Priority
  readonly rank: number
  readonly deadline_at: number | null
}

export interface ScopeRow {
  readonly pool: string
  readonly action: string
  readonly tenant: string
}

/** '' stands for any. */
export function scopeOfRow(row: ScopeRow): Scope {
  return {
    ...(row.pool === '' ? {} : { pool: row.pool as PoolName }),
    ...(row.action === '' ? {} : { action: row.action as ActionName }),
    ...(row.tenant === '' ? {} : { tenant: row.tenant as TenantId }),
  }
}

export function scopeValues(scope: Scope): [pool: string, action: string, tenant: string] {
  return [scope.pool ?? '', scope.action ?? '', scope.tenant ?? '']
}

// The token a caller sees names the task's row, so that a settlement finds its lease without a search by id.
export function tokenText(token: number, seq: number): LeaseToken {
  return `${token}.${seq}` as LeaseToken
}

/** Token and seq of a token text; null if this store did not make it. */
export function parseToken(text: string): { readonly token: number; readonly seq: number } | null {
  const dot = text.indexOf('.')
  const token = Number(text.slice(0, dot))
  const seq = Number(text.slice(dot + 1))
  return dot > 0 && Number.isSafeInteger(token) && Number.isSafeInteger(seq) && token > 0 && seq > 0
    ? { token, seq }
    : null
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({})

export function labelsOf(text: string | null): Readonly<Record<string, string>> {
  return text === null ? NO_LABELS : (JSON.parse(text) as Record<string, string>)
}

export function statusOf(row: TaskRow): TaskStatus {
  switch (row.status) {
    case LIVE:
      if (row.success_attempt !== null) return 'succeeded'
      return row.lease_attempt === null ? 'queued' : 'running'
    case WAITING:
      return 'waiting'
    case DEAD:
      return 'dead'
    case DISCARDED:
      return 'discarded'
    default:
      return 'cancelled'
  }
}

/** The highest attempt that was reserved. */
export function latestAttempt(row: TaskRow): number {
  return row.lease_attempt ?? row.success_attempt ?? row.attempt
}

export function snapshotOf(row: TaskRow): Snapshot {
  return {
    id: row.id,
    action: row.action,
    pool: row.pool,
    tenant: row.tenant,
    payload: row.payload,
    labels: labelsOf(row.labels),
    priority: row.priority,
    settings: JSON.parse(row.settings) as TaskSettings,
    retryToken: row.retry_token ?? (row.id as string as RetryToken),
    dedupeKey: row.dedupe_key,
    deadlineAt: row.deadline_at,
  }
}

export function taskOf(row: TaskRow, now: number): Task {
  return {
    ...snapshotOf(row),
    acceptedAt: row.accepted_at,
    generation: row.generation,
    attempt: latestAttempt(row),
    failures: row.failures,
    losses: row.losses,
    state: stateOf(row, now),
  }
}

/** When the entry outlives its TTL, as wall-clock time. */
export function expiresAtOf(row: Pick<TaskRow, 'expires' | 'held_since' | 'held_ms'>, now: number): number | null {
  if (row.expires === null) return null
  const laneTime = (row.held_since ?? now) - row.held_ms
  return row.expires + (now - laneTime)
}

function stateOf(row: TaskRow, now: number): TaskState {
  const status = statusOf(row)
  switch (status) {
    case 'queued':
      return { status, since: row.queued_since ?? row.since, expiresAt: expiresAtOf(row, now) }
    case 'waiting':
      return { status, since: row.since, dueAt: row.due_at ?? row.since, reason: row.wait_reason ?? 'delayed' }
    case 'running':
      return {
        status,
        attempt: row.lease_attempt ?? 0,
        worker: row.lease_worker ?? ('' as WorkerId),
        token: tokenText(row.lease_token ?? 0, row.seq),
        startedAt: row.lease_started_at ?? 0,
        leaseUntil: row.lease_until ?? 0,
        timeoutAt: row.lease_timeout_at ?? 0,
        progress: row.lease_progress === null ? null : (JSON.parse(row.lease_progress) as Progress),
      }
    case 'succeeded':
      return { status, at: row.success_resolved_at ?? row.since, result: row.result }
    case 'dead':
      return {
        status,
        at: row.since,
        reason: row.dead_reason ?? 'not_retriable',
        failure: JSON.parse(row.failure ?? 'null') as Failure,
      }
    case 'discarded':
    case 'cancelled':
      return { status, at: row.since }
  }
}

export function executionOf(row: ExecutionRow, task: TaskRow): Execution {
  const base = {
    taskId: task.id,
    attempt: row.attempt,
    generation: row.generation,
    worker: row.worker,
    token: tokenText(row.token, row.seq),
    dispatchedAt: row.dispatched_at,
    retryReason: row.retry_reason,
    taskSnapshot: snapshotOf(task),
    resolvedAt: row.resolved_at,
  }
  const status = EXECUTION_STATUS[row.status]
  if (status === 'failed' || status === 'lost') {
    const failure = JSON.parse(row.failure ?? 'null') as Failure
    const decision = JSON.parse(row.decision ?? 'null') as Decision
    return { ...base, status, errorCode: failure.code, errorMessage: failure.message, failure, decision }
  }
  return { ...base, status, errorCode: null, errorMessage: null, failure: null, decision: null }
}

/** The record of the attempt that succeeded; undefined if none did. */
export function successRowOf(task: TaskRow): ExecutionRow | undefined {
  if (task.success_attempt === null) return undefined
  return {
    seq: task.seq,
    attempt: task.success_attempt,
    generation: task.generation,
    status: EXECUTION_NUMBER.succeeded,
    worker: task.success_worker,
    token: task.success_token ?? 0,
    dispatched_at: task.success_dispatched_at ?? 0,
    resolved_at: task.success_resolved_at ?? 0,
    retry_reason: task.retry_reason,
    failure: null,
    decision: null,
  }
}

/** The running attempt of a task; null if none runs. */
export function runningExecutionOf(task: TaskRow): Execution | null {
  if (task.lease_attempt === null) return null
  return {
    taskId: task.id,
    attempt: task.lease_attempt,
    generation: task.generation,
    worker: task.lease_worker,
    token: tokenText(task.lease_token ?? 0, task.seq),
    dispatchedAt: task.lease_started_at ?? 0,
    retryReason: task.retry_reason,
    taskSnapshot: snapshotOf(task),
    status: 'running',
    resolvedAt: null,
    errorCode: null,
    errorMessage: null,
    failure: null,
    decision: null,
  }
}
