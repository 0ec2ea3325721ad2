/**
 * The SDK for developers who define actions and submit tasks. It runs no task itself: that is a worker's part.
 */

export type { Fetch, TokenSource } from '@reprise/core'
export {
  type Action,
  type ActionOptions,
  BacklogFullError,
  type Backoff,
  type Breaker,
  type BreakerState,
  type Clock,
  type Counts,
  type DeadReason,
  type Duration,
  defineAction,
  type Engine,
  type Failure,
  type Finding,
  type Fingerprint,
  type Gate,
  InvalidError,
  implement,
  isRepriseError,
  type JournalEntry,
  type LaneView,
  type LeaseStage,
  type Logger,
  NotFoundError,
  type Page,
  type PageRequest,
  PermanentError,
  type Priority,
  RepriseError,
  RequestError,
  RetryAfterError,
  type RunContext,
  type ScalingSignal,
  type SeriesPoint,
  type StandardSchema,
  StoreBusyError,
  TaskFailedError,
  type TaskId,
  type TaskStatus,
  type TenantId,
  TimedOutError,
  TransientError,
  type WorkerView,
} from '@reprise/core'
export type {
  CallOptions,
  OperationInput,
  OperationName,
  OperationOutput,
  Operations,
  RunbookDefinition,
} from '@reprise/operations'
export type { LiveEvent } from './backend.ts'
export { pages } from './calls.ts'
export type { Client, WatchOptions } from './client.ts'
export { type ClientOptions, createClient, type EngineClientOptions } from './create-client.ts'
export type { HttpClientOptions } from './http/create-http-client.ts'
export { type PlannedTask, type SubmitOptions, submission } from './submission.ts'
export type { ResultOptions, StoredResult, SubmittedTask, TaskHandle } from './task-handle.ts'
