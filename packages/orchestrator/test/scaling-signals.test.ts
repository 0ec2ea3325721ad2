// Autoscaling signals (C9) from a real store: what it counts becomes the sum.

import { DEFAULT_POOL, type PoolName, succeeded } from '@reprise/core'
import { scalingSignals } from '@reprise/orchestrator'
import { expect, test } from 'vitest'
import { beaten, claimed, joined, openStore, submitted } from './fixture.ts'

const target = { targetWaitMs: 30_000 }

test('C9: a pool that keeps up, one with a backlog nobody works on, one nobody uses', async () => {
  const { engine, clock } = await openStore()
  for (let number = 0; number < 120; number++) await submitted(engine, `t${number}`)
  const leases = await claimed(engine)
  clock.jump(60_000)
  // 60 of 120 end in a minute, 60 still run: one takes a minute.
  await engine.settle(leases.slice(0, 60).map((lease) => succeeded(lease, null)))
  for (let number = 0; number < 10; number++) await submitted(engine, `late${number}`)
  for (let number = 0; number < 5; number++) await submitted(engine, `x${number}`, { pool: 'idle' as PoolName })
  await submitted(engine, 'due', { pool: 'idle' as PoolName, delayMs: 1_000 })
  await submitted(engine, 'not due', { pool: 'idle' as PoolName, delayMs: 100_000 })
  clock.jump(1_000)
  const [busy, idle, unused] = await scalingSignals(engine, [DEFAULT_POOL, 'idle', 'unused'], target)
  expect(busy).toMatchObject({
    pool: 'default',
    workersNow: 0,
    numbers: { depth: 10, running: 60, slotsToCatchUp: 10 },
  })
  expect(busy?.numbers.durationMs).toBeGreaterThan(55_000)
  expect(busy?.numbers.durationMs).toBeLessThan(65_000)
  // 130 came in a minute and a half, each takes one: about 130, and a slot for each that waits.
  expect(busy?.slots).toBeGreaterThan(130)
  expect(idle).toMatchObject({ slots: null, numbers: { depth: 6 } })
  expect(idle?.sum).toContain('No worker is there')
  expect(unused).toMatchObject({ slots: 0 })
})

test('C9: only workers that can take work count', async () => {
  const { engine } = await openStore()
  await joined(engine, 'well')
  await beaten(engine, 'ill', await joined(engine, 'ill'), { queueDepth: 500 })
  await beaten(engine, 'going', await joined(engine, 'going'), { draining: true })
  await joined(engine, 'elsewhere', { pools: ['gpu' as PoolName] })
  expect(await scalingSignals(engine, ['default'], { ...target, minSlots: 3, slotsPerWorker: 2 })).toMatchObject([
    { workersNow: 1, slots: 3, workers: 2 },
  ])
})

test('C9: how many slots a worker has is what the workers of the pool say, unless it is given', async () => {
  const { engine } = await openStore()
  await joined(engine, 'small', { concurrency: 4 })
  await joined(engine, 'large', { concurrency: 16 })
  const [own] = await scalingSignals(engine, ['default'], { ...target, minSlots: 25 })
  expect(own).toMatchObject({ slots: 25, workers: 3 })
  const [given] = await scalingSignals(engine, ['default'], { ...target, minSlots: 25, slotsPerWorker: 5 })
  expect(given).toMatchObject({ slots: 25, workers: 5 })
})
