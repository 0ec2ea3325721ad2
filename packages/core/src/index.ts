// The model of Reprise: its words, states, rules and ports. It depends on nothing, and everything depends on it. Each room
// is a folder with one subject; what only engines need is in engine.ts.

// model: the words: tasks, attempts, actions, names, and what may be written

export {
  type Action,
  type ActionOptions,
  DEFAULT_SETTINGS,
  defineAction,
  implement,
  type Logger,
  parseInput,
  type Reconcile,
  type Reconciled,
  type RunContext,
  silentLogger,
} from './model/action.ts'
export { type CataloguedAction, findAction, listActions, publishActions } from './model/action-catalogue.ts'
export { DURATION_MS_MAX, type Duration, durationMs, formatDuration } from './model/duration.ts'
export {
  BacklogFullError,
  BudgetExhaustedError,
  ConflictError,
  DuplicateExecutionError,
  ERRORS,
  type ErrorCode,
  InvalidError,
  isRepriseError,
  NoAvailableSlotError,
  NotFoundError,
  RepriseError,
  RequestError,
  SchemaTooNewError,
  StoreBusyError,
  StoreClosedError,
  StoreDamagedError,
  StoreFailedError,
  StoreFullError,
  SupersededError,
  TaskFailedError,
  TimedOutError,
  TooLargeError,
  UnknownEngineError,
  WorkerFencedError,
} from './model/errors.ts'
export { type Execution, latestForTask, retryChain } from './model/execution.ts'
export {
  type ActionName,
  actionName,
  checkedName,
  checkedText,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  type Fingerprint,
  type LeaseToken,
  leaseToken,
  NAME_LENGTH_MAX,
  type PoolName,
  poolName,
  type RetryToken,
  retryToken,
  type TaskId,
  type TenantId,
  taskId,
  tenantId,
  type WorkerId,
  workerId,
} from './model/ids.ts'
export {
  checkedJson,
  decodeJson,
  encodeJson,
  JSON_DEPTH_MAX,
  JSON_NULL,
  type JsonText,
  PAYLOAD_BYTES_MAX,
} from './model/json.ts'
export { KnownActions } from './model/known-actions.ts'
export { nearest, nearMiss } from './model/near-miss.ts'
export { refuseNoEngine, refuseUnknownKeys } from './model/options.ts'
export {
  type Deferral,
  type EntryRef,
  expired,
  failed,
  type Guards,
  type LeaseRef,
  lost,
  type Outage,
  released,
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  succeeded,
} from './model/settlement.ts'
export type { StandardSchema } from './model/standard-schema.ts'
export {
  DEFAULT_PRIORITY,
  END_STATUSES,
  type LeaseStage,
  type Priority,
  type Progress,
  type Snapshot,
  TASK_STATUSES,
  type Task,
  type TaskSettings,
  type TaskSpec,
  type TaskState,
  type TaskStatus,
  type TaskTerms,
  type WaitReason,
} from './model/task.ts'
export { LABELS_MAX, taskSpecOf, withLabel } from './model/task-spec.ts'

// port: the Engine port, what it answers, and the Launcher port

export { allPages } from './port/all-pages.ts'
export { BATCH_MAX, TIMEOUT_GRACE_MS } from './port/bounds.ts'
export type {
  By,
  ChangeKind,
  ChangeRequest,
  ChangeResult,
  RetainResult,
  RetentionRules,
  RetryResult,
  Scope,
  TaskSelector,
} from './port/changes.ts'
export type { Collection, CollectionDefinition, Document, Stored } from './port/collection.ts'
export type {
  Engine,
  EngineInfo,
  Intake,
  Interest,
  Mark,
  Observing,
  Operating,
  Records,
  Upkeep,
  Waiting,
  Work,
} from './port/engine.ts'
export { type EventOut, eventOf, typeFilter } from './port/event.ts'
export {
  type Finding,
  type FindingSubject,
  type InspectRequest,
  type InspectResult,
  subjectText,
} from './port/inspect.ts'
export {
  CLOCK_STEP_BACK_MS,
  JOURNAL_TYPES,
  type Journal,
  type JournalEntry,
  type JournalEntryInput,
  type JournalPage,
  type JournalQuery,
  type JournalType,
} from './port/journal.ts'
export {
  type Launched,
  type Launcher,
  type LaunchOrder,
  type LaunchOutcome,
  type LaunchRef,
  type LaunchSighting,
  launchKey,
} from './port/launcher.ts'
export type {
  Assignment,
  AssignResult,
  Claimed,
  ClaimRequest,
  ClaimResult,
  ExpiredResult,
  Launch,
  LaunchPage,
  LaunchQuery,
  Overdue,
  RenewRequest,
  RenewResult,
  ReserveRequest,
  Standing,
  StandingsResult,
  SubmitResult,
} from './port/leases.ts'
export {
  type Counts,
  type CountsQuery,
  type Explanation,
  type FailureGroup,
  type FailureGroupQuery,
  type Gate,
  type LaneQuery,
  type LaneView,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  type Page,
  type PageRequest,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type SeriesQuery,
  type TaskQuery,
  type WorkerView,
} from './port/queries.ts'
export type { BeatReport, BeatResult, ProbeReport, WorkerRegistration } from './port/registry.ts'
export { type RetentionOptions, retentionRules } from './port/retention.ts'
export { stepDocument } from './port/step-document.ts'

