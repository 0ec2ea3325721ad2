// The whole product on a store that fails: a client, and a worker with its sweep, each with a connection of its own as
// in two processes. Also what the outage tests look at afterwards: was anything lost, was anything settled twice.

import { randomUUID } from 'node:crypto'
import { type Client, createClient, type SubmittedTask } from '@reprise/client'
import { type Action, type Engine, isRepriseError, silentLogger } from '@reprise/core'
import { openRedisEngine, type RedisEngineOptions } from '@reprise/engine-redis'
import { type RedisOptions, type RedisServer, startProxy, startRedis, type TcpProxy } from '@reprise/test-servers'
import { createWorker, type Worker, type WorkerOptions } from '@reprise/worker'
import { expect, onTestFinished } from 'vitest'
import { heldAction, quick } from './actions.ts'

/** From the moment the store answers again until work goes on. */
const CARRY_ON_MS = 5_000

export interface Product {
  readonly client: Client
  /** For looking: the client's own. */
  readonly engine: Engine
  readonly worker: Worker
  readonly held: Action<null, null, { held: true }>
  /** Tasks whose held handlers have begun. */
  readonly begun: Set<string>
  /** Lets go of all of them, and of those to come. */
  readonly letGo: () => void
  /** Codes of the errors that the worker met. */
  readonly errors: string[]
}

interface ProductOptions extends Omit<RedisEngineOptions, 'url'> {
  /** If the worker goes another way to the store than the client. */
  readonly workerUrl?: string
  readonly worker?: Partial<WorkerOptions>
}

export async function ownServer(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

export async function ownProxy(server: RedisServer): Promise<TcpProxy> {
  const proxy = await startProxy(server)
  onTestFinished(() => proxy.stop())
  return proxy
}

export async function ownEngine(url: string, options: Omit<RedisEngineOptions, 'url'> = {}): Promise<Engine> {
  const engine = await openRedisEngine({ url, ...options })
  onTestFinished(() => engine.close())
  return engine
}

export async function startProduct(url: string, options: ProductOptions = {}): Promise<Product> {
  const { worker: workerOptions, workerUrl = url, ...engineOptions } = options
  const engine = await ownEngine(url, engineOptions)
  const client = await createClient({ engine })
  const release = Promise.withResolvers<void>()
  const begun = new Set<string>()
  const held = heldAction((taskId) => {
    begun.add(taskId)
    return release.promise
  })
  const errors: string[] = []
  const worker = await createWorker({
    engine: await ownEngine(workerUrl, engineOptions),
    actions: [quick, held],
    concurrency: 20,
    log: silentLogger,
    onError: (error) => errors.push(isRepriseError(error) ? error.code : String(error)),
    ...workerOptions,
  })
  onTestFinished(async () => {
    release.resolve()
    await worker.stop({ grace: 0 })
    await client.close()
  })
  return { client, engine, worker, held, begun, letGo: release.resolve, errors }
}

/** Submits held tasks, and comes back when their handlers run. */
export async function startHeld(product: Product, count: number): Promise<SubmittedTask[]> {
  const tasks = await product.client.submitMany(product.held, Array<null>(count).fill(null))
  await until(() => tasks.every(({ id }) => product.begun.has(id)))
  return tasks
}

/** A task submitted now, again and again should the store be busy still, ends soon enough: all are back at work. */
export async function expectToCarryOn(client: Client): Promise<SubmittedTask> {
  const startedAt = performance.now()
  const left = (): number => CARRY_ON_MS - (performance.now() - startedAt)
  const id = randomUUID()
  let task: SubmittedTask | null = null
  while (task === null && left() > 0) task = await client.submit(quick, 0, { id }).catch(nullIfBusy)
  await task?.result({ timeout: Math.max(Math.round(left()), 0) })
  expect(left()).toBeGreaterThan(0)
  if (task === null) throw new Error('The submission was not accepted in time.')
  return task
}

function nullIfBusy(error: unknown): null {
  if (isRepriseError(error, 'REPRISE_STORE_BUSY')) return null
  throw error
}

/**
 * These and no other tasks were accepted, each has succeeded in its first attempt, the store counted each once, and
 * nothing unusual happened: nobody was taken for lost, nothing was refused as late.
 */
export async function expectOneSuccessEach(engine: Engine, tasks: readonly { readonly id: string }[]): Promise<void> {
  expect(await unusual(engine)).toEqual([])
  for (const { id } of tasks) {
    const { items } = await engine.executions(id as SubmittedTask['id'])
    expect(items.map(({ status }) => status)).toEqual(['succeeded'])
  }
  const total = tasks.length
  expect(await engine.counts()).toMatchObject({ accepted: total, succeeded: total, running: 0, queued: 0, waiting: 0 })
}

export async function unusual(engine: Engine): Promise<string[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  // That workers come and go is told, and is nothing unusual.
  return entries.flatMap(({ type, taskId }) =>
    type === 'worker.joined' || type === 'worker.left' ? [] : [`${type} ${taskId ?? ''}`],
  )
}

/** Looks again and again; a failure to look counts as a no. The test's own time-out ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    const yes = await Promise.resolve()
      .then(isSo)
      .catch(() => false)
    if (yes) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export interface Load {
  /** How many have been acknowledged so far. */
  readonly count: () => number
  /** Ends it; answers with those that were acknowledged. */
  readonly stop: () => Promise<SubmittedTask[]>
}

/** Submits one task after the other until it is told to stop. */
export function submitAllTheTime(client: Client): Load {
  const acknowledged: SubmittedTask[] = []
  let isOver = false
  const running = (async () => {
    for (let number = 0; !isOver; number++) {
      const id = `load-${number}`
      // The same id again if nobody knows whether it was accepted.
      for (let task: SubmittedTask | null = null; task === null && !isOver; ) {
        task = await client.submit(quick, number, { id }).catch(nullIfBusy)
        if (task !== null) acknowledged.push(task)
      }
    }
  })()
  return {
    count: () => acknowledged.length,
    stop: async () => {
      isOver = true
      await running
      return acknowledged
    },
  }
}
