// How many a half open or ramping breaker lets through: only what started since it became half open counts. What started
// before, a straggler, neither takes a place while it runs nor leaves one when it ends.

import { actionName, type Claimed, DEFAULT_POOL, released, taskId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { expectRefused, LEASE_MS, type Store, type TestWorker, taskSpec } from './fixture.ts'
import { failing, type OutageInput, statusOf, succeeding, trip } from './outage.ts'
import type { Check } from './subject.ts'

const ordered = { ordered: true }
const MAIL = actionName('mail')
const STRIPE = 'dependency:stripe'
const HOUR_MS = 3_600_000

const many = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => ({ id: `${name}${index}`, settings: { timeoutMs: HOUR_MS } }))

/** How many attempts run when the breaker opens; it is not half open yet, but the next claim finds that its time has come. */
async function stragglers(
  store: Store,
  worker: TestWorker,
  count: number,
  input: OutageInput,
): Promise<readonly Claimed[]> {
  await store.submit(...many(count, 'old'))
  const { claimed } = await worker.claim(count, { leaseMs: HOUR_MS })
  expect(claimed).toHaveLength(count)
  await trip(store, worker, input)
  store.clock.jump(5_000)
  return claimed
}

const reserve = (store: Store, id: string) =>
  store.engine.reserve({
    task: taskSpec({ id }),
    attempt: 1,
    maxRetries: 0,
    worker: workerId('consumer'),
    leaseMs: LEASE_MS,
  })

export function breakerLimits(check: Check): void {
  withStragglers(check)
  together(check)
}

function withStragglers(check: Check): void {
  check(
    'C9: a hundred stragglers that end while it is half open make no room: never more than the probes run',
    async (store) => {
      const worker = await store.worker()
      const old = await stragglers(store, worker, 100, { settings: { probes: 3 } })
      await store.submit(...many(200, 'new'))
      const { claimed } = await worker.claim(200)
      expect(claimed).toHaveLength(3)
      for (const lease of old.slice(0, 50)) await failing(store, lease, { settings: { probes: 3 } })
      expect(await worker.claimIds(200)).toEqual([])
      await succeeding(store, ...old.slice(50, 75))
      await store.engine.settle(old.slice(75).map((lease) => released(lease, 'Stopping.')))
      expect(await worker.claimIds(200)).toEqual([])
      await expectRefused(reserve(store, 'message'), 'REPRISE_NO_AVAILABLE_SLOT')
      expect(await statusOf(store)).toBe('half_open')
      await succeeding(store, ...claimed.slice(0, 1))
      expect(await worker.claimIds(200)).toHaveLength(1)
    },
    ordered,
  )

  check(
    'C9: fifty stragglers that run on do not stop the ramp',
    async (store) => {
      const worker = await store.worker()
      await stragglers(store, worker, 50, { settings: { probes: 3, maxRamp: 24 } })
      await store.submit(...many(40, 'new'))
      for (const concurrency of [3, 6, 12]) {
        const { claimed } = await worker.claim(100)
        expect(claimed).toHaveLength(concurrency)
        expect(await worker.claimIds(100)).toEqual([])
        await succeeding(store, ...claimed)
      }
      expect(await statusOf(store)).toBe('none')
      // What was parked is among them.
      expect(await worker.claimIds(100)).toHaveLength(20)
    },
    ordered,
  )

  check(
    'C9: messages are probes beside any number of stragglers',
    async (store) => {
      const worker = await store.worker()
      await stragglers(store, worker, 5, {})
      await succeeding(store, await reserve(store, 'a'))
      expect(await statusOf(store)).toBe('ramping')
      await reserve(store, 'b')
      await reserve(store, 'c')
      await expectRefused(reserve(store, 'd'), 'REPRISE_NO_AVAILABLE_SLOT')
    },
    ordered,
  )

  check(
    'the ramp limits what started since, whatever runs from before',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'old' })
      await worker.claimOne({ leaseMs: 60_000 })
      await trip(store, worker)
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
      store.clock.jump(5_000)
      await succeeding(store, await worker.claimOne())
      store.clock.jump(1)
      expect(await worker.claimIds(1)).toEqual(['a'])
      store.clock.jump(1)
      expect(await worker.claimIds(5)).toEqual(['b'])
    },
    ordered,
  )

  check(
    'each time it becomes half open there are probes anew, whatever is left of those before',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker, { settings: { probes: 2 } })
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
      store.clock.jump(5_000)
      const [probe] = (await worker.claim(5, { leaseMs: 60_000 })).claimed
      if (probe === undefined) throw new Error('Two may run.')
      await failing(store, probe, { settings: { probes: 2 } })
      store.clock.jump(10_000)
      expect(await worker.claimIds(5)).toEqual(['b', 'c'])
      expect(await worker.claimIds(5)).toEqual([])
    },
    ordered,
  )

  check(
    'C9: attempts of every stage are probes, and what lay in an inbox is one from when it is collected',
    async (store) => {
      const dispatcher = await store.worker('dispatcher')
      const worker = await store.worker()
      const other = await store.worker('w2')
      await store.submit({ id: 'old' })
      const lease = await dispatcher.claimOne({ stage: 'dispatch' })
      await store.engine.assign([{ ...lease, worker: other.id, ttlMs: 60_000 }])
      await trip(store, worker, { settings: { probes: 3 } })
      await store.submit({ id: 'a' }, { id: 'b' })
      store.clock.jump(5_000)
      expect(await dispatcher.claimIds(1, { stage: 'launch' })).toEqual(['second'])
      expect(await dispatcher.claimIds(1, { stage: 'dispatch' })).toEqual(['a'])
      expect(await other.claimIds(5)).toEqual(['old'])
      expect(await dispatcher.claimIds(5, { stage: 'dispatch' })).toEqual([])
    },
    ordered,
  )
}

