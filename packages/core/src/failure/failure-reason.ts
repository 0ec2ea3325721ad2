// Why an attempt failed: one enumeration, for classification, delay queue, records and metrics. Each reason is either one
// that goes away by itself or one that does not.

export const RETRIABLE_REASONS = [
  'timeout',
  'queue_timeout',
  'worker_unavailable',
  'stale_worker',
  'worker_lost',
  'no_workers',
  'connection',
  'rate_limited',
  'transient',
] as const

export const FINAL_REASONS = [
  'validation',
  'permission',
  'action_not_found',
  'invalid_parameters',
  'not_found',
  'deadline',
  'permanent',
  'unknown',
] as const

export type FailureReason = (typeof RETRIABLE_REASONS)[number] | (typeof FINAL_REASONS)[number]

const RETRIABLE: ReadonlySet<string> = new Set(RETRIABLE_REASONS)
const ALL: ReadonlySet<string> = new Set([...RETRIABLE_REASONS, ...FINAL_REASONS])

export const isFailureReason = (text: string): text is FailureReason => ALL.has(text)

/** Whether failures of this kind go away by themselves. */
export const isRetriable = (reason: FailureReason): boolean => RETRIABLE.has(reason)

/** Reasons that tell of something else being down, rather than of the task: these count for circuit breakers. */
export const OUTAGE_REASONS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'connection',
  'timeout',
  'rate_limited',
  'transient',
  'worker_unavailable',
])
