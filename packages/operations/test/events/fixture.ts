// What the tests about events share: stores of every kind, tasks that fail, receivers on real sockets, and a clock on which
// real time passes and a test can skip ahead.

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  actionName,
  type Clock,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  encodeJson,
  type JournalEntryInput,
  openFlags,
  retryToken,
  type TaskSpec,
  type Timer,
  taskId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openPolicies } from '@reprise/policies'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { onTestFinished } from 'vitest'
import { type Context, type ContextOptions, createContext, type EventsOut } from '../../src/context.ts'

/** Real time, and as much more as a test skips. */
export class SkippingClock implements Clock {
  #skipped = 0
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void; real: NodeJS.Timeout }>()

  now(): number {
    return Date.now() + this.#skipped
  }

  monotonic(): number {
    return performance.now() + this.#skipped
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = {
      at: this.monotonic() + delayMs,
      fire: (): void => {
        clearTimeout(timer.real)
        if (this.#timers.delete(timer)) callback()
      },
      real: setTimeout(() => timer.fire(), Math.min(delayMs, 2_000_000_000)),
    }
    this.#timers.add(timer)
    return {
      cancel: () => {
        clearTimeout(timer.real)
        this.#timers.delete(timer)
      },
    }
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }

  /** What falls due within this time falls due now. */
  skip(byMs: number): void {
    this.#skipped += byMs
    const now = this.monotonic()
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) if (timer.at <= now) timer.fire()
  }
}

let redis: Promise<RedisServer> | null = null

/** Every kind of store. One Redis serves a whole file. */
export const STORES = ['sqlite', 'redis', 'redis in 3 partitions'] as const

export async function openStore(kind: (typeof STORES)[number] = 'sqlite', clock?: Clock): Promise<Engine> {
  const engine = await openEngine(kind, clock)
  onTestFinished(() => engine.close())
  return engine
}

async function openEngine(kind: (typeof STORES)[number], clock?: Clock): Promise<Engine> {
  const time = clock === undefined ? {} : { clock }
  if (kind === 'sqlite') return openSqliteEngine({ path: ':memory:', ...time })
  redis ??= startRedis()
  const { url } = await redis
  return openRedisEngine({ url, prefix: randomUUID(), partitions: kind === 'redis' ? 1 : 3, ...time })
}

export async function stopRedis(): Promise<void> {
  await (await redis)?.stop()
  redis = null
}

export type ContextChange = Partial<Omit<ContextOptions, 'engine'>>

export async function contextOn(engine: Engine, change: ContextChange = {}): Promise<Context> {
  const context = createContext({
    engine,
    policies: await openPolicies({ engine }),
    flags: await openFlags({ engine }),
    maxRetries: 1,
    version: 'test',
    clock: new SkippingClock(),
    webhookAllow: ['127.0.0.0/8'],
    ...change,
  })
  onTestFinished(async () => {
    await Promise.all([context.events.delivery.stop(), context.events.telling.stop()])
  })
  return context
}

/** Everything about events on a store. */
export const eventsOn = async (engine: Engine, change: ContextChange = {}): Promise<EventsOut> =>
  (await contextOn(engine, change)).events

export function spec(id: string, change: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id: taskId(id),
    action: actionName('render'),
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: encodeJson({}, 'payload'),
    labels: {},
    priority: 5,
    settings: { ...DEFAULT_SETTINGS, maxRetries: 3 },
    retryToken: retryToken(`token-${id}`),
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    ...change,
  }
}

export const note = (reason: string, change: Partial<JournalEntryInput> = {}): JournalEntryInput => ({
  type: 'note',
  taskId: null,
  attempt: null,
  actor: 'operator:ann',
  reason,
  data: {},
  ...change,
})

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The reason of the entry that the event tells of. */
  readonly reason: string | undefined
}

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  readonly reasons: readonly (string | undefined)[]
  respond: (response: ServerResponse, request: Received) => void
}

export async function aReceiver(
  respond: Receiver['respond'] = (response) => void response.end('ok'),
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const one = { headers: request.headers, body, reason: reasonIn(body) }
      received.push(one)
      receiver.respond(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    get reasons() {
      return received.map(({ reason }) => reason)
    },
    respond,
  }
  return receiver
}

function reasonIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { data?: { reason?: string } }).data?.reason
  } catch {
    return undefined
  }
}
