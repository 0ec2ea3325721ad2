// The store goes away, in every way a call can fail, and comes back: nothing is lost and nothing runs twice.

import { InvalidError, StoreBusyError } from '@reprise/core'
import { defineAction } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp, taskOf } from './fixture.ts'

test('a store that is away for a minute loses nothing, and the worker goes on by itself', async () => {
  const runs = new Map<number, number>()
  const holds = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const action = defineAction({
    name: 'work',
    timeout: '1h',
    async run(input: number) {
      runs.set(input, (runs.get(input) ?? 0) + 1)
      await holds[input]?.promise
      return input
    },
  })
  const { client, clock, engine, worker, errors } = await setUp({ actions: [action], concurrency: 2, lease: '5m' })
  const tasks = await client.submitMany(action, [0, 1, 2])
  await clock.advance(10)
  engine.fault = (verb) => {
    if (verb !== 'close') throw new StoreBusyError('the store is away')
  }
  holds[0]?.resolve()
  holds[1]?.resolve()
  await clock.advance(60_000)
  expect(worker.state).toBe('running')
  expect(worker.stats()).toMatchObject({ unsettled: 2, inFlight: 0 })
  // Backing off: well below one try every 50 ms.
  expect(errors.length).toBeGreaterThan(10)
  expect(errors.length).toBeLessThan(300)
  engine.fault = () => {}
  holds[2]?.resolve()
  await clock.advance(5_000)
  expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([0, 1, 2])
  expect([...runs.values()]).toEqual([1, 1, 1])
  expect(worker.stats()).toMatchObject({ succeeded: 3, superseded: 0, unsettled: 0 })
})

test('the store commits and the answer is lost: the repeated call settles once', async () => {
  let runs = 0
  const action = defineAction({ name: 'work', run: () => ++runs })
  const { client, clock, engine, worker } = await setUp({ actions: [action] })
  let lostAnswers = 0
  engine.faultAfter = (verb) => {
    if (verb !== 'settleAndClaim' || lostAnswers === 2) return
    lostAnswers++
    throw new StoreBusyError('the answer is lost')
  }
  const task = await client.submit(action, null)
  await clock.advance(3_000)
  expect(await task.result()).toBe(1)
  expect(lostAnswers).toBe(2)
  expect(worker.stats()).toMatchObject({ succeeded: 1, superseded: 0 })
})

test('the answer of a claim is lost: the sweep brings the task back', async () => {
  const action = defineAction({ name: 'work', run: (_: null, { attempt }) => attempt })
  const { client, clock, engine } = await setUp({ actions: [action] })
  await clock.advance(10)
  let isLost = false
  engine.faultAfter = (verb) => {
    if (verb !== 'claim' || isLost) return
    isLost = true
    throw new StoreBusyError('the answer is lost')
  }
  const task = await client.submit(action, null)
  await clock.advance(10)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'running', attempt: 1 })
  await clock.advance(20_000)
  expect(await task.result()).toBe(2)
})

test('one settlement that the store refuses does not hold up the others', async () => {
  const hold = Promise.withResolvers<void>()
  const action = defineAction({
    name: 'work',
    timeout: '1h',
    async run(input: string) {
      await hold.promise
      return input
    },
  })
  const { client, clock, engine, errors } = await setUp({ actions: [action] })
  const tasks = await client.submitMany(action, ['good', 'bad', 'fine'])
  await clock.advance(10)
  engine.fault = (verb) => {
    const last = engine.calls.at(-1)
    if (!verb.startsWith('settle') || !JSON.stringify(last?.input).includes('\\"bad\\"')) return
    throw new InvalidError('The store does not like this one.')
  }
  hold.resolve()
  await clock.advance(100)
  expect(await tasks[0]?.result()).toBe('good')
  expect(await tasks[2]?.result()).toBe('fine')
  expect(errors).toMatchObject([{ code: 'REPRISE_INVALID' }])
  expect((await tasks[1]?.get())?.state.status).toBe('running')
})

test('a heartbeat that fails is reported, and is not the end', async () => {
  const action = defineAction({ name: 'work', run: () => 'done' })
  const { client, clock, engine, worker, errors } = await setUp({ actions: [action] })
  engine.fault = (verb) => {
    if (verb === 'beat') throw new StoreBusyError('down')
  }
  await clock.advance(12_000)
  expect(errors).toMatchObject([{ code: 'REPRISE_STORE_BUSY' }, { code: 'REPRISE_STORE_BUSY' }])
  engine.fault = () => {}
  expect(await (await client.submit(action, null)).result()).toBe('done')
  expect(worker.state).toBe('running')
})