function together(check: Check): void {
  check(
    'an action that joins a half open breaker gets its own probes, whatever runs of it from before',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'mail1', action: MAIL }, { id: 'mail2', action: MAIL })
      const [mail] = (await worker.claim(2, { actions: [MAIL], leaseMs: 60_000 })).claimed
      if (mail === undefined) throw new Error('Two were submitted.')
      await trip(store, worker, { breakers: [STRIPE] })
      store.clock.jump(5_000)
      await worker.claimOne({ actions: [actionName('render')] })
      await store.submit({ id: 'mail3', action: MAIL }, { id: 'mail4', action: MAIL })
      // It started before the probes, so it is parked.
      expect(await failing(store, mail, { breakers: [STRIPE] })).toMatchObject({ status: 'queued' })
      expect(await worker.claimIds(5)).toEqual(['mail3'])
    },
    ordered,
  )

  check(
    'C9: the breakers of an action are one limit: the lowest of theirs, since the latest of them',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker, { breakers: [STRIPE], settings: { probes: 2 } })
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' })
      store.clock.jump(5_000)
      const [probe, ...rest] = (await worker.claim(5, { leaseMs: 60_000 })).claimed
      if (probe === undefined) throw new Error('Two may run.')
      expect(rest).toHaveLength(1)
      await failing(store, probe, { settings: { minFailures: 1, openMs: 1_000, probes: 3 } })
      expect(await statusOf(store)).toBe('open')
      store.clock.jump(1_000)
      // Of one breaker's two probes one runs; but both breakers begin anew with the other.
      expect(await worker.claimIds(5)).toEqual(['b', 'c'])
      expect(await statusOf(store)).toBe('half_open')
      expect(await statusOf(store, STRIPE)).toBe('half_open')
      expect(await worker.claimIds(5)).toEqual([])
      await expectRefused(reserve(store, 'message'), 'REPRISE_NO_AVAILABLE_SLOT')
      expect(await store.engine.task(taskId('message'))).toBe(null)
      expect(await store.engine.counts({ pool: DEFAULT_POOL })).toMatchObject({ running: 3 })
    },
    ordered,
  )
}
