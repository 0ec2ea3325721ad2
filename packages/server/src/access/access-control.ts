// Who is it, and may they: asked for every request. The ways in are tried in a fixed order, and the first that a request brings
// decides. A credential that is wrong is refused, never passed over for the next one: a caller who believes to be somebody
// must not silently be somebody else.

import { type Clock, type Engine, RequestError } from '@reprise/core'
import { type ApiTokens, actorOf, type Caller, type Identity, type Sessions, TOKEN_PREFIX } from '@reprise/operations'
import { type CookieJar, cookieJar } from './cookies.ts'
import { refuseCrossSiteChange } from './csrf.ts'
import { DEV_USER_HEADER, devUser } from './dev-user.ts'
import type { FailureLimit, GivenCredential } from './failure-limit.ts'
import type { IdTokens } from './id-tokens.ts'
import { isLoopbackName } from './issuer-address.ts'
import type { OidcSignIn } from './oidc-sign-in.ts'
import type { OneTimeLinks } from './one-time-link.ts'
import { isSessionSafe, type PublicAddress, readPublicAddress } from './public-address.ts'
import type { RemoteAddresses } from './remote-address.ts'
import type { RoleRules } from './role-rules.ts'

/** What is looked at of a request; a FastifyRequest is one. */
export interface AccessRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly socket: { readonly remoteAddress?: string | undefined }
}

export interface AccessParts {
  readonly tokens: ApiTokens
  readonly idTokens: IdTokens
  readonly sessions: Sessions
  readonly links: OneTimeLinks
  /** Null if browsers can not sign in at an issuer. */
  readonly signIn: OidcSignIn | null
  readonly journal: Pick<Engine['journal'], 'append'>
  readonly rules: RoleRules
  readonly addresses: RemoteAddresses
  readonly failures: FailureLimit
  readonly isDevUserOn: boolean
  /** Whether the one-time link may be offered at all. */
  readonly mayHaveLinks: boolean
  readonly publicUrl: () => string
  readonly clock: Clock
  /** To be told at the start. */
  readonly warnings: readonly string[]
  /** Told of what an operator should know, when it happens. */
  readonly warn: (message: string) => void
}

const AUTH_PATHS = '/auth/'

export class AccessControl {
  readonly tokens: ApiTokens
  readonly sessions: Sessions
  readonly links: OneTimeLinks
  readonly signIn: OidcSignIn | null
  readonly rules: RoleRules
  readonly clock: Clock
  readonly warnings: readonly string[]
  readonly #parts: AccessParts
  #address: PublicAddress | null = null
  #hasWarnedOfProxy = false

  constructor(parts: AccessParts) {
    this.#parts = parts
    this.tokens = parts.tokens
    this.sessions = parts.sessions
    this.links = parts.links
    this.signIn = parts.signIn
    this.rules = parts.rules
    this.clock = parts.clock
    this.warnings = parts.warnings
  }

  /** Throws `InvalidError` if people can not sign in there. */
  get address(): PublicAddress {
    this.#address ??= readPublicAddress(this.#parts.publicUrl())
    return this.#address
  }

  get sessionCookie(): CookieJar {
    return cookieJar('reprise', this.address.isSecure)
  }

  get flowCookie(): CookieJar {
    return cookieJar('reprise-flow', this.address.isSecure)
  }

  /** The address that limits go by. */
  addressOf({ socket, headers }: AccessRequest): string {
    const forwardedFor = headers['x-forwarded-for']
    if (forwardedFor !== undefined || headers.forwarded !== undefined) this.#warnOfProxy(socket.remoteAddress)
    return this.#parts.addresses.addressOf(socket.remoteAddress, forwardedFor)
  }

  /**
   * Whether it came from this host itself, and not only by a proxy on it. It must also be asked for by a name of this host: a
   * web page can point a name of its own at it.
   */
  isNear({ socket, headers }: AccessRequest): boolean {
    return this.#parts.addresses.isLoopback(socket.remoteAddress, headers) && isLoopbackHost(headers.host)
  }

  /** Whether the one-time link is a way in: not where another one is configured, nor where a browser could not get a session. */
  get hasLinks(): boolean {
    const isConfigured = this.signIn !== null || !this.#parts.idTokens.isEmpty
    return this.#parts.mayHaveLinks && !isConfigured && isSessionSafe(this.#parts.publicUrl())
  }

