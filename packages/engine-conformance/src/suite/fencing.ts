// Fencing: every write about an execution names (task, attempt, token). A stale, repeated or late call changes nothing;
// a terminal status is for ever.

import { type Claimed, latestForTask, leaseToken, type Settlement, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, failure, ids, retryIn, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const success = (ref: Claimed): Settlement => ({ kind: 'succeeded', ref, result: null })
const retried = (ref: Claimed): Settlement => ({ kind: 'failed', ref, failure: failure(), decision: retryIn(0) })
const died = (ref: Claimed): Settlement => ({ kind: 'failed', ref, failure: failure('validation'), decision: dead() })
const lost = (ref: Claimed): Settlement => ({
  kind: 'lost',
  ref,
  failure: failure('worker_lost'),
  decision: retryIn(0, 'worker_lost'),
})
const released = (ref: Claimed): Settlement => ({ kind: 'released', ref, reason: 'stopping' })

const settleOne = async (store: Store, settlement: Settlement) => (await store.engine.settle([settlement]))[0]
const superseded = (because: string) => ({ outcome: 'superseded', because })
const repeated = (status: string) => ({ outcome: 'settled', status, repeated: true })

export const fencing = subject('fencing', (check) => {
  check('A16: a wrong token settles nothing', async (store) => {
    const lease = await store.running({ id: 'a' })
    const stranger = { ...lease, token: leaseToken('made-up') }
    for (const settlement of [success(stranger), died(stranger), released(stranger)]) {
      expect(await settleOne(store, settlement)).toEqual(superseded('replaced'))
    }
    expect(await store.status('a')).toBe('running')
  })

  check('A16: an earlier token of the very same attempt settles nothing', async (store) => {
    const stale = await store.running({ id: 'a' })
    await settleOne(store, released(stale))
    const current = await (await store.worker('w2')).claimOne()
    // The same task and the same attempt number: only the token tells the two apart.
    expect(current).toMatchObject({ taskId: stale.taskId, attempt: stale.attempt })
    for (const settlement of [success(stale), died(stale), retried(stale), released(stale)]) {
      expect(await settleOne(store, settlement)).toEqual(superseded('replaced'))
    }
    expect(await store.engine.settle([success(stale), success(current)])).toEqual([
      superseded('replaced'),
      { outcome: 'settled', status: 'succeeded', repeated: false },
    ])
    expect(await latestForTask(store.engine, stale.taskId)).toMatchObject({ attempt: 1, worker: 'w2' })
  })

  check('A16: an earlier token of the very same attempt renews nothing', async (store) => {
    const stale = await store.running({ id: 'a' })
    await settleOne(store, released(stale))
    const current = await (await store.worker('w2')).claimOne()
    expect(await store.engine.renew([{ ...stale, progress: null }], 60_000)).toEqual([superseded('replaced')])
    expect((await store.task('a')).state).toMatchObject({ token: current.token, leaseUntil: current.leaseUntil })
  })

  check('A16: a call for another attempt settles nothing', async (store) => {
    const first = await store.running({ id: 'a' })
    await settleOne(store, retried(first))
    const second = await (await store.worker('w2')).claimOne()
    expect(await settleOne(store, success({ ...second, attempt: 1 }))).toEqual(superseded('failed'))
    expect(await settleOne(store, success({ ...second, attempt: 3 }))).toEqual(superseded('released'))
    expect(await settleOne(store, success({ ...second, taskId: taskId('b') }))).toEqual(superseded('unknown'))
    expect(await store.status('a')).toBe('running')
  })

  check('A4, fault 17: a late callback after the attempt was lost changes nothing', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await settleOne(store, lost(lease))
    expect(await settleOne(store, success(lease))).toEqual(superseded('lost'))
    expect(await store.status('a')).toBe('waiting')
    expect(await store.engine.execution(lease.taskId, 1)).toMatchObject({ status: 'lost' })
  })

  check('A16: with two attempts alive, a callback resolves exactly its own', async (store) => {
    const first = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await settleOne(store, lost(first))
    const second = await (await store.worker('w2')).claimOne()
    expect(await settleOne(store, success(first))).toEqual(superseded('lost'))
    expect(await settleOne(store, success(second))).toEqual({
      outcome: 'settled',
      status: 'succeeded',
      repeated: false,
    })
    expect((await store.engine.executions(first.taskId)).items.map(({ status }) => status)).toEqual([
      'lost',
      'succeeded',
    ])
  })

  check('a repeated success is told the same again', async (store) => {
    const lease = await store.running({ id: 'a' })
    await settleOne(store, success(lease))
    expect(await settleOne(store, success(lease))).toEqual(repeated('succeeded'))
    expect((await store.engine.counts()).succeeded).toBe(1)
  })

  check('one batch may hold the same call twice', async (store) => {
    const lease = await store.running({ id: 'a' })
    expect(await store.engine.settle([success(lease), success(lease), died(lease)])).toEqual([
      { outcome: 'settled', status: 'succeeded', repeated: false },
      repeated('succeeded'),
      superseded('succeeded'),
    ])
    const other = await store.running({ id: 'b' })
    expect(await store.engine.settle([released(other), success(other), released(other)])).toEqual([
      { outcome: 'settled', status: 'queued', repeated: false },
      superseded('released'),
      repeated('queued'),
    ])
    expect(await store.engine.counts()).toMatchObject({ accepted: 2, succeeded: 1, queued: 1, running: 0 })
  })

  check('a repeated failure is told the status of the first time, wherever the task is now', async (store) => {
    const lease = await store.running({ id: 'a' })
    await settleOne(store, retried(lease))
    await (await store.worker('w2')).claimOne()
    expect(await settleOne(store, retried(lease))).toEqual(repeated('waiting'))
    expect(await store.task('a')).toMatchObject({ failures: 1, attempt: 2, state: { status: 'running' } })
  })

  check('a repeated dead letter is counted once', async (store) => {
    const lease = await store.running({ id: 'a' })
    await settleOne(store, died(lease))
    expect(await settleOne(store, died(lease))).toEqual(repeated('dead'))
    expect((await store.engine.failureGroups()).items[0]?.count).toBe(1)
    expect(await store.journalTypes()).toEqual(['execution.failed'])
  })

  check('a repeated loss is told the same again', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await settleOne(store, lost(lease))
    expect(await settleOne(store, lost(lease))).toEqual(repeated('waiting'))
    expect((await store.task('a')).losses).toBe(1)
  })

  check('a repeated release is told the same again, until the attempt is reserved anew', async (store) => {
    const lease = await store.running({ id: 'a' })
    await settleOne(store, released(lease))
    expect(await settleOne(store, released(lease))).toEqual(repeated('queued'))
    await (await store.worker('w2')).claimOne()
    expect(await settleOne(store, released(lease))).toEqual(superseded('replaced'))
    expect(await store.status('a')).toBe('running')
  })

  check('A4: another end than the first is superseded', async (store) => {
    const lease = await store.running({ id: 'a' })
    await settleOne(store, success(lease))
    store.clock.jump(10_000)
    for (const settlement of [died(lease), lost(lease), released(lease)]) {
      expect(await settleOne(store, settlement)).toEqual(superseded('succeeded'))
    }
    expect(await store.status('a')).toBe('succeeded')
  })

  check('a cancelled attempt can not be settled any more', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    expect(await settleOne(store, success(lease))).toEqual(superseded('cancelled'))
    expect(await store.status('a')).toBe('cancelled')
  })

  check(
    'fault 17: a superseded success or failure of a known task is journalled, other refusals are not',
    async (store) => {
      const lease = await store.running({ id: 'a' })
      const stranger = { ...lease, token: leaseToken('made-up') }
      for (const settlement of [success(stranger), died(stranger), lost(stranger), released(stranger)]) {
        await settleOne(store, settlement)
      }
      await settleOne(store, success({ ...lease, taskId: taskId('b') }))
      expect(await store.journal()).toMatchObject([
        {
          type: 'execution.superseded',
          taskId: 'a',
          attempt: 1,
          actor: 'caller',
          reason: 'succeeded refused: replaced',
          data: { kind: 'succeeded', because: 'replaced' },
        },
        {
          type: 'execution.superseded',
          taskId: 'a',
          attempt: 1,
          actor: 'caller',
          reason: 'failed refused: replaced',
          data: { kind: 'failed', because: 'replaced' },
        },
      ])
    },
  )

  check('A4: terminal statuses never change, whatever an operator does', async (store) => {
    const lease = await store.running({ id: 'a' })
    await settleOne(store, success(lease))
    const before = await store.task('a')
    const request = { select: { ids: ids('a') }, by: BY }
    for (const kind of ['redrive', 'discard', 'cancel', 'promote'] as const) {
      expect(await store.engine.change({ kind, ...request })).toEqual({ changed: [], next: null })
    }
    expect(await store.task('a')).toEqual(before)
  })

  check('A4: 50 concurrent settlements of one lease settle it once', async (store) => {
    const lease = await store.running({ id: 'a' })
    const settlements = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? success(lease) : died(lease)))
    const results = (await Promise.all(settlements.map((settlement) => store.engine.settle([settlement])))).flat()
    expect(results.filter((result) => result.outcome === 'settled' && !result.repeated)).toHaveLength(1)
    const { accepted, succeeded, dead: deadCount } = await store.engine.counts()
    expect({ accepted, ended: succeeded + deadCount }).toEqual({ accepted: 1, ended: 1 })
  })

  check('tokens of successive leases all differ', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' })
    const tokens = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const lease = await worker.claimOne()
      tokens.add(lease.token)
      await settleOne(store, round % 2 === 0 ? released(lease) : retried(lease))
    }
    expect(tokens.size).toBe(5)
  })
})
