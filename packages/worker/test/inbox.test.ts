// Directed dispatch, from the worker's side: what lies in its inbox is collected at once and run as if it was claimed.

import { type ClaimRequest, poolName, selectWorker, workerId } from '@reprise/core'
import { defineAction } from '@reprise/worker'
import { expect, test } from 'vitest'
import { type Setup, setUp, taskOf } from './fixture.ts'

const POOL = poolName('directed')
const DISPATCHER = workerId('dispatcher')

/** Claims everything in the pool as a dispatcher does, and puts it into the worker's inbox. */
async function assignAll({ engine, worker }: Setup): Promise<readonly string[]> {
  const registration = { worker: DISPATCHER, pools: [POOL], actions: null, host: 'h', version: '1', runtimes: [] }
  const { epoch } = await engine.register({ ...registration, endpoint: null })
  const request: ClaimRequest = { ...registration, epoch, limit: 10, leaseMs: 15_000, stage: 'dispatch' }
  const { claimed } = await engine.claim(request)
  const answers = await engine.assign(claimed.map((lease) => ({ ...lease, worker: worker.id, ttlMs: 30_000 })))
  return answers.map(({ outcome }) => outcome)
}

test('D2: an idle worker hears of its inbox at once, though it does not serve the pool', async () => {
  const work = defineAction({ name: 'work', run: (input: number) => input * 2 })
  const setup = await setUp({ actions: [work], pools: ['other'] })
  const { client, clock } = setup
  await clock.advance(100)
  const task = await client.submit(work, 21, { pool: 'directed' })
  const assignedAt = clock.now()
  expect(await assignAll(setup)).toEqual(['assigned'])
  expect(await task.result()).toBe(42)
  expect(clock.now()).toBe(assignedAt)
  expect(await taskOf(client, task.id)).toMatchObject({ attempt: 1, failures: 0, losses: 0 })
})

test('D2: a worker without room leaves its inbox alone until a slot is free', async () => {
  const hold = Promise.withResolvers<void>()
  const started: number[] = []
  const work = defineAction({
    name: 'work',
    async run(input: number) {
      started.push(input)
      await hold.promise
      return input
    },
  })
  const setup = await setUp({ actions: [work], pools: ['other'], concurrency: 1 })
  const { client, clock } = setup
  const tasks = await client.submitMany(work, [1, 2], () => ({ pool: 'directed' }))
  expect(await assignAll(setup)).toEqual(['assigned', 'assigned'])
  await clock.advance(5_000)
  expect(started).toEqual([1])
  const waiting = await taskOf(client, tasks[1]?.id ?? '')
  expect(waiting.state).toMatchObject({ status: 'running', worker: 'w1', stage: 'inbox' })
  hold.resolve()
  await clock.advance(0)
  expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([1, 2])
})

const directed = defineAction({ name: 'directed', pool: POOL, run: (input: number) => input * 2 })
const pulled = defineAction({ name: 'pulled', run: (input: number) => input + 1 })

test('D2: a dispatcher finds the worker of a directed pool, and only what it is given it runs', async () => {
  const setup = await setUp({ actions: [directed], directedPools: [POOL] })
  const { client, clock, engine, errors } = setup
  const task = await client.submit(directed, 21)
  await clock.advance(5_000)
  expect((await taskOf(client, task.id)).state.status).toBe('queued')
  const { items: workers } = await engine.workers()
  const { healthThresholds } = engine
  const stored = await engine.task(task.id)
  if (stored === null) throw new Error('There is no such task.')
  const wanted = { ...stored, labels: {} }
  expect(selectWorker({ task: wanted, workers, now: clock.now(), ...healthThresholds }).worker?.worker).toBe('w1')
  const assignedAt = clock.now()
  expect(await assignAll(setup)).toEqual(['assigned'])
  expect(await task.result()).toBe(42)
  expect(clock.now()).toBe(assignedAt)
  expect(errors).toEqual([])
})

test('D2: an idle worker that collects only asks about once a second, whatever lies in the pool', async () => {
  const { client, clock, engine } = await setUp({ actions: [directed], directedPools: [POOL], sweep: false })
  await client.submitMany(directed, [1, 2, 3])
  await client.submit(directed, 4, { delay: 10 })
  await clock.advance(10_000)
  const claims = engine.calls.filter(({ verb }) => verb === 'claim')
  expect(claims.length).toBeGreaterThanOrEqual(9)
  expect(claims.length).toBeLessThanOrEqual(13)
  expect(claims.every(({ input: [request] }) => (request as ClaimRequest).pools.length === 0)).toBe(true)
})

test('D2: after the store forgot it, the worker is found in its directed pool again', async () => {
  const setup = await setUp({ actions: [directed], directedPools: [POOL] })
  const { client, clock, engine, worker } = setup
  const [before] = (await engine.workers()).items
  await engine.deregister(worker.id, before?.epoch ?? 0)
  await clock.advance(5_000)
  const task = await client.submit(directed, 4)
  expect((await engine.workers()).items).toMatchObject([{ worker: 'w1', pools: [POOL] }])
  expect(await assignAll(setup)).toEqual(['assigned'])
  expect(await task.result()).toBe(8)
})

test('D6: beside a directed pool it pulls from the others as ever', async () => {
  const setup = await setUp({ actions: [directed, pulled], directedPools: [POOL] })
  const { client, clock, engine } = setup
  const held = await client.submit(directed, 1)
  expect(await (await client.submit(pulled, 1)).result()).toBe(2)
  await clock.advance(1_000)
  expect((await taskOf(client, held.id)).state.status).toBe('queued')
  expect((await engine.workers()).items).toMatchObject([{ pools: ['default', POOL] }])
  expect(await assignAll(setup)).toEqual(['assigned'])
  expect(await held.result()).toBe(2)
})

test('D2: what a worker leaves in its inbox when it stops goes to somebody else', async () => {
  const hold = Promise.withResolvers<void>()
  const slow = defineAction({ name: 'slow', pool: POOL, run: () => hold.promise })
  const setup = await setUp({ actions: [slow], directedPools: [POOL], concurrency: 1, sweep: false })
  const { client, clock, engine, worker } = setup
  const tasks = await client.submitMany(slow, [null, null])
  expect(await assignAll(setup)).toEqual(['assigned', 'assigned'])
  await clock.advance(10)
  const stopped = worker.stop({ grace: 5_000 })
  hold.resolve()
  await stopped
  expect(await tasks[0]?.result()).toBeNull()
  const { overdue } = await engine.expired(10)
  expect(overdue).toMatchObject([{ kind: 'undelivered', worker: 'w1', ref: { taskId: tasks[1]?.id } }])
})