// failure: what was thrown, made safe, classified and fingerprinted

export { describeFailure, type Failure, observedFailure } from './failure/failure.ts'
export { type FailureReason, FINAL_REASONS, isFailureReason, RETRIABLE_REASONS } from './failure/failure-reason.ts'
export { CODE_LENGTH_MAX, cut, MESSAGE_LENGTH_MAX, normalise } from './failure/normalise.ts'
export { outcomeRequest, Permanent, RetryAfter, Transient } from './failure/outcome.ts'
export { RULES_MAX, statusRange } from './failure/rules.ts'

// policy: what to do about a failure: decisions, budgets, breakers, quotas, switches

export { BACKOFF_KINDS, type Backoff, backoffMs, checkedBackoff, DEFAULT_BACKOFF } from './policy/backoff.ts'
export { badEndLine } from './policy/bad-end.ts'
export {
  type Breaker,
  type BreakerRef,
  type BreakerSettings,
  type BreakerState,
  DEFAULT_BREAKER,
} from './policy/breaker.ts'
export { DEFAULT_MAX_RETRIES, LOSSES_MAX, messageAttempt, operatorMayRetry, RETRIES_MAX } from './policy/budget.ts'
export {
  type DeadReason,
  type Decision,
  decideFailed,
  type ParkDecision,
  RETRY_AFTER_MS_MAX,
  SEVERITIES,
} from './policy/decide.ts'
export {
  ALL_FLAGS_ON,
  type FeatureFlags,
  FLAGS,
  type FlagName,
  type FlagState,
  openFlags,
  underFlags,
} from './policy/flags.ts'
export {
  type Circumstances,
  type JudgedAttempt,
  type Judgement,
  judgeLost,
  judgeObserved,
  judgeOutcomeUnknown,
  judgeThrown,
  mayStart,
  timeoutMessage,
} from './policy/judge.ts'
export {
  checkedBook,
  checkedPolicy,
  LOST_MEANINGS,
  NO_POLICIES,
  POLICIES_MAX,
  type Policy,
  type PolicyBook,
  type PolicySource,
  RULES_STAMP,
  withoutPolicies,
} from './policy/policy.ts'
export { lostMeaning, policyForFailure, policyForTask, settingsUnder } from './policy/policy-match.ts'
export type { RetryQuota } from './policy/quota.ts'
export { resolveBreaker, resolveQuota } from './policy/safeguards.ts'

// workers: health, the choice of a worker, forecasts, scaling, orders

export { Forecast } from './workers/forecast.ts'
export {
  blamesWorker,
  DEFAULT_HEALTH_THRESHOLDS,
  type Health,
  type HealthStatus,
  type HealthThresholds,
} from './workers/health.ts'
export { type ScalingOptions, type ScalingSignal, scalingSignal } from './workers/scaling.ts'
export { heartbeatLag, PREFERRED_WORKER_LABEL, selectWorker } from './workers/select-worker.ts'
export { isDrainOrdered, orderDrain } from './workers/worker-orders.ts'

// search: the query language, search and export

export { type ExportedTask, exportTasks } from './search/export-tasks.ts'
export { completions } from './search/query-completions.ts'
export { ALL_TASKS, formatQuery, matches } from './search/query-language.ts'
export { parseQuery } from './search/query-syntax.ts'
export { SCAN_MAX, type SearchOptions, type SearchPage, searchTasks } from './search/search.ts'

// redaction: secrets that are never shown

export { createRedactor, type RedactionOptions } from './redaction/redact.ts'

// patterns: patterns that match in linear time

export { Pattern } from './patterns/pattern.ts'

// runtime: what every process is made of: time, chance, services, meters, traces

export { type Idle, idleAfter, untilClaimable } from './runtime/claim-wait.ts'
export { type Clock, sleep, systemClock, type Timer, VirtualClock } from './runtime/clock.ts'
export {
  HEARTBEAT_LAG_MS,
  type Meter,
  type MeterLabels,
  STALE_WORKER_RETRY_TOTAL,
  silentMeter,
} from './runtime/meter.ts'
export { guardedLogger, quietly } from './runtime/quietly.ts'
export { type Random, seededRandom, systemRandom } from './runtime/random.ts'
export { createService, type Service } from './runtime/service.ts'
export { endingSpan, registeredTracer } from './runtime/spans.ts'
export { formatTraceparent, parseTraceparent, TRACEPARENT_LABEL, type TraceParent } from './runtime/traceparent.ts'
export { WakeUp } from './runtime/wake-up.ts'
