// The delay queue: nothing runs before it is due, and what is due runs in order.

import { expect } from 'vitest'
import { BY, failure, ids, pool, retryIn, START } from './fixture.ts'
import { subject } from './subject.ts'

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

  check('a queue TTL starts when a task is promoted, not when it is submitted', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', delayMs: 5_000, settings: { queueTtlMs: 1_000 } })
    store.clock.jump(8_000)
    expect(await worker.claimIds(1)).toEqual(['a'])
  })
})
