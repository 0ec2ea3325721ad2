// Durable jobs on each engine, with the real services: what a job promises from its start to its end (E6).

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@reprise/client'
import {
  chunkId,
  type Engine,
  isRepriseError,
  JOB_CHUNKS_TOTAL,
  JOB_WINDOW,
  JOBS_MOVING,
  type Meter,
  type MeterLabels,
  PermanentError,
  silentLogger,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { jobChunks, jobEnded, startDurableJob } from '@reprise/jobs'
import { createJobs } from '@reprise/orchestrator'
import { startRedis } from '@reprise/test-servers'
import { createWorker, defineAction } from '@reprise/worker'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

const redis = await startRedis()
afterAll(() => redis.stop())
let stores = 0

async function opened(kind: string): Promise<Engine> {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-jobs-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return openSqliteEngine({ path: join(folder, 'store.db'), durability: 'fast' })
  }
  return openRedisEngine({ url: redis.url, prefix: `jobs-${stores++}`, partitions: kind === 'redis' ? 1 : 3 })
}

interface Stage {
  readonly engine: Engine
  readonly client: Client
  /** Every run of a handler, by its input. */
  readonly runs: number[]
  /** Inputs that fail. */
  readonly bad: Set<number>
  /** What the final step got. */
  readonly finals: unknown[][]
  readonly most: () => number
  /** What a meter was told: the sum of what was counted, or the most that was observed. */
  readonly counted: (name: string, outcome?: string) => number
}

interface Staging {
  readonly works?: boolean
  /** The engine as the service that moves jobs has it. */
  readonly seenBy?: (engine: Engine) => Engine
}

async function staged(kind: string, { works = true, seenBy = (engine) => engine }: Staging = {}): Promise<Stage> {
  const engine = await opened(kind)
  onTestFinished(() => engine.close())
  const client = await createClient({ engine, actor: 'operator:ann' })
  const runs: number[] = []
  const bad = new Set<number>()
  const finals: unknown[][] = []
  let running = 0
  let most = 0
  const square = defineAction({
    name: 'square',
    run: async (n: number) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      runs.push(n)
      if (bad.has(n)) throw new PermanentError(`${n} is bad`)
      return n * n
    },
  })
  const sum = defineAction({
    name: 'sum',
    run: async ({ job }: { readonly job: string }) => {
      const results: unknown[] = []
      for await (const { result } of jobChunks(client, job)) results.push(result)
      finals.push(results)
      return results.length
    },
  })
  if (works) {
    const worker = await createWorker({ engine, actions: [square, sum], concurrency: 20, log: silentLogger })
    onTestFinished(() => worker.stop())
  }
  const told = new Map<string, number>()
  const keyOf = (name: string, { outcome = '' }: MeterLabels): string => `${name} ${outcome}`
  const meter: Meter = {
    count: (name, labels, by = 1) => void told.set(keyOf(name, labels), (told.get(keyOf(name, labels)) ?? 0) + by),
    observe: (name, labels, value) =>
      void told.set(keyOf(name, labels), Math.max(told.get(keyOf(name, labels)) ?? 0, value)),
  }
  const jobs = createJobs({ engine: seenBy(engine), log: silentLogger, meter, onError: () => undefined })
  await jobs.start()
  onTestFinished(() => jobs.stop())
  const counted = (name: string, outcome = ''): number => told.get(`${name} ${outcome}`) ?? 0
  return { engine, client, runs, bad, finals, most: () => most, counted }
}

/** The job once it has come to rest, whichever way. */
const atRest = (client: Client, id: string) =>
  jobEnded(client, id).catch(async (error: unknown) => {
    if (!isRepriseError(error, 'REPRISE_JOB_FAILED')) throw error
    return client.getJob({ id })
  })

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe.each(['sqlite', 'redis', 'redis in 3 partitions'])('E6: a durable job on %s', (kind) => {
  test('runs each chunk of a range once, and its final step gets the results in order', async () => {
    const { client, runs, finals } = await staged(kind)
    const chunks = { range: { from: 10, to: 1_210, step: 2 } }
    const { id } = await startDurableJob(client, { action: 'square', chunks, final: 'sum', name: 'squares' })
    const job = await jobEnded(client, id)
    expect(job).toMatchObject({ status: 'succeeded', total: 600, succeeded: 600, failed: 0, fraction: 1 })
    expect(runs.toSorted((a, b) => a - b)).toEqual(numbers(600).map((n) => 10 + 2 * n))
    expect(finals).toEqual([numbers(600).map((n) => (10 + 2 * n) ** 2)])
  })
})

