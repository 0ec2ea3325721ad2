// What tests of queues stand on: a server that speaks SQS, stores of both engines, and orchestrators that take from the queue.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Engine,
  type Meter,
  type MeterLabels,
  type OutsideQueue,
  sleep,
  systemClock,
  type Task,
  type TaskId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createOrchestrator, type Orchestrator, type OrchestratorOptions } from '@reprise/orchestrator'
import { openSqsQueue } from '@reprise/sqs'
import { startRedis } from '@reprise/test-servers'
import { type FauxqsServer, startFauxqs } from 'fauxqs'
import { onTestFinished } from 'vitest'
import type { Platform } from './platform.ts'
import { CREDENTIALS } from './twice.ts'

const POOL = 'ecs'
export const ENGINES = ['sqlite', 'redis'] as const
export type EngineKind = (typeof ENGINES)[number]

export interface TestQueue {
  readonly server: FauxqsServer
  readonly url: string
  readonly queue: OutsideQueue
  readonly name: string
  readonly deadName: string
  /** Messages that a consumer has, or could be given now or later. */
  readonly messages: () => readonly SqsMessage[]
  readonly left: () => number
  readonly dead: () => readonly string[]
  readonly send: (message: object | string, group?: string) => string
}

type SqsMessage = NonNullable<ReturnType<FauxqsServer['inspectQueue']>>['messages']['ready'][number]

const openQueue = (url: string, endpoint: string): Promise<OutsideQueue> =>
  openSqsQueue({ queueUrl: url, endpoint, region: 'us-east-1', client: { credentials: CREDENTIALS } })

export async function startQueue(
  options: {
    readonly fifo?: boolean
    readonly maxReceives?: number
    readonly attributes?: Record<string, string>
  } = {},
): Promise<TestQueue> {
  const { fifo = false, maxReceives = 5, attributes = {} } = options
  const server = await startFauxqs({ port: 0, logger: false })
  onTestFinished(() => server.stop())
  const suffix = fifo ? '.fifo' : ''
  const kind = fifo ? { FifoQueue: 'true' } : {}
  const { queueArn } = server.createQueue(`dead${suffix}`, { attributes: kind })
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn, maxReceiveCount: maxReceives })
  const name = `work${suffix}`
  const { queueUrl } = server.createQueue(name, { attributes: { ...kind, RedrivePolicy, ...attributes } })
  const queue = await openQueue(queueUrl, server.address)
  onTestFinished(() => queue.close())
  const messages = (of: string) => {
    const found = server.inspectQueue(of)?.messages
    return [
      ...(found?.ready ?? []),
      ...(found?.delayed ?? []),
      ...(found?.inflight ?? []).map(({ message }) => message),
    ]
  }
  let sent = 0
  return {
    server,
    url: queueUrl,
    queue,
    name,
    deadName: `dead${suffix}`,
    messages: () => messages(name),
    left: () => messages(name).length,
    dead: () => messages(`dead${suffix}`).map(({ body }) => body),
    send(message, group) {
      const body = typeof message === 'string' ? message : JSON.stringify(message)
      const order = fifo ? { messageGroupId: group ?? 'one', messageDeduplicationId: `sent ${sent++}` } : {}
      return server.sendMessage(name, body, order).messageId
    },
  }
}

/** Adds up what is counted, and keeps what was observed last, by name, queue, and outcome or state. */
export function aMeter(): Meter & { readonly told: Readonly<Record<string, number>> } {
  const told: Record<string, number> = {}
  const keyOf = (name: string, labels: MeterLabels): string =>
    [name, labels.queue, labels.outcome ?? labels.state].filter((part) => part !== undefined).join(' ')
  return {
    told,
    count(name, labels, by = 1) {
      told[keyOf(name, labels)] = (told[keyOf(name, labels)] ?? 0) + by
    },
    observe(name, labels, value) {
      told[keyOf(name, labels)] = value
    },
  }
}

export interface TestStore {
  readonly engine: Engine
  /** For other processes. */
  readonly address: string
}

export async function openStore(kind: EngineKind): Promise<TestStore> {
  if (kind === 'redis') {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const engine = await openRedisEngine({ url: server.url })
    onTestFinished(() => engine.close())
    return { engine, address: server.url }
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-queues-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const path = join(folder, 'store.db')
  const engine = await openSqliteEngine({ path })
  onTestFinished(() => engine.close())
  return { engine, address: `sqlite:${path}` }
}

export async function orchestrating(
  engine: Engine,
  queue: OutsideQueue,
  platform: Platform,
  over: Partial<OrchestratorOptions> & { readonly slots?: number } = {},
): Promise<Orchestrator> {
  const { slots = 10, ...options } = over
  const orchestrator = createOrchestrator({
    engine,
    queue,
    launchPools: [{ pool: POOL, launcher: platform, slots }],
    onError: () => undefined,
    ...options,
    launch: { leaseMs: 2_000, intervalMs: 200, ...options.launch },
    queueIntake: {
      // No question stays behind at the server when its orchestrator has stopped.
      waitMs: 0,
      visibilityMs: 30_000,
      backoff: { kind: 'fixed', delayMs: 0, jitter: 0 },
      ...options.queueIntake,
    },
  })
  onTestFinished(() => orchestrator.stop())
  await orchestrator.start()
  return orchestrator
}

/** Asks again and again; what never comes true ends with the test. */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const never = new AbortController()
  while (!(await what())) await sleep(systemClock, 20, never.signal, { hold: true })
}

export async function taskOf(engine: Engine, id: string): Promise<Task> {
  const task = await engine.task(id as TaskId)
  if (task === null) throw new Error(`There is no task '${id}'.`)
  return task
}

export const isIn = (engine: Engine, id: string, status: Task['state']['status']) => async (): Promise<boolean> =>
  (await engine.task(id as TaskId))?.state.status === status

export const message = (id: string, more: object = {}): object => ({
  id,
  action: 'worker.run',
  pool: POOL,
  payload: { of: id },
  ...more,
})
