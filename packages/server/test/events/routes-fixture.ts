// The routes about events on a server of their own, and what tests ask of them; every answer is held against its schema.

import type { AddressInfo } from 'node:net'
import { type Clock, createRedactor, type Engine, systemClock, type TenantId, tenantId } from '@reprise/core'
import { type Caller, ROLES, ROUTES, type Route, type Scope } from '@reprise/operations'
import Fastify from 'fastify'
import { expect, onTestFinished } from 'vitest'
import { openStore } from '../../../operations/test/events/fixture.ts'
import { type Delivering, delivering } from '../../../operations/test/events/webhook-fixture.ts'
import { createEvents } from '../../src/events/index.ts'
import { Doorway } from '../../src/http/doorway.ts'
import { readBodies } from '../../src/http/json-body.ts'
import { OpenCalls } from '../../src/http/open-calls.ts'
import { problemOf } from '../../src/http/problem.ts'
import { RateLimit } from '../../src/http/rate-limit.ts'
import { registerRoutes } from '../../src/http/route-registration.ts'
import { Sending } from '../../src/http/sending.ts'
import { eventHandlers } from '../../src/routes/events.ts'
import { operationHandlers } from '../../src/routes/operations.ts'
import { UNWATCHED } from '../unwatched.ts'

interface Served {
  readonly engine: Engine
  readonly events: Delivering
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>
  readonly origin: string
  /** Who asks from now on; an error if that can't be told. */
  readonly as: (caller: Partial<Caller> | Error | null) => void
}

interface Answered {
  readonly status: number
  readonly body: never
}

const ADMIN: Caller = {
  kind: 'token',
  actor: 'token:admin',
  name: 'admin',
  scopes: new Set<Scope>(ROLES.admin),
  tenants: null,
}

export async function serve(clock?: Clock): Promise<Served> {
  const engine = await openStore('sqlite', clock)
  const redactor = createRedactor()
  const events = await delivering(engine, { redaction: redactor })
  const { streams, failuresIn } = createEvents(events.context, () => undefined)
  let caller: Caller | Error | null = ADMIN
  const authenticate = async () => {
    if (caller instanceof Error) throw caller
    return caller
  }
  const app = Fastify({ forceCloseConnections: true })
  readBodies(app, { maxBodyBytes: 1_000_000, clock: systemClock, loop: UNWATCHED })
  app.setErrorHandler((error, request, reply) => {
    const { status, body } = problemOf(error, request.id)
    return reply.code(status).type('application/problem+json').send(JSON.stringify(body))
  })
  const handlers = { ...eventHandlers({ streams, failuresIn }, { authenticate }), ...operationHandlers(events.context) }
  const table = Object.entries(ROUTES).filter(([name]) => Object.hasOwn(handlers, name))
  registerRoutes(app, Object.fromEntries(table), handlers, {
    authenticate,
    addressOf: () => 'here',
    limit: new RateLimit({ perSecond: 1_000, burst: 1_000 }, systemClock),
    open: new OpenCalls(new AbortController().signal),
    leaseOf: async () => null,
    loop: UNWATCHED,
    doorway: new Doorway(systemClock, () => 'here'),
    sending: new Sending({ clock: systemClock }),
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await streams.close()
    await app.close()
  })
  const { port } = app.server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return {
    engine,
    events,
    origin,
    as: (change) => {
      caller = change === null || change instanceof Error ? change : { ...ADMIN, ...change }
    },
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const parsed: unknown = text === '' ? undefined : JSON.parse(text)
      if (response.ok) schemaOf(method, path, response.status)?.parse(parsed)
      return { status: response.status, body: parsed as never }
    },
  }
}

function schemaOf(method: string, path: string, status: number) {
  const routes: readonly Route[] = Object.values(ROUTES)
  const route = routes.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
  )
  const answer = route?.answers[status]
  if (answer === undefined) throw new Error(`The table has no answer ${status} of ${method} ${path}.`)
  return answer.kind === 'json' ? answer.schema : null
}

export const only = (...tenants: string[]): { readonly tenants: readonly TenantId[] } => ({
  tenants: tenants.map(tenantId),
})

export const reasons = ({ body }: Answered): string[] =>
  (body as { items: { data: { reason: string } }[] }).items.map(({ data }) => data.reason)

/** What a stream says, read as far as a test wants. */
export async function following(origin: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}${path}`, { headers })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const heard = {
    text: '',
    until: async (words: string): Promise<void> => {
      while (!heard.text.includes(words)) {
        const next = await reader?.read()
        if (next === undefined || next.done) throw new Error(`ended without ${words}: ${heard.text}`)
        heard.text += next.value
      }
    },
  }
  return heard
}