describe.each(['sqlite', 'redis'])('E6: a durable job on %s', (kind) => {
  test('takes its chunks from a generator, and the same again under its id is the same job', async () => {
    const { client, runs } = await staged(kind)
    async function* chunks(count: number) {
      for (const n of numbers(count)) yield n
    }
    // The first submitter dies after some blocks.
    const dying = startDurableJob(client, {
      id: 'again',
      action: 'square',
      chunks: (async function* () {
        yield* chunks(700)
        throw new Error('killed')
      })(),
    })
    await expect(dying).rejects.toThrow('killed')
    for (const _ of [1, 2]) await startDurableJob(client, { id: 'again', action: 'square', chunks: chunks(1_300) })
    expect(await jobEnded(client, 'again')).toMatchObject({ succeeded: 1_300, total: 1_300 })
    expect(runs.toSorted((a, b) => a - b)).toEqual(numbers(1_300))
    const shorter = startDurableJob(client, { id: 'again', action: 'other', chunks: [] })
    await expect(shorter).rejects.toThrow("Another job has the id 'again'")
  })

  test('is never taken for one over other numbers, which would look as if they had been done', async () => {
    const { client } = await staged(kind, { works: false })
    const start = (range: { from?: number; to: number; step?: number }) =>
      startDurableJob(client, { id: 'film', action: 'square', chunks: { range } })
    await start({ to: 240 })
    await expect(start({ to: 240 })).resolves.toMatchObject({ total: 240 })
    for (const range of [{ to: 500 }, { from: 1, to: 241 }, { to: 480, step: 2 }]) {
      await expect(start(range)).rejects.toThrow("id 'film': its chunks are 240 numbers from 0")
    }
    const given = startDurableJob(client, { id: 'film', action: 'square', chunks: [1, 2] })
    await expect(given).rejects.toThrow("id 'film': its chunks are 240 numbers from 0")
  })

  test('that has stopped keeps no submitter waiting for room', async () => {
    const { client, bad } = await staged(kind)
    bad.add(0)
    const submitted = startDurableJob(client, { id: 'long', action: 'square', chunks: numbers(50_000), concurrency: 1 })
    await expect(submitted).rejects.toMatchObject({
      code: 'REPRISE_JOB_FAILED',
      message: "The job 'long' is stopped: 1 chunk failed; the job tolerates 0.",
    })
    // Resumed, it takes the others from a submitter that begins again.
    await client.resumeJob({ id: 'long' })
    await client.cancelJob({ id: 'long' })
  })

  test('stops when more chunks fail than it tolerates; a retry runs only those again', async () => {
    const { client, runs, bad } = await staged(kind)
    for (const n of [3, 5, 7]) bad.add(n)
    const { id } = await startDurableJob(client, {
      action: 'square',
      chunks: { range: { to: 60 } },
      concurrency: 10,
      tolerate: 2,
    })
    const stopped = await atRest(client, id)
    expect(stopped).toMatchObject({ status: 'stopped', failed: 3, because: '3 chunks failed; the job tolerates 2.' })
    expect(stopped.succeeded).toBeLessThan(57)
    bad.clear()
    await client.retryJob({ id, reason: 'mended' })
    expect(await jobEnded(client, id)).toMatchObject({ succeeded: 60, failed: 0 })
    expect(runs).toHaveLength(63)
    expect(runs.filter((n) => [3, 5, 7].includes(n))).toHaveLength(6)
  })

  test('a retry whose service dies before it has redriven the chunks is done by the next one', async () => {
    let deaths = 0
    const seenBy = (engine: Engine): Engine => ({
      ...engine,
      change: (request) =>
        request.kind === 'redrive' && deaths++ === 0 ? Promise.reject(new Error('killed')) : engine.change(request),
    })
    const { client, runs, bad } = await staged(kind, { seenBy })
    for (const n of [3, 5]) bad.add(n)
    const { id } = await startDurableJob(client, { action: 'square', chunks: numbers(20), onFailure: 'continue' })
    expect(await atRest(client, id)).toMatchObject({ status: 'failed', failed: 2 })
    bad.clear()
    await client.retryJob({ id })
    expect(await jobEnded(client, id)).toMatchObject({ succeeded: 20, failed: 0 })
    expect(deaths).toBeGreaterThan(1)
    expect(runs).toHaveLength(22)
  })

  test('goes on to the end if it is to, and a resume accepts its failures', async () => {
    const { client, bad } = await staged(kind)
    for (const n of numbers(30)) if (n % 3 === 0) bad.add(n)
    const { id } = await startDurableJob(client, {
      action: 'square',
      chunks: numbers(30),
      tolerate: '10%',
      onFailure: 'continue',
    })
    expect(await atRest(client, id)).toMatchObject({ status: 'failed', succeeded: 20, failed: 10 })
    const failed: number[] = []
    for await (const { place, failure } of jobChunks(client, id, 'failed')) {
      expect(failure?.message).toBe(`${place} is bad`)
      failed.push(place)
    }
    expect(failed).toEqual(numbers(10).map((n) => 3 * n))
    await client.resumeJob({ id })
    expect(await jobEnded(client, id)).toMatchObject({ succeeded: 20, failed: 10 })
  })

  test('has no more chunks open than its concurrency says', async () => {
    const { client, most } = await staged(kind)
    const { id } = await startDurableJob(client, { action: 'square', chunks: { range: { to: 50 } }, concurrency: 3 })
    await jobEnded(client, id)
    expect(most()).toBeLessThanOrEqual(3)
  })

  test('hands in no more chunks per second than it may', async () => {
    const { client, engine } = await staged(kind)
    const [maxPerSecond, count] = [200, 400]
    const { id } = await startDurableJob(client, { action: 'square', chunks: { range: { to: count } }, maxPerSecond })
    await jobEnded(client, id)
    const tasks = await Promise.all(numbers(count).map((place) => engine.task(chunkId(id, place), { light: true })))
    const times = tasks.map((task) => task?.acceptedAt ?? 0).toSorted((a, b) => a - b)
    const within = (from: number): number => times.filter((at) => at >= from && at < from + 1_000).length
    // A quarter of a second may come at once, at both ends of the second that is looked at.
    expect(Math.max(...times.map(within))).toBeLessThanOrEqual(maxPerSecond * 1.5)
  })

  test('tells a meter of its chunks, and of the jobs that move', async () => {
    const { client, bad, counted } = await staged(kind)
    for (const n of [1, 2]) bad.add(n)
    const { id } = await startDurableJob(client, { action: 'square', chunks: { range: { to: 30 } }, tolerate: 2 })
    await jobEnded(client, id)
    expect(counted(JOB_CHUNKS_TOTAL, 'succeeded')).toBe(28)
    expect(counted(JOB_CHUNKS_TOTAL, 'failed')).toBe(2)
    expect(counted(JOBS_MOVING)).toBe(1)
  })

  test('never fills the queue, and a cancel ends what is there', async () => {
    const { client, engine } = await staged(kind, { works: false })
    const { id } = await startDurableJob(client, { action: 'square', chunks: { range: { to: 1_000_000 } } })
    const counted = async () => (await engine.counts()).queued
    while ((await counted()) < JOB_WINDOW) await engine.wait({ since: engine.mark() }, 20)
    // Rounds go by: beats of the service's writes.
    const open = async () => (await client.getJob({ id })).open
    while ((await open()) < JOB_WINDOW) await engine.wait({ since: engine.mark() }, 20)
    expect(await counted()).toBe(JOB_WINDOW)
    await client.cancelJob({ id, reason: 'not needed' })
    expect(await atRest(client, id)).toMatchObject({ status: 'cancelled', because: 'not needed', failed: JOB_WINDOW })
    expect(await engine.counts()).toMatchObject({ accepted: JOB_WINDOW, cancelled: JOB_WINDOW, queued: 0 })
  })
})
