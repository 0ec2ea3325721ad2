// A failure that a worker reports over HTTP: made into what a handler would have thrown, and judged like any other.

import {
  decodeJson,
  encodeJson,
  failed,
  type JudgedAttempt,
  judgeThrown,
  type LeaseRef,
  PermanentError,
  RetryAfterError,
  type Settlement,
  TransientError,
} from '@reprise/core'
import type { Context } from '@reprise/operations'

export interface ReportedError {
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly name?: string | undefined
  readonly stack?: string | undefined
  /** An HTTP status that it failed with. */
  readonly status?: number | undefined
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly details?: unknown
}

/**
 * The settlement of an attempt that failed, as the policies in force decide. `now` is the store's time. The store has the
 * last word on the token.
 */
export function failedSettlement(
  { policies, random }: Pick<Context, 'policies' | 'random'>,
  ref: LeaseRef,
  error: ReportedError,
  attempt: JudgedAttempt,
  now: number,
): Settlement {
  const circumstances = { now, roll: random.next() }
  const { failure, decision, guards } = judgeThrown(policies.current(), attempt, thrownOf(error), circumstances)
  return failed(ref, failure, decision, guards)
}

function thrownOf({ message, name, details, retryable, retryAfterMs, ...fields }: ReportedError): Error {
  const words = message === undefined || message === '' ? 'The worker failed and did not say why.' : message
  const error = kindOf(words, retryable, retryAfterMs)
  const { code, status, stack } = fields
  return Object.assign(error, ownFields(details), {
    // Ours would point here, where nothing went wrong.
    stack: stack ?? '',
    ...(name === undefined ? {} : { name }),
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
  })
}

/** What an error says about itself beside them. A report has a place of its own for each. */
const TOLD_ELSEWHERE = new Set([
  'name',
  'message',
  'stack',
  'code',
  'cause',
  'status',
  'statusCode',
  'response',
  '__proto__',
])

/** The fields that the error had where it was thrown, or the details as one field if they are no object. */
function ownFields(details: unknown): object {
  if (details === undefined) return {}
  const value: unknown = decodeJson(encodeJson(details, 'details'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { details: value }
  return Object.fromEntries(Object.entries(value).filter(([name]) => !TOLD_ELSEWHERE.has(name)))
}

function kindOf(message: string, retryable: boolean | undefined, retryAfterMs: number | undefined): Error {
  if (retryable === false) return new PermanentError(message)
  if (retryAfterMs !== undefined) return new RetryAfterError(retryAfterMs, message)
  return retryable === true ? new TransientError(message) : new Error(message)
}
