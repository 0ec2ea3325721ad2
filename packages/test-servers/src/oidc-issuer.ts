// An OpenID Connect issuer for tests, over real HTTP on a loopback port: discovery, keys, authorize, token with PKCE. Everybody
// who comes is signed in at once, as the person that the test says. It can turn its keys over, be out of order in several ways, and
// sign any token that an intruder may come up with. It guards nothing: never use it for anything else.

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base64url, type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose'
import { CodeDesk } from './oidc-codes.ts'

export interface OidcIssuerOptions {
  /** The time by which tokens are dated; the host's clock if missing. */
  readonly now?: () => number
  readonly clientId?: string
  /** How it signs; ES256 if missing, whose keys are quickly made. */
  readonly alg?: 'ES256' | 'RS256'
  /** If set, the client has to say it at the token endpoint. */
  readonly clientSecret?: string
}

export type Claims = Readonly<Record<string, unknown>>

export interface SignOptions {
  /** In place of the id of the key that signs; null for none. */
  readonly kid?: string | null
  readonly typ?: string
  /** A key that the issuer does not publish, though it says its id. */
  readonly strangeKey?: boolean
}

/** What is wrong with it: nothing, it answers 500, it never answers, or it answers with far too much. */
export type IssuerTrouble = 'none' | 'failing' | 'silent' | 'huge'

export interface OidcIssuer {
  /** Also its `iss`. */
  readonly url: string
  readonly jwksUrl: string
  readonly clientId: string
  /** How often each path was asked for. */
  readonly asked: ReadonlyMap<string, number>
  /** Claims of a good token; those given here replace or, with undefined, remove. */
  claims(changes?: Claims): Claims
  /** A token signed with the current key. */
  sign(claims: Claims, options?: SignOptions): Promise<string>
  /** A token of `alg: none`, with an empty signature. */
  unsigned(claims: Claims): string
  /** A token of HS256 whose secret is the public key, as PEM: a classic confusion. */
  signedWithPublicKey(claims: Claims): Promise<string>
  /** From now on another key signs. The old one stays published only if asked for. */
  rotate(keepOld?: boolean): Promise<void>
  /** Who the next visitors of /authorize are signed in as: changes to the claims of a good token. */
  signInAs(changes: Claims): void
  /** What the ID tokens of the token endpoint get on top of that: for wrong nonces, audiences and so on. */
  spoil(changes: Claims): void
  trouble(kind: IssuerTrouble): void
  close(): Promise<void>
}

