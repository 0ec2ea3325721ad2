// The main loop: few trips to the store, no more running at once than allowed, nobody starved.

import { type ClaimRequest, type ClaimResult, VirtualClock } from '@reprise/core'
import { defineAction } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp, type WatchedEngine } from './fixture.ts'

const verbs = ({ calls }: WatchedEngine, ...wanted: string[]): string[] =>
  calls.map(({ verb }) => verb).filter((verb) => wanted.includes(verb))

test('settling and the next claim share a trip, and what ends together goes together', async () => {
  const noop = defineAction({ name: 'noop', run: async () => {} })
  const { client, clock, engine, worker } = await setUp({ actions: [noop], concurrency: 100 })
  await clock.advance(10)
  await client.submitMany(
    noop,
    Array.from({ length: 1_000 }, () => null),
  )
  engine.calls.length = 0
  await clock.advance(10)
  await clock.advance(10)
  expect(worker.stats().succeeded).toBe(1_000)
  const trips = verbs(engine, 'settle', 'claim', 'settleAndClaim')
  // Ten rounds of a hundred: one claim to begin with, then nothing but shared trips.
  expect(trips.filter((verb) => verb === 'settleAndClaim').length).toBeLessThanOrEqual(11)
  expect(trips.filter((verb) => verb === 'settle')).toEqual([])
  expect(trips.length).toBeLessThanOrEqual(13)
})

test('never more at once than the concurrency', async () => {
  let running = 0
  let maxRunning = 0
  const action = defineAction({
    name: 'work',
    async run() {
      maxRunning = Math.max(maxRunning, ++running)
      await new Promise<void>((resolve) => void clock.after(100, resolve))
      running--
    },
  })
  const { client, clock, worker } = await setUp({ actions: [action], concurrency: 7 })
  await client.submitMany(
    action,
    Array.from({ length: 50 }, () => null),
  )
  await clock.advance(2_000)
  expect(worker.stats().succeeded).toBe(50)
  expect(maxRunning).toBe(7)
})

test('a short task beside a long one is settled at once, and its slot used again', async () => {
  const hold = Promise.withResolvers<void>()
  const long = defineAction({ name: 'long', run: () => hold.promise })
  const short = defineAction({ name: 'short', run: () => 'done' })
  const { client } = await setUp({ actions: [long, short], concurrency: 2 })
  const held = await client.submit(long, null)
  for (let round = 0; round < 5; round++) expect(await (await client.submit(short, null)).result()).toBe('done')
  hold.resolve()
  expect(await held.result()).toBeNull()
})

test('an idle worker asks about once a second, and hears of new work at once', async () => {
  const action = defineAction({ name: 'work', run: () => 'done' })
  const { client, clock, engine } = await setUp({ actions: [action] })
  await clock.advance(10_000)
  expect(verbs(engine, 'claim').length).toBeLessThanOrEqual(13)
  const startedAt = clock.now()
  expect(await (await client.submit(action, null)).result()).toBe('done')
  expect(clock.now()).toBe(startedAt)
})

test('a delayed task starts when it is due, not at the next poll', async () => {
  const startedAt: number[] = []
  const action = defineAction({ name: 'work', run: () => void startedAt.push(clock.now()) })
  const { client, clock } = await setUp({ actions: [action] })
  await client.submit(action, null, { delay: 10 })
  const dueAt = clock.now() + 5_432
  await client.submit(action, null, { delay: 5_432 })
  await clock.advance(10_000)
  expect(startedAt[1]).toBe(dueAt)
})

