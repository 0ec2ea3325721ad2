// The sweep as a service: its pace, its grace time after missing time, and its patience with the store.

import { type Engine, type Logger, type Service, StoreBusyError, seededRandom, VirtualClock } from '@reprise/core'
import { expect, onTestFinished, test } from 'vitest'
import { createSweep, type SweepOptions } from '../src/sweep.ts'
import { claimed, LEASE_MS, openStore, submitted, taskOf } from './fixture.ts'

async function started(options: SweepOptions): Promise<Service> {
  const sweep = createSweep({ random: seededRandom(1), ...options })
  await sweep.start()
  onTestFinished(() => sweep.stop())
  return sweep
}

const lostCount = async (engine: Engine): Promise<number> =>
  (await engine.journal.read({ limit: 1_000 })).entries.filter(({ type }) => type === 'execution.lost').length

test('a lost execution runs again within about a second of the end of its lease', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1')
  await started({ engine, clock })
  await claimed(engine)
  await clock.advance(LEASE_MS - 100)
  expect((await taskOf(engine, id)).state.status).toBe('running')
  await clock.advance(1_500)
  expect((await taskOf(engine, id)).state).toMatchObject({ status: 'waiting', reason: 'worker_lost' })
})

test('full pages are swept without a rest in between', async () => {
  const { engine, clock } = await openStore()
  for (let number = 0; number < 1_500; number++) await submitted(engine, `t${number}`)
  await claimed(engine)
  await claimed(engine)
  clock.jump(LEASE_MS)
  expect((await engine.counts()).running).toBe(1_500)
  await started({ engine, clock })
  await clock.advance(10)
  expect((await engine.counts()).running).toBe(0)
})

test('after a pause it waits for live workers to renew, then takes what is really lost', async () => {
  const { engine, clock } = await openStore()
  await submitted(engine, 'alive')
  await submitted(engine, 'gone')
  await started({ engine, clock })
  await clock.advance(2_000)
  const leases = await claimed(engine)
  // Nothing ran for a minute: neither the sweep nor the worker's renewal.
  clock.jump(60_000)
  await clock.advance(1)
  expect(await lostCount(engine)).toBe(0)
  await engine.renew(
    leases.filter(({ taskId }) => taskId === 'alive').map((lease) => ({ ...lease, progress: null })),
    LEASE_MS,
  )
  await clock.advance(4_900)
  expect(await lostCount(engine)).toBe(0)
  await clock.advance(1_000)
  expect(await lostCount(engine)).toBe(1)
  expect((await taskOf(engine, leases[0]?.taskId ?? ('' as never))).state.status).toBe('running')
})

test('one that has just started hears from the store that nobody looked for a while: live workers may renew first', async () => {
  const { engine, clock } = await openStore()
  await submitted(engine, 'alive')
  await submitted(engine, 'gone')
  const leases = await claimed(engine)
  clock.jump(60_000)
  const backAt = clock.now()
  const remembering: Engine = {
    ...engine,
    expired: async (limit) => ({ ...(await engine.expired(limit)), steadySince: backAt }),
  }
  // Somebody else has looked already when it starts.
  await clock.advance(1_000)
  await started({ engine: remembering, clock })
  await clock.advance(3_500)
  expect(await lostCount(engine)).toBe(0)
  await engine.renew(
    leases.filter(({ taskId }) => taskId === 'alive').map((lease) => ({ ...lease, progress: null })),
    LEASE_MS,
  )
  await clock.advance(600)
  expect(await lostCount(engine)).toBe(1)
})

test('a pause right after its start has a grace time of its own', async () => {
  const { engine, clock } = await openStore()
  await submitted(engine, 't1')
  const startedAt = clock.now()
  const remembering: Engine = {
    ...engine,
    expired: async (limit) => ({ ...(await engine.expired(limit)), steadySince: startedAt }),
  }
  await started({ engine: remembering, clock })
  await claimed(engine)
  await clock.advance(2_000)
  clock.jump(60_000)
  await clock.advance(4_900)
  expect(await lostCount(engine)).toBe(0)
  await clock.advance(1_000)
  expect(await lostCount(engine)).toBe(1)
})

