// Release (A3): an attempt that never really started is undone. Its reservation is deleted, not marked failed; its
// number is used again, its token never.

import { type Deferral, expired, type LeaseRef, latestForTask, released, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, failure, ids, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const release = async (store: Store, ref: LeaseRef) =>
  (await store.engine.settle([{ kind: 'released', ref, reason: 'The launch failed.' }]))[0]

const defer = async (store: Store, ref: LeaseRef, deferral: Deferral = { delayMs: 5_000, reason: 'stale_worker' }) =>
  (await store.engine.settle([released(ref, 'No worker took it.', deferral)]))[0]

export const releasing = subject('release', (check) => {
  check(
    'A3, A17: deletes the reservation and queues the task again: no execution is left that could be retried',
    async (store) => {
      const lease = await store.running({ id: 'a' })
      store.clock.jump(200)
      expect(await release(store, lease)).toEqual({ outcome: 'settled', status: 'queued', repeated: false })
      expect(await store.engine.execution(lease.taskId, 1)).toBe(null)
      expect(await latestForTask(store.engine, lease.taskId)).toBe(null)
      expect(await store.task('a')).toMatchObject({
        attempt: 0,
        failures: 0,
        losses: 0,
        state: { status: 'queued', since: START + 200 },
      })
    },
  )

  check('A3: the attempt number is used again, the token is not', async (store) => {
    const lease = await store.running({ id: 'a' })
    await release(store, lease)
    const again = await (await store.worker('w2')).claimOne()
    expect(again.attempt).toBe(1)
    expect(again.token).not.toBe(lease.token)
  })

  check('A3: frees the slot', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' })
    await store.engine.limit({}, 1, BY)
    const worker = await store.worker()
    const lease = await worker.claimOne()
    expect(await worker.claimIds()).toEqual([])
    await release(store, lease)
    expect(await worker.claimIds(5)).toHaveLength(1)
  })

  check(
    'gives the task its old place in the queue back',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
      const worker = await store.worker()
      const lease = await worker.claimOne()
      await release(store, lease)
      expect(await worker.claimIds(3)).toEqual(['a', 'b', 'c'])
    },
    { ordered: true },
  )

  check('keeps earlier attempts, and why there is this one', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' })
    const first = await worker.claimOne()
    await store.engine.settle([
      { kind: 'failed', ref: first, failure: failure('connection'), decision: retryIn(0, 'connection') },
    ])
    const second = await worker.claimOne()
    await release(store, second)
    expect((await latestForTask(store.engine, first.taskId))?.attempt).toBe(1)
    expect(await worker.claimOne()).toMatchObject({ attempt: 2, failures: 1, retryReason: 'connection' })
  })

  check('is journalled with the worker and its reason', async (store) => {
    const lease = await store.running({ id: 'a' })
    await release(store, lease)
    expect(await store.journal()).toMatchObject([
      {
        type: 'execution.released',
        taskId: 'a',
        attempt: 1,
        actor: 'worker:w1',
        reason: 'The launch failed.',
        data: {},
      },
    ])
  })

  check('D3: with a deferral it waits, for the reason that is given, and nothing is charged', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(200)
    expect(await defer(store, lease)).toEqual({ outcome: 'settled', status: 'waiting', repeated: false })
    expect(await store.task('a')).toMatchObject({
      attempt: 0,
      failures: 0,
      losses: 0,
      parks: 0,
      deferrals: 1,
      state: { status: 'waiting', since: START + 200, dueAt: START + 5_200, reason: 'stale_worker', quota: null },
    })
    expect(await store.engine.execution(lease.taskId, 1)).toBe(null)
    expect(await store.engine.explain(taskId('a'))).toMatchObject({
      gates: [{ kind: 'not_due', dueAt: START + 5_200, reason: 'stale_worker' }],
    })
  })

  check('a deferral counts up until an attempt ends, and is told with the lease', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' })
    for (const count of [0, 1, 2]) {
      const lease = await worker.claimOne()
      expect(lease).toMatchObject({ attempt: 1, deferrals: count, retryReason: null })
      await defer(store, lease)
      store.clock.jump(5_000)
    }
    const lease = await worker.claimOne()
    await release(store, lease)
    expect(await store.task('a')).toMatchObject({ deferrals: 3 })
    await store.engine.settle([
      { kind: 'failed', ref: await worker.claimOne(), failure: failure(), decision: retryIn(0) },
    ])
    expect(await store.task('a')).toMatchObject({ deferrals: 0, failures: 1 })
  })

  check('a redrive clears the deferrals', async (store) => {
    const lease = await store.running({ id: 'a', settings: { queueTtlMs: 1_000 } })
    await defer(store, lease, { delayMs: 0, reason: 'no_workers' })
    await store.engine.change({ kind: 'promote', select: { ids: ids('a') }, by: BY })
    store.clock.jump(1_000)
    await store.engine.settle([expired({ taskId: lease.taskId, attempt: 1 }, failure('queue_timeout'), dead())])
    expect(await store.task('a')).toMatchObject({ deferrals: 1, state: { status: 'dead' } })
    await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
    expect(await store.task('a')).toMatchObject({ deferrals: 0, failures: 0 })
  })

  check('A3: a deferral that is repeated is told the same again', async (store) => {
    const lease = await store.running({ id: 'a' })
    await defer(store, lease)
    expect(await defer(store, lease)).toEqual({ outcome: 'settled', status: 'waiting', repeated: true })
    expect(await store.task('a')).toMatchObject({ deferrals: 1 })
  })

  check('C1: a deferral keeps why there is this attempt', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' })
    await store.engine.settle([
      { kind: 'failed', ref: await worker.claimOne(), failure: failure('timeout'), decision: retryIn(0, 'timeout') },
    ])
    await defer(store, await worker.claimOne(), { delayMs: 0, reason: 'no_workers' })
    expect(await worker.claimOne()).toMatchObject({ attempt: 2, failures: 1, retryReason: 'timeout' })
  })
})
