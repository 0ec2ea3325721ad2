// The built-in rules of classification (C3): codes of Node and of Reprise itself, HTTP statuses, and words in the message.
// Tables only; classify.ts asks them.

import type { FailureReason } from './failure-reason.ts'

type Table<Value> = readonly (readonly [reason: FailureReason, ...values: Value[]])[]

const reasonBy = <Value>(table: Table<Value>): ReadonlyMap<Value, FailureReason> =>
  new Map(table.flatMap(([reason, ...values]) => values.map((value) => [value, reason] as const)))

const words = (text: string): string[] => text.trim().split(/\s+/)

export const REASON_BY_CODE: ReadonlyMap<string, FailureReason> = reasonBy([
  // The other side can't be reached, or went away. Names that can't be resolved are here too: a name that does not exist
  // looks the same as a resolver that is down.
  [
    'connection',
    ...words(`ECONNREFUSED ECONNRESET ECONNABORTED EPIPE EPROTO ENOTCONN ESHUTDOWN EHOSTUNREACH EHOSTDOWN
      ENETUNREACH ENETDOWN ENETRESET ENONET EADDRNOTAVAIL
      EAI_AGAIN EAI_FAIL EAI_NODATA ENOTFOUND ESERVFAIL EREFUSED
      UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED ERR_SOCKET_CLOSED ERR_STREAM_PREMATURE_CLOSE
      ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_SESSION_ERROR ERR_HTTP2_STREAM_ERROR ERR_HTTP2_STREAM_CANCEL`),
  ],
  // It took too long.
  [
    'timeout',
    ...words(`ETIMEDOUT ETIMEOUT ETIME EAI_CANCELED ESOCKETTIMEDOUT UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT
      UND_ERR_BODY_TIMEOUT ERR_SOCKET_CONNECTION_TIMEOUT REPRISE_TIMED_OUT`),
  ],
  // This host, or the store, has no room or no time just now.
  [
    'transient',
    ...words(`EBUSY EMFILE ENFILE EAGAIN EINTR ENOBUFS ENOMEM ENOSPC EADDRINUSE EDEADLK EIO EAI_MEMORY
      SQLITE_BUSY SQLITE_LOCKED
      REPRISE_STORE_BUSY REPRISE_STORE_FULL REPRISE_BACKLOG_FULL REPRISE_NO_AVAILABLE_SLOT`),
  ],
  // What stays as it is.
  ['permission', 'EACCES', 'EPERM', 'EROFS'],
  ['not_found', 'ENOENT', 'REPRISE_NOT_FOUND'],
  [
    'invalid_parameters',
    ...words(`EINVAL EISDIR ENOTDIR ENAMETOOLONG
      ERR_INVALID_ARG_TYPE ERR_INVALID_ARG_VALUE ERR_INVALID_URL ERR_OUT_OF_RANGE`),
  ],
  [
    'permanent',
    ...words(`ERR_MODULE_NOT_FOUND MODULE_NOT_FOUND CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT
      SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID`),
  ],
  ['validation', 'REPRISE_INVALID', 'REPRISE_TOO_LARGE'],
])

/** What differs from the rest of its hundred: other 4xx are final, other 5xx pass. From 520 on they are those of proxies. */
const REASON_BY_STATUS = reasonBy<number>([
  ['invalid_parameters', 400, 405, 406, 411, 414, 415, 416],
  ['permission', 401, 403, 407, 451, 511],
  ['not_found', 404, 410],
  ['validation', 413, 422, 431],
  ['rate_limited', 420, 429, 529],
  ['transient', 423, 425],
  ['timeout', 408, 504, 522, 524, 598, 599],
  ['connection', 421, 499, 502, 521, 523, 525, 530],
  ['worker_unavailable', 503],
  ['permanent', 501, 505, 508, 510, 526],
])

export function reasonByStatus(status: number): FailureReason | undefined {
  if (status < 400 || status > 599) return undefined
  return REASON_BY_STATUS.get(status) ?? (status < 500 ? 'permanent' : 'transient')
}

/** In order: what is certainly final first, so that 'validation timed out field' is not retried for its wording. */
export const REASON_BY_WORDS: readonly (readonly [words: string, FailureReason])[] = [
  ...reasonBy([
    ['permission', 'permission denied', 'access denied'],
    ['action_not_found', 'action not found'],
    ['invalid_parameters', 'invalid parameter', 'invalid argument'],
    ['validation', 'validation'],
    ['queue_timeout', 'queue ttl expired'],
    ['worker_unavailable', 'worker unavailable', 'worker is unavailable', 'service unavailable'],
    ['worker_lost', 'heartbeat stale', 'heartbeat is stale', 'stale heartbeat'],
    ['connection', 'connection refused', 'connection reset', 'connection closed', 'econnrefused', 'econnreset'],
    ['connection', 'broken pipe', 'bad gateway', 'socket hang up'],
    ['rate_limited', 'too many requests', 'rate limit'],
    ['timeout', 'timed out', 'timeout', 'etimedout'],
    ['transient', 'transient', 'temporary', 'temporarily'],
  ]),
]
