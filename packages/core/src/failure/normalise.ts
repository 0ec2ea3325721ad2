// A handler may throw anything: undefined, a string, a circular object, a BigInt, an Error whose getters throw, a stack
// of ten megabytes. This module reads it once, carefully, and gives back plain bounded text. It never throws.

import type { JsonText } from '../model/json.ts'
import { outcomeRequest } from './outcome.ts'

export interface Normalised {
  readonly code: string | null
  /** `HTTP_503`, when a status came along, also beside a code of its own. */
  readonly httpCode: string | null
  readonly name: string
  readonly message: string
  readonly stack: string | null
  /** The handler's own word on whether to retry; null if it said nothing. */
  readonly says: 'retry' | 'dead' | null
  readonly retryAfterMs: number | null
  readonly details: JsonText | null
}

export const CODE_LENGTH_MAX = 100
export const MESSAGE_LENGTH_MAX = 4_000
export const STACK_LENGTH_MAX = 16_000
export const DETAILS_LENGTH_MAX = 8_000
const CAUSES_MAX = 5
const KNOWN_FIELDS = new Set(['name', 'message', 'stack', 'code', 'cause', 'status', 'statusCode', 'errors'])

export function normalise(thrown: unknown): Normalised {
  const request = outcomeRequest(thrown)
  const httpCode = httpCodeOf(thrown)
  return {
    code: codeOf(thrown) ?? httpCode ?? (read(thrown, 'name') === 'TimeoutError' ? 'timeout' : null),
    httpCode,
    name: cut(nameOf(thrown), CODE_LENGTH_MAX),
    message: cut(messageOf(thrown), MESSAGE_LENGTH_MAX),
    stack: stackOf(thrown),
    says: request?.says ?? null,
    retryAfterMs: request?.retryAfterMs ?? null,
    details: detailsOf(thrown),
  }
}

/** Cuts long text and leaves a mark that says so. Never splits a surrogate pair; half pairs are replaced. */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed()
  const splitsPair = maxLength > 0 && (text.codePointAt(maxLength - 1) ?? 0) > 0xffff
  const kept = text.slice(0, splitsPair ? maxLength - 1 : maxLength)
  return `${kept.toWellFormed()}… [cut, ${text.length - kept.length} more characters]`
}

function read(holder: unknown, field: string): unknown {
  if ((typeof holder !== 'object' && typeof holder !== 'function') || holder === null) return undefined
  try {
    return (holder as Record<string, unknown>)[field]
  } catch {
    return undefined
  }
}

function nameOf(thrown: unknown): string {
  if (thrown === null) return 'null'
  if (typeof thrown !== 'object') return typeof thrown
  const name = read(thrown, 'name')
  if (typeof name === 'string' && name !== '') return name
  const constructorName = read(read(thrown, 'constructor'), 'name')
  return typeof constructorName === 'string' && constructorName !== '' ? constructorName : 'Error'
}

function messageOf(thrown: unknown): string {
  const parts = [oneMessage(thrown)]
  let cause = read(thrown, 'cause')
  for (let depth = 0; depth < CAUSES_MAX && cause !== undefined && cause !== null; depth++) {
    parts.push(oneMessage(cause))
    cause = read(cause, 'cause')
  }
  return (
    parts.filter((part, index) => part !== '' && parts.indexOf(part) === index).join(': ') ||
    'The handler threw without a message.'
  )
}

function oneMessage(value: unknown): string {
  if (typeof value === 'string') return value
  const message = read(value, 'message')
  if (typeof message === 'string') return message
  return asText(value)
}

function asText(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return asJson(value) ?? 'An object that can not be shown was thrown.'
  }
  try {
    return `The handler threw ${String(value)}.`
  } catch {
    return 'The handler threw something that can not be shown.'
  }
}

function stackOf(thrown: unknown): string | null {
  const stack = read(thrown, 'stack')
  return typeof stack === 'string' && stack !== '' ? cut(stack, STACK_LENGTH_MAX) : null
}

function codeOf(thrown: unknown): string | null {
  for (const holder of [thrown, read(thrown, 'cause')]) {
    const code = read(holder, 'code')
    if (typeof code === 'string' && code !== '') return cut(code, CODE_LENGTH_MAX)
  }
  return null
}

// Where the HTTP clients in use put the status of a response.
function httpCodeOf(thrown: unknown): string | null {
  const cause = read(thrown, 'cause')
  for (const holder of [thrown, read(thrown, 'response'), cause, read(cause, 'response')]) {
    for (const field of ['status', 'statusCode']) {
      const status = read(holder, field)
      if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) {
        return `HTTP_${status}`
      }
    }
  }
  return null
}

/** Own plain fields. Nested ones (a request with its headers, say) are left out: they are where secrets hide. */
function detailsOf(thrown: unknown): JsonText | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  const own: Record<string, unknown> = {}
  let found = false
  for (const key of safeKeys(thrown)) {
    if (KNOWN_FIELDS.has(key)) continue
    const value = read(thrown, key)
    if (typeof value === 'object' || typeof value === 'function') continue
    own[key] = value
    found = true
  }
  if (!found) return null
  const text = asJson(own)
  return text === null || text === '{}' || text.length > DETAILS_LENGTH_MAX ? null : (text as JsonText)
}

function safeKeys(value: object): string[] {
  try {
    return Object.keys(value).slice(0, 50)
  } catch {
    return []
  }
}

/** JSON that survives cycles, BigInts and throwing getters. */
function asJson(value: unknown): string | null {
  const seen = new Set<unknown>()
  const replacer = (_key: string, part: unknown): unknown => {
    if (typeof part === 'bigint') return part.toString()
    if (typeof part === 'object' && part !== null) {
      if (seen.has(part)) return '[seen above]'
      seen.add(part)
    }
    return part
  }
  try {
    return JSON.stringify(value, replacer) ?? null
  } catch {
    return null
  }
}
