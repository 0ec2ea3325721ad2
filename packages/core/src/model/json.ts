// Payloads, results and details travel and rest as JSON text: written once where they enter, read once where they are
// used, never re-encoded on the way. JSON.stringify escapes NUL and lone surrogates, so the text survives any store.

import type { Brand } from './brand.ts'
import { InvalidError, TooLargeError } from './errors.ts'

export type JsonText = Brand<string, 'JsonText'>

export const JSON_NULL = 'null' as JsonText
export const PAYLOAD_BYTES_MAX = 1_048_576
export const JSON_DEPTH_MAX = 100

/** Encodes a value, refusing what JSON can't carry, what nests too deep and what is too large. */
export function encodeJson(value: unknown, what: string, bytesMax: number = PAYLOAD_BYTES_MAX): JsonText {
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
  checkSize(text, what, bytesMax)
  checkDepth(text, what)
  return text as JsonText
}

/** Accepts text that came from outside if it is JSON within the limits. */
export function checkedJson(text: string, what: string, bytesMax: number = PAYLOAD_BYTES_MAX): JsonText {
  checkSize(text, what, bytesMax)
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
  // The name may also be written with escapes, which hardly any text has: '\u005f' is an underscore.
  const suspect = text.includes('__proto__') || text.includes('\\u00')
  return suspect ? JSON.parse(text, dropProto) : JSON.parse(text)
}

function dropProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

function checkSize(text: string, what: string, bytesMax: number): void {
  // Every UTF-16 unit takes 1 to 3 bytes: only texts in between need counting.
  if (text.length * 3 <= bytesMax) return
  const sizeBytes = utf8Length(text)
  if (sizeBytes > bytesMax) throw new TooLargeError(what, sizeBytes, bytesMax)
}

function utf8Length(text: string): number {
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
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (inString) {
      if (unit === 0x5c) index++
      else if (unit === 0x22) inString = false
    } else if (unit === 0x22) inString = true
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > JSON_DEPTH_MAX) throw new InvalidError(`The ${what} nests deeper than ${JSON_DEPTH_MAX} levels.`)
    } else if (unit === 0x7d || unit === 0x5d) depth--
  }
}
