/**
 * The SDK for developers who define actions and submit tasks. It runs no task itself: that is a worker's part.
 */

export {
  type Action,
  type ActionOptions,
  BacklogFullError,
  type Backoff,
  type BulkResult,
  type Clock,
  type Counts,
  type DeadReason,
  type Duration,
  defineAction,
  type Engine,
  type Execution,
  type Explanation,
  type Failure,
  type FailureGroup,
  type Fingerprint,
  type Gate,
  InvalidError,
  implement,
  isRepriseError,
  type JournalEntry,
  type JournalPage,
  type LaneView,
  type Logger,
  NotFoundError,
  type Page,
  type PageRequest,
  Permanent,
  type Priority,
  RepriseError,
  RetryAfter,
  type RetryResult,
  type RunContext,
  type StandardSchema,
  StoreBusyError,
  type Task,
  TaskFailedError,
  type TaskId,
  type TaskStatus,
  type TenantId,
  TimedOutError,
  Transient,
  type WorkerView,
} from '@reprise/core'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { BulkOptions, ByOptions, ListQuery, RetryOptions, ScopeQuery, TaskTarget } from './operator-requests.ts'
export type { SubmitOptions } from './submission.ts'
export type { ResultOptions, StoredResult, SubmittedTask, TaskHandle } from './task-handle.ts'
