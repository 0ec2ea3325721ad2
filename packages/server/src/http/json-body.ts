// How bodies are read. JSON is bounded in size before it is read, and in depth and number of members before it is parsed, so
// that no body costs much more than its bytes. Lines of JSON are handed on as a stream. Compressed bodies are not taken.

import { InvalidError, JSON_DEPTH_MAX, RequestError } from '@reprise/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** An object of a million members takes a hundred times the memory of its text. */
const MEMBERS_MAX = 100_000

const JSON_TYPES = ['application/json', 'application/cloudevents+json', 'application/cloudevents-batch+json']

/** JSON is UTF-8, and so is ASCII. */
const CHARSETS = new Set(['utf-8', 'utf8', 'us-ascii'])

export function readBodies(app: FastifyInstance, bodyBytesMax: number): void {
  app.removeAllContentTypeParsers()
  const parse = (_: FastifyRequest, body: string, done: (error: Error | null, value?: unknown) => void): void => {
    try {
      done(null, body === '' ? undefined : parsedJson(body))
    } catch (error) {
      done(error instanceof Error ? error : new InvalidError('The body is not valid JSON.'))
    }
  }
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'string', bodyLimit: bodyBytesMax }, parse)
  // Read by the handler, line by line. Its bounds are those of a line and of the whole.
  app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload))
  // A form with one button has no fields.
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 4_096 },
    (_request, body, done) =>
      done(null, body === '' ? undefined : Object.fromEntries(new URLSearchParams(String(body)))),
  )
}

/** What no parser could make anything of. */
export function refuseUnreadable({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  const [, charset] = type.includes(';') ? (/;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? []) : []
  if (charset !== undefined && !CHARSETS.has(charset.toLowerCase())) {
    throw new RequestError('REPRISE_UNSUPPORTED_MEDIA', 'Send the body in UTF-8: no other character set is taken.')
  }
  const coding = headers['content-encoding']
  if (coding === undefined || coding === 'identity') return
  throw new RequestError('REPRISE_UNSUPPORTED_MEDIA', 'Send the body uncompressed: compressed bodies are not taken.')
}

export function parsedJson(text: string): unknown {
  checkShape(text)
  let value: unknown
  try {
    value = JSON.parse(text, text.includes('__proto__') || text.includes('\\u00') ? refuseProto : undefined)
  } catch (error) {
    if (error instanceof InvalidError) throw error
    throw new InvalidError('The body is not valid JSON.')
  }
  checkNumbers(value)
  return value
}

/** A number too large for us would be stored as null. */
function checkNumbers(value: unknown): void {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return
    throw new InvalidError('The body has a number that is too large to be kept. Send it as a text.')
  }
  if (typeof value !== 'object' || value === null) return
  // As deep as the shape allows, and no deeper.
  for (const member of Object.values(value)) checkNumbers(member)
}

function refuseProto(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new InvalidError("The body has a member named '__proto__', which is not taken.")
  return value
}

/** One pass over the text, before anything is built of it. */
function checkShape(text: string): void {
  // Neither bound can be passed by a text as short as this.
  if (text.length <= JSON_DEPTH_MAX) return
  let depth = 0
  let members = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) index = endOfString(text, index)
    else if (unit === OPEN_OBJECT || unit === OPEN_LIST) {
      if (++depth > JSON_DEPTH_MAX) throw new InvalidError(`The body nests deeper than ${JSON_DEPTH_MAX} levels.`)
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) depth--
    else if (unit === COMMA && ++members > MEMBERS_MAX) {
      throw new InvalidError(`The body has more than ${MEMBERS_MAX} members. Send it in parts.`)
    }
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c

/** Where the string that begins here ends, by jumps from quote to quote. */
function endOfString(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
}
