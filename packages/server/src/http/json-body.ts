// How bodies are read. JSON is bounded in size before it is read, and in depth and number of members before it is parsed, so
// that no body costs much more than its bytes. Lines of JSON are handed on as a stream. Compressed bodies are not taken.

import { type Clock, InvalidError, protoHolders, RequestError, turnsOf } from '@reprise/core'
import type { LoopWatch } from '@reprise/telemetry'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkNames, checkShape, TRANSITIONS_MAX } from './json-shape.ts'
import { routeOf } from './route-registration.ts'

/** Longer ones are read in parts. */
const AT_ONCE_LENGTH_MAX = 65_536

const JSON_TYPES = ['application/json', 'application/cloudevents+json', 'application/cloudevents-batch+json']

/** Also for a form: that is what curl calls a body whose type nobody said. */
export const NOT_JSON = [
  'REPRISE_UNSUPPORTED_MEDIA',
  "Send the body as JSON, uncompressed, with the header 'content-type: application/json'.",
] as const

/** JSON is UTF-8, and so is ASCII. */
const CHARSETS = new Set(['utf-8', 'utf8', 'us-ascii'])

interface BodyOptions {
  readonly maxBodyBytes: number
  readonly clock: Clock
  /** Told that a body is parsed. */
  readonly loop: Pick<LoopWatch, 'mark'>
}

export function readBodies(app: FastifyInstance, { maxBodyBytes, clock, loop }: BodyOptions): void {
  app.removeAllContentTypeParsers()
  const turns = turnsOf(clock)
  const parse = (request: FastifyRequest, body: string, done: (error: Error | null, value?: unknown) => void): void => {
    const route = routeOf(request)
    loop.mark(route)
    if (body.length <= AT_ONCE_LENGTH_MAX) {
      try {
        done(null, parsedJson(body))
      } catch (error) {
        done(asError(error))
      }
      return
    }
    // Large ones that come at the same moment are read one after the other, and others have their turn in between.
    const pause = async (): Promise<void> => {
      if (turns.isSpent) await turns.wait()
      loop.mark(route)
    }
    void inTurns(body, pause, done)
  }
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'string', bodyLimit: maxBodyBytes }, parse)
  // Read by the handler, line by line. Its bounds are those of a line and of the whole.
  app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload))
  // A form with one button has no fields.
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 4_096 },
    (_request, body, done) => (body === '' ? done(null, undefined) : done(new RequestError(...NOT_JSON))),
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

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new InvalidError('The body is not valid JSON.')

export const parsedJson = (text: string): unknown => (text === '' ? undefined : whole(parsedInParts(text)))

/** Reads the text in a few steps. Each takes time that grows with the text and with nothing else. */
function* parsedInParts(text: string): Generator<void, unknown, undefined> {
  if (text === '') return undefined
  if (checkShape(text) > TRANSITIONS_MAX) {
    yield
    checkNames(text)
  }
  yield
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new InvalidError('The body is not valid JSON.')
  }
  yield
  if (protoHolders(text, value).length > 0) {
    throw new InvalidError("The body has a member named '__proto__', which is not taken.")
  }
  if (HUGE_SIGN.test(text)) checkNumbers(value)
  return value
}

function whole(parts: Generator<void, unknown, undefined>): unknown {
  for (;;) {
    const { done, value } = parts.next()
    if (done === true) return value
  }
}

async function inTurns(
  text: string,
  pause: () => Promise<void>,
  done: (error: Error | null, value?: unknown) => void,
): Promise<void> {
  const parts = parsedInParts(text)
  let result: IteratorResult<void, unknown>
  try {
    do {
      await pause()
      result = parts.next()
    } while (result.done !== true)
    await pause()
  } catch (error) {
    done(asError(error))
    return
  }
  done(null, result.value)
}

/** Only a number with a large exponent or very many digits can be too large. */
const HUGE_SIGN = /\d[eE]\+?\d{3}|\d{309}/

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
