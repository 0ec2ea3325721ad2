// What a breaker means for messages from outside: they find no slot while it is open, they are probes like any other when
// its time has come, and a store that nobody claims from gets over an outage by them alone.

import { DEFAULT_POOL, type ReserveRequest, taskId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, expectRefused, LEASE_MS, type Store, taskSpec } from './fixture.ts'
import { BREAKER, failing, statusOf, succeeding, trip } from './outage.ts'
import type { Check } from './subject.ts'

const ordered = { ordered: true }
const CONSUMER = { maxRetries: 0, worker: workerId('consumer'), leaseMs: LEASE_MS }

const reserve = (store: Store, id: string, changes: Partial<ReserveRequest> = {}) =>
  store.engine.reserve({ ...CONSUMER, task: taskSpec({ id }), attempt: 1, ...changes })

/** What operators can do about slots, and undo. */
const OPERATORS: readonly (readonly [
  string,
  (store: Store) => Promise<unknown>,
  (store: Store) => Promise<unknown>,
])[] = [
  ['a paused lane', (store) => store.engine.pause({}, BY), (store) => store.engine.resume({}, BY)],
  ['a full limit', (store) => store.engine.limit({}, 0, BY), (store) => store.engine.limit({}, null, BY)],
]

export function breakerMessages(check: Check): void {
  check(
    'A7: a message finds no slot while it is open, nor beyond the probes of others',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      store.clock.jump(4_999)
      await expectRefused(reserve(store, 'a'), 'REPRISE_NO_AVAILABLE_SLOT')
      expect(await statusOf(store)).toBe('open')
      store.clock.jump(1)
      expect(await worker.claimIds(5)).toEqual(['second'])
      await expectRefused(reserve(store, 'a'), 'REPRISE_NO_AVAILABLE_SLOT')
      expect(await store.engine.task(taskId('a'))).toBe(null)
    },
    ordered,
  )

  check(
    'C9: a message is a probe when its time has come, and the next ones find no slot',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker, { settings: { probes: 2, maxRamp: 8 } })
      store.clock.jump(5_000)
      const first = await reserve(store, 'a')
      expect(first).toMatchObject({ attempt: 1 })
      expect(await statusOf(store)).toBe('half_open')
      expect((await store.journalTypes()).filter((type) => type === 'breaker.half_open')).toHaveLength(1)
      const second = await reserve(store, 'b')
      await expectRefused(reserve(store, 'c'), 'REPRISE_NO_AVAILABLE_SLOT')
      expect(await worker.claimIds(5)).toEqual([])
      await succeeding(store, first, second)
      expect(await statusOf(store)).toBe('ramping')
      expect(await reserve(store, 'c')).toMatchObject({ attempt: 1 })
    },
    ordered,
  )

  check(
    'C9: messages alone open it, try it again and close it',
    async (store) => {
      for (const id of ['a', 'b']) await failing(store, await reserve(store, id))
      expect(await statusOf(store)).toBe('open')
      store.clock.jump(5_000)
      await failing(store, await reserve(store, 'c'))
      expect(await statusOf(store)).toBe('open')
      store.clock.jump(10_000)
      await succeeding(store, await reserve(store, 'd'))
      expect(await statusOf(store)).toBe('ramping')
      for (const id of ['e', 'f']) await succeeding(store, await reserve(store, id))
      expect(await statusOf(store)).toBe('none')
    },
    ordered,
  )

  check(
    'C9: what a probe of a message leaves over is there for who waits',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker, { settings: { probes: 2 } })
      const woken = store.engine.wait({ pools: [DEFAULT_POOL] }, 3_600_000)
      store.clock.jump(5_000)
      await reserve(store, 'a')
      await woken
      expect(await worker.claimIds(5)).toEqual(['second'])
    },
    ordered,
  )

  check(
    'a message that is refused for another reason than a slot leaves it as it is',
    async (store) => {
      await store.submit({ id: 'running', dedupeKey: 'k' })
      const worker = await store.worker()
      await worker.claimOne({ leaseMs: 60_000 })
      await trip(store, worker)
      store.clock.jump(5_000)
      await expectRefused(reserve(store, 'a', { attempt: 100 }), 'REPRISE_BUDGET_EXHAUSTED')
      await expectRefused(reserve(store, 'running'), 'REPRISE_DUPLICATE_EXECUTION')
      await expectRefused(reserve(store, 'running', { attempt: 2 }), 'REPRISE_CONFLICT')
      await expectRefused(reserve(store, 'second', { attempt: 3 }), 'REPRISE_CONFLICT')
      const task = taskSpec({ id: 'other', dedupeKey: 'k' })
      await expectRefused(reserve(store, 'other', { task }), 'REPRISE_DUPLICATE_EXECUTION')
      expect(await statusOf(store)).toBe('open')
    },
    ordered,
  )

  for (const [title, close, open] of OPERATORS) {
    check(
      `one that finds no slot because of ${title} makes it half open all the same`,
      async (store) => {
        const worker = await store.worker()
        await trip(store, worker)
        await close(store)
        store.clock.jump(5_000)
        await expectRefused(reserve(store, 'a'), 'REPRISE_NO_AVAILABLE_SLOT')
        expect(await statusOf(store)).toBe('half_open')
        await open(store)
        expect(await worker.claimIds(5)).toEqual(['second'])
      },
      ordered,
    )
  }

  check(
    'A6: parked attempts do not lower the ceiling of a message',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.engine.resetBreaker(BREAKER, BY)
      const task = taskSpec({ id: 'second', settings: { maxRetries: 0 } })
      // Its own settings allow attempts 1 to 4; one was parked.
      expect(await reserve(store, 'second', { task, attempt: 2 })).toMatchObject({ attempt: 2, parks: 1 })
      await expectRefused(reserve(store, 'second', { task, attempt: 6 }), 'REPRISE_BUDGET_EXHAUSTED')
      await expectRefused(reserve(store, 'second', { task, attempt: 5 }), 'REPRISE_CONFLICT')
    },
    ordered,
  )
}
