// Payloads, results and details travel and rest as JSON text: written once where they enter, read once where they are
// used, never re-encoded on the way. JSON.stringify escapes NUL and lone surrogates, so the text survives any store.

import type { Brand } from './brand.ts'
import { InvalidError, TooLargeError } from './errors.ts'

export type JsonText = Brand<string, 'JsonText'>

export const JSON_NULL = 'null' as JsonText
export const PAYLOAD_BYTES_MAX = 1_048_576
export const JSON_DEPTH_MAX = 100

/** Encodes a value, refusing what JSON can't carry, what nests too deep and what is too large. */
export function encodeJson(value: unknown, what: string, maxBytes: number = PAYLOAD_BYTES_MAX): JsonText {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new InvalidError(
      `The ${what} can't be written as JSON: ${error instanceof Error ? error.message : 'it threw while it was read'}.`,
    )
  }
  // undefined stands for 'nothing given', which JSON writes as null.
  if (text === undefined) {
    if (value === undefined) return JSON_NULL
    throw new InvalidError(`The ${what} can't be written as JSON: a ${typeof value} has no JSON form.`)
  }
  checkSize(text, what, maxBytes)
  checkDepth(text, what)
  return text as JsonText
}

/** Accepts text that came from outside if it is JSON within the limits. */
export function checkedJson(text: string, what: string, maxBytes: number = PAYLOAD_BYTES_MAX): JsonText {
  checkSize(text, what, maxBytes)
  checkDepth(text, what)
  try {
    JSON.parse(text)
  } catch {
    throw new InvalidError(`The ${what} is not valid JSON.`)
  }
  // A store that writes UTF-8 could not give it back.
  if (!text.isWellFormed()) {
    throw new InvalidError(`The ${what} contains half of a surrogate pair. Write it as an escape, such as \\ud800.`)
  }
  return text as JsonText
}

/** Parses text that was checked on its way in. An own `__proto__` member is dropped rather than handed to user code. */
export function decodeJson(text: JsonText): unknown {
  const value: unknown = JSON.parse(text)
  for (const holder of protoHolders(text, value)) Reflect.deleteProperty(holder, PROTO)
  return value
}

const PROTO = '__proto__'
/** The name may also be written with escapes, which hardly any text has: '\u005f' is an underscore. */
const PROTO_SIGN = /__proto__|\\u00(?:5f|6f|7[024])/i

/**
 * The objects with a member named `__proto__`, in a value that was parsed from this text. Looked for afterwards, and only if the
 * text has a sign of it: a reviver, which JSON.parse would call for every member, takes many times as long as parsing does.
 */
export function protoHolders(text: string, value: unknown): readonly object[] {
  if (!PROTO_SIGN.test(text)) return []
  const holders: object[] = []
  const pending: unknown[] = [value]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, PROTO)) holders.push(next)
    for (const member of Object.values(next)) if (typeof member === 'object' && member !== null) pending.push(member)
  }
  return holders
}

function checkSize(text: string, what: string, maxBytes: number): void {
  // Every UTF-16 unit takes 1 to 3 bytes: only texts in between need counting.
  if (text.length * 3 <= maxBytes) return
  const sizeBytes = utf8Length(text)
  if (sizeBytes > maxBytes) throw new TooLargeError(what, sizeBytes, maxBytes)
}

export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7ff) bytes += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2
    else if (unit > 0x7f) bytes += 1
  }
  return bytes
}

function checkDepth(text: string, what: string): void {
  // Nothing can nest deeper than it has opening brackets; most payloads are cleared by their length.
  if (text.length <= JSON_DEPTH_MAX) return
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === 0x22) index = endOfString(text, index)
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > JSON_DEPTH_MAX) throw new InvalidError(`The ${what} nests deeper than ${JSON_DEPTH_MAX} levels.`)
    } else if (unit === 0x7d || unit === 0x5d) depth--
  }
}

/** Where the string that begins here ends: long ones are skipped, not walked. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}
