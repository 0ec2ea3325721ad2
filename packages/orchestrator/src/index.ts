/**
 * The services that move tasks, one service per file. They speak to the store through the Engine port only, and any
 * number of processes may run them side by side.
 */

export {
  HEARTBEAT_LAG_SECONDS,
  type Meter,
  type MeterLabels,
  STALE_WORKER_RETRY_TOTAL,
  silentMeter,
} from '@reprise/core'
export { type AlertRound, type AlertsOptions, alertRound, alertsWatchedAt, createAlerts } from './alerts.ts'
export { type AuditLine, linesOf } from './audit/file.ts'
export {
  entryDigest,
  HEAD_ID,
  makeSeal,
  NO_SEAL,
  type Seal,
  type SealHead,
  type SealPlace,
  sealHeadIn,
  sealId,
  sealsIn,
} from './audit/seal.ts'
export { type AuditEngine, type AuditOptions, createAudit, removeOldSeals, sealOnce } from './audit/sealer.ts'
export {
  type AuditProblem,
  type AuditProblemKind,
  type VerifyPlace,
  type VerifyStep,
  verifyStep,
} from './audit/verify.ts'
export { type LinesVerified, verifyLines } from './audit/verify-lines.ts'
export { type CasesOptions, createCases, followOnce, onTheClock } from './cases.ts'
export { type ClockWatchOptions, createClockWatch } from './clock-watch.ts'
export {
  createDeadLetterRetention,
  type DeadLetterPoint,
  type DeadLetterRetentionOptions,
  type DeadLetterRule,
} from './dead-letters/retention.ts'
export { createDispatch, type DispatchOptions, MAX_DISPATCH_RETRIES } from './dispatch.ts'
export { type DispatchReport, type DispatchRound, dispatchOnce } from './dispatch-once.ts'
export { type HealthAddress, type HealthAnswer, type HealthServer, serveHealth } from './health-server.ts'
export { createHealthWatch, type HealthWatchOptions } from './health-watch.ts'
export type { JobEngine } from './job-runner.ts'
export { createJobs, type JobsOptions } from './jobs.ts'
export { KEPT_MAX, type KeptMessage, keptIn, keptPage, removeKept, textOfKept } from './kept-messages.ts'
export {
  KEEP_KEY_MS,
  KEY_RINGS,
  type KeyFacts,
  type KeyRing,
  type KeyRingName,
  keyAt,
  keyFacts,
  openKeyRing,
  rotateKeys,
} from './key-ring.ts'
export { createLaunch, type LaunchMessage, type LaunchService, type MessageOutcome } from './launch.ts'
export { LaunchLedger } from './launch-ledger.ts'
export type { AtLaunchPoint, LaunchOptions, LaunchPoint } from './launch-settings.ts'
export {
  type GivenCredential,
  type LeaseCredentials,
  openLeaseCredentials,
  type StartedLease,
} from './lease-credentials.ts'
export { createLedger, type LedgerOptions, LedgerWalker } from './ledger.ts'
export {
  createOrchestrator,
  type LaunchPool,
  type Orchestrator,
  type OrchestratorOptions,
  type OrchestratorStatus,
} from './orchestrator.ts'
export { type OutboxFigures, outboxFigures, retryOnItsWay } from './outbox-looks.ts'
export { type Ask, createProbe, type ProbeOptions, probeOnce } from './probe.ts'
export { createQueueIntake, type IntakePoint, type QueueIntakeOptions } from './queue-intake.ts'
export {
  derivedId,
  GROUP_LABEL,
  ID_ATTRIBUTE,
  type MessageContext,
  QUEUE_LABEL,
  readMessage,
  refuseTooLarge,
  retryMessage,
  TYPE_ATTRIBUTE,
} from './queue-message.ts'
export { askRetry, createQueueOutbox, type OutboxPoint, type QueueOutboxOptions } from './queue-outbox.ts'
export type { RetryFailures } from './reading-ports.ts'
export { RecentAssignments } from './recent-assignments.ts'
export { createReconcile } from './reconcile.ts'
export {
  CHUNK_ITEMS_MAX,
  chunkId,
  chunksIn,
  type ItemStatus,
  type RedriveChunk,
  type RedriveItem,
} from './redrives/chunk.ts'
export { type CollectLook, collectStep, deadOnly, NOTHING_FOUND } from './redrives/collect.ts'
export {
  holderOf,
  isOver,
  NO_ITEMS,
  REDRIVE_STATES,
  type RedriveDocument,
  type RedrivePlan,
  type RedriveState,
  redrivesIn,
} from './redrives/redrive.ts'
export { createRedrives, type RedrivesOptions } from './redrives/redrives.ts'
export { makeRoom } from './redrives/removal.ts'
export { copyId, fittingPayload } from './redrives/send.ts'
export { newStage } from './redrives/stages.ts'
export { registrySnapshot } from './registry-snapshot.ts'
export { createReminders, FIRST_PLACE, type RemindersOptions, remindSome } from './reminders.ts'
export { type RetentionInForce, retentionInForce } from './retention-notice.ts'
export { announceRole, createRolePresence, presentRoles, type RoleAnnouncement } from './role-presence.ts'
export type { HttpStep, RunbookHands, ScriptStep } from './runbooks/actions.ts'
export { removeOldRuns } from './runbooks/removal.ts'
export { checkRunbookSize } from './runbooks/room.ts'
export {
  type Answer,
  abortedRun,
  answered,
  isRunOver,
  isStartedBy,
  newRun,
  nextStep,
  type Question,
  RUN_STATES,
  type RunbookRun,
  type RunState,
  resumedRun,
  runsIn,
  STEP_STATES,
  type StepRecord,
  type StepState,
  stepRun,
} from './runbooks/run.ts'
export {
  type Expectation,
  type Runbook,
  type RunbookHead,
  type RunbookInput,
  type RunbookStep,
  type RunbookVersion,
  runbookHeadsIn,
  runbookVersionsIn,
  type StepAction,
  type Values,
  versionId,
} from './runbooks/runbook.ts'
export { createRunbooks, type RunbooksOptions, Runner, type RunPoint } from './runbooks/runner.ts'
export { leadsOut, placesIn } from './runbooks/values.ts'
export { type ScalingSignalsOptions, scalingSignals } from './scaling-signals.ts'
export { createLoop, jitteredMs, type Run, type ServiceOptions, type Surroundings, surroundings } from './service.ts'
export { createSetbackWatch, type SetbackWatchOptions, setbackLook } from './setback-watch.ts'
export { storeIdentity } from './store-identity.ts'
export { createSweep, type SweepOptions } from './sweep.ts'
export { type SweepReport, sweepOnce } from './sweep-once.ts'
export { closeRecovered, createWorkOrders, openWorkOrders, type WorkOrdersOptions } from './work-orders.ts'
