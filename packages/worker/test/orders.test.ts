// What a worker tells the store about its actions, and what operators tell the worker.

import { defineAction, findAction, listActions, orderDrain, StoreBusyError, type WorkerId } from '@reprise/core'
import { expect, test } from 'vitest'
import { setUp, taskOf } from './fixture.ts'

const BY = { actor: 'operator:ann', reason: 'a new disk' }
const W1 = 'w1' as WorkerId

test('a worker publishes its actions, and a task submitted by name gets their settings', async () => {
  const echo = defineAction({ name: 'echo', retry: { max: 7 }, timeout: '3s', run: (input: string) => input })
  const { client, engine, clock } = await setUp({ actions: [echo] })

  expect(await findAction(engine, echo.name)).toEqual({
    name: 'echo',
    pool: 'default',
    settings: echo.settings,
    leftOpen: ['queueTtlMs', 'backoff'],
  })
  const task = await client.submit<string>('echo', 'hello')
  const result = task.result()
  await clock.advance(1_000)

  expect(await result).toBe('hello')
  expect((await taskOf(client, task.id)).settings).toEqual(echo.settings)
})

test('a worker starts though its actions can not be published, and says so', async () => {
  const warnings: string[] = []
  const log = {
    debug: () => {},
    info: () => {},
    error: () => {},
    warn: (message: string) => void warnings.push(message),
  }
  const { client, worker, clock, engine } = await setUp(
    { actions: [defineAction({ name: 'echo', run: (input: string) => input })], log },
    (opened) => {
      opened.readFault = (collection) => {
        if (collection === 'actions') throw new StoreBusyError('The store is busy.')
      }
    },
  )
  engine.readFault = () => {}

  expect(worker.state).toBe('running')
  expect(warnings).toContainEqual(expect.stringContaining('could not be published'))
  expect((await listActions(engine)).items).toEqual([])
  const task = await client.submit<string>('echo', 'hello')
  const result = task.result()
  await clock.advance(1_000)
  expect(await result).toBe('hello')
})

test('a worker that is ordered to drain finishes what it has, takes nothing new, and stays registered', async () => {
  const hold = Promise.withResolvers<string>()
  const { client, engine, worker, clock } = await setUp({
    concurrency: 1,
    actions: [defineAction({ name: 'held', run: () => hold.promise })],
  })
  const first = await client.submit<string>('held', null)
  await clock.advance(100)
  expect(worker.stats().inFlight).toBe(1)
  const second = await client.submit('held', null)

  expect(await client.drainWorker({ id: 'w1' })).toEqual({ changed: true })
  expect(await client.drainWorker({ id: 'w1' })).toEqual({ changed: false })
  await clock.advance(12_000)
  expect(worker.state).toBe('draining')
  expect(await client.getWorker({ id: 'w1' })).toMatchObject({ draining: true })

  const result = first.result()
  hold.resolve('done')
  await clock.advance(20_000)
  expect(await result).toBe('done')
  expect((await second.get())?.state.status).toBe('queued')
  expect(await client.getWorker({ id: 'w1' })).toMatchObject({ draining: true, inFlight: 0 })

  await worker.stop()
  expect(worker.state).toBe('stopped')
  expect((await engine.workers()).items).toEqual([])
})

test('an order for an earlier worker of the same id does not drain this one, and the store is not asked at every beat', async () => {
  const { client, engine, worker, clock } = await setUp({
    heartbeat: '1s',
    actions: [defineAction({ name: 'echo', run: (input: string) => input })],
  })
  const { epoch } = await client.getWorker({ id: 'w1' })
  await orderDrain(engine, W1, epoch - 1, BY)
  engine.reads.length = 0
  await clock.advance(20_000)

  expect(worker.state).toBe('running')
  const asked = engine.reads.filter((name) => name === 'worker-orders').length
  expect(asked).toBeGreaterThanOrEqual(3)
  expect(asked).toBeLessThanOrEqual(5)
})
