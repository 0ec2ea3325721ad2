// What the tests of access share: a server on a loopback port with the real routes of access and a few that need a right,
// a store in memory, an issuer over HTTP, and a browser that keeps cookies and follows nothing by itself.

import { openFlags, VirtualClock } from '@reprise/core'
import { openSqliteEngine, type SqliteEngine } from '@reprise/engine-sqlite'
import { ALL_OPERATIONS, accessRoutes, createContext, ROUTES, routeTable } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { type OidcIssuer, type OidcIssuerOptions, startOidcIssuer } from '@reprise/test-servers'
import Fastify from 'fastify'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type AccessControl, type AccessOptions, openAccess } from '../../src/access/index.ts'
import { Doorway } from '../../src/http/doorway.ts'
import { type Handlers, json } from '../../src/http/handler.ts'
import { readBodies } from '../../src/http/json-body.ts'
import { OpenCalls } from '../../src/http/open-calls.ts'
import { problemOf } from '../../src/http/problem.ts'
import { RateLimit } from '../../src/http/rate-limit.ts'
import { registerRoutes } from '../../src/http/route-registration.ts'
import { SECURITY_HEADERS } from '../../src/http/security-headers.ts'
import { Sending } from '../../src/http/sending.ts'
import { accessHandlers } from '../../src/routes/access.ts'
import { operationHandlers } from '../../src/routes/operations.ts'
import { UNWATCHED } from '../unwatched.ts'

const anything = { 200: { kind: 'json', schema: z.unknown(), description: 'Anything.' } } as const

/** Routes that need a right, in place of the real ones about tasks. */
const probeRoutes = routeTable({
  look: { method: 'GET', path: '/probe', summary: 'Look', tag: 'probe', access: 'read', answers: anything },
  change: { method: 'POST', path: '/probe', summary: 'Change', tag: 'probe', access: 'operate', answers: anything },
  erase: { method: 'DELETE', path: '/probe', summary: 'Erase', tag: 'probe', access: 'operate', answers: anything },
  claim: { method: 'POST', path: '/claim', summary: 'Claim', tag: 'probe', access: 'work', answers: anything },
})

const probeHandlers: Handlers<typeof probeRoutes> = {
  look: ({ caller }) => json(200, { actor: caller.actor }),
  change: ({ caller }) => json(200, { actor: caller.actor }),
  erase: ({ caller }) => json(200, { actor: caller.actor }),
  claim: ({ caller }) => json(200, { actor: caller.actor }),
}

export type Settings = Partial<AccessOptions>

export interface AccessServer {
  readonly url: string
  readonly access: AccessControl
  readonly engine: SqliteEngine
  readonly clock: VirtualClock
  /** Ends this server, not its store. */
  stop(): Promise<void>
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly json: Readonly<Record<string, unknown>>
}

/** The issuer's library reads the host's clock, so the virtual one starts with it. */
export const newClock = (): VirtualClock => new VirtualClock(Date.now())

export async function newEngine(clock: VirtualClock): Promise<SqliteEngine> {
  const engine = await openSqliteEngine({ path: ':memory:', clock })
  onTestFinished(() => engine.close())
  return engine
}

export async function newIssuer(clock: VirtualClock, options: OidcIssuerOptions = {}): Promise<OidcIssuer> {
  const issuer = await startOidcIssuer({ now: () => clock.now(), ...options })
  onTestFinished(() => issuer.close())
  return issuer
}

export interface Place {
  readonly clock?: VirtualClock
  /** Shared by several servers. */
  readonly engine?: SqliteEngine
}

export async function startAccess(settings: Settings = {}, place: Place = {}): Promise<AccessServer> {
  const clock = place.clock ?? newClock()
  const engine = place.engine ?? (await newEngine(clock))
  const app = Fastify()
  readBodies(app, { maxBodyBytes: 100_000, clock, loop: UNWATCHED })
  let url = ''
  const access = await openAccess({ engine, clock, publicUrl: () => url, ...settings })
  app.addHook('onRequest', async (_request, reply) => void reply.headers(SECURITY_HEADERS))
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, request.id)
    return reply.code(problem.status).headers(problem.headers).type('application/problem+json').send(problem.body)
  })
  const [policies, flags] = await Promise.all([openPolicies({ engine, clock }), openFlags({ engine, clock })])
  const context = createContext({
    engine,
    clock,
    policies,
    flags,
    tokens: access.tokens,
    sessions: access.sessions,
    maxRetries: 1,
    version: 'test',
  })
  const operations = Object.entries(ROUTES).filter(([name]) => Object.hasOwn(ALL_OPERATIONS, name))
  registerRoutes(
    app,
    { ...Object.fromEntries(operations), ...accessRoutes, ...probeRoutes },
    { ...operationHandlers(context), ...accessHandlers(access), ...probeHandlers },
    {
      authenticate: (request) => access.authenticate(request),
      addressOf: (request) => access.addressOf(request),
      limit: new RateLimit({ perSecond: 10_000, burst: 10_000 }, clock),
      open: new OpenCalls(new AbortController().signal),
      leaseOf: async () => null,
      loop: UNWATCHED,
      doorway: new Doorway(clock, (request) => access.addressOf(request)),
      sending: new Sending({ clock }),
    },
  )
  url = await app.listen({ host: '127.0.0.1', port: 0 })
  const stop = async (): Promise<void> => {
    await access.close()
    await app.close()
  }
  onTestFinished(stop)
  return { url, access, engine, clock, stop }
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const body = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    body,
    json: isJson ? (JSON.parse(body) as Readonly<Record<string, unknown>>) : {},
  }
}

export const bearer = (token: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { authorization: `Bearer ${token}` },
})

/** Keeps cookies as a browser does, for one host; sends what a page of that host would. */
export class Browser {
  readonly cookies = new Map<string, string>()
  /** Whole Set-Cookie headers, as they came. */
  readonly setCookies: string[] = []
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return this.send('GET', path, headers)
  }

  /** As a script of our own page does. */
  post(path: string, body = '{}', headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    const own = { 'content-type': 'application/json', origin: this.#origin, 'sec-fetch-site': 'same-origin' }
    return this.send('POST', path, { ...own, ...headers }, body)
  }

  async send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answered> {
    const url = new URL(path, this.#origin)
    const isOurs = url.origin === this.#origin
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answered = await ask(url.href, {
      method,
      headers: { ...(isOurs && cookie !== '' ? { cookie } : {}), ...headers },
      ...(body === undefined ? {} : { body }),
    })
    if (isOurs) this.#keep(answered.headers.getSetCookie())
    return answered
  }

  /** Goes through a whole sign-in; returns the last answer of our server. */
  async signIn(returnTo = '/'): Promise<Answered> {
    const begun = await this.get(`/auth/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
    if (begun.status !== 303) return begun
    const atIssuer = await this.get(begun.headers.get('location') ?? '')
    return this.get(atIssuer.headers.get('location') ?? '')
  }

  #keep(setCookies: readonly string[]): void {
    this.setCookies.push(...setCookies)
    for (const header of setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (header.includes('Max-Age=0')) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
  }
}
