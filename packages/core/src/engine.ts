// What an engine needs beside the model: the rules that all engines have in common, so that they answer alike. For engines
// and for the suite that tries them, as `@reprise/core/engine`.

// port: the Engine port, what it answers, and the Launcher port

export {
  AVOID_MS,
  checkBatch,
  checkLeaseMs,
  checkLimit,
  checkSettlements,
  claimOrder,
  PICKS_PER_OLDEST,
  PROMOTE_MAX,
  RETIRE_MAX,
} from './port/bounds.ts'
export { DOCUMENT_BYTES_MAX } from './port/collection.ts'
export { breakerGates, type ExplainFacts, explain, scopeMatches, scopeText } from './port/explain.ts'
export {
  checkInspector,
  findingOf,
  type InspectPlace,
  inspectCursor,
  inspectPlace,
  isFindingKind,
  nextInspectPlace,
  repairData,
} from './port/inspect.ts'
export { journalMoment } from './port/journal.ts'
export { pageCursor, pageLimit } from './port/queries.ts'

// policy: what to do about a failure: decisions, budgets, breakers, quotas, switches

export { afterFailure, afterSuccess, afterTime, isForgotten, isOutage } from './policy/breaker.ts'
export { attemptCeiling, operatorRetries } from './policy/budget.ts'
export { decideLost } from './policy/decide.ts'
export { quotaPlace, quotaRoom } from './policy/quota.ts'

// workers: health, the choice of a worker, forecasts, scaling, orders

export { assessHealth, type HealthEvidence, RECENT_OUTCOMES_MAX, withOutcomes } from './workers/health.ts'
