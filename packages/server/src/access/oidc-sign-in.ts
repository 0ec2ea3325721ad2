// Signs a browser in at an issuer: authorization code with PKCE, state and nonce. What has to be known when the browser comes
// back travels with it in a cookie that only this server gets, so any server can finish what another began, and visitors who
// never come back leave nothing in the store. The issuer's ID token is checked like any other.

import { type Clock, RequestError } from '@reprise/core'
import type { Identity } from '@reprise/operations'
import * as openid from 'openid-client'
import { type BoundedFetch, boundedFetch } from './bounded-fetch.ts'
import type { IdTokens } from './id-tokens.ts'
import { checkedReturnPath } from './return-path.ts'

const CALLBACK_PATH = '/auth/callback'
export const FLOW_MS = 10 * 60_000

export interface SignInClient {
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client. */
  readonly clientSecret: string | null
  /** Beside `openid email profile`. */
  readonly extraScopes: readonly string[]
}

export interface SignInStart {
  readonly redirectTo: string
  /** For the cookie. */
  readonly flow: string
}

interface Flow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly returnTo: string
  readonly startedAt: number
}

export class OidcSignIn {
  readonly #client: SignInClient
  readonly #tokens: IdTokens
  readonly #clock: Clock
  readonly #fetch: BoundedFetch
  #configuration: Promise<openid.Configuration> | null = null

  /** `tokens` trusts the issuer of the client, and no other. */
  constructor(client: SignInClient, tokens: IdTokens, clock: Clock) {
    this.#client = client
    this.#tokens = tokens
    this.#clock = clock
    this.#fetch = boundedFetch(clock)
  }

  /** `origin` is that of this server. Throws `InvalidError` for a place to return to that is not on it. */
  async begin(origin: string, returnTo: string): Promise<SignInStart> {
    const flow: Flow = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      returnTo: checkedReturnPath(returnTo),
      startedAt: this.#clock.now(),
    }
    const url = openid.buildAuthorizationUrl(await this.#configured(), {
      redirect_uri: `${origin}${CALLBACK_PATH}`,
      scope: ['openid', 'email', 'profile', ...this.#client.extraScopes].join(' '),
      code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
      state: flow.state,
      nonce: flow.nonce,
    })
    return { redirectTo: url.href, flow: Buffer.from(JSON.stringify(flow)).toString('base64url') }
  }

  /** `search` is the query of the address at which the browser came back. Throws 401 if anything does not fit together. */
  async finish(
    origin: string,
    search: string,
    cookie: string | null,
  ): Promise<{ readonly identity: Identity; readonly returnTo: string }> {
    const flow = readFlow(cookie)
    if (flow === null || this.#clock.now() >= flow.startedAt + FLOW_MS) {
      throw refused(`It was not begun in this browser at ${origin}, or longer than ten minutes ago.`)
    }
    const returnTo = checkedReturnPath(flow.returnTo)
    const idToken = await this.#idToken(new URL(`${CALLBACK_PATH}${search}`, origin), flow)
    return { identity: await this.#tokens.verify(idToken), returnTo }
  }

  async #idToken(url: URL, { state, nonce, verifier }: Flow): Promise<string> {
    const configuration = await this.#configured()
    try {
      const answer = await openid.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      return answer.id_token ?? ''
    } catch (error) {
      if (error instanceof openid.AuthorizationResponseError) throw refused('The issuer did not let you in.', error)
      if (error instanceof openid.ResponseBodyError) throw refused('The issuer did not accept the code.', error)
      if (error instanceof openid.ClientError && !isAboutReaching(error)) {
        throw refused('What the issuer sent does not belong to this sign-in.', error)
      }
      throw this.#unreachable(error)
    }
  }

  /** Asked for when it is first needed, so that the server starts also while the issuer is down; and again after a failure. */
  async #configured(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.#client
    this.#configuration ??= openid.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === null ? openid.None() : openid.ClientSecretPost(clientSecret),
      {
        [openid.customFetch]: (url, { body, signal, ...options }) =>
          this.#fetch(url, { ...options, body: body ?? null, signal: signal ?? null }),
        execute: issuer.startsWith('http://') ? [openid.allowInsecureRequests] : [],
      },
    )
    try {
      return await this.#configuration
    } catch (error) {
      this.#configuration = null
      throw this.#unreachable(error)
    }
  }

  #unreachable(cause: unknown): RequestError {
    const message = `The issuer ${this.#client.issuer} did not answer as it should, so nobody can sign in there now. Try again soon.`
    return new RequestError('REPRISE_UNREACHABLE', message, { cause })
  }
}

const REACHING = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
])
const isAboutReaching = ({ code }: openid.ClientError): boolean => REACHING.has(code ?? '')

function readFlow(cookie: string | null): Flow | null {
  if (cookie === null) return null
  try {
    const flow: unknown = JSON.parse(Buffer.from(cookie, 'base64url').toString('utf8'))
    return isFlow(flow) ? flow : null
  } catch {
    return null
  }
}

function isFlow(value: unknown): value is Flow {
  if (typeof value !== 'object' || value === null) return false
  const flow = value as Partial<Record<keyof Flow, unknown>>
  const texts = [flow.state, flow.nonce, flow.verifier, flow.returnTo]
  return Number.isSafeInteger(flow.startedAt) && texts.every((text) => typeof text === 'string' && text !== '')
}

const refused = (why: string, cause?: unknown): RequestError =>
  new RequestError('REPRISE_UNAUTHENTICATED', `The sign-in could not be finished. ${why} Start again.`, { cause })
