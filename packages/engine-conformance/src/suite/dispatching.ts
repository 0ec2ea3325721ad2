// Directed dispatch: a dispatcher claims a task, assigns it to a worker it thinks well of, and the worker collects it from
// its inbox. If one of them vanishes in between, the task is found and given out again, and nothing is charged for it.

import { type Claimed, lost, released, type SupersededBecause, succeeded, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { inboxes } from './dispatching-inbox.ts'
import { BY, dead, expectRefused, failure, ids, LEASE_MS, START, type Store, type TestWorker } from './fixture.ts'
import { type Check, subject } from './subject.ts'

const TTL_MS = 5_000
const superseded = (because: SupersededBecause) => ({ outcome: 'superseded', because })

/** A task that a dispatcher holds. */
async function dispatched(store: Store, id = 'a'): Promise<{ readonly lease: Claimed; readonly by: TestWorker }> {
  const by = await store.worker('dispatcher')
  await store.submit({ id })
  return { lease: await by.claimOne({ stage: 'dispatch' }), by }
}

const assign = async (store: Store, lease: Claimed, worker: string, ttlMs = TTL_MS) =>
  (await store.engine.assign([{ ...lease, worker: workerId(worker), ttlMs }]))[0]

export const dispatching = subject('dispatching', (check) => {
  assigning(check)
  inboxes(check)
  missing(check)
})

function assigning(check: Check): void {
  check('D2: a dispatcher’s lease runs nothing and has no time-out', async (store) => {
    await store.submit({ id: 'a', settings: { timeoutMs: 1_000 } })
    const dispatcher = await store.worker('dispatcher')
    const lease = await dispatcher.claimOne({ stage: 'dispatch' })
    expect(lease).toMatchObject({ attempt: 1, leaseUntil: START + LEASE_MS })
    expect((await store.task('a')).state).toMatchObject({
      status: 'running',
      worker: 'dispatcher',
      stage: 'dispatch',
      handle: null,
    })
    store.clock.jump(4_000)
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'extended', leaseUntil: START + 14_000 },
    ])
    expect((await store.task('a')).state).toMatchObject({ timeoutAt: START + 1_000 })
  })

  check('D2: assigns it to a worker’s inbox, under a new token', async (store) => {
    await store.worker('w1')
    const { lease } = await dispatched(store)
    store.clock.jump(100)
    expect(await assign(store, lease, 'w1')).toEqual({ outcome: 'assigned' })
    const { state } = await store.task('a')
    const execution = await store.engine.execution(lease.taskId, 1)
    expect(state).toMatchObject({ worker: 'w1', stage: 'inbox', leaseUntil: START + 100 + TTL_MS })
    expect(execution).toMatchObject({ status: 'running', worker: 'w1' })
    expect(state).toMatchObject({ token: execution?.token })
    expect(execution?.token).not.toBe(lease.token)
  })

  check('D1: a pick that is unknown, silent, draining or unhealthy is stale, and nothing changes', async (store) => {
    await store.worker('silent')
    store.clock.jump(29_999)
    const draining = await store.worker('draining')
    await draining.beat({ draining: true })
    const full = await store.worker('full')
    await full.beat({ queueDepth: 100 })
    await store.worker('fresh')
    const { lease } = await dispatched(store)
    store.clock.jump(1)
    const before = await store.task('a')
    for (const name of ['nobody', 'silent', 'draining', 'full']) {
      expect(await assign(store, lease, name)).toEqual({ outcome: 'stale' })
    }
    expect(await store.task('a')).toEqual(before)
    // D5: the same lease goes to a worker that is there.
    expect(await assign(store, lease, 'fresh')).toEqual({ outcome: 'assigned' })
  })

  check('D7: a worker whose first heartbeat has not come yet is not stale', async (store) => {
    // Registered, and not heard of since.
    await store.worker('new')
    store.clock.jump(29_999)
    const { lease } = await dispatched(store)
    expect(await assign(store, lease, 'new')).toEqual({ outcome: 'assigned' })
  })

  check('D7: a dispatch that fails half-way leaves no slot and no inbox entry behind', async (store) => {
    await store.engine.limit({}, 1, BY)
    const silent = await store.worker('silent')
    store.clock.jump(30_000)
    const { lease } = await dispatched(store)
    expect(await assign(store, lease, 'silent')).toEqual({ outcome: 'stale' })
    await store.engine.settle([released(lease, 'no worker')])
    expect((await store.task('a')).state.status).toBe('queued')
    // The one slot is free for another worker, and then nothing lies in the inbox of the first.
    expect(await (await store.worker('other')).claimIds(5)).toEqual(['a'])
    expect(await silent.claimIds(5)).toEqual([])
  })

  check('C5: a degraded worker may be assigned to', async (store) => {
    const worker = await store.worker('w1')
    await worker.beat({ queueDepth: 50 })
    const { lease } = await dispatched(store)
    expect(await assign(store, lease, 'w1')).toEqual({ outcome: 'assigned' })
  })

  check('A16: the dispatcher’s token is worth nothing once it has assigned', async (store) => {
    await store.worker('w1')
    const { lease } = await dispatched(store)
    await assign(store, lease, 'w1')
    expect(await assign(store, lease, 'w1')).toEqual(superseded('replaced'))
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([superseded('replaced')])
    expect(await store.engine.settle([released(lease, 'too late')])).toEqual([superseded('replaced')])
    expect((await store.task('a')).state).toMatchObject({ worker: 'w1', stage: 'inbox' })
  })

  check('says why a lease can’t be assigned, each by itself', async (store) => {
    const worker = await store.worker('w1')
    await store.submit({ id: 'run' }, { id: 'cancelled' })
    const run = await worker.claimOne()
    const cancelled = await worker.claimOne({ stage: 'dispatch' })
    await store.engine.change({ kind: 'cancel', select: { ids: [cancelled.taskId] }, by: BY })
    const gone = { ...run, attempt: 7 }
    const to = { worker: worker.id, ttlMs: TTL_MS }
    expect(await store.engine.assign([run, cancelled, gone].map((lease) => ({ ...lease, ...to })))).toEqual([
      superseded('replaced'),
      superseded('cancelled'),
      superseded('released'),
    ])
  })

  check('refuses times out of range before anything is assigned', async (store) => {
    await store.worker('w1')
    const { lease } = await dispatched(store)
    const good = { ...lease, worker: workerId('w1'), ttlMs: TTL_MS }
    for (const ttlMs of [0, 86_400_001]) {
      await expectRefused(store.engine.assign([good, { ...good, ttlMs }]), 'REPRISE_INVALID')
    }
    expect((await store.task('a')).state).toMatchObject({ stage: 'dispatch' })
  })

  check('what is on its way can only be released', async (store) => {
    const { lease } = await dispatched(store)
    store.clock.jump(LEASE_MS)
    expect(
      await store.engine.settle([
        succeeded(lease, null),
        { kind: 'failed', ref: lease, failure: failure(), decision: dead() },
        lost(lease, failure('worker_lost'), dead('crash_loop')),
      ]),
    ).toEqual([superseded('replaced'), superseded('replaced'), superseded('replaced')])
    expect(await store.engine.settle([released(lease, 'no worker')])).toMatchObject([{ status: 'queued' }])
  })

  check('A7: holds and limits are asked when it is claimed for dispatch, and it takes a slot', async (store) => {
    const dispatcher = await store.worker('dispatcher')
    await store.submit({ id: 'a' }, { id: 'b' })
    await store.engine.pause({}, BY)
    expect(await dispatcher.claimIds(5, { stage: 'dispatch' })).toEqual([])
    await store.engine.resume({}, BY)
    await store.engine.limit({}, 1, BY)
    expect(await dispatcher.claimIds(5, { stage: 'dispatch' })).toHaveLength(1)
    expect(await (await store.worker('w1')).claimIds(5)).toEqual([])
  })
}

