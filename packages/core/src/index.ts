// The model of Reprise, on which everything depends. A room is a folder with one subject; engines find more in engine.ts.

// model: the words: tasks, attempts, actions, names, and what may be written

export {
  type Action,
  type ActionOptions,
  checkOutput,
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
export {
  type AttemptLog,
  fittingLog,
  LOG_BYTES_MAX,
  LOG_LINES_MAX,
  type LogLine,
  type TaskLog,
} from './model/attempt-log.ts'
export { CompletionWishes, WISHES_FRESH_MS, withNotify } from './model/completion-wishes.ts'
export { type DedupeRequest, KEY_FOREVER_MS } from './model/dedupe.ts'
export { DURATION_MS_MAX, type Duration, durationMs, formatDuration } from './model/duration.ts'
// Every error is for users to catch.
export * from './model/errors.ts'
export { escapeUnseen, escapeUnseenButLines } from './model/escape-unseen.ts'
export { type Execution, type LastWorker, latestForTask, retryChain, type WorkerBuild } from './model/execution.ts'
export {
  type ActionName,
  actionName,
  checkedName,
  checkedText,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  type Fingerprint,
  knownName,
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
  protoHolders,
} from './model/json.ts'
export * from './model/json-patch.ts'
export { publishedSchema, SCHEMA_LENGTH_MAX, schemaProblem } from './model/json-schema.ts'
export { KnownActions } from './model/known-actions.ts'
export { nearest, nearMiss } from './model/near-miss.ts'
export * as check from './model/option-checks.ts'
export { present, refuseNoEngine, refuseUnknownKeys } from './model/options.ts'
export { meantIds, ownerOfId, ownId } from './model/own-id.ts'
export { checkPast, PAST_ATTEMPTS_MAX, type PastAttempt, type TaskPast } from './model/past.ts'
export { newNameOf } from './model/renamed.ts'
export type { OpenSetting, SettingDefaultOptions, SettingDefaults } from './model/setting-defaults.ts'
export { resolveDefaults, settingsFiller } from './model/setting-defaults.ts'
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
export { currentPolicies } from './model/stored-names.ts'
export {
  DEFAULT_PRIORITY,
  END_STATUSES,
  type LeaseStage,
  type Priority,
  type Progress,
  type Snapshot,
  TASK_DIFFERENCES,
  TASK_STATUSES,
  type Task,
  type TaskDifference,
  type TaskSettings,
  type TaskSpec,
  type TaskState,
  type TaskStatus,
  type TaskTerms,
  type WaitReason,
} from './model/task.ts'
export { LABELS_MAX, taskSpecOf, withLabel } from './model/task-spec.ts'
export { decodeUtf8, textLines, utf8Texts } from './model/utf8.ts'

// port: the Engine port, what it answers, and the ports of launchers and outside queues

export { allPages } from './port/all-pages.ts'
export {
  BATCH_MAX,
  LANES_PER_TENANT_MAX,
  LANES_PER_TENANT_OF_ALL_MAX,
  OWN_SETTINGS_PER_TENANT_MAX,
  TIMEOUT_GRACE_MS,
} from './port/bounds.ts'
export type { BreakerQuery } from './port/breakers.ts'
export type {
  By,
  ChangeKind,
  ChangeRequest,
  ChangeResult,
  Rank,
  RetainResult,
  RetentionRules,
  RetryRequest,
  RetryResult,
  Scope,
  TaskSelector,
} from './port/changes.ts'
export type { Collection, CollectionDefinition, Document, Stored } from './port/collection.ts'
export type {
  Durability,
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
export type { Hold, HoldQuery } from './port/holds.ts'
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
  type LossCause,
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
  Voucher,
  VouchRequest,
} from './port/leases.ts'
export {
  messageBytes,
  type OutgoingMessage,
  type OutsideQueue,
  type QueueDelivery,
  type QueueFacts,
  type QueueProblem,
  type ReceiveOptions,
} from './port/outside-queue.ts'
export {
  type Counts,
  type CountsQuery,
  type ExplainLook,
  type Explanation,
  type FailureGroup,
  type FailureGroupQuery,
  type Gate,
  type LaneQuery,
  type LaneView,
  LEFT_OUT,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  type Page,
  type PageRequest,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type SeriesQuery,
  type TaskLook,
  type TaskQuery,
  type WorkerView,
} from './port/queries.ts'
export type { BeatReport, BeatResult, DepartedWorker, ProbeReport, WorkerRegistration } from './port/registry.ts'
export { type RetentionOptions, retentionRules } from './port/retention.ts'
export { noteSetback, openSetbacks, type Setback, setbackFindings, setbackSentence } from './port/setbacks.ts'
export { getOrInsert, stepDocument } from './port/step-document.ts'
export type { TenantFigures } from './port/tenants.ts'

// failure: what was thrown, made safe, classified and fingerprinted

export { describeFailure, type Failure, observedFailure } from './failure/failure.ts'
export { type FailureReason, FINAL_REASONS, isFailureReason, RETRIABLE_REASONS } from './failure/failure-reason.ts'
export { CODE_LENGTH_MAX, cut, MESSAGE_LENGTH_MAX, normalise } from './failure/normalise.ts'
export { outcomeRequest, PermanentError, RetryAfterError, TransientError } from './failure/outcome.ts'
export { whyNotRetried } from './failure/plain-bug.ts'
export { RULES_MAX, statusRange } from './failure/rules.ts'

// policy: what to do about a failure: decisions, budgets, breakers, quotas, switches

export {
  BACKOFF_KINDS,
  type Backoff,
  backoffMs,
  checkedBackoff,
  DEFAULT_BACKOFF,
  resolveBackoff,
} from './policy/backoff.ts'
export { badEndLine } from './policy/bad-end.ts'
export {
  type Breaker,
  type BreakerRef,
  type BreakerSettings,
  type BreakerState,
  breakerName,
  DEFAULT_BREAKER,
} from './policy/breaker.ts'
export { DEFAULT_MAX_RETRIES, LOSSES_MAX, messageAttempt, operatorMayRetry, RETRIES_MAX } from './policy/budget.ts'
export {
  DEAD_REASONS,
  type DeadReason,
  type Decision,
  decideFailed,
  type Escalation,
  type ParkDecision,
  RETRY_AFTER_MS_MAX,
  SEVERITIES,
  WORK_ORDER_PER,
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
export { compileGlobs } from './policy/glob.ts'
export {
  type Circumstances,
  failureJudge,
  type JudgedAttempt,
  type Judgement,
  judgeLost,
  judgeObserved,
  judgeOutcomeUnknown,
  judgeThrown,
  mayStart,
  recordedJudge,
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
export {
  deadlineUnder,
  healthMatters,
  isSuspect,
  lossTerms,
  policiesFor,
  policyForFailure,
  policyForTask,
  retriesInForce,
  settingsUnder,
} from './policy/policy-match.ts'
export type { RetryQuota } from './policy/quota.ts'
export { resolveBreaker, resolveQuota } from './policy/safeguards.ts'
export {
  DEFAULT_TENANT_LIMITS,
  maxRunning,
  NO_LIMITS,
  type SlotShare,
  type TenantLimits,
  type TenantRules,
  tenantLimits,
} from './policy/tenant-limits.ts'

// workers: health, the choice of a worker, forecasts, scaling, orders

export * from './workers/index.ts'

// jobs: durable jobs made of chunks: their document, and the steps of its state machine

export * from './jobs/index.ts'

// search: the query language, search, counting and export

export * from './search/index.ts'

// redaction: secrets that are never shown

export { actorText, createRedactor, REDACTED, type RedactionOptions } from './redaction/redact.ts'

// patterns: patterns that match in linear time

export { Pattern, patternOf } from './patterns/pattern.ts'

// remote: requests to a server, seen through

export { path, type QueryValue } from './remote/address.ts'
export { openTransport, type ServerOptions } from './remote/open-transport.ts'
export { errorOf, isErrorCode, notReprise, reworded } from './remote/problems.ts'
export type { Call, Fetch, OpenStream, TokenSource, Transport } from './remote/transport.ts'

// runtime: what every process is made of: time, chance, services, meters, traces

export { type Idle, idleAfter, untilClaimable } from './runtime/claim-wait.ts'
export { type Clock, inTime, sleep, systemClock, type Timer, VirtualClock } from './runtime/clock.ts'
export { FairLine } from './runtime/fair-line.ts'
export { currentHandler, type HandlerScope, provideHandlers } from './runtime/handler-scope.ts'
export { lendRequire } from './runtime/lend-require.ts'
export { mapLimited } from './runtime/map-limited.ts'
export * from './runtime/meter.ts'
export { guardedLogger, quietly } from './runtime/quietly.ts'
export { type Random, seededRandom, systemRandom } from './runtime/random.ts'
export { createPolling, createService, type Service } from './runtime/service.ts'
export { endingSpan, registeredTracer } from './runtime/spans.ts'
export { formatTraceparent, parseTraceparent, TRACEPARENT_LABEL, type TraceParent } from './runtime/traceparent.ts'
export { Turns, turnsOf } from './runtime/turns.ts'
export { WakeUp } from './runtime/wake-up.ts'
export { VERSION } from './version.ts'

// cases: what people do about failure groups

export * from './cases/index.ts'

// work orders and alerts: the part of a person in a recovery, and how that person hears of it

export * from './alerts/index.ts'
export * from './work-orders/index.ts'

// causes: what is different about failures

export * from './causes/index.ts'

// ledger: every accepted task stands somewhere
export * from './ledger/index.ts'
