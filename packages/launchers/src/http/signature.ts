// Signatures as Standard Webhooks describes them: three headers, HMAC-SHA256 over id, timestamp and body. Several secrets at
// once let a secret be changed without a gap. Receivers use verifySignature().

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

export function sign(keys: readonly Buffer[], id: string, timestampS: number, body: string): SignatureHeaders {
  const signatures = keys.map((key) => `v1,${digestOf(key, id, String(timestampS), body).toString('base64')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatures.join(' '),
  }
}

function digestOf(key: Buffer, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}

export interface VerifyOptions {
  /** How far the sender's clock may be off, and how late a request may come. 5 minutes if not given. */
  readonly toleranceSeconds?: number
  /** The receiver's time, in ms. */
  readonly now?: number
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
  const keys = (typeof secret === 'string' ? [secret] : secret).map(secretKey)
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const signatures = header(headers, 'webhook-signature')
  if (id === null || timestamp === null || signatures === null || !/^\d{1,12}$/.test(timestamp)) return false
  const offMs = Math.abs((options.now ?? Date.now()) - Number(timestamp) * 1_000)
  if (!(offMs <= (options.toleranceSeconds ?? TOLERANCE_S) * 1_000)) return false
  const expected = keys.map((key) => digestOf(key, id, timestamp, body))
  const given = signatures
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice(3), 'base64'))
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)))
}

function header(headers: ReceivedHeaders, name: string): string | null {
  const value = isGetter(headers) ? headers.get(name) : headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}

function isGetter(headers: ReceivedHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
