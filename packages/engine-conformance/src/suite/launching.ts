// Launches: leases whose worker runs elsewhere, under a handle that only its launcher understands. The sweep leaves them
// alone; the launch service lists them, asks after each, and settles it by its own (task, attempt, token).

import {
  DEFAULT_POOL,
  failed,
  type LeaseRef,
  type LeaseToken,
  lost,
  type ReserveRequest,
  released,
  succeeded,
  workerId,
} from '@reprise/core'
import { expect } from 'vitest'
import {
  BY,
  dead,
  expectRefused,
  failure,
  ids,
  LEASE_MS,
  pool,
  retryIn,
  START,
  type Store,
  taskSpec,
} from './fixture.ts'
import { subject } from './subject.ts'

/** A task that is being launched. */
async function launched(store: Store, id = 'a') {
  await store.submit({ id })
  return (await store.worker('launcher')).claimOne({ stage: 'launch' })
}

const message = (id: string): ReserveRequest => {
  return { task: taskSpec({ id }), attempt: 1, maxRetries: 1, worker: workerId('launcher'), leaseMs: LEASE_MS }
}

/** One that is being launched because a message from outside asks for it. */
const reserved = (store: Store, id = 'a') => store.engine.reserve({ ...message(id), stage: 'launch' })

const launchesOf = (store: Store) => store.engine.launches({ pool: DEFAULT_POOL })

