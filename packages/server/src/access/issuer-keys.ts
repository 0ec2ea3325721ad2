// The public keys of one issuer, fetched when they are first needed and kept. A token that names an unknown key leads to
// another look, but only once in a while, so a flood of such tokens does not reach the issuer. While the issuer is down the
// keys that are known go on to count: an outage there must not lock everybody out here.

import { type Clock, RequestError } from '@reprise/core'
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type LocalJWKSet,
} from 'jose'
import { type BoundedFetch, jsonFrom } from './bounded-fetch.ts'
import { checkedIssuerAddress } from './issuer-address.ts'

export interface KeyTimes {
  /** The least time between two looks at the issuer, however many tokens name unknown keys. */
  readonly cooldownMs: number
  /** After so long the keys are looked up again, so that a withdrawn key stops counting. */
  readonly maxAgeMs: number
}

const KEY_TIMES: KeyTimes = { cooldownMs: 30_000, maxAgeMs: 600_000 }

export interface IssuerKeysOptions {
  readonly issuer: string
  /** Where the keys are; null to ask the issuer's discovery document. */
  readonly jwksUrl: string | null
  readonly fetch: BoundedFetch
  readonly clock: Clock
  readonly times?: KeyTimes
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  readonly #times: KeyTimes
  #known: LocalJWKSet | null = null
  #fetchedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  #underWay: Promise<void> | null = null
  #trouble: unknown = null

  constructor(options: IssuerKeysOptions) {
    this.#options = options
    this.#times = options.times ?? KEY_TIMES
  }

  /** The key that a token names. Rejects with an error of jose if there is none, with a RequestError if nobody can say. */
  async keyFor(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#known === null || this.#age() > this.#times.maxAgeMs) await this.#look()
    try {
      return await this.#keys()(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#look())) throw error
      return this.#keys()(header, token)
    }
  }

  #age(): number {
    return this.#options.clock.monotonic() - this.#fetchedAt
  }

  #keys(): LocalJWKSet {
    if (this.#known !== null) return this.#known
    throw new RequestError(
      'REPRISE_UNREACHABLE',
      `The keys of ${this.#options.issuer} can not be had at the moment, so nobody can say whether the token is good. Try again soon.`,
      { cause: this.#trouble, retryAfterMs: this.#times.cooldownMs },
    )
  }

  /** False if it is too early for another look. */
  async #look(): Promise<boolean> {
    if (this.#underWay === null) {
      const now = this.#options.clock.monotonic()
      if (now - this.#triedAt < this.#times.cooldownMs) return false
      this.#triedAt = now
      this.#underWay = this.#fetchKeys().finally(() => {
        this.#underWay = null
      })
    }
    await this.#underWay
    return true
  }

  async #fetchKeys(): Promise<void> {
    try {
      const url = this.#options.jwksUrl ?? (await this.#discovered())
      this.#known = createLocalJWKSet((await jsonFrom(this.#options.fetch, url)) as JSONWebKeySet)
      this.#fetchedAt = this.#options.clock.monotonic()
      this.#trouble = null
    } catch (error) {
      this.#trouble = error
    }
  }

  async #discovered(): Promise<string> {
    const { issuer, fetch } = this.#options
    const document = await jsonFrom(fetch, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const { issuer: named, jwks_uri: url } = document as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
    if (named !== issuer) throw new Error('its discovery document names another issuer')
    return checkedIssuerAddress('jwks_uri of the discovery document', url)
  }
}
