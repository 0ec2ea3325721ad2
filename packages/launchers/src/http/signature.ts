// Signatures as Standard Webhooks describes them: three headers, HMAC-SHA256. `v1` is over id, timestamp and body: what webhooks
// of events have. `v2` is over method, path and query as well, so that a request can't be sent again to another place or as
// another question; `v3` is over the origin too, so that it can't be sent to another host that has the same secret: launches
// have all of them. Several secrets at once let a secret be changed without a gap. Receivers use
// verifySignature() for events and verifyRequest() for launches.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { InvalidError } from '@reprise/core'

const PREFIX = 'whsec_'
const SECRET_BYTES_MIN = 16
const TOLERANCE_S = 300

export interface SignatureHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The key that a secret such as 'whsec_…' stands for. */
export function secretKey(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  const key = Buffer.from(encoded, 'base64')
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)
  if (!isBase64 || key.length < SECRET_BYTES_MIN) {
    throw new InvalidError(
      `A signing secret is '${PREFIX}' and at least ${SECRET_BYTES_MIN} random bytes in base64, 24 to 64 are usual.`,
    )
  }
  return key
}

export const SIGNATURE_VERSIONS = ['v1', 'v2', 'v3'] as const
export type SignatureVersion = (typeof SIGNATURE_VERSIONS)[number]

/** What a receiver acts on. */
export interface RequestLine {
  readonly method: string
  /** The path and the query, or a whole address, of which these two count. */
  readonly url: string
}

/** `v1`, which webhooks of events have. */
export function sign(keys: readonly Buffer[], id: string, timestampS: number, body: string): SignatureHeaders {
  return headersOf(keys, id, timestampS, (key) => [`v1,${digestV1(key, id, String(timestampS), body)}`])
}

/** Each key in each version. */
export function signRequest(
  keys: readonly Buffer[],
  versions: readonly SignatureVersion[],
  id: string,
  timestampS: number,
  request: RequestLine & { readonly body: string },
): SignatureHeaders {
  const timestamp = String(timestampS)
  const digests = {
    v1: (key: Buffer) => digestV1(key, id, timestamp, request.body),
    v2: (key: Buffer) => digestOver(key, ['v2', id, timestamp, ...placeOf(request)], request.body),
    v3: (key: Buffer) =>
      digestOver(key, ['v3', id, timestamp, originOf(request.url), ...placeOf(request)], request.body),
  }
  return headersOf(keys, id, timestampS, (key) => versions.map((version) => `${version},${digests[version](key)}`))
}

function headersOf(
  keys: readonly Buffer[],
  id: string,
  timestampS: number,
  signaturesBy: (key: Buffer) => readonly string[],
): SignatureHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': keys.flatMap(signaturesBy).join(' '),
  }
}

const digestV1 = (key: Buffer, id: string, timestamp: string, body: string | Uint8Array): string =>
  createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')

/** None of the parts before the body can hold a line end. */
function digestOver(key: Buffer, parts: readonly string[], body: string | Uint8Array): string {
  const head = [...parts, ''].join('\n')
  return createHmac('sha256', key).update(head).update(body).digest('base64')
}

const placeOf = ({ method, url }: RequestLine): readonly string[] => [method.toUpperCase(), targetOf(url)]

/** Such as `https://plugins.example`, without a port that is the usual one. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '')

/** As it stands in the first line of the request. */
function targetOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

export interface VerifyOptions {
  /** How far the sender's clock may be off, and how late a request may come. 5 minutes if not given. */
  readonly toleranceSeconds?: number
  /** The receiver's time, in ms. */
  readonly now?: number
  /**
   * For `verifyRequest`: where launches for this receiver are sent, such as 'https://plugins.example'. A request that was
   * signed for another host is refused then (`v3`). From the receiver's configuration, never from a header of the request.
   */
  readonly origin?: string
}

/** Headers as Node gives them, as Fetch does, or as a plain object. */
export type ReceivedHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null }

/**
 * Whether a request comes from somebody who has the secret (or one of them), recently, and unchanged. `body` is what was
 * received, byte for byte, before anything parsed it.
 */
export function verifySignature(
  headers: ReceivedHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): boolean {
  return isSigned('v1', headers, secret, options, (key, id, timestamp) => digestV1(key, id, timestamp, body))
}

/** A request as it was received, with its body byte for byte, before anything parsed it. */
export interface ReceivedRequest extends RequestLine {
  readonly headers: ReceivedHeaders
  readonly body: string | Uint8Array
}

/** As `verifySignature`, for launches and questions about them: method, path and query are signed as well, and the origin. */
export function verifyRequest(
  request: ReceivedRequest,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): boolean {
  const { headers, body } = request
  const { origin } = options
  const version = origin === undefined ? 'v2' : 'v3'
  const place = origin === undefined ? placeOf(request) : [originOf(origin), ...placeOf(request)]
  return isSigned(version, headers, secret, options, (key, id, timestamp) =>
    digestOver(key, [version, id, timestamp, ...place], body),
  )
}

function isSigned(
  version: SignatureVersion,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  { now = Date.now(), toleranceSeconds = TOLERANCE_S }: VerifyOptions,
  digestBy: (key: Buffer, id: string, timestamp: string) => string,
): boolean {
  const keys = (typeof secret === 'string' ? [secret] : secret).map(secretKey)
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const signatures = header(headers, 'webhook-signature')
  if (id === null || timestamp === null || signatures === null || !/^\d{1,12}$/.test(timestamp)) return false
  if (!(Math.abs(now - Number(timestamp) * 1_000) <= toleranceSeconds * 1_000)) return false
  const expected = keys.map((key) => Buffer.from(digestBy(key, id, timestamp), 'base64'))
  const given = signatures
    .split(' ')
    .filter((part) => part.startsWith(`${version},`))
    .map((part) => Buffer.from(part.slice(version.length + 1), 'base64'))
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)))
}

function header(headers: ReceivedHeaders, name: string): string | null {
  const value = isGetter(headers) ? headers.get(name) : headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}

function isGetter(headers: ReceivedHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
