// What a breaker means for lanes: an open one holds every lane of its actions like a pause, and anybody can see it. And how
// it goes: forgotten when its window is clean, or reset by an operator. How many it lets through is in breaker-limits.ts, what
// it means for messages from outside in breaker-messages.ts.

import { actionName, DEFAULT_POOL, taskId, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, expectRefused, pool, START } from './fixture.ts'
import { BREAKER, failing, statusOf, succeeding, trip } from './outage.ts'
import type { Check } from './subject.ts'

const ordered = { ordered: true }
const MAIL = actionName('mail')
const STRIPE = 'dependency:stripe'
const acme = tenantId('acme')

export function breakerGates(check: Check): void {
  holding(check)
  seeing(check)
  leaving(check)
}

function holding(check: Check): void {
  check(
    'C9: an open breaker holds every lane of its action and tenant, present and future, and no other',
    async (store) => {
      const worker = await store.worker('w1', { pools: [DEFAULT_POOL, pool('gpu')] })
      await store.submit({ id: 'acme', tenant: acme })
      await store.engine.pause({ tenant: acme }, BY)
      await trip(store, worker)
      await store.engine.resume({ tenant: acme }, BY)
      await store.submit({ id: 'gpu', pool: pool('gpu') }, { id: 'mail', action: MAIL })
      expect(await worker.claimIds(5)).toEqual(['acme', 'mail'])
    },
    ordered,
  )

  check(
    'C9: a queue TTL stands still while it is open',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a', settings: { queueTtlMs: 2_000 }, priority: 0 })
      store.clock.jump(500)
      await trip(store, worker)
      store.clock.jump(5_000)
      expect((await store.engine.expired(10)).overdue).toEqual([])
      expect((await store.task('a')).state).toMatchObject({ expiresAt: START + 7_000 })
      // The probe is the other one; from now on its time counts again.
      expect(await worker.claimIds(1)).toEqual(['second'])
      store.clock.jump(1_500)
      expect((await store.engine.expired(10)).overdue).toMatchObject([
        { kind: 'queue_ttl', ref: { taskId: 'a' }, since: START + 7_000 },
      ])
    },
    ordered,
  )

  check(
    'a lane is held while an operator’s hold or a breaker covers it',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.engine.pause({}, BY)
      store.clock.jump(5_000)
      expect(await worker.claimIds(5)).toEqual([])
      expect(await statusOf(store)).toBe('half_open')
      await store.engine.resume({}, BY)
      expect(await worker.claimIds(5)).toEqual(['second'])
    },
    ordered,
  )

  check(
    'one breaker of a dependency holds the lanes of all actions that failed under it',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'mail', action: MAIL }, { id: 'render' })
      for (const action of [MAIL, actionName('render')]) {
        await failing(store, await worker.claimOne({ actions: [action] }), { breakers: [STRIPE] })
      }
      await store.submit({ id: 'mail2', action: MAIL }, { id: 'render2' }, { id: 'other', action: actionName('other') })
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ name: STRIPE, actions: ['mail', 'render'], state: { status: 'open' } }],
      })
      expect(await worker.claimIds(5)).toEqual(['other'])
      // Each of its actions gets a probe of its own.
      store.clock.jump(5_000)
      const claimed = await worker.claimIds(5)
      expect(claimed).toHaveLength(2)
    },
    ordered,
  )

  check(
    'a failure may count for several breakers: one that holds work back is enough to park it',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker, { breakers: [STRIPE] })
      store.clock.jump(5_000)
      const probe = await worker.claimOne()
      expect(await failing(store, probe, { breakers: [BREAKER, STRIPE] })).toMatchObject({ status: 'queued' })
      expect((await store.engine.breakers()).items.map(({ name, state }) => [name, state.status])).toEqual([
        [BREAKER, 'closed'],
        [STRIPE, 'open'],
      ])
    },
    ordered,
  )
}

function seeing(check: Check): void {
  check(
    'C9: explain names an open breaker, and when it lets probes through',
    async (store) => {
      await trip(store, await store.worker())
      expect(await store.engine.explain(taskId('second'))).toMatchObject({
        summary:
          "Breaker 'action:render' of tenant 'default' is open: too much failed. It lets a few tasks through in 5s.",
        gates: [
          { kind: 'breaker', name: BREAKER, tenant: 'default', status: 'open', since: START, until: START + 5_000 },
        ],
        nextAt: START + 5_000,
      })
    },
    ordered,
  )

  check(
    'lanes and explain show a breaker that lets only some through, and no gate of operators for it',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.submit({ id: 'a' })
      store.clock.jump(5_000)
      const probe = await worker.claimOne()
      const status = 'half_open'
      const halfOpen = { kind: 'breaker', name: BREAKER, tenant: 'default', status, since: START + 5_000, until: null }
      expect(await store.engine.lanes()).toMatchObject({ items: [{ gates: [halfOpen] }] })
      expect((await store.engine.explain(taskId('a')))?.gates).toEqual([halfOpen])
      await succeeding(store, probe)
      expect((await store.engine.explain(taskId('a')))?.gates).toEqual([{ ...halfOpen, status: 'ramping' }])
    },
    ordered,
  )

  check(
    'breakers are listed by name, page by page',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a' })
      await failing(store, await worker.claimOne(), { breakers: ['dependency:b', 'action:z', 'dependency:a'] })
      const first = await store.engine.breakers({ limit: 2 })
      expect(first.items.map(({ name }) => name)).toEqual(['action:z', 'dependency:a'])
      const second = await store.engine.breakers({ limit: 2, cursor: first.next ?? '' })
      expect(second.items.map(({ name }) => name)).toEqual(['dependency:b'])
      expect(second.next).toBe(null)
      await expectRefused(store.engine.breakers({ limit: 0 }), 'REPRISE_INVALID')
    },
    ordered,
  )
}

function leaving(check: Check): void {
  check(
    'is forgotten when its window is clean, and begins anew',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a' }, { id: 'b' })
      await failing(store, await worker.claimOne())
      store.clock.jump(9_999)
      expect(await statusOf(store)).toBe('closed')
      store.clock.jump(1)
      expect(await statusOf(store)).toBe('none')
      expect(await store.engine.resetBreaker(BREAKER, BY)).toBe(false)
      await failing(store, await worker.claimOne())
      expect(await store.engine.breakers()).toMatchObject({ items: [{ buckets: [{ ok: 0, failed: 1 }] }] })
      expect(await store.journalTypes()).toEqual(['execution.failed', 'execution.failed'])
    },
    ordered,
  )

  check(
    'an operator resets it: its lanes go on at once, and the journal says who did it',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      const woken = store.engine.wait({ pools: [DEFAULT_POOL] }, 3_600_000)
      expect(await store.engine.resetBreaker(BREAKER, BY)).toBe(true)
      await woken
      expect(await statusOf(store)).toBe('none')
      expect((await store.journal()).at(-1)).toMatchObject({
        type: 'breaker.closed',
        taskId: null,
        attempt: null,
        ...BY,
        data: { breaker: BREAKER },
      })
      expect(await worker.claim(5)).toMatchObject({ claimed: [{ taskId: 'second' }], nextDueAt: START + 3_600_000 })
      expect(await store.engine.resetBreaker(BREAKER, BY)).toBe(false)
      expect(await store.engine.resetBreaker('action:nobody', BY)).toBe(false)
    },
    ordered,
  )
}