interface SigningKey {
  readonly alg: string
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

const TOKEN_SECONDS = 3_600
const HUGE_BYTES = 4_000_000

export async function startOidcIssuer(options: OidcIssuerOptions = {}): Promise<OidcIssuer> {
  const { alg = 'ES256' } = options
  const issuer = new LocalIssuer(await newKey(alg), await newKey(alg), options)
  await issuer.listen()
  return issuer
}

async function newKey(alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const kid = randomUUID()
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

class LocalIssuer implements OidcIssuer {
  readonly clientId: string
  readonly asked = new Map<string, number>()
  readonly #clientSecret: string | undefined
  readonly #now: () => number
  readonly #server: Server
  readonly #strange: SigningKey
  readonly #codes = new CodeDesk()
  #keys: readonly SigningKey[]
  #person: Claims = {}
  #spoilt: Claims = {}
  #trouble: IssuerTrouble = 'none'
  #url = ''

  constructor(key: SigningKey, strange: SigningKey, options: OidcIssuerOptions) {
    this.#keys = [key]
    this.#strange = strange
    this.clientId = options.clientId ?? 'reprise-tests'
    this.#clientSecret = options.clientSecret
    this.#now = options.now ?? Date.now
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500)
        response.end(String(error))
      })
    })
  }

  get url(): string {
    return this.#url
  }

  get jwksUrl(): string {
    return `${this.#url}/jwks`
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  claims(changes: Claims = {}): Claims {
    const now = this.#seconds()
    return {
      iss: this.#url,
      aud: this.clientId,
      sub: 'subject-1',
      iat: now,
      exp: now + TOKEN_SECONDS,
      email: 'ann@example.com',
      email_verified: true,
      name: 'Ann Example',
      ...changes,
    }
  }

  async sign(claims: Claims, { kid, typ = 'JWT', strangeKey = false }: SignOptions = {}): Promise<string> {
    const current = this.#current()
    const header = { alg: current.alg, typ, ...(kid === null ? {} : { kid: kid ?? current.kid }) }
    return new SignJWT({ ...claims })
      .setProtectedHeader(header)
      .sign(strangeKey ? this.#strange.privateKey : current.privateKey)
  }

  unsigned(claims: Claims): string {
    const part = (value: unknown): string => base64url.encode(JSON.stringify(value))
    return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`
  }

  async signedWithPublicKey(claims: Claims): Promise<string> {
    const { kid, publicKey } = this.#current()
    const secret = new TextEncoder().encode(await exportSPKI(publicKey))
    return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid }).sign(secret)
  }

  async rotate(keepOld = false): Promise<void> {
    this.#keys = [await newKey(this.#current().alg), ...(keepOld ? this.#keys : [])]
  }

  signInAs(changes: Claims): void {
    this.#person = changes
  }

  spoil(changes: Claims): void {
    this.#spoilt = changes
  }

  trouble(kind: IssuerTrouble): void {
    this.#trouble = kind
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#url)
    this.asked.set(url.pathname, (this.asked.get(url.pathname) ?? 0) + 1)
    if (this.#trouble === 'silent') return
    if (this.#trouble === 'failing') return void response.writeHead(500).end('out of order')
    if (this.#trouble === 'huge') return sendJson(response, 200, { keys: [], padding: 'x'.repeat(HUGE_BYTES) })
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /.well-known/openid-configuration':
        return sendJson(response, 200, this.#discovery())
      case 'GET /jwks':
        return sendJson(response, 200, { keys: this.#keys.map(({ jwk }) => jwk) })
      case 'GET /authorize':
        return this.#authorize(url, response)
      case 'POST /token':
        return this.#token(request, response)
      default:
        return sendJson(response, 404, { error: 'not_found' })
    }
  }

  #discovery(): Claims {
    return {
      issuer: this.#url,
      authorization_endpoint: `${this.#url}/authorize`,
      token_endpoint: `${this.#url}/token`,
      jwks_uri: this.jwksUrl,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [this.#current().alg],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    }
  }

  #authorize({ searchParams }: URL, response: ServerResponse): void {
    const isClient = searchParams.get('client_id') === this.clientId
    const redirectTo = isClient ? this.#codes.handOut(searchParams, this.#person) : null
    if (redirectTo === null) {
      sendJson(response, 400, { error: isClient ? 'invalid_request' : 'unauthorized_client' })
      return
    }
    redirectTo.searchParams.set('iss', this.#url)
    response.writeHead(302, { location: redirectTo.href }).end()
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await bodyOf(request))
    if (!this.#isClient(request, form)) return sendJson(response, 401, { error: 'invalid_client' })
    const granted = this.#codes.takeBack(form)
    if (granted === null) return sendJson(response, 400, { error: 'invalid_grant' })
    const idToken = await this.sign(this.claims({ nonce: granted.nonce, ...granted.person, ...this.#spoilt }))
    sendJson(response, 200, {
      access_token: randomUUID(),
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      id_token: idToken,
    })
  }

  #isClient(request: IncomingMessage, form: URLSearchParams): boolean {
    if (this.#clientSecret === undefined) return form.get('client_id') === this.clientId
    const basic = Buffer.from(`${this.clientId}:${this.#clientSecret}`).toString('base64')
    return request.headers.authorization === `Basic ${basic}` || form.get('client_secret') === this.#clientSecret
  }

  #current(): SigningKey {
    const [current] = this.#keys
    if (current === undefined) throw new Error('The issuer has no key.')
    return current
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1_000)
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
