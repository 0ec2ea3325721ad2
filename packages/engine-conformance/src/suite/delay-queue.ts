// The delay queue: nothing runs before it is due, and what is due runs in order.

import { actionName } from '@reprise/core'
import { PROMOTE_MAX, PROMOTE_REST_MS, PROMOTE_REST_READY } from '@reprise/core/engine'
import { expect } from 'vitest'
import { BY, failure, ids, pool, retryIn, START, type Store, type TestWorker } from './fixture.ts'
import { subject } from './subject.ts'

/** Tasks with these ids, all alike. */
const many = <T extends object>(name: string, length: number, each?: T) =>
  Array.from({ length }, (_, index) => ({ id: `${name}${index}`, ...each }))

/** What a claim of one task says about the delay queue, and what it leaves there. */
async function promoted(store: Store, worker: TestWorker) {
  const { nextDueAt } = await worker.claim(1)
  return { nextDueAt, waiting: (await store.engine.counts({ pool: pool('default') })).waiting }
}

export const delayQueue = subject('delay queue', (check) => {
  check('B1: a claim promotes what is due, at the very moment and not before', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', delayMs: 1_000 })
    store.clock.jump(999)
    expect(await worker.claim()).toEqual({ claimed: [], nextDueAt: START + 1_000, heldBack: null, now: START + 999 })
    store.clock.jump(1)
    expect(await worker.claim()).toMatchObject({ claimed: [{ taskId: 'a' }], nextDueAt: null })
  })

  check('tells when something comes due next, of the asked pools only', async (store) => {
    const worker = await store.worker()
    await store.submit(
      { id: 'a', delayMs: 3_000 },
      { id: 'b', delayMs: 2_000 },
      { id: 'c', delayMs: 1, pool: pool('gpu') },
    )
    expect((await worker.claim()).nextDueAt).toBe(START + 2_000)
  })

  check(
    'promotes by due time, then by acceptance',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a', delayMs: 2_000 }, { id: 'b', delayMs: 1_000 }, { id: 'c', delayMs: 1_000 })
      store.clock.jump(5_000)
      expect(await worker.claimIds(3)).toEqual(['b', 'c', 'a'])
    },
    { ordered: true },
  )

  check(
    'what was queued before goes before what comes due',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'late', delayMs: 1_000 })
      store.clock.jump(1_000)
      await store.submit({ id: 'a' })
      expect(await worker.claimIds(2)).toEqual(['a', 'late'])
    },
    { ordered: true },
  )

  check('B1: a retry carries its reason and the same retry token into the next attempt', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([
      { kind: 'failed', ref: lease, failure: failure('rate_limited'), decision: retryIn(500, 'rate_limited') },
    ])
    store.clock.jump(500)
    const again = await (await store.worker('w2')).claimOne()
    expect(again).toMatchObject({ attempt: 2, failures: 1, retryReason: 'rate_limited' })
    expect(again.snapshot).toEqual(lease.snapshot)
    expect(await store.engine.execution(lease.taskId, 2)).toMatchObject({
      retryReason: 'rate_limited',
      status: 'running',
    })
  })

  check('an operator promotes a waiting task, with a journal entry', async (store) => {
    await store.submit({ id: 'a', delayMs: 60_000 }, { id: 'b' })
    expect(await store.engine.change({ kind: 'promote', select: { ids: ids('a', 'b', 'nobody') }, by: BY })).toEqual({
      changed: ['a'],
      next: null,
    })
    expect(await store.status('a')).toBe('queued')
    expect(await store.journal()).toMatchObject([
      { type: 'task.promoted', taskId: 'a', actor: 'operator:ann', reason: 'a test', data: {} },
    ])
    const { claimed } = await (await store.worker()).claim(2)
    expect(claimed.map(({ retryReason }) => retryReason)).toEqual([null, null])
  })

  check('promotion by time leaves no journal entry', async (store) => {
    await store.submit({ id: 'a', delayMs: 1 })
    store.clock.jump(1)
    await (await store.worker()).claimOne()
    expect(await store.journal()).toEqual([])
  })

  check(
    'B1: of very many that come due together a claim promotes some, and the next claim more, while there is little to claim',
    async (store) => {
      const worker = await store.worker()
      await store.submit(...many('other', PROMOTE_REST_READY, { action: actionName('other') }))
      await store.submit(...many('t', PROMOTE_MAX * 2 + 1, { delayMs: 1_000 }))
      store.clock.jump(1_000)
      const dueAt = START + 1_000
      expect(await promoted(store, worker)).toEqual({ nextDueAt: dueAt, waiting: PROMOTE_MAX + 1 })
      expect(await promoted(store, worker)).toEqual({ nextDueAt: dueAt, waiting: 1 })
      expect(await promoted(store, worker)).toEqual({ nextDueAt: null, waiting: 0 })
    },
    { ordered: true },
  )

  check(
    'B1: where there is much to claim already, a pool with more that is due rests before the next promotion',
    async (store) => {
      const worker = await store.worker()
      const half = PROMOTE_REST_READY / 2
      await store.submit(
        ...many('a', half, { action: actionName('a') }),
        ...many('b', half, { action: actionName('b') }),
      )
      const delayMs = 1_000
      await store.submit(...many('da', PROMOTE_MAX, { delayMs, action: actionName('a') }))
      await store.submit(...many('db', PROMOTE_MAX + 1, { delayMs: 999, action: actionName('b') }))
      await store.submit({ id: 'last', delayMs: 1_002, action: actionName('b') })
      await store.submit({ id: 'elsewhere', delayMs, pool: pool('gpu') })
      store.clock.jump(1_000)
      // All of the first are of one action, whose lane has half of what makes a pool rest.
      expect(await promoted(store, worker)).toMatchObject({ waiting: PROMOTE_MAX + 2 })
      // Of the next, one is of the other action: now both lanes count.
      const restsUntil = START + 1_000 + PROMOTE_REST_MS
      expect(await promoted(store, worker)).toEqual({ nextDueAt: restsUntil, waiting: 2 })
      store.clock.jump(PROMOTE_REST_MS - 1)
      expect(await promoted(store, worker)).toEqual({ nextDueAt: restsUntil, waiting: 2 })
      expect((await store.engine.counts({ pool: pool('gpu') })).waiting).toBe(1)
      store.clock.jump(1)
      expect(await promoted(store, worker)).toEqual({ nextDueAt: null, waiting: 0 })
    },
    { ordered: true },
  )

  check(
    'a pool that rests does not keep another from its promotion',
    async (store) => {
      const worker = await store.worker('w1', { pools: [pool('default'), pool('gpu')] })
      await store.submit(...many('standing', PROMOTE_REST_READY))
      await store.submit(...many('t', PROMOTE_MAX + 1, { delayMs: 1_000 }), {
        id: 'elsewhere',
        delayMs: 1_001,
        pool: pool('gpu'),
      })
      store.clock.jump(1_000)
      expect((await worker.claim(1_000)).claimed).toHaveLength(PROMOTE_REST_READY + PROMOTE_MAX)
      store.clock.jump(1)
      expect(await worker.claimIds(1_000)).toEqual(['elsewhere'])
    },
    { ordered: true },
  )

  check(
    'a clock that was set back does not keep a pool at rest',
    async (store) => {
      const worker = await store.worker()
      await store.submit(...many('standing', PROMOTE_REST_READY))
      await store.submit(...many('t', PROMOTE_MAX * 3, { delayMs: 1_000 }))
      store.clock.jump(2_000)
      await worker.claim(1)
      store.clock.jump(-600)
      await worker.claim(1)
      expect((await store.engine.counts()).waiting).toBe(PROMOTE_MAX)
    },
    { ordered: true },
  )

  check('a queue TTL starts when a task is promoted, not when it is submitted', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', delayMs: 5_000, settings: { queueTtlMs: 1_000 } })
    store.clock.jump(8_000)
    expect(await worker.claimIds(1)).toEqual(['a'])
  })
})
