// Vouching: a worker whose event loop is blocked keeps what it runs, within the time-outs of its attempts.

import { taskId } from '@reprise/core'
import { expect } from 'vitest'
import { LEASE_MS, START } from './fixture.ts'
import { subject } from './subject.ts'

export const vouching = subject('vouching', (check) => {
  check('all that a worker runs is renewed, and nothing of another worker', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
    const worker = await store.worker('w1')
    const other = await store.worker('w2')
    await worker.claim(2)
    await other.claim(1)
    store.clock.jump(4_000)
    const request = { worker: worker.id, epoch: worker.epoch, leaseMs: LEASE_MS, outlook: null }
    expect(await store.engine.vouch(request)).toEqual({ renewed: 2 })
    const ends = await Promise.all(['a', 'b', 'c'].map(async (id) => (await store.task(id)).state))
    expect(ends).toMatchObject([
      { leaseUntil: START + 14_000 },
      { leaseUntil: START + 14_000 },
      { leaseUntil: START + 10_000 },
    ])
  })

  check('what is renewed like this is lost no more, and settles under its token', async (store) => {
    await store.submit({ id: 'a' })
    const worker = await store.worker()
    const lease = await worker.claimOne()
    store.clock.jump(9_000)
    await store.engine.vouch({ worker: worker.id, epoch: worker.epoch, leaseMs: LEASE_MS, outlook: null })
    store.clock.jump(9_000)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    expect(await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])).toMatchObject([
      { outcome: 'settled' },
    ])
  })

  check('vouching can not carry an attempt past its time-out and the grace of 5 s: then it is stuck', async (store) => {
    await store.submit({ id: 'a', settings: { timeoutMs: 12_000 } })
    const worker = await store.worker()
    await worker.claimOne()
    const request = { worker: worker.id, epoch: worker.epoch, leaseMs: LEASE_MS, outlook: null }
    for (const ms of [5_000, 5_000, 5_000]) {
      store.clock.jump(ms)
      await store.engine.vouch(request)
    }
    expect((await store.task('a')).state).toMatchObject({ leaseUntil: START + 17_000, timeoutAt: START + 12_000 })
    store.clock.jump(2_000)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'timeout' }])
  })

  check('nobody vouches for an epoch that was replaced, or for a worker that left', async (store) => {
    await store.submit({ id: 'a' })
    const old = await store.worker('w1')
    await old.claimOne()
    const now = await store.worker('w1')
    const before = await store.task('a')
    const request = { worker: old.id, leaseMs: LEASE_MS, outlook: 'blocked' }
    expect(await store.engine.vouch({ ...request, epoch: old.epoch })).toEqual({ renewed: 0 })
    expect(await store.task('a')).toEqual(before)
    expect((await store.engine.worker(now.id))?.outlook).toBeNull()
    await store.engine.deregister(now.id, now.epoch)
    expect(await store.engine.vouch({ ...request, epoch: now.epoch })).toEqual({ renewed: 0 })
  })

  check('the outlook is noted, and is no sign of life; the next heartbeat replaces it', async (store) => {
    const worker = await store.worker()
    store.clock.jump(7_000)
    const outlook = 'claims nothing: its event loop is blocked'
    await store.engine.vouch({ worker: worker.id, epoch: worker.epoch, leaseMs: LEASE_MS, outlook })
    const view = await store.engine.worker(worker.id)
    expect(view).toMatchObject({ outlook, lastBeatAt: START, health: { status: 'unhealthy' } })
    await worker.beat()
    expect((await store.engine.worker(worker.id))?.outlook).toBeNull()
  })

  check('what lies in an inbox or was launched is not renewed: nobody runs it here', async (store) => {
    await store.submit({ id: 'inbox' }, { id: 'launched' })
    const worker = await store.worker()
    const first = await worker.claimOne({ stage: 'dispatch' })
    await store.engine.assign([{ ...first, worker: worker.id, ttlMs: LEASE_MS }])
    await worker.claimOne({ stage: 'launch' })
    store.clock.jump(4_000)
    const request = { worker: worker.id, epoch: worker.epoch, leaseMs: LEASE_MS, outlook: null }
    expect(await store.engine.vouch(request)).toEqual({ renewed: 0 })
    const task = await store.engine.task(taskId('inbox'))
    expect(task?.state).toMatchObject({ leaseUntil: START + 10_000 })
  })
})
