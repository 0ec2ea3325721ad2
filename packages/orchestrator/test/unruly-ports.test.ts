// What is given to the services from outside may throw or be out of reach: work goes on, and a stop comes back.

import { type Engine, type Logger, StoreBusyError, seededRandom, sleep } from '@reprise/core'
import { createDispatch, createOrchestrator } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'
import { FakeLauncher } from './fake-launcher.ts'
import { collected, joined, openStore, submitted, taskOf } from './fixture.ts'

const broken = (): never => {
  throw new Error('broken')
}
const brokenLog: Logger = { debug: broken, info: broken, warn: broken, error: broken }

test('D4: a meter that throws does not stop the dispatcher, and onError is told', async () => {
  const { engine, clock } = await openStore()
  const errors: unknown[] = []
  const service = createDispatch({
    engine,
    clock,
    random: seededRandom(1),
    pools: ['default'],
    meter: { count: broken, observe: broken },
    onError: (error) => void errors.push(error),
  })
  await service.start()
  onTestFinished(() => service.stop())
  const epoch = await joined(engine, 'w1')
  await submitted(engine, 't1')
  await clock.advance(1_000)
  expect(await collected(engine, 'w1', epoch)).toMatchObject([{ taskId: 't1' }])
  expect(errors).toContainEqual(new Error('broken'))
})

test('D3: a log that throws does not stop the dispatcher', async () => {
  const { engine, clock } = await openStore()
  const service = createDispatch({ engine, clock, random: seededRandom(1), pools: ['default'], log: brokenLog })
  await service.start()
  onTestFinished(() => service.stop())
  const id = await submitted(engine, 't1')
  await clock.advance(100)
  // Nobody can take it, which is worth a word.
  expect((await taskOf(engine, id)).state).toMatchObject({ status: 'waiting', reason: 'no_workers' })
})

const SYNCHRONOUS: ReadonlySet<keyof Engine> = new Set(['mark', 'close', 'collection'])

test('a store out of reach costs a stop its patience a few times, not once for each service', async () => {
  const { engine, clock } = await openStore()
  const patienceMs = 10_000
  let isAway = false
  const away = new Proxy(engine, {
    get(target, name: keyof Engine) {
      const member = target[name]
      if (typeof member !== 'function' || SYNCHRONOUS.has(name)) return member
      return async (...input: never[]) => {
        if (!isAway) return (member as (...input: never[]) => unknown).apply(target, input)
        await sleep(clock, patienceMs)
        throw new StoreBusyError('out of reach')
      }
    },
  })
  const launchPools = ['p1', 'p2', 'p3'].map((pool) => ({ pool, launcher: new FakeLauncher(clock), slots: 1 }))
  const systemMonotonic = () => clock.monotonic()
  const orchestrator = createOrchestrator({
    engine: away,
    clock,
    random: seededRandom(1),
    directedPools: ['default'],
    launchPools,
    launch: { systemMonotonic },
    probes: { ask: async () => true },
    onError: () => undefined,
  })
  await orchestrator.start()
  await clock.advance(2_000)
  isAway = true
  await clock.advance(5_000)
  let hasStopped = false
  const stopping = orchestrator.stop().then(() => {
    hasStopped = true
  })
  // What is under way comes to its end, those that are registered take their leave, and the reconciliations come last.
  await clock.advance(3 * patienceMs)
  const inTime = hasStopped
  await clock.advance(20 * patienceMs)
  await stopping
  expect(inTime).toBe(true)
})
