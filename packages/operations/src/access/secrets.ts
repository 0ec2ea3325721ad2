// Secrets that we make ourselves: session ids, API tokens, one-time codes. All are random, 256 bits long, and kept only as a
// digest, so that a reader of the store can't use them. A plain SHA-256 is enough for secrets that nobody can guess.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32

/** 64 hexadecimal digits. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('hex')

/** Not secret: something to be known by. 16 hexadecimal digits. */
export const newId = (): string => randomBytes(8).toString('hex')

export const isSecret = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

export const digestOf = (secret: string): string => hash('sha256', secret)

/** Takes the same time wherever the two differ. */
export function isSameDigest(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
