// A failure that another process or another host described: built as a handler would throw it, so that classification
// and decision treat it like any other. It has no stack: ours would point at the launcher, which did nothing wrong.

import { PermanentError, RetryAfterError, TransientError } from '@reprise/core'

export interface Description {
  readonly message: string
  readonly code?: string
  /** Whether trying again can help, if the failing side has said so. */
  readonly says?: 'permanent' | 'transient' | undefined
  readonly retryAfterMs?: number | undefined
  /** Plain fields for the record. */
  readonly details?: Readonly<Record<string, string | number | null>>
}

export function describedFailure(description: Description): Error {
  const { message, code, details } = description
  return Object.assign(kindOf(message, description), { ...details, ...(code === undefined ? {} : { code }), stack: '' })
}

function kindOf(message: string, { says, retryAfterMs }: Description): Error {
  if (says === 'permanent') return new PermanentError(message)
  if (retryAfterMs !== undefined) return new RetryAfterError(retryAfterMs, message)
  return says === 'transient' ? new TransientError(message) : new Error(message)
}

const RETRY_AFTER_MS_MAX = 7 * 86_400_000

/**
 * The `error` of an answer or a result file: `{ code, message, retryable, retryAfterMs }`, each of them optional. Null if
 * the value is no such object.
 */
export function describedError(value: unknown): Error | null {
  if (typeof value === 'string' && value !== '') return describedFailure({ message: value })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { code, message, retryable, retryAfterMs } = value as Readonly<Record<string, unknown>>
  const isDelay = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0
  return describedFailure({
    message: typeof message === 'string' && message !== '' ? message : 'The worker failed and did not say why.',
    ...(typeof code === 'string' && code !== '' ? { code } : {}),
    says: typeof retryable === 'boolean' ? (retryable ? 'transient' : 'permanent') : undefined,
    retryAfterMs: isDelay ? Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) : undefined,
  })
}
