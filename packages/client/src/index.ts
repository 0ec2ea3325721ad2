/**
 * The SDK for developers who define actions and submit tasks. It runs no task itself: that is a worker's part.
 */

export {
  type Action,
  type ActionOptions,
  type Clock,
  type Counts,
  type Duration,
  defineAction,
  type Engine,
  type Execution,
  type Explanation,
  isRepriseError,
  type Page,
  Permanent,
  type Priority,
  RepriseError,
  RetryAfter,
  type RunContext,
  type StandardSchema,
  type Task,
  TaskFailedError,
  type TaskStatus,
  TimedOutError,
  Transient,
} from '@reprise/core'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { BulkOptions, ByOptions, ListQuery, RetryOptions, ScopeQuery, TaskTarget } from './operator-requests.ts'
export type { SubmitOptions } from './submission.ts'
export type { ResultOptions, StoredResult, SubmittedTask, TaskHandle } from './task-handle.ts'