  /** Null if the request says nothing about who sent it. Throws 401, 403 or 429 if what it says is not accepted. */
  async authenticate(request: AccessRequest): Promise<Caller | null> {
    const { authorization } = request.headers
    if (authorization !== undefined) return this.#byBearer(request, String(authorization))
    const session = this.#sessionOf(request)
    if (session !== null) return this.#bySession(request, session)
    const dev = request.headers[DEV_USER_HEADER]
    if (dev === undefined || !this.#parts.isDevUserOn) return null
    return devUser(dev, this.isNear(request))
  }

  /** The link that lets the first admin in, to be printed once the server listens. Null where there are none. */
  async firstLink(): Promise<string | null> {
    return this.hasLinks ? `${this.address.origin}${await this.links.mint()}` : null
  }

  /** Writes down that somebody has a session now, and how they came by it. */
  async noteSignIn(identity: Identity, by: 'issuer' | 'link'): Promise<void> {
    const actor = actorOf(identity)
    const how = by === 'issuer' ? 'at the issuer' : 'by the one-time link'
    const reason = `${actor} signed in ${how}.`
    // Who the mark in the actor stands for.
    const who = by === 'issuer' ? { issuer: identity.issuer, subject: identity.subject } : {}
    await this.#parts.journal.append([
      { type: 'note', taskId: null, attempt: null, actor, reason, data: { signIn: by, ...who } },
    ])
  }

  async close(): Promise<void> {
    await this.tokens.close()
  }

  #byBearer(request: AccessRequest, authorization: string): Promise<Caller> {
    const [, credential] = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization) ?? []
    const isApiToken = credential === undefined || credential.startsWith(TOKEN_PREFIX)
    const given: GivenCredential = {
      kind: isApiToken ? 'api-token' : 'id-token',
      credential: authorization,
      isSealed: () => credential !== undefined && this.tokens.isSealed(credential),
    }
    return this.guarded(request, given, async () => {
      if (credential === undefined) {
        throw new RequestError('REPRISE_UNAUTHENTICATED', 'Send the header Authorization as: Bearer <token>.')
      }
      if (isApiToken) return this.tokens.verify(credential)
      return this.rules.principalOf(await this.#parts.idTokens.verify(credential))
    })
  }

  async #bySession(request: AccessRequest, secret: string): Promise<Caller> {
    const isSealed = (): boolean => this.sessions.seals.isSealed(secret)
    const caller = await this.guarded(request, { kind: 'session', credential: secret, isSealed }, async () => {
      const identity = await this.#identityOf(secret)
      if (identity === null) {
        throw new RequestError('REPRISE_UNAUTHENTICATED', 'Your session is over. Sign in again.')
      }
      return this.rules.principalOf(identity)
    })
    refuseCrossSiteChange(request, this.address.origins)
    return caller
  }

  /** A session by the one-time link ends when that way in does: when sign-in is configured. */
  async #identityOf(secret: string): Promise<Identity | null> {
    const identity = await this.sessions.find(secret)
    if (identity?.source !== 'local' || this.hasLinks) return identity
    await this.sessions.end(secret)
    return null
  }

  /** Once: behind a proxy that nobody named, all callers share one address, and its limits. */
  #warnOfProxy(peer: string | undefined): void {
    if (this.#hasWarnedOfProxy || this.#parts.addresses.isTrusted(peer)) return
    this.#hasWarnedOfProxy = true
    this.#parts.warn(
      `A request from ${peer ?? 'an unknown address'} says that it was forwarded (X-Forwarded-For or Forwarded), and that is not a trusted proxy. The header is ignored: all callers behind it count as one. If it is a proxy of yours, add it to REPRISE_TRUSTED_PROXIES.`,
    )
  }

  /** Under /auth/ the cookie is what is dealt with, not who asks: an old one must not stand in the way of signing in. */
  #sessionOf({ url, headers }: AccessRequest): string | null {
    const { cookie } = headers
    if (url.startsWith(AUTH_PATHS) || typeof cookie !== 'string' || !cookie.includes('reprise=')) return null
    // Where nobody can have a session, a cookie of that name is somebody else's.
    return isSessionSafe(this.#parts.publicUrl()) ? this.sessionCookie.read(cookie) : null
  }

  /** Checks a credential; a guess is refused unchecked if too many wrong ones of its kind came from the same address. */
  guarded<T>(request: AccessRequest, given: GivenCredential, check: () => Promise<T>): Promise<T> {
    return this.#parts.failures.guarded(this.addressOf(request), given, check)
  }
}

const isLoopbackHost = (host: string | string[] | undefined): boolean =>
  typeof host === 'string' && isLoopbackName(host.replace(/:\d+$/, '').toLowerCase())
