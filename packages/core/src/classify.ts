// Tells a passing fault from a real one (C3). Rules run in order: the handler's own word, then known codes, then
// HTTP statuses, then words in the message. What no rule knows is `unknown`, and not retriable.

import type { Normalised } from './normalise.ts'

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

export interface Verdict {
  readonly reason: FailureReason
  readonly retriable: boolean
  /** The rule that decided, for the record: `code:ECONNRESET`, `message:timed out`. */
  readonly rule: string
}

const RETRIABLE: ReadonlySet<string> = new Set(RETRIABLE_REASONS)
const OBSERVED: ReadonlySet<string> = new Set([...RETRIABLE_REASONS, ...FINAL_REASONS])

const REASON_BY_CODE: Readonly<Record<string, FailureReason>> = {
  ECONNREFUSED: 'connection',
  ECONNRESET: 'connection',
  ECONNABORTED: 'connection',
  EPIPE: 'connection',
  EHOSTUNREACH: 'connection',
  ENETUNREACH: 'connection',
  ENETDOWN: 'connection',
  EAI_AGAIN: 'connection',
  UND_ERR_SOCKET: 'connection',
  ETIMEDOUT: 'timeout',
  ESOCKETTIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  EBUSY: 'transient',
  EMFILE: 'transient',
  EAGAIN: 'transient',
  SQLITE_BUSY: 'transient',
  EACCES: 'permission',
  EPERM: 'permission',
  REPRISE_INVALID: 'validation',
  REPRISE_TOO_LARGE: 'validation',
}

const REASON_BY_STATUS: Readonly<Record<string, FailureReason>> = {
  HTTP_400: 'invalid_parameters',
  HTTP_401: 'permission',
  HTTP_403: 'permission',
  HTTP_404: 'not_found',
  HTTP_408: 'timeout',
  HTTP_409: 'permanent',
  HTTP_410: 'not_found',
  HTTP_422: 'validation',
  HTTP_425: 'transient',
  HTTP_429: 'rate_limited',
  HTTP_500: 'transient',
  HTTP_502: 'connection',
  HTTP_503: 'worker_unavailable',
  HTTP_504: 'timeout',
}

// In order: what is certainly final first, so that 'validation timed out field' is not retried for its wording.
const REASON_BY_WORDS: readonly (readonly [string, FailureReason])[] = [
  ['permission denied', 'permission'],
  ['action not found', 'action_not_found'],
  ['invalid parameter', 'invalid_parameters'],
  ['validation', 'validation'],
  ['queue ttl expired', 'queue_timeout'],
  ['worker unavailable', 'worker_unavailable'],
  ['heartbeat stale', 'worker_lost'],
  ['stale heartbeat', 'worker_lost'],
  ['connection refused', 'connection'],
  ['connection reset', 'connection'],
  ['socket hang up', 'connection'],
  ['too many requests', 'rate_limited'],
  ['rate limit', 'rate_limited'],
  ['timed out', 'timeout'],
  ['timeout', 'timeout'],
  ['transient', 'transient'],
  ['temporary', 'transient'],
  ['temporarily', 'transient'],
]

export function classify(
  failure: Pick<Normalised, 'code' | 'message' | 'says'> & Partial<Pick<Normalised, 'httpCode'>>,
): Verdict {
  const found = byCode(failure.code) ?? byCode(failure.httpCode ?? null) ?? byWords(failure.message)
  if (failure.says !== null) {
    const retriable = failure.says === 'retry'
    const fallback: FailureReason = retriable ? 'transient' : 'permanent'
    const reason = found !== null && found.retriable === retriable ? found.reason : fallback
    return { reason, retriable, rule: 'handler' }
  }
  return found ?? { reason: 'unknown', retriable: false, rule: 'unknown' }
}

function byCode(code: string | null): Verdict | null {
  if (code === null) return null
  const reason =
    ownEntry(REASON_BY_CODE, code) ??
    ownEntry(REASON_BY_STATUS, code) ??
    (OBSERVED.has(code) ? (code as FailureReason) : undefined)
  return reason === undefined ? null : verdict(reason, `code:${code}`)
}

// A code may be any text, 'constructor' too.
function ownEntry(table: Readonly<Record<string, FailureReason>>, code: string): FailureReason | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined
}

function byWords(message: string): Verdict | null {
  const text = message.toLowerCase()
  const match = REASON_BY_WORDS.find(([words]) => text.includes(words))
  return match === undefined ? null : verdict(match[1], `message:${match[0]}`)
}

function verdict(reason: FailureReason, rule: string): Verdict {
  return { reason, retriable: RETRIABLE.has(reason), rule }
}
