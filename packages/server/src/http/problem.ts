// Every error becomes problem details (RFC 9457) with our stable code. What the caller did wrong is said in full; what went
// wrong inside is said to the log, and to the caller only that it did.

import {
  ERRORS,
  type ErrorCode,
  isRepriseError,
  type RepriseError,
  RequestError,
  TaskConflictError,
  type TaskDifference,
} from '@reprise/core'
import { FixedTextError, InputError, type InputProblem } from '@reprise/operations'
import { NOT_JSON } from './json-body.ts'

export interface Problem {
  readonly status: number
  readonly body: {
    readonly type: string
    readonly title: string
    readonly status: number
    readonly code: ErrorCode
    readonly detail: string
    readonly requestId: string
    readonly error?: string
    readonly problems?: readonly InputProblem[]
    readonly taskId?: string
    readonly differs?: readonly TaskDifference[]
  }
  readonly headers: Readonly<Record<string, string>>
  /** Whether it is ours to look into: the log gets the whole story. */
  readonly isOurs: boolean
  /** What the store said, for the log alone: it names hosts and ports that are nobody else's business. Null if it said nothing. */
  readonly storeSays: string | null
}

/** docs/errors.md has a section for each code. */
const TYPE = 'urn:reprise:problem'
const INTERNAL = 'Something went wrong inside. It is logged under the request id; trying again may help.'
/** Not that nothing was changed: a reply of the store may have been lost. */
const STORE_AWAY =
  'does not answer. If a change was asked for, it may have taken effect or not; try again, with the same id or key.'

/** `store` is how callers know the store; its address is nobody else's business. */
export function problemOf(error: unknown, requestId: string, store = 'The store'): Problem {
  const known = isRepriseError(error) ? error : fromFramework(error)
  const { code } = known
  const { status, title } = ERRORS[code]
  const isOurs = status === 500
  const retryAfterMs = known instanceof RequestError ? known.retryAfterMs : null
  return {
    status,
    isOurs,
    storeSays: storeSays(known),
    headers: {
      ...(retryAfterMs === null ? {} : { 'retry-after': String(Math.max(Math.ceil(retryAfterMs / 1_000), 1)) }),
      ...(status === 503 && retryAfterMs === null ? { 'retry-after': '1' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer realm="reprise"' } : {}),
    },
    body: {
      type: `${TYPE}:${code}`,
      title,
      status,
      code,
      detail: isOurs ? INTERNAL : code === 'REPRISE_STORE_BUSY' ? `${store} ${STORE_AWAY}` : known.message,
      requestId,
      ...(known instanceof FixedTextError ? { error: known.error } : {}),
      ...(known instanceof InputError ? { problems: known.problems } : {}),
      ...(known instanceof TaskConflictError ? { taskId: known.taskId, differs: known.differs } : {}),
    },
  }
}

function storeSays({ code, message, cause }: RepriseError): string | null {
  if (code === 'REPRISE_STORE_BUSY') return message
  if (code !== 'REPRISE_STORE_UNREACHABLE') return null
  return cause instanceof Error ? cause.message : message
}

/** A type that no parser takes, or none at all. */
const NO_MEDIA_TYPE = new Set<unknown>(['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'])

/** What Fastify itself refuses, by its codes; everything else is a fault of ours. */
function fromFramework(error: unknown): RequestError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || status === 413) {
    return new RequestError('REPRISE_TOO_LARGE', 'The body is larger than this server takes. Nothing was changed.')
  }
  if (NO_MEDIA_TYPE.has(code) || status === 415) return new RequestError(...NOT_JSON)
  if (code === 'FST_ERR_BAD_URL') {
    return new RequestError('REPRISE_INVALID', 'The path can not be decoded. Write each of its parts percent-encoded.')
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return new RequestError('REPRISE_INVALID', 'A part of the path is longer than any name.')
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new RequestError('REPRISE_INVALID', 'The request can not be understood. Is the body valid JSON?')
  }
  return new RequestError('REPRISE_INTERNAL', INTERNAL, { cause: error })
}