export const launching = subject('launching', (check) => {
  check('A7: what is claimed for a launch is listed, with everything to settle it by', async (store) => {
    const { retryReason: _reason, ...lease } = await launched(store)
    expect(lease).toMatchObject({ attempt: 1, leaseUntil: START + LEASE_MS, timeoutAt: START + 60_000 })
    store.clock.jump(10)
    expect(await launchesOf(store)).toEqual({
      items: [{ ...lease, worker: 'launcher', handle: null }],
      next: null,
      now: START + 10,
    })
    expect((await store.task('a')).state).toMatchObject({ status: 'running', stage: 'launch', handle: null })
  })

  check('A7: what a message reserves for a launch is listed as if it were claimed', async (store) => {
    const { retryReason: _reason, ...lease } = await reserved(store)
    expect(lease).toMatchObject({ attempt: 1, leaseUntil: START + LEASE_MS, timeoutAt: START + 60_000 })
    expect((await launchesOf(store)).items).toEqual([{ ...lease, worker: 'launcher', handle: null }])
    expect((await store.task('a')).state).toMatchObject({ status: 'running', stage: 'launch', handle: null })
    await expectRefused(reserved(store), 'REPRISE_DUPLICATE_EXECUTION')
  })

  check('A7: a message for a queued task reserves it for a launch, too', async (store) => {
    await store.submit({ id: 'a' })
    const lease = await reserved(store)
    expect((await launchesOf(store)).items).toMatchObject([{ taskId: 'a', token: lease.token }])
    await store.engine.settle([released(lease, 'The launch failed.')])
    expect((await launchesOf(store)).items).toEqual([])
    expect(await (await store.worker()).claimOne()).toMatchObject({ taskId: 'a', attempt: 1 })
  })

  check('A7: a message that does not ask for a launch reserves what is to be run', async (store) => {
    await store.engine.reserve(message('a'))
    expect((await launchesOf(store)).items).toEqual([])
    store.clock.jump(LEASE_MS)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'lease', ref: { taskId: 'a' } }])
  })

  check('A15: what a message reserved for a launch is left to its launcher, also when it comes back', async (store) => {
    const lease = await reserved(store)
    await store.worker('launcher')
    store.clock.jump(1_000)
    await store.engine.renew([{ ...lease, progress: null, handle: 'pid:42' }], LEASE_MS)
    store.clock.jump(86_400_000)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    expect((await launchesOf(store)).items).toMatchObject([
      { token: lease.token, worker: 'launcher', handle: 'pid:42', leaseUntil: START + 1_000 + LEASE_MS },
    ])
    await store.worker('launcher')
    expect((await launchesOf(store)).items).toMatchObject([{ token: lease.token }])
    expect(await store.engine.settle([lost(lease, failure('worker_lost'), retryIn(0, 'worker_lost'))])).toMatchObject([
      { status: 'waiting' },
    ])
    expect((await launchesOf(store)).items).toEqual([])
  })

  check(
    'A11: a worker that was seen to be gone is lost before its lease ends, once, and only under its token',
    async (store) => {
      const lease = await launched(store)
      const loss = (ref: LeaseRef, gone: boolean) =>
        lost(ref, failure('worker_lost'), retryIn(0, 'worker_lost'), { gone })
      expect(await store.engine.settle([loss(lease, false)])).toEqual([{ outcome: 'superseded', because: 'renewed' }])
      const stranger = { ...lease, token: `${lease.token}x` as LeaseToken }
      expect(await store.engine.settle([loss(stranger, true)])).toMatchObject([{ outcome: 'superseded' }])
      expect(await store.engine.settle([loss(lease, true)])).toEqual([
        { outcome: 'settled', status: 'waiting', repeated: false },
      ])
      expect(await store.engine.settle([loss(lease, true)])).toMatchObject([{ outcome: 'settled', repeated: true }])
      expect(await store.task('a')).toMatchObject({ losses: 1, failures: 0 })
      expect((await launchesOf(store)).items).toEqual([])
    },
  )

  check('A7: a launch takes a slot, and finds none at capacity', async (store) => {
    await store.engine.limit({}, 1, BY)
    await launched(store)
    await store.submit({ id: 'b' })
    expect(await (await store.worker('other')).claimIds(5, { stage: 'launch' })).toEqual([])
  })

  check('A3: a launch that failed is undone', async (store) => {
    const lease = await launched(store)
    expect(await store.engine.settle([released(lease, 'The launch failed.')])).toMatchObject([{ status: 'queued' }])
    expect((await launchesOf(store)).items).toEqual([])
    expect(await (await store.worker('launcher')).claimOne({ stage: 'launch' })).toMatchObject({ attempt: 1 })
  })

  check('A15: a renewal notes the handle, which stays', async (store) => {
    const lease = await launched(store)
    store.clock.jump(1_000)
    expect(await store.engine.renew([{ ...lease, progress: null, handle: 'pid:42' }], LEASE_MS)).toEqual([
      { outcome: 'extended', leaseUntil: START + 11_000 },
    ])
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    expect((await launchesOf(store)).items).toMatchObject([{ handle: 'pid:42', leaseUntil: START + 11_000 }])
    expect((await store.engine.explain(lease.taskId))?.summary).toBe("Attempt 1 was launched 1s ago as 'pid:42'.")
    expect(
      await store.engine.renew([{ ...lease, attempt: 2, progress: null, handle: 'pid:43' }], LEASE_MS),
    ).toMatchObject([{ outcome: 'superseded' }])
    expect((await launchesOf(store)).items).toMatchObject([{ handle: 'pid:42' }])
  })

  check('A15: it is still listed when its lease has ended, and the sweep never sees it', async (store) => {
    await launched(store)
    store.clock.jump(86_400_000)
    expect((await launchesOf(store)).items).toMatchObject([{ taskId: 'a', leaseUntil: START + LEASE_MS }])
    expect((await store.engine.expired(10)).overdue).toEqual([])
  })

  check('A15: a launcher that comes back under its id, or leaves, keeps what it launched', async (store) => {
    const lease = await launched(store)
    const again = await store.worker('launcher')
    expect((await store.journal()).at(-1)).toMatchObject({ type: 'worker.replaced', data: { leases: 0 } })
    await store.engine.deregister(again.id, again.epoch)
    expect((await launchesOf(store)).items).toMatchObject([{ token: lease.token, leaseUntil: START + LEASE_MS }])
    expect(await store.engine.settle([succeeded(lease, null)])).toMatchObject([{ status: 'succeeded' }])
  })

  check('A16: is settled by its own reference, by any caller', async (store) => {
    const first = await launched(store, 'a')
    expect(await store.engine.settle([failed(first, failure('connection'), retryIn(0, 'connection'))])).toMatchObject([
      { status: 'waiting' },
    ])
    const second = await (await store.worker('launcher')).claimOne({ stage: 'launch' })
    expect(second).toMatchObject({ attempt: 2, failures: 1 })
    expect(await store.engine.settle([succeeded(first, null), succeeded(second, null)])).toEqual([
      { outcome: 'superseded', because: 'failed' },
      { outcome: 'settled', status: 'succeeded', repeated: false },
    ])
    expect((await launchesOf(store)).items).toEqual([])
  })

  check('A15: can be lost only once its lease has ended', async (store) => {
    const lease = await launched(store)
    const gone = lost(lease, failure('worker_lost'), retryIn(0, 'worker_lost'))
    store.clock.jump(LEASE_MS - 1)
    expect(await store.engine.settle([gone])).toEqual([{ outcome: 'superseded', because: 'renewed' }])
    store.clock.jump(1)
    expect(await store.engine.settle([gone])).toMatchObject([{ status: 'waiting' }])
    expect(await store.task('a')).toMatchObject({ losses: 1, failures: 0 })
  })

  check('C5: what was launched says nothing about its launcher', async (store) => {
    const first = await launched(store, 'a')
    store.clock.jump(LEASE_MS)
    await store.engine.settle([failed(first, failure('connection'), dead())])
    const second = await (await store.worker('other')).claim(1, { stage: 'launch' })
    expect(second.claimed).toEqual([])
    expect((await store.engine.workers()).items).toMatchObject([
      { worker: 'launcher', recentOutcomes: 0, consecutiveFailures: 0, lastProgressAt: START },
      { worker: 'other' },
    ])
  })

  check('a cancelled launch is not listed any more', async (store) => {
    const lease = await launched(store)
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    expect((await launchesOf(store)).items).toEqual([])
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'superseded', because: 'cancelled' },
    ])
  })

  check(
    'are listed for one pool, by task id, page by page',
    async (store) => {
      const launcher = await store.worker('launcher', { pools: [DEFAULT_POOL, pool('gpu')] })
      await store.submit({ id: 'c' }, { id: 'a' }, { id: 'b' }, { id: 'elsewhere', pool: pool('gpu') }, { id: 'd' })
      await launcher.claim(5, { stage: 'launch' })
      const first = await store.engine.launches({ pool: DEFAULT_POOL, limit: 3 })
      expect(first.items.map((launch) => launch.taskId)).toEqual(['a', 'b', 'c'])
      const second = await store.engine.launches({ pool: DEFAULT_POOL, limit: 3, cursor: first.next ?? '' })
      expect(second.items.map((launch) => launch.taskId)).toEqual(['d'])
      expect(second.next).toBe(null)
      await expectRefused(store.engine.launches({ pool: DEFAULT_POOL, limit: 0 }), 'REPRISE_INVALID')
    },
    { ordered: true },
  )
})
