// One server in a process of its own: a bare Fastify with a route for each question, or ours over an SQLite file. Says where it
// listens, then how much memory it takes whenever it is asked.

import {
  actionName,
  BATCH_MAX,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  encodeJson,
  openFlags,
  retryToken,
  type TaskSpec,
  taskId,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import Fastify from 'fastify'

export interface ServerOrder {
  readonly kind: 'bare' | 'reprise'
  readonly file: string
  /** So many tasks are stored before it listens. */
  readonly tasks: number
}

export interface Ready {
  readonly port: number
  readonly token: string | null
}

const ROWS = 50

async function startBare(): Promise<Ready> {
  const app = Fastify()
  const row = { id: 'x'.repeat(36), action: 'measured', payload: { text: 'y'.repeat(200) }, labels: { region: 'eu' } }
  const rows = Array.from({ length: ROWS }, (_, index) => ({ ...row, index, settings: { ...DEFAULT_SETTINGS } }))
  app.post('/api/v1/tasks', async (request) => ({
    id: 'x'.repeat(36),
    outcome: 'accepted',
    size: Object.keys(request.body ?? {}).length,
  }))
  app.get('/api/v1/tasks', async () => ({ items: rows, next: null }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, token: null }
}

async function startOurs({ file, tasks }: ServerOrder): Promise<Ready> {
  const engine = await openSqliteEngine({ path: file })
  for (let at = 0; at < tasks; at += BATCH_MAX) {
    await engine.submit(Array.from({ length: Math.min(BATCH_MAX, tasks - at) }, (_, index) => storedTask(at + index)))
  }
  const server = await createServer({
    engine,
    policies: await openPolicies({ engine }),
    flags: await openFlags({ engine }),
    version: 'bench',
    maxRetries: 1,
    port: 0,
    // The load is one caller.
    rateLimit: { perSecond: 1_000_000, burst: 1_000_000 },
  })
  await server.start()
  figures = () => ({ bytes: process.memoryUsage().rss, heldMs: server.loop.read().longest?.ms ?? 0 })
  const { token } = await server.access.tokens.create(
    { name: 'load', scopes: ['read', 'submit'] },
    { kind: 'user', actor: 'bench', name: 'bench', scopes: new Set(['read', 'submit', 'tokens']), tenants: null },
  )
  return { port: Number(new URL(server.url()).port), token }
}

const PAYLOAD = encodeJson({ text: 'y'.repeat(200) }, 'payload')

function storedTask(index: number): TaskSpec {
  return {
    id: taskId(`stored-${index}`),
    action: actionName('measured'),
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: PAYLOAD,
    labels: { region: 'eu' },
    priority: 5,
    settings: DEFAULT_SETTINGS,
    retryToken: retryToken(`stored-${index}`),
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
  }
}

export interface Figures {
  readonly bytes: number
  /** The longest that a request held the event loop. */
  readonly heldMs: number
}

let figures = (): Figures => ({ bytes: process.memoryUsage().rss, heldMs: 0 })

async function run(order: ServerOrder): Promise<void> {
  process.send?.(order.kind === 'bare' ? await startBare() : await startOurs(order))
  process.on('message', () => {
    globalThis.gc?.()
    process.send?.(figures())
  })
}

process.once('message', (order: ServerOrder) => void run(order))
