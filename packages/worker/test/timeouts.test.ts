// A handler that takes too long: its attempt fails at the timeout, whatever the handler does.

import { defineAction, silentLogger } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp, taskOf } from './fixture.ts'

test('fault 21: a handler that never settles fails with timeout, and its signal fires', async () => {
  let reason: unknown
  const stuck = defineAction({
    name: 'stuck',
    timeout: '10s',
    run: (_: null, { signal }) =>
      new Promise<never>(() => {
        signal.addEventListener('abort', () => {
          reason = signal.reason
        })
      }),
  })
  const { client, clock, worker } = await setUp({ actions: [stuck] })
  const task = await client.submit(stuck, null)
  await clock.advance(9_900)
  expect((await taskOf(client, task.id)).state.status).toBe('running')
  await clock.advance(200)
  await expect(task.result()).rejects.toThrow('The handler ran longer than 10s.')
  expect((await taskOf(client, task.id)).state).toMatchObject({ failure: { code: 'timeout', retriable: true } })
  expect(reason).toMatchObject({ code: 'REPRISE_TIMED_OUT' })
  // Its slot is free again, and stats tell that its handler was left behind.
  expect(worker.stats()).toMatchObject({ inFlight: 0, abandoned: 1 })
})

test('a result that comes after the timeout changes nothing', async () => {
  const late = Promise.withResolvers<string>()
  const slow = defineAction({ name: 'slow', timeout: '1s', run: () => late.promise })
  const { client, clock, worker, engine } = await setUp({ actions: [slow] })
  const task = await client.submit(slow, null)
  await clock.advance(1_100)
  const before = await taskOf(client, task.id)
  expect(before.state.status).toBe('dead')
  const settles = engine.calls.filter(({ verb }) => verb.startsWith('settle')).length
  late.resolve('too late')
  await clock.advance(1_000)
  expect(await taskOf(client, task.id)).toEqual(before)
  expect(engine.calls.filter(({ verb }) => verb.startsWith('settle'))).toHaveLength(settles)
  expect(worker.stats().abandoned).toBe(0)
})

test('a rejection that comes after the timeout is no unhandled one', async () => {
  const late = Promise.withResolvers<string>()
  const slow = defineAction({ name: 'slow', timeout: '1s', run: () => late.promise })
  const { client, clock, worker } = await setUp({ actions: [slow] })
  const task = await client.submit(slow, null)
  await clock.advance(1_100)
  late.reject(new Error('too late'))
  await clock.advance(10)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'dead', failure: { code: 'timeout' } })
  expect(worker.stats().abandoned).toBe(0)
})

test('a short timeout behind a long one is not overlooked, and timeouts are retried', async () => {
  const hold = Promise.withResolvers<void>()
  const long = defineAction({ name: 'long', timeout: '1h', run: () => hold.promise })
  const short = defineAction({
    name: 'short',
    timeout: '1s',
    retry: { max: 1, backoff: { kind: 'fixed', delayMs: 0, jitter: 0 } },
    run: (_: null, { attempt }) => (attempt === 1 ? hold.promise : undefined),
  })
  const { client, clock } = await setUp({ actions: [long, short] })
  await client.submit(long, null)
  await clock.advance(10)
  const task = await client.submit(short, null)
  await clock.advance(3_000)
  expect(await task.result()).toBeNull()
  expect((await client.listExecutions({ id: task.id })).items).toMatchObject([
    { errorCode: 'timeout' },
    { status: 'succeeded' },
  ])
  hold.resolve()
})

test('a signal that is first asked for after the abort has fired', async () => {
  const hold = Promise.withResolvers<void>()
  let seen: AbortSignal | undefined
  const careless = defineAction({
    name: 'careless',
    timeout: '1s',
    async run(_: null, context) {
      await hold.promise
      seen = context.signal
    },
  })
  const { client, clock } = await setUp({ actions: [careless] })
  await client.submit(careless, null)
  await clock.advance(1_100)
  hold.resolve()
  await clock.advance(1)
  expect(seen?.aborted).toBe(true)
  expect(seen?.reason).toMatchObject({ code: 'REPRISE_TIMED_OUT' })
})

test('handlers that never end are left behind up to a point; then nothing more is claimed, and somebody is told', async () => {
  const errors: string[] = []
  const stuck = defineAction({ name: 'stuck', timeout: '1s', run: () => new Promise<never>(() => {}) })
  const log = { ...silentLogger, error: (message: string) => void errors.push(message) }
  const { client, clock, worker } = await setUp({ actions: [stuck], concurrency: 1, log, health: {} })
  const tasks = await client.submitMany(stuck, Array<undefined>(12).fill(undefined))
  await clock.advance(60_000)
  expect(worker.stats().abandoned).toBe(10)
  expect(await client.counts()).toMatchObject({ dead: 10, queued: 2 })
  expect(errors).toEqual([expect.stringContaining('restart this worker')])
  // Its heartbeat goes on: it says itself that it is of no use, at its endpoint and to everybody who asks the store.
  const trouble = '10 handlers run on though their attempts have ended; restart it'
  const answer = await fetch(worker.endpoint ?? '')
  expect([answer.status, await answer.json()]).toMatchObject([503, { state: 'running', trouble }])
  const reasons = [`claims nothing: ${trouble}`, '10 failures in a row']
  expect(await client.getWorker({ id: 'w1' })).toMatchObject({ health: { status: 'unhealthy', reasons } })
  expect(await client.explainTask({ id: tasks[11]?.id ?? '' })).toMatchObject({
    workers: [{ verdict: 'unhealthy', reasons }],
  })
})