test('of two claims that overlap, one that finds nothing due puts off nothing that the other one found', async () => {
  const startedAt: number[] = []
  const action = defineAction({ name: 'work', run: () => void startedAt.push(clock.now()) })
  // As on a cluster: the second one looked elsewhere, and is answered later.
  const { client, clock, engine } = await setUp({ actions: [action], concurrency: 10 }, (inner) => {
    const claim = inner.claim.bind(inner)
    let isSecond = true
    Object.assign(inner, {
      info: { ...inner.info, callsAtOnce: 2 },
      async claim(request: ClaimRequest): Promise<ClaimResult> {
        isSecond = !isSecond
        const takesMs = isSecond ? 4 : 2
        const seesAll = !isSecond
        const answer = await claim(request)
        await new Promise<void>((resolve) => void clock.after(takesMs, resolve))
        return seesAll ? answer : { ...answer, nextDueAt: null }
      },
    })
  })
  await clock.advance(10)
  const dueAt = clock.now() + 5_432
  await client.submit(action, null, { delay: 5_432 })
  await clock.advance(10_000)
  expect(verbs(engine, 'claim').length).toBeGreaterThan(10)
  expect(startedAt[0]).toBeLessThan(dueAt + 10)
})

test.each([-3_600_000, 3_600_000])(
  'fault 15: a clock of the host that is off by %d ms has no effect',
  async (offMs) => {
    const startedAt: number[] = []
    const action = defineAction({ name: 'work', timeout: '10s', run: () => void startedAt.push(storeClock.now()) })
    const hostClock = new VirtualClock(new VirtualClock().now() + offMs)
    const { client, clock: storeClock, engine } = await setUp({ actions: [action], clock: hostClock })
    const dueAt = storeClock.now() + 2_000
    await client.submit(action, null, { delay: 2_000 })
    engine.calls.length = 0
    for (let step = 0; step < 40; step++) {
      await storeClock.advance(100)
      await hostClock.advance(100)
    }
    expect(startedAt).toHaveLength(1)
    expect(startedAt[0]).toBeGreaterThanOrEqual(dueAt)
    expect(startedAt[0]).toBeLessThanOrEqual(dueAt + 200)
    expect(verbs(engine, 'claim').length).toBeLessThan(12)
  },
)

test('a clock of the store that is set back does not make an idle worker ask all the time', async () => {
  const action = defineAction({ name: 'work', run: () => 'done' })
  const hostClock = new VirtualClock()
  const { client, clock: storeClock, engine } = await setUp({ actions: [action], clock: hostClock })
  const task = await client.submit(action, null, { delay: '10m' })
  await storeClock.advance(1_000)
  await hostClock.advance(20 * 60_000)
  engine.calls.length = 0
  for (let step = 0; step < 20; step++) {
    await storeClock.advance(100)
    await hostClock.advance(100)
  }
  expect(verbs(engine, 'claim').length).toBeLessThan(6)
  expect((await task.get())?.state.status).toBe('waiting')
})

test('a worker that fails all the time is held back, asks seldom, and is let in again', async () => {
  let isBroken = true
  const action = defineAction({
    name: 'work',
    async run() {
      if (isBroken) throw new Error('broken host')
      return 'fine'
    },
  })
  const { client, clock, engine } = await setUp({ actions: [action], concurrency: 1 })
  // Somebody healthy beside it, or else it would have to go on.
  const registration = { worker: 'other' as never, pools: ['default' as never], actions: null }
  await engine.register({ ...registration, host: 'h', version: '1', runtimes: [], endpoint: null })
  await client.submitMany(
    action,
    Array.from({ length: 20 }, () => null),
  )
  await clock.advance(2_000)
  const { dead } = await client.counts()
  expect(dead).toBe(10)
  engine.calls.length = 0
  // Every new task is a hint to look again; it does not take them.
  for (let step = 0; step < 100; step++) {
    await client.submit(action, null)
    await clock.advance(100)
  }
  expect((await client.counts()).dead).toBe(10)
  expect(verbs(engine, 'claim').length).toBeLessThanOrEqual(12)
  isBroken = false
  await clock.advance(300_000)
  expect(await client.counts()).toMatchObject({ queued: 0, succeeded: 110 })
})
