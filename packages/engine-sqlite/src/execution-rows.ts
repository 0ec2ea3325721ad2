// Rows about attempts as SQLite holds them, and the executions they stand for: ended badly, succeeded, or running.

import type { Decision, Execution, Failure, WaitReason, WorkerId } from '@reprise/core'
import { buildOf } from './builds.ts'
import { snapshotOf, type TaskRow, tokenText } from './rows.ts'
import { EXECUTION_NUMBER, EXECUTION_STATUS } from './stored-numbers.ts'

export interface ExecutionRow {
  readonly seq: number
  readonly attempt: number
  readonly generation: number
  readonly status: 1 | 2 | 3 | 4
  readonly worker: WorkerId | null
  readonly build: string | null
  readonly token: number
  readonly dispatched_at: number
  readonly resolved_at: number
  readonly retry_reason: WaitReason | null
  readonly failure: string | null
  readonly decision: string | null
}

export function executionOf(row: ExecutionRow, task: TaskRow): Execution {
  const base = {
    taskId: task.id,
    attempt: row.attempt,
    generation: row.generation,
    worker: row.worker,
    build: buildOf(row.build),
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
    build: task.success_build,
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
    build: buildOf(task.lease_build),
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
