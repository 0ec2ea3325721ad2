// Waiting for what other processes do: nobody is forgotten because somebody else in the same process waits too.

import {
  actionName,
  type ClaimRequest,
  DEFAULT_POOL,
  type Engine,
  type Interest,
  sleep,
  systemClock,
  taskId,
  workerId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spec } from './specs.ts'

const TIMEOUT_MS = 2_000
const MOMENT_MS = 100

let server: RedisServer
let prefixes = 0

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

async function withEngines(count: number, use: (...engines: Engine[]) => Promise<void>): Promise<void> {
  const prefix = `wake-${prefixes++}`
  const engines = await Promise.all(Array.from({ length: count }, () => openRedisEngine({ url: server.url, prefix })))
  try {
    await use(...engines)
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
  }
}

async function worker(engine: Engine, name: string, stage: ClaimRequest['stage'] = 'run') {
  const registration = { worker: workerId(name), pools: [DEFAULT_POOL], actions: null }
  const { epoch } = await engine.register({ ...registration, host: 'h', version: '1', runtimes: [], endpoint: null })
  return () => engine.claim({ ...registration, epoch, limit: 1, leaseMs: 10_000, stage })
}

/** Whether the wait ended before its time-out. */
async function isWoken(engine: Engine, interest: Interest, signal?: AbortSignal): Promise<boolean> {
  const startedAt = systemClock.monotonic()
  await engine.wait(interest, TIMEOUT_MS, signal)
  return systemClock.monotonic() - startedAt < TIMEOUT_MS / 2
}

test('two who begin to wait at once for a task that has ended meanwhile both come back', () =>
  withEngines(2, async (here, there) => {
    await there.submit([spec('a')])
    const claim = await worker(there, 'w1')
    const since = here.mark()
    const { claimed } = await claim()
    await there.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
    const interest = { tasks: [taskId('a')], since }
    expect(await Promise.all([isWoken(here, interest), isWoken(here, interest)])).toEqual([true, true])
  }))

test('two who begin to wait at once for work that has come meanwhile both come back', () =>
  withEngines(2, async (here, there) => {
    const claim = await worker(here, 'w1')
    await claim()
    const since = here.mark()
    await there.submit([spec('a')])
    const interest = { pools: [DEFAULT_POOL], since }
    expect(await Promise.all([isWoken(here, interest), isWoken(here, interest)])).toEqual([true, true])
  }))

test('work goes to another process if those who still wait here do not serve its action', () =>
  withEngines(3, async (here, there, submitter) => {
    const forAction = (name: string) => ({ pools: [DEFAULT_POOL], actions: [actionName(name)] })
    const gone = new AbortController()
    const first = isWoken(here, forAction('render'), gone.signal)
    await sleep(systemClock, MOMENT_MS)
    gone.abort()
    await first
    const others = isWoken(here, forAction('send'))
    await sleep(systemClock, MOMENT_MS)
    const second = isWoken(there, forAction('render'))
    await sleep(systemClock, MOMENT_MS)
    await submitter.submit([spec('a')])
    expect(await second).toBe(true)
    expect(await others).toBe(false)
  }))

test('D2: an assignment wakes the worker it is for, in its process, and no other', () =>
  withEngines(3, async (here, there, dispatcher) => {
    await worker(here, 'w1')
    await worker(there, 'w2')
    const take = await worker(dispatcher, 'd', 'dispatch')
    await dispatcher.submit([spec('a')])
    const { claimed } = await take()
    const first = isWoken(here, { inbox: workerId('w1') })
    const second = isWoken(there, { inbox: workerId('w2') })
    await sleep(systemClock, MOMENT_MS)
    await dispatcher.assign(claimed.map((lease) => ({ ...lease, worker: workerId('w1'), ttlMs: 10_000 })))
    expect(await first).toBe(true)
    expect(await second).toBe(false)
  }))

test('D2: what was assigned after the mark is not waited for', () =>
  withEngines(2, async (here, dispatcher) => {
    const claim = await worker(here, 'w1')
    const take = await worker(dispatcher, 'd', 'dispatch')
    await claim()
    const since = here.mark()
    await dispatcher.submit([spec('a')])
    const { claimed } = await take()
    await dispatcher.assign(claimed.map((lease) => ({ ...lease, worker: workerId('w1'), ttlMs: 10_000 })))
    expect(await isWoken(here, { inbox: workerId('w1'), since })).toBe(true)
    expect((await claim()).claimed).toHaveLength(1)
    // Once it was looked at, it is not told again.
    expect(await isWoken(here, { inbox: workerId('w1'), since: here.mark() })).toBe(false)
  }))
