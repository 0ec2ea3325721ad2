// Leases while they live, and what the sweep sees once they have ended. `expired` only looks; settling is another chapter.

import { leaseToken, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, expectRefused, failure, ids, LEASE_MS, retryIn, START } from './fixture.ts'
import { subject } from './subject.ts'

export const leases = subject('leases', (check) => {
  check('renewing extends the lease from now', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(4_000)
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'extended', leaseUntil: START + 14_000 },
    ])
    expect((await store.task('a')).state).toMatchObject({ leaseUntil: START + 14_000 })
  })

  check('renewing never shortens a lease', async (store) => {
    const lease = await store.running({ id: 'a' })
    expect(await store.engine.renew([{ ...lease, progress: null }], 1_000)).toEqual([
      { outcome: 'extended', leaseUntil: START + 10_000 },
    ])
  })

  check('C7: renewing can not carry an attempt past its time-out and the grace of 5 s', async (store) => {
    const lease = await store.running({ id: 'a', settings: { timeoutMs: 12_000 } })
    store.clock.jump(9_000)
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'extended', leaseUntil: START + 17_000 },
    ])
  })

  check('time in which nobody could renew does not count against the time-out', async (store) => {
    const lease = await store.running({ id: 'a', settings: { timeoutMs: 12_000 } })
    // The store's clock jumps by an hour; the worker renews as soon as it can.
    store.clock.jump(3_600_000)
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'extended', leaseUntil: START + 3_600_000 + 7_000 },
    ])
    expect((await store.task('a')).state).toMatchObject({ timeoutAt: START + 12_000 + 3_600_000 - LEASE_MS })
    expect((await store.engine.expired(10)).overdue).toEqual([])
  })

  check('renewing brings progress along, and keeps it when none is given', async (store) => {
    const lease = await store.running({ id: 'a' })
    const progress = { fraction: 0.5, note: 'half ✓' }
    await store.engine.renew([{ ...lease, progress }], LEASE_MS)
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    expect((await store.task('a')).state).toMatchObject({ progress })
  })

  check('a lease that ran out can be renewed as long as nobody settled it', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(11_000)
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'extended', leaseUntil: START + 21_000 },
    ])
    expect((await store.engine.expired(10)).overdue).toEqual([])
  })

  check('says why a lease is superseded, each by itself', async (store) => {
    const lease = await store.running({ id: 'a' })
    const other = { ...lease, token: leaseToken('made-up'), progress: null }
    const later = { ...lease, attempt: 2, progress: null }
    const unknown = { ...lease, taskId: taskId('nobody'), progress: null }
    const results = await store.engine.renew([other, later, unknown, { ...lease, progress: null }], LEASE_MS)
    expect(results).toEqual([
      { outcome: 'superseded', because: 'replaced' },
      { outcome: 'superseded', because: 'released' },
      { outcome: 'superseded', because: 'unknown' },
      { outcome: 'extended', leaseUntil: START + 10_000 },
    ])
  })

  check('says how an attempt has ended', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: dead() }])
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'superseded', because: 'failed' },
    ])
    const cancelled = await store.running({ id: 'b' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('b') }, by: BY })
    expect(await store.engine.renew([{ ...cancelled, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'superseded', because: 'cancelled' },
    ])
  })

  check('refuses lease times out of range', async (store) => {
    const lease = await store.running({ id: 'a' })
    for (const leaseMs of [0, 86_400_001]) {
      await expectRefused(store.engine.renew([{ ...lease, progress: null }], leaseMs), 'REPRISE_INVALID')
    }
  })

  check('A15: shows a lease the moment it has run out, and not before', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(9_999)
    expect(await store.engine.expired(10)).toMatchObject({ overdue: [], now: START + 9_999 })
    store.clock.jump(1)
    expect(await store.engine.expired(10)).toMatchObject({
      overdue: [
        {
          kind: 'lease',
          ref: { taskId: 'a', attempt: 1, token: lease.token },
          worker: 'w1',
          snapshot: lease.snapshot,
          failures: 0,
          losses: 0,
          generation: 1,
          since: START + 10_000,
        },
      ],
      now: START + 10_000,
    })
  })

  check('C7: an attempt whose worker renews past its time-out is stuck', async (store) => {
    const lease = await store.running({ id: 'a', settings: { timeoutMs: 4_000 } })
    store.clock.jump(4_000)
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    store.clock.jump(4_999)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    store.clock.jump(1)
    expect((await store.engine.expired(10)).overdue).toMatchObject([
      { kind: 'timeout', ref: { token: lease.token }, since: START + 9_000 },
    ])
  })

  check('a worker that died is lost, not timed out, however short the time-out', async (store) => {
    const lease = await store.running({ id: 'a', settings: { timeoutMs: 4_000 } })
    store.clock.jump(3_999)
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    store.clock.jump(60_000)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'lease', since: START + 9_000 }])
  })

  check('only looks: any number of sweepers see the same', async (store) => {
    await store.running({ id: 'a' })
    store.clock.jump(10_000)
    const first = await store.engine.expired(10)
    expect(await store.engine.expired(10)).toEqual(first)
    expect(await store.status('a')).toBe('running')
  })

  check('shows leases before queue entries, and no more than asked for', async (store) => {
    await store.running({ id: 'lease' })
    await store.submit({ id: 'entry', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(10_000)
    expect((await store.engine.expired(10)).overdue.map(({ kind }) => kind)).toEqual(['lease', 'queue_ttl'])
    expect((await store.engine.expired(1)).overdue.map(({ kind }) => kind)).toEqual(['lease'])
    await expectRefused(store.engine.expired(1_001), 'REPRISE_INVALID')
  })

  check('A15: a lost attempt runs again under a new token', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await store.engine.settle([
      { kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: retryIn(0, 'worker_lost') },
    ])
    const again = await (await store.worker('w2')).claimOne()
    expect(again).toMatchObject({ taskId: 'a', attempt: 2, losses: 1, failures: 0, retryReason: 'worker_lost' })
    expect(again.token).not.toBe(lease.token)
  })
})
