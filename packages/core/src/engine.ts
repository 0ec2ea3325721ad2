// What an engine needs beside the model: the rules that all engines have in common, so that they answer alike. For engines
// and for the suite that tries them, as `@reprise/core/engine`.

// model: the words: tasks, attempts, actions, names, and what may be written

export { PRIORITY_MAX } from './model/task.ts'

// port: the Engine port, what it answers, and the Launcher port

export {
  AVOID_MS,
  AVOIDED_MAX,
  COVERING_MAX,
  checkBatch,
  checkLeaseMs,
  checkLimit,
  checkReserve,
  checkSettlements,
  claimOrder,
  FLEET_LOOK_MAX,
  HELP_LOOK_MAX,
  LEASE_MS_MAX,
  PICKS_PER_OLDEST,
  PROMOTE_MAX,
  RETIRE_MAX,
  WORKER_SILENT_MS,
} from './port/bounds.ts'
export { DOCUMENT_BYTES_MAX } from './port/collection.ts'
export { type ExplainFacts, explain, laneGates, scopeMatches, scopeText } from './port/explain.ts'
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
  JOURNAL_REASONS,
  releasedEntry,
  removedEntry,
  replacedEntry,
  resetEntry,
  supersededEntry,
  workerActor,
} from './port/journal-entries.ts'
export { foreignCursor, pageCursor, pageLimit } from './port/queries.ts'

// policy: what to do about a failure: decisions, budgets, breakers, quotas, switches

export {
  afterFailure,
  afterSuccess,
  afterTime,
  BREAKER_BUCKETS,
  BREAKER_DOUBLINGS_MAX,
  isForgotten,
  isOutage,
} from './policy/breaker.ts'
export { attemptCeiling, operatorRetries } from './policy/budget.ts'
export { decideLost, STATUS_AFTER } from './policy/decide.ts'
export { QUOTA_WINDOWS_MAX, quotaPlace, quotaRoom } from './policy/quota.ts'

// workers: health, the choice of a worker, forecasts, scaling, orders

export { assessHealth, type HealthEvidence, RECENT_OUTCOMES_MAX, withOutcomes } from './workers/health.ts'
