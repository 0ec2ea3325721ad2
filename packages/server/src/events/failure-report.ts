// The data of `task.execution.failed`, checked field by field. What it leads to is decided in failures-in.

import { CODE_LENGTH_MAX, checkedText, InvalidError, MESSAGE_LENGTH_MAX, NAME_LENGTH_MAX } from '@reprise/core'

export interface FailureReport {
  readonly errorCode: string
  readonly errorMessage?: string
  readonly retryable: boolean
  readonly idempotencyKey: string
  readonly taskId?: string
  readonly action?: string
  readonly payload: unknown
  readonly tenant?: string
  readonly attempt?: number
  readonly token?: string
}

const KEY_LENGTH_MAX = 500
/** The name of its worker may be in it, and a MAC is. */
const CREDENTIAL_LENGTH_MAX = 600

export function readFailureReport(data: unknown): FailureReport {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new InvalidError("The event has no 'data' with errorCode, retryable and idempotencyKey.")
  }
  const fields = data as Readonly<Record<string, unknown>>
  const { retryable, attempt } = fields
  if (typeof retryable !== 'boolean') throw new InvalidError("'retryable' is true or false.")
  if (attempt !== undefined && !(Number.isSafeInteger(attempt) && Number(attempt) >= 1)) {
    throw new InvalidError("'attempt' is a whole number from 1.")
  }
  return {
    errorCode: checkedText('errorCode', fields.errorCode, CODE_LENGTH_MAX),
    retryable,
    idempotencyKey: text(fields, 'idempotencyKey', KEY_LENGTH_MAX),
    payload: fields.payload,
    ...optional(fields, 'errorMessage', MESSAGE_LENGTH_MAX * 4),
    ...optional(fields, 'taskId', NAME_LENGTH_MAX),
    ...optional(fields, 'action', NAME_LENGTH_MAX),
    ...optional(fields, 'tenant', NAME_LENGTH_MAX),
    ...optional(fields, 'token', CREDENTIAL_LENGTH_MAX),
    ...(attempt === undefined ? {} : { attempt: Number(attempt) }),
  }
}

function text(fields: Readonly<Record<string, unknown>>, name: string, maxLength: number): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '' && value.length <= maxLength && value.isWellFormed()) return value
  throw new InvalidError(`'${name}' is a text of at most ${maxLength} characters.`)
}

function optional<Name extends string>(
  fields: Readonly<Record<string, unknown>>,
  name: Name,
  maxLength: number,
): { readonly [N in Name]?: string } {
  if (fields[name] === undefined || fields[name] === null) return {}
  return { [name]: text(fields, name, maxLength) } as { readonly [N in Name]: string }
}
