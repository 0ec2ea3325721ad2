// Checks ID tokens that issuers signed: who signed it, for which server, when, and about which person. A token that is not good is refused with
// 401; a good one of somebody who can not be let in, with 403. What those let in may do is said by the role rules.

import { type Clock, InvalidError, RequestError } from '@reprise/core'
import type { Identity } from '@reprise/operations'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { isGoogleSure } from './google-tokens.ts'
import { domainOf, lowerCase, readEmail, readGroups, readName, readSubject } from './identity.ts'
import type { IssuerKeys } from './issuer-keys.ts'

/** Only those with a public and a private key: with HS256 everybody who can check a token can also make one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

const TOKEN_LENGTH_MAX = 8_192
const CLOCK_TOLERANCE_SECONDS = 30

export interface TrustedIssuer {
  readonly source: 'google' | 'oidc'
  /** Values of `iss` that mean this issuer; the first is its address. */
  readonly names: readonly string[]
  /** Values of `aud` that mean us; one is enough. */
  readonly audiences: readonly string[]
  readonly keys: Pick<IssuerKeys, 'keyFor'>
  /** If any: `hd` has to be one of them. */
  readonly hostedDomains: readonly string[]
  /** If any: the email address has to be in one of them. */
  readonly domains: readonly string[]
  /** The claim that lists the groups. */
  readonly groupsClaim: string
}

export class IdTokens {
  readonly #byName = new Map<string, TrustedIssuer>()
  readonly #clock: Clock

  constructor(issuers: readonly TrustedIssuer[], clock: Clock) {
    this.#clock = clock
    for (const issuer of issuers) {
      // Without an audience any token that the issuer ever gave to anybody would do.
      if (issuer.audiences.length === 0) throw new InvalidError(`The issuer ${issuer.names[0]} needs an audience.`)
      for (const name of issuer.names) {
        if (this.#byName.has(name)) throw new InvalidError(`The issuer ${name} is configured twice. Remove one.`)
        this.#byName.set(name, issuer)
      }
    }
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /** Throws a RequestError unless it is a good token of somebody who may be let in. */
  async verify(token: string): Promise<Identity> {
    const issuer = this.#issuerOf(token)
    return identityOf(await this.#verified(token, issuer), issuer)
  }

  /** By what the token says of itself, which nobody has checked yet: good enough to choose the keys to check it with. */
  #issuerOf(token: string): TrustedIssuer {
    if (token.length > TOKEN_LENGTH_MAX) throw refused('It is too long for an ID token.')
    let name: string | undefined
    let type: string | undefined
    try {
      name = decodeJwt(token).iss
      type = decodeProtectedHeader(token).typ
    } catch (error) {
      throw refused('It is not an API token of this server, and not an ID token.', error)
    }
    if (type !== undefined && lowerCase(type) === 'at+jwt') throw refused('It is an access token; send the ID token.')
    const issuer = this.#byName.get(name ?? '')
    if (issuer === undefined) throw refused('It is from an issuer that is not trusted here.')
    return issuer
  }

  async #verified(token: string, { names, audiences, keys }: TrustedIssuer): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, (header, jws) => keys.keyFor(header, jws), {
        algorithms: [...ALGORITHMS],
        issuer: [...names],
        audience: [...audiences],
        requiredClaims: ['exp', 'iat', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(this.#clock.now()),
      })
      refuseForeignParty(payload, audiences)
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) throw refused(whyNot(error), error)
      throw error
    }
  }
}

/** Of several audiences any may have the token: it counts here only if the one that it was made for is ours. */
function refuseForeignParty({ aud, azp }: JWTPayload, audiences: readonly string[]): void {
  if (!Array.isArray(aud) || aud.length < 2) return
  if (typeof azp !== 'string' || !audiences.includes(azp)) {
    throw refused("It has several audiences, and its claim 'azp' does not say that it was made for this server.")
  }
}

function identityOf(payload: JWTPayload, issuer: TrustedIssuer): Identity {
  const { source, names, hostedDomains, domains, groupsClaim } = issuer
  const subject = readSubject(payload.sub)
  if (subject === null) throw refused("Its claim 'sub' is missing or wrong.")
  const email = readEmail(payload.email)
  if (email === null) {
    throw forbidden(
      'The ID token has no email address that can be used. Ask for the scope `email` when you sign in at the issuer.',
    )
  }
  if (payload.email_verified !== true) {
    throw forbidden(`The issuer has not verified the email address ${email}. Verify it there, then sign in again.`)
  }
  if (hostedDomains.length > 0 && !isOneOf(payload.hd, hostedDomains)) {
    throw forbidden(`Only accounts of the organisation ${hostedDomains.join(' or ')} are let in; ${email} is not one.`)
  }
  const isEmailTheirs = source !== 'google' || isGoogleSure(email, payload.hd, hostedDomains)
  if (domains.length > 0 && !(isEmailTheirs && isOneOf(domainOf(email), domains))) {
    const why = isEmailTheirs ? 'is not one' : 'is no account of that organisation'
    throw forbidden(`Only addresses at ${domains.join(' or ')} are let in; ${email} ${why}.`)
  }
  return {
    source,
    issuer: names[0] ?? '',
    subject,
    email,
    isEmailTheirs,
    name: readName(payload.name, email),
    groups: readGroups(payload[groupsClaim]),
  }
}

/** Exactly, but for upper and lower case: no endings, no patterns. */
const isOneOf = (value: unknown, allowed: readonly string[]): boolean =>
  typeof value === 'string' && allowed.some((domain) => lowerCase(domain) === lowerCase(value))

function whyNot(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'It has expired. Get a new one from the issuer.'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'It was made for somebody else: its audience is not configured here.'
    if (error.claim === 'nbf') return 'It is not valid yet. Compare the clocks of this server and of the issuer.'
    return `Its claim '${error.claim}' is missing or wrong.`
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'It is signed in a way that is not accepted.'
  if (error instanceof errors.JWKSNoMatchingKey) return 'It is signed with a key that the issuer does not publish.'
  return 'Its signature is not good.'
}

const refused = (why: string, cause?: unknown): RequestError =>
  new RequestError('REPRISE_UNAUTHENTICATED', `The token was refused. ${why}`, { cause })

const forbidden = (message: string): RequestError => new RequestError('REPRISE_FORBIDDEN', message)
