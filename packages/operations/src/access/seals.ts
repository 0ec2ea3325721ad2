// Seals: the end of each secret that we make is a MAC over the rest of it, by a key that the store keeps. A secret without a
// good seal is not ours, or is older than seals; that is found out without a look at the store. So a flood of guesses holds
// up nobody who has a real one. A seal says nothing about whether a token was revoked: that is the store's to say.

import { createHmac } from 'node:crypto'
import type { Clock, Engine } from '@reprise/core'
import { type KeyRing, keyAt, openKeyRing } from '@reprise/orchestrator'
import { isSameDigest, isSecret, newSecret } from './secrets.ts'

/** Of the 64 digits of a secret: 192 bits are drawn, 64 bits are the seal. */
const DRAWN_LENGTH = 48
const SEAL_LENGTH = 16

export class Seals {
  readonly #engine: Pick<Engine, 'collection' | 'now'>
  readonly #clock: Clock
  readonly #kind: string
  #ring: KeyRing | null = null

  /** A seal counts for secrets of its kind only. */
  constructor(engine: Pick<Engine, 'collection' | 'now'>, clock: Clock, kind: 'api-token' | 'session' | 'link') {
    this.#engine = engine
    this.#clock = clock
    this.#kind = kind
  }

  /** Reads the keys. Until then no seal is known. */
  async open(): Promise<KeyRing> {
    this.#ring = await openKeyRing(this.#engine, 'seals', this.#clock)
    return this.#ring
  }

  /** `about` is what the secret belongs to, and is not secret. */
  async newSecret(about = ''): Promise<string> {
    const ring = await this.open()
    const drawn = newSecret().slice(0, DRAWN_LENGTH)
    return `${drawn}${this.#sealOf(keyAt(ring, this.#clock.now()).secret, drawn, about)}`
  }

  /** Asks nobody: the keys are those that were read last, and are read again beside the request. */
  isSealed(secret: string, about = ''): boolean {
    this.open().catch(() => undefined)
    if (this.#ring === null || !isSecret(secret)) return false
    const [drawn, seal] = [secret.slice(0, DRAWN_LENGTH), secret.slice(DRAWN_LENGTH)]
    return this.#ring.some((key) => isSameDigest(seal, this.#sealOf(key.secret, drawn, about)))
  }

  #sealOf(key: string, drawn: string, about: string): string {
    return createHmac('sha256', Buffer.from(key, 'base64url'))
      .update(JSON.stringify([this.#kind, about, drawn]))
      .digest('hex')
      .slice(0, SEAL_LENGTH)
  }
}