test('trouble during the grace time begins it anew, but not for ever', async () => {
  const { engine, clock } = await openStore()
  await submitted(engine, 't1')
  let isDown = false
  const flaky: Engine = {
    ...engine,
    expired: (limit) => (isDown ? Promise.reject(new StoreBusyError('down')) : engine.expired(limit)),
  }
  await started({ engine: flaky, clock })
  await claimed(engine)
  await clock.advance(LEASE_MS - 1_000)
  // Down for a moment every four seconds.
  const lost: number[] = []
  for (let outage = 0; outage < 10; outage++) {
    isDown = true
    await clock.advance(1_500)
    isDown = false
    await clock.advance(2_500)
    lost.push(await lostCount(engine))
  }
  expect(lost.slice(0, 3)).toEqual([0, 0, 0])
  expect(lost.at(-1)).toBe(1)
})

test('a jump of the clock of the store is held off too', async () => {
  const { engine, clock: storeClock } = await openStore()
  const ownClock = new VirtualClock()
  const warnings: string[] = []
  const log: Logger = { debug() {}, info() {}, warn: (message) => warnings.push(message), error() {} }
  await started({ engine, clock: ownClock, log })
  await submitted(engine, 't1')
  await claimed(engine)
  await ownClock.advance(2_000)
  storeClock.jump(60_000)
  await ownClock.advance(2_000)
  expect(warnings).toEqual(['Time went missing; the sweep waits for live workers to renew first.'])
  expect(await lostCount(engine)).toBe(0)
  await ownClock.advance(6_000)
  expect(await lostCount(engine)).toBe(1)
})

test('store errors are reported and outlived', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1')
  let isDown = true
  const flaky: Engine = {
    ...engine,
    expired: (limit) => (isDown ? Promise.reject(new StoreBusyError('down')) : engine.expired(limit)),
  }
  const errors: unknown[] = []
  await started({
    engine: flaky,
    clock,
    onError: (error) => {
      errors.push(error)
      throw new Error('a hook that throws')
    },
  })
  await claimed(engine)
  await clock.advance(LEASE_MS)
  const seen = errors.length
  // Backing off: far fewer tries than rounds of a second each plus retries at once would make.
  expect(seen).toBeGreaterThan(2)
  expect(seen).toBeLessThan(60)
  isDown = false
  await clock.advance(15_000)
  expect(errors).toHaveLength(seen)
  expect((await taskOf(engine, id)).losses).toBe(1)
})

test('a closed engine ends it quietly', async () => {
  const { engine, clock } = await openStore()
  const errors: unknown[] = []
  const sweep = await started({ engine, clock, onError: (error) => errors.push(error) })
  await clock.advance(2_000)
  await engine.close()
  await clock.advance(5_000)
  await sweep.stop()
  expect(errors).toEqual([])
  expect(clock.nextAt()).toBeNull()
})

test('retention deletes old ends, with a look as often as the rule asks for, and keeps the rest', async () => {
  const { engine, clock } = await openStore()
  await submitted(engine, 'old')
  await engine.change({ kind: 'cancel', select: {}, by: { actor: 'operator:ann', reason: 'not needed' } })
  let passes = 0
  const counting: Engine = {
    ...engine,
    retain(...input) {
      passes++
      return engine.retain(...input)
    },
  }
  await started({ engine: counting, clock, retention: { cancelledMs: 30_000 } })
  await clock.advance(20_000)
  expect((await engine.counts()).cancelled).toBe(1)
  await submitted(engine, 'live')
  await clock.advance(65_000)
  expect(await engine.counts()).toMatchObject({ cancelled: 0, removed: 1, queued: 1 })
  // Twenty looks in 30 s, and two passes.
  expect(passes).toBeGreaterThan(2)
  expect(passes).toBeLessThan(70)
})

test('a pass over many tasks goes on where it stopped, and faster where there is much to delete', async () => {
  const { engine, clock } = await openStore()
  for (let number = 0; number < 2_500; number++) await submitted(engine, `t${number}`)
  for (let page = 0; page < 3; page++) {
    await engine.change({ kind: 'cancel', select: {}, by: { actor: 'operator:ann', reason: 'not needed' } })
  }
  await clock.advance(60_000)
  await started({ engine, clock, retention: { cancelledMs: 30_000 } })
  await clock.advance(10)
  await expect.poll(async () => (await engine.counts()).removed).toBe(2_500)
})
