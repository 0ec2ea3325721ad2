// A whole server over a real store, reached by real HTTP on a port of its own.

import {
  type Action,
  type Clock,
  defineAction,
  type Engine,
  openFlags,
  publishActions,
  systemClock,
  tenantId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { type Caller, ROLES, type Role } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { startRedis } from '@reprise/test-servers'
import { onTestFinished } from 'vitest'
import { createServer, type Server, type ServerOptions } from '../../src/server.ts'

interface Store {
  readonly name: string
  open(clock?: Clock): Promise<Engine>
}

/** For what has nothing to do with the store. */
export const SQLITE: Store = {
  name: 'sqlite',
  open: (clock = systemClock) => openSqliteEngine({ path: ':memory:', clock }),
}

export const STORES: readonly Store[] = [
  SQLITE,
  {
    name: 'redis',
    async open(clock) {
      const redis = await startRedis()
      onTestFinished(() => redis.stop())
      return openRedisEngine({ url: redis.url, ...(clock === undefined ? {} : { clock }) })
    },
  },
]

export interface Answered {
  readonly status: number
  readonly headers: Headers
  // What comes back is looked at by expectations, which check its shape.
  readonly body: never
  readonly text: string
}

interface Sent {
  readonly token?: string | null
  readonly body?: unknown
  /** As it is, in place of `body`. */
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Api {
  readonly engine: Engine
  readonly server: Server
  readonly url: string
  /** An admin's token, and one of each role. */
  readonly tokens: Readonly<Record<Role, string>>
  tokenFor(role: Role, tenants: readonly string[] | null): Promise<string>
  send(method: string, path: string, sent?: Sent): Promise<Answered>
  get(path: string, sent?: Sent): Promise<Answered>
  post(path: string, body: unknown, sent?: Sent): Promise<Answered>
}

const ADMIN: Caller = {
  kind: 'user',
  actor: 'test:admin',
  name: 'admin',
  scopes: new Set([...ROLES.admin, ...ROLES.worker]),
  tenants: null,
}

export async function startApi(store: Store, options: Partial<ServerOptions> = {}): Promise<Api> {
  const engine = options.engine ?? (await store.open())
  onTestFinished(() => engine.close())
  const policies = options.policies ?? (await openPolicies({ engine }))
  const flags = options.flags ?? (await openFlags({ engine }))
  const server = await createServer({
    engine,
    policies,
    flags,
    version: '0.0.0-test',
    maxRetries: 1,
    port: 0,
    ...options,
  })
  await server.start()
  onTestFinished(() => server.stop())
  const tokenFor = async (role: Role, tenants: readonly string[] | null): Promise<string> => {
    const { token } = await server.access.tokens.create(
      { name: `${role}-${tenants?.join('-') ?? 'all'}`, scopes: ROLES[role], tenants: tenants?.map(tenantId) ?? null },
      ADMIN,
    )
    return token
  }
  const tokens = {
    viewer: await tokenFor('viewer', null),
    operator: await tokenFor('operator', null),
    admin: await tokenFor('admin', null),
    worker: await tokenFor('worker', null),
  }
  const send = async (method: string, path: string, sent: Sent = {}): Promise<Answered> => {
    const { token = tokens.admin, body, raw, headers = {} } = sent
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${server.url()}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true && !text.includes('\n')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson && text !== '' ? JSON.parse(text) : undefined) as never,
    }
  }
  return {
    engine,
    server,
    url: server.url(),
    tokens,
    tokenFor,
    send,
    get: (path, sent) => send('GET', path, sent),
    post: (path, body, sent) => send('POST', path, { ...sent, body }),
  }
}

/** What a claim gives a worker. */
export interface Lease {
  readonly taskId: string
  readonly attempt: number
  readonly token: string
  readonly snapshot: { readonly payload: unknown }
}

/** Registers a worker over HTTP and claims what there is. */
export async function claimOne(api: Api, worker = 'w1'): Promise<Lease> {
  const token = api.tokens.worker
  const registered = await api.post('/api/v1/workers', { worker, pools: ['default'] }, { token })
  const { epoch } = registered.body as { readonly epoch: number }
  const claims = await api.post('/api/v1/claims', { worker, epoch, pools: ['default'], waitMs: 0 }, { token })
  const { claimed } = claims.body as { readonly claimed: readonly Lease[] }
  const [first] = claimed
  if (first === undefined) throw new Error('Nothing was claimed.')
  return first
}

/** Declares an action to the store, as a worker does when it starts. */
export async function declare(api: Api, options: Parameters<typeof defineAction>[0]): Promise<Action> {
  const action = defineAction(options)
  await publishActions(api.engine, [action])
  return action
}