function missing(check: Check): void {
  check('A15: a dispatcher that died before it assigned is found, and nothing is charged', async (store) => {
    const { lease } = await dispatched(store)
    store.clock.jump(LEASE_MS - 1)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    store.clock.jump(1)
    const { overdue } = await store.engine.expired(10)
    expect(overdue).toMatchObject([
      {
        kind: 'undelivered',
        ref: { taskId: 'a', attempt: 1, token: lease.token },
        worker: 'dispatcher',
        startedAt: START,
        since: START + LEASE_MS,
      },
    ])
    await releaseAll(store)
    const again = await (await store.worker('w1')).claimOne()
    expect(again).toMatchObject({ attempt: 1, failures: 0, losses: 0, parks: 0, deferrals: 0 })
    expect(await store.engine.settle([succeeded(lease, null)])).toEqual([superseded('replaced')])
  })

  check('D2: what nobody collects in time is taken back, and runs under the same attempt', async (store) => {
    const worker = await store.worker('w1')
    const { lease } = await dispatched(store)
    await assign(store, lease, 'w1')
    store.clock.jump(TTL_MS)
    expect(await worker.claimIds(5)).toEqual([])
    expect((await store.engine.expired(10)).overdue).toMatchObject([
      { kind: 'undelivered', ref: { taskId: 'a', attempt: 1 }, worker: 'w1', since: START + TTL_MS },
    ])
    await releaseAll(store)
    expect(await worker.claimOne()).toMatchObject({ taskId: 'a', attempt: 1, failures: 0, losses: 0 })
  })

  check('D1: the inbox of a worker that went silent is taken back before its time', async (store) => {
    await store.worker('w1')
    store.clock.jump(20_000)
    const { lease } = await dispatched(store)
    await assign(store, lease, 'w1', 60_000)
    store.clock.jump(9_999)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    store.clock.jump(1)
    expect((await store.engine.expired(10)).overdue).toMatchObject([
      { kind: 'undelivered', ref: { taskId: 'a' }, worker: 'w1', since: START + 30_000 },
    ])
    await releaseAll(store)
    expect(await store.status('a')).toBe('queued')
  })

  check('a silent worker that comes back before the sweep collects what is there', async (store) => {
    const worker = await store.worker('w1')
    const { lease } = await dispatched(store)
    await assign(store, lease, 'w1', 60_000)
    store.clock.jump(30_000)
    const { overdue } = await store.engine.expired(10)
    expect(await worker.claimIds(1)).toEqual(['a'])
    const [seen] = overdue
    if (seen?.kind !== 'undelivered') throw new Error('It lay there undelivered.')
    expect(await store.engine.settle([released(seen.ref, 'taken back')])).toEqual([superseded('replaced')])
    expect((await store.task('a')).state).toMatchObject({ worker: 'w1', stage: 'run' })
  })

  check('a worker that registers again, or leaves, has an empty inbox', async (store) => {
    const first = await store.worker('w1')
    const { lease, by } = await dispatched(store)
    await assign(store, lease, 'w1')
    const second = await store.worker('w1')
    expect(second.epoch).not.toBe(first.epoch)
    expect(await second.claimIds(5)).toEqual([])
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'undelivered', since: START }])
    await releaseAll(store)
    const again = await by.claimOne({ stage: 'dispatch' })
    await assign(store, again, 'w1')
    await store.engine.deregister(second.id, second.epoch)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'undelivered', worker: 'w1' }])
  })

  check('a task that is cancelled in an inbox is not collected', async (store) => {
    const worker = await store.worker('w1')
    const { lease } = await dispatched(store)
    await assign(store, lease, 'w1')
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    expect(await worker.claimIds(5)).toEqual([])
    expect(await store.engine.execution(lease.taskId, 1)).toMatchObject({ status: 'cancelled', worker: 'w1' })
    expect((await store.engine.expired(10)).overdue).toEqual([])
  })

  check('C5: what is taken back from an inbox is no progress of its worker', async (store) => {
    await store.worker('w1')
    const { lease } = await dispatched(store)
    await assign(store, lease, 'w1')
    store.clock.jump(TTL_MS)
    await releaseAll(store)
    expect((await store.engine.workers()).items).toMatchObject([
      { worker: 'dispatcher', lastProgressAt: START },
      { worker: 'w1', lastProgressAt: START, recentOutcomes: 0 },
    ])
  })
}

/** What a sweep does with what nobody collected. */
async function releaseAll(store: Store): Promise<void> {
  const { overdue } = await store.engine.expired(10)
  const refs = overdue.flatMap((item) => (item.kind === 'undelivered' ? [item.ref] : []))
  const results = await store.engine.settle(refs.map((ref) => released(ref, 'Nobody collected it.')))
  expect(results.map(({ outcome }) => outcome)).toEqual(['settled'])
}
