// Cancelling, one task or many: where it applies, what it writes, and that a running attempt's lease ends at once.

import { DEFAULT_TENANT, type Fingerprint, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, expectRefused, ids, LEASE_MS, START } from './fixture.ts'
import { subject } from './subject.ts'

export const cancelling = subject('cancel', (check) => {
  check('cancels queued and waiting tasks', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b', delayMs: 1_000 })
    expect(await store.engine.change({ kind: 'cancel', select: { ids: ids('b', 'a') }, by: BY })).toEqual({
      changed: ['b', 'a'],
      next: null,
    })
    expect((await store.task('a')).state).toEqual({ status: 'cancelled', at: START })
    store.clock.jump(1_000)
    expect(await (await store.worker()).claimIds(5)).toEqual([])
  })

  check('a fingerprint names dead letters only: nothing is cancelled or promoted by it', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b', delayMs: 1_000 })
    const select = { fingerprint: 'f' as Fingerprint }
    expect(await store.engine.change({ kind: 'cancel', select, by: BY })).toEqual({ changed: [], next: null })
    expect(await store.engine.change({ kind: 'promote', select, by: BY })).toEqual({ changed: [], next: null })
  })

  check('cancels a running attempt: its execution ends and its slot is free', async (store) => {
    await store.engine.limit({}, 1, BY)
    const lease = await store.running({ id: 'a' })
    await store.submit({ id: 'b' })
    store.clock.jump(500)
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    expect(await store.engine.execution(lease.taskId, 1)).toMatchObject({
      status: 'cancelled',
      resolvedAt: START + 500,
      errorCode: null,
    })
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'superseded', because: 'cancelled' },
    ])
    store.clock.jump(60_000)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    expect(await (await store.worker('w2')).claimIds()).toEqual(['b'])
  })

  check(
    'notes where each task stood',
    async (store) => {
      await store.running({ id: 'a' })
      await store.submit({ id: 'b' }, { id: 'c', delayMs: 1_000 })
      await store.engine.change({ kind: 'cancel', select: { ids: ids('a', 'b', 'c') }, by: BY })
      expect(await store.journal()).toMatchObject([
        { type: 'task.cancelled', taskId: 'a', actor: 'operator:ann', reason: 'a test', data: { from: 'running' } },
        { type: 'task.cancelled', taskId: 'b', data: { from: 'queued' } },
        { type: 'task.cancelled', taskId: 'c', data: { from: 'waiting' } },
      ])
    },
    { ordered: true },
  )

  check(
    'cancels by scope, oldest first, a bounded number per call',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'x', tenant: tenantId('acme') }, { id: 'b' }, { id: 'c' })
      const select = { tenant: DEFAULT_TENANT }
      const first = await store.engine.change({ kind: 'cancel', select, by: BY, limit: 2 })
      expect(first.changed).toEqual(['a', 'b'])
      const second = await store.engine.change({ kind: 'cancel', select, by: BY, limit: 2, cursor: first.next ?? '' })
      expect(second.changed).toEqual(['c'])
      expect(await store.status('x')).toBe('queued')
    },
    { ordered: true },
  )

  check('passes over unknown ids and ended tasks', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(await store.engine.change({ kind: 'cancel', select: { ids: ids('a', 'nobody') }, by: BY })).toEqual({
      changed: [],
      next: null,
    })
    expect(await store.journal()).toEqual([])
  })

  check('a dead letter is discarded, not cancelled', async (store) => {
    await store.deadLetter({ id: 'a' })
    expect((await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })).changed).toEqual([])
    expect(await store.status('a')).toBe('dead')
  })

  check('refuses limits out of range', async (store) => {
    for (const limit of [-1, 1_001])
      await expectRefused(store.engine.change({ kind: 'cancel', select: {}, by: BY, limit }), 'REPRISE_INVALID')
  })
})
