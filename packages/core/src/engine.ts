// What an engine needs beside the model: the rules that all engines have in common, so that they answer alike. For engines
// and for the suite that tries them, as `@reprise/core/engine`.

// model: the words: tasks, attempts, actions, names, and what may be written

export { attemptLogText, LOG_ATTEMPTS_MAX, parseAttemptLog } from './model/attempt-log.ts'
export { keyUntil } from './model/dedupe.ts'
export { StoreMissingError } from './model/errors.ts'
export { importedData, type PastStanding, standingAfter } from './model/past.ts'
export { parseSettings } from './model/stored-names.ts'
export { PRIORITY_MAX, taskDifferences } from './model/task.ts'

// port: the Engine port, what it answers, and the Launcher port

export {
  AVOID_MS,
  AVOIDED_MAX,
  COVERING_MAX,
  checkBatch,
  checkChange,
  checkLeaseMs,
  checkLimit,
  checkReserve,
  checkSettlements,
  claimOrder,
  DEPARTED_MAX,
  DEPARTED_MS,
  FLEET_LOOK_MAX,
  HELP_LOOK_MAX,
  LEASE_MS_MAX,
  LIGHT_BYTES_MAX,
  PAGE_BYTES_MAX,
  PICKS_PER_OLDEST,
  PROMOTE_MAX,
  PROMOTE_REST_MS,
  PROMOTE_REST_READY,
  RETIRE_MAX,
  WORKER_SILENT_MS,
} from './port/bounds.ts'
export { breakerPage, byBreakerId, isToReset } from './port/breakers.ts'
export { DOCUMENT_BYTES_MAX } from './port/collection.ts'
export { type ExplainFacts, explain, laneGates, scopeMatches, scopeText } from './port/explain.ts'
export { holdPage } from './port/holds.ts'
export {
  checkInspector,
  EVERYTHING,
  FINDING_WORDS,
  filled,
  findingOf,
  type InspectPlace,
  inspectCursor,
  inspectPlace,
  isFindingKind,
  nextInspectPlace,
  repairData,
  SUBJECT_WORDS,
} from './port/inspect.ts'
export { journalMoment } from './port/journal.ts'
export {
  ACTORS,
  BREAKER_ENTRY_TYPES,
  BREAKER_REASONS,
  badEndData,
  badEndEntry,
  breakerEntry,
  deadEntry,
  JOURNAL_REASONS,
  type Recovery,
  recoveredEntry,
  releasedEntry,
  removedEntry,
  replacedEntry,
  resetEntry,
  succeededEntry,
  supersededEntry,
  workerActor,
  workerEntry,
} from './port/journal-entries.ts'
export type { VouchResult } from './port/leases.ts'
export { departedCursor, departedPlace, foreignCursor, pageCursor, pageLimit } from './port/queries.ts'
export { checkRank, outranked, rankOf } from './port/rank.ts'
export { tenantPage } from './port/tenants.ts'

// policy: what to do about a failure: decisions, budgets, breakers, quotas, switches

export {
  afterFailure,
  afterSuccess,
  afterSuccessesWhileClosed,
  afterTime,
  BREAKER_BUCKETS,
  BREAKER_DOUBLINGS_MAX,
  BREAKERS_MAX,
  BREAKERS_OF_TENANT_MAX,
  type BreakerKey,
  breakerId,
  breakerKeys,
  covers,
  isForgotten,
  isListed,
  isOutage,
} from './policy/breaker.ts'
export { attemptCeiling, operatorRetries } from './policy/budget.ts'
export { decideLost, STATUS_AFTER } from './policy/decide.ts'
export { quotaKey, quotaPlace, quotaRoom } from './policy/quota.ts'
export { VOICES_MAX } from './policy/voices.ts'

// workers: health, the choice of a worker, forecasts, scaling, orders

export {
  assessHealth,
  FAILING_TENANTS_MAX,
  type HealthEvidence,
  NO_OUTCOMES,
  type Outcome,
  type Outcomes,
  RECENT_OUTCOMES_MAX,
  SERVED_MS,
  SILENCE_MS,
  takesBackLosses,
  withOutcomes,
} from './workers/health.ts'
