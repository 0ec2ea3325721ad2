// Rows as SQLite holds them, and the domain values they stand for. For the numbers in them see stored-numbers.ts.

import type {
  ActionName,
  DeadReason,
  Fingerprint,
  JsonText,
  LeaseToken,
  PoolName,
  Priority,
  RetryToken,
  Scope,
  Snapshot,
  TaskId,
  TaskSettings,
  TaskStatus,
  TenantId,
  WaitReason,
  WorkerId,
} from '@reprise/core'
import { parseSettings } from '@reprise/core/engine'
import { DEAD, DISCARDED, LIVE, STAGE_NUMBER, WAITING } from './stored-numbers.ts'

/** On its way to a worker: nothing of it runs yet. */
export function isUnderWay(stage: number): boolean {
  return stage === STAGE_NUMBER.dispatch || stage === STAGE_NUMBER.inbox
}

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
  readonly parks: number
  readonly deferrals: number
  readonly accepted_at: number
  readonly since: number
  readonly rank: number | null
  readonly due_at: number | null
  readonly deadline_at: number | null
  readonly wait_reason: WaitReason | null
  readonly wait_quota: string | null
  readonly retry_reason: WaitReason | null
  readonly dead_reason: DeadReason | null
  readonly fingerprint: Fingerprint | null
  readonly retry_token: RetryToken | null
  readonly dedupe_key: string | null
  readonly labels: string | null
  readonly policy: string | null
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
  readonly lease_worker_number: number | null
  readonly lease_worker: WorkerId | null
  readonly lease_build: string | null
  readonly lease_started_at: number | null
  readonly lease_until: number | null
  readonly lease_timeout_at: number | null
  readonly lease_renewed_at: number | null
  readonly lease_progress: string | null
  readonly lease_stage: number | null
  readonly lease_handle: string | null
  readonly success_attempt: number | null
  readonly success_token: number | null
  readonly success_worker: WorkerId | null
  readonly success_build: string | null
  readonly success_dispatched_at: number | null
  readonly success_resolved_at: number | null
  readonly failure: string | null
}

/** A lease with what ending or renewing it needs of its task. */
export interface LeaseRow {
  readonly seq: number
  readonly attempt: number
  readonly token: number
  readonly worker_number: number
  readonly worker: WorkerId
  readonly started_at: number
  readonly until: number
  readonly timeout_at: number
  readonly renewed_at: number | null
  readonly stage: number
  readonly id: TaskId
  readonly lane: number
  readonly profile: number
  readonly generation: number
  readonly failures: number
  readonly losses: number
  readonly parks: number
  readonly deferrals: number
  readonly retry_reason: string | null
  /** What its task last died of. */
  readonly fingerprint: Fingerprint | null
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
    settings: parseSettings<TaskSettings>(row.settings),
    retryToken: row.retry_token ?? (row.id as string as RetryToken),
    dedupeKey: row.dedupe_key,
    deadlineAt: row.deadline_at,
  }
}

/** What was spent in a task's generation, and the policy that was named for it. */
export const spentOf = ({ generation, failures, losses, parks, deferrals, policy }: TaskRow) => {
  const spent = { generation, failures, losses, parks, deferrals }
  return policy === null ? spent : { ...spent, policy }
}

/** When the entry outlives its TTL, as wall-clock time. */
export function expiresAtOf(row: Pick<TaskRow, 'expires' | 'held_since' | 'held_ms'>, now: number): number | null {
  if (row.expires === null) return null
  const laneTime = (row.held_since ?? now) - row.held_ms
  return row.expires + (now - laneTime)
}
