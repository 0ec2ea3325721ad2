/**
 * The SDK for processes that run tasks: claim, run the handler, renew the lease, settle. It submits nothing: that is
 * the client's part.
 */

export {
  type Action,
  type ActionOptions,
  type Backoff,
  type Clock,
  type Decision,
  type Duration,
  defineAction,
  type Engine,
  type Failure,
  implement,
  isRepriseError,
  type Logger,
  PermanentError,
  type PolicyBook,
  type PolicySource,
  type Random,
  type Reconcile,
  type Reconciled,
  RepriseError,
  type RetentionOptions,
  RetryAfterError,
  type RunContext,
  type StandardSchema,
  SupersededError,
  silentLogger,
  TimedOutError,
  TransientError,
  WorkerFencedError,
} from '@reprise/core'
export type { AnyAction } from './action-registry.ts'
export { applicationVersion } from './application-version.ts'
export { type HealthOptions, UNKNOWN_VERSION, type WorkerOptions } from './configuration.ts'
export { type ConsoleLoggerOptions, consoleLogger, type LogLevel } from './console-logger.ts'
export type { FailedEvent, SettledEvent, WorkerHooks } from './hooks.ts'
export { type SignalSource, stopOnSignals } from './stop-on-signals.ts'
export { createWorker, type StopOptions, type Worker, type WorkerState, type WorkerStats } from './worker.ts'
