// Who is it, and may they: asked for every request. The ways in are tried in a fixed order, and the first that a request brings
// decides. A credential that is wrong is refused, never passed over for the next one: a caller who believes to be somebody
// must not silently be somebody else.

import { type Clock, type Engine, RequestError } from '@reprise/core'
import { type ApiTokens, type Caller, TOKEN_PREFIX } from '@reprise/operations'
import { type CookieJar, cookieJar } from './cookies.ts'
import { refuseCrossSiteChange } from './csrf.ts'
import { DEV_USER_HEADER, devUser } from './dev-user.ts'
import type { FailureLimit } from './failure-limit.ts'
import type { IdTokens } from './id-tokens.ts'
import type { OidcSignIn } from './oidc-sign-in.ts'
import type { OneTimeLinks } from './one-time-link.ts'
import { isSessionSafe, type PublicAddress, readPublicAddress } from './public-address.ts'
import type { RemoteAddresses } from './remote-address.ts'
import type { RoleRules } from './role-rules.ts'
import type { Sessions } from './sessions.ts'

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
  readonly publicUrl: () => string
  readonly clock: Clock
  /** To be told at the start. */
  readonly warnings: readonly string[]
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
    return this.#parts.addresses.addressOf(socket.remoteAddress, headers['x-forwarded-for'])
  }

  /** Whether it came from this host itself, and not only by a proxy on it. */
  isNear({ socket, headers }: AccessRequest): boolean {
    return this.#parts.addresses.isLoopback(socket.remoteAddress, headers)
  }

  /** Null if the request says nothing about who sent it. Throws 401, 403 or 429 if what it says is not accepted. */
  async authenticate(request: AccessRequest): Promise<Caller | null> {
    const { authorization } = request.headers
    if (authorization !== undefined) return this.#byBearer(request, String(authorization))
    const session = this.#sessionOf(request)
    if (session !== null) return this.#bySession(request, session)
    const dev = request.headers[DEV_USER_HEADER]
    if (dev === undefined || !this.#parts.isDevUserOn) return null
    return this.guarded(request, String(dev), () => this.#byDevUser(request, dev))
  }

  /**
   * The link that lets the first admin in, to be printed once the server listens. Null where another way to sign in is
   * configured, and where a browser could not get a session: over plain http to another host.
   */
  async firstLink(): Promise<string | null> {
    const isConfigured = this.signIn !== null || !this.#parts.idTokens.isEmpty
    const canHaveSession = isSessionSafe(this.#parts.publicUrl())
    return isConfigured || !canHaveSession ? null : `${this.address.origin}${await this.links.mint()}`
  }

  /** Writes down that somebody has a session now, and how they came by it. */
  async noteSignIn(actor: string, by: 'issuer' | 'link'): Promise<void> {
    const how = by === 'issuer' ? 'at the issuer' : 'by the one-time link'
    const reason = `${actor} signed in ${how}.`
    await this.#parts.journal.append([
      { type: 'note', taskId: null, attempt: null, actor, reason, data: { signIn: by } },
    ])
  }

  async close(): Promise<void> {
    await this.tokens.close()
  }

  #byBearer(request: AccessRequest, authorization: string): Promise<Caller> {
    return this.guarded(request, authorization, async () => {
      const [, credential] = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization) ?? []
      if (credential === undefined) {
        throw new RequestError('REPRISE_UNAUTHENTICATED', 'Send the header Authorization as: Bearer <token>.')
      }
      if (credential.startsWith(TOKEN_PREFIX)) return this.tokens.verify(credential)
      return this.rules.principalOf(await this.#parts.idTokens.verify(credential))
    })
  }

  async #bySession(request: AccessRequest, secret: string): Promise<Caller> {
    const caller = await this.guarded(request, secret, async () => {
      const identity = await this.sessions.find(secret)
      if (identity === null) {
        throw new RequestError('REPRISE_UNAUTHENTICATED', 'Your session is over. Sign in again.')
      }
      return this.rules.principalOf(identity)
    })
    refuseCrossSiteChange(request, this.address.origins)
    return caller
  }

  async #byDevUser(request: AccessRequest, value: string | string[]): Promise<Caller> {
    const { host } = request.headers
    return devUser(value, typeof host === 'string' ? host : undefined, new Set([new URL(this.#parts.publicUrl()).host]))
  }

  /** Under /auth/ the cookie is what is dealt with, not who asks: an old one must not stand in the way of signing in. */
  #sessionOf({ url, headers }: AccessRequest): string | null {
    const { cookie } = headers
    if (url.startsWith(AUTH_PATHS) || typeof cookie !== 'string' || !cookie.includes('reprise=')) return null
    // Where nobody can have a session, a cookie of that name is somebody else's.
    return isSessionSafe(this.#parts.publicUrl()) ? this.sessionCookie.read(cookie) : null
  }

  /** Checks a credential, unless too many wrong ones came from the same address. */
  guarded<T>(request: AccessRequest, credential: string, check: () => Promise<T>): Promise<T> {
    return this.#parts.failures.guarded(this.addressOf(request), credential, check)
  }
}
