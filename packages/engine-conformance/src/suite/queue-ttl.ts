// Queue TTLs and deadlines: an entry past its time is never started; the sweep ends it. A TTL stands still while the
// lane is held; a deadline does not.

import { latestForTask, taskId, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, BY, dead, failure, ids, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const entry = (id: string, attempt: number) => ({ taskId: taskId(id), attempt })
const expire = async (store: Store, id: string, attempt: number, decision = retryIn(500, 'queue_timeout')) =>
  (
    await store.engine.settle([
      {
        kind: 'expired',
        ref: entry(id, attempt),
        failure: failure('queue_timeout', 'Too long in the queue.'),
        decision,
      },
    ])
  )[0]

export const queueTtl = subject('queue TTL', (check) => {
  check('C7: shows an entry past its TTL the moment it is, and not before', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    expect((await store.task('a')).state).toEqual({ status: 'queued', since: START, expiresAt: START + 1_000 })
    store.clock.jump(999)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    store.clock.jump(1)
    expect((await store.engine.expired(10)).overdue).toEqual([
      {
        kind: 'queue_ttl',
        ref: { taskId: 'a', attempt: 1 },
        snapshot: expect.objectContaining({ id: 'a' }) as unknown,
        failures: 0,
        losses: 0,
        parks: 0,
        deferrals: 0,
        generation: 1,
        acceptedAt: START,
        startedAt: null,
        since: START + 1_000,
      },
    ])
  })

  check('C7: an entry past its TTL is not given out, and stays for the sweep', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } }, { id: 'b' })
    store.clock.jump(1_000)
    expect(await worker.claimIds(5)).toEqual(['b'])
    expect(await store.status('a')).toBe('queued')
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'queue_ttl', ref: { taskId: 'a' } }])
  })

  check('C7: settling an expired entry writes a failed attempt without a worker', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(1_500)
    expect(await expire(store, 'a', 1)).toEqual({ outcome: 'settled', status: 'waiting', repeated: false })
    expect(await store.task('a')).toMatchObject({
      attempt: 1,
      failures: 1,
      state: { status: 'waiting', dueAt: START + 2_000, reason: 'queue_timeout' },
    })
    expect(await store.engine.execution(taskId('a'), 1)).toMatchObject({
      status: 'failed',
      worker: null,
      dispatchedAt: START + 1_500,
      resolvedAt: START + 1_500,
      errorCode: 'queue_timeout',
    })
    expect(await store.journal()).toMatchObject([
      { type: 'execution.expired', taskId: 'a', attempt: 1, actor: 'sweep' },
    ])
  })

  check('an expired entry can end as a dead letter', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(1_000)
    expect(await expire(store, 'a', 1, dead('retries_exhausted'))).toEqual({
      outcome: 'settled',
      status: 'dead',
      repeated: false,
    })
    expect((await store.engine.failureGroups()).items).toMatchObject([{ count: 1, lastTask: 'a' }])
  })

  check(
    'an entry past its time costs its lane no turn',
    async (store) => {
      const tenants = { x: tenantId('x'), y: tenantId('y') }
      await store.submit(
        { id: 'late', tenant: tenants.x, settings: { queueTtlMs: 1_000 } },
        { id: 'x0', tenant: tenants.x },
      )
      await store.submit({ id: 'y0', tenant: tenants.y })
      store.clock.jump(1_000)
      expect(await (await store.worker()).claimIds(2)).toEqual(['x0', 'y0'])
    },
    { ordered: true },
  )

  check('expired attempts have tokens of their own', async (store) => {
    const lease = await store.running({ id: 'first' })
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } }, { id: 'b', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(1_000)
    await expire(store, 'a', 1)
    await expire(store, 'b', 1)
    const tokens = [
      lease.token,
      (await latestForTask(store.engine, taskId('a')))?.token,
      (await latestForTask(store.engine, taskId('b')))?.token,
    ]
    expect(new Set(tokens).size).toBe(3)
  })

  check('any number of sweepers expire an entry once', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(1_000)
    const results = await Promise.all(Array.from({ length: 10 }, () => expire(store, 'a', 1)))
    expect(results.filter((result) => result?.outcome === 'settled' && !result.repeated)).toHaveLength(1)
    expect(results.filter((result) => result?.outcome === 'settled' && result.repeated)).toHaveLength(9)
    expect((await store.task('a')).failures).toBe(1)
  })

  check('expiring does not apply to an entry that is in time, or was claimed meanwhile', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(999)
    expect(await expire(store, 'a', 1)).toEqual({ outcome: 'superseded', because: 'renewed' })
    await (await store.worker()).claimOne()
    expect(await expire(store, 'a', 1)).toEqual({ outcome: 'superseded', because: 'replaced' })
    expect(await expire(store, 'nobody', 1)).toEqual({ outcome: 'superseded', because: 'unknown' })
    expect(await store.journal()).toEqual([])
  })

  check('a TTL starts anew with each entry into the queue', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(900)
    const lease = await worker.claimOne()
    await store.engine.settle([{ kind: 'released', ref: lease, reason: 'stopping' }])
    expect((await store.task('a')).state).toMatchObject({ expiresAt: START + 1_900 })
    store.clock.jump(900)
    expect(await worker.claimIds()).toEqual(['a'])
  })

  check('a TTL stands still while the lane is paused', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(400)
    await store.engine.pause({}, BY)
    store.clock.jump(60_000)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    expect((await store.task('a')).state).toMatchObject({ expiresAt: START + 61_000 })
    await store.engine.resume({}, BY)
    store.clock.jump(599)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    store.clock.jump(1)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'queue_ttl', since: START + 61_000 }])
    expect(await worker.claimIds()).toEqual([])
  })

  check('a task submitted into a paused lane has its whole TTL after the pause', async (store) => {
    await store.engine.pause({}, BY)
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    store.clock.jump(5_000)
    await store.engine.resume({}, BY)
    expect((await store.task('a')).state).toMatchObject({ expiresAt: START + 6_000 })
  })

  check('two pauses that overlap hold the TTL once', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    await store.engine.pause({}, BY)
    store.clock.jump(1_000)
    await store.engine.pause({ action: ACTION }, BY)
    await store.engine.resume({}, BY)
    store.clock.jump(1_000)
    await store.engine.resume({ action: ACTION }, BY)
    expect((await store.task('a')).state).toMatchObject({ expiresAt: START + 3_000 })
  })

  check('no attempt starts at or after the deadline', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', deadlineMs: 1_000 }, { id: 'b', deadlineMs: 1_001 })
    store.clock.jump(1_000)
    expect(await worker.claimIds(5)).toEqual(['b'])
    expect((await store.engine.expired(10)).overdue).toMatchObject([
      { kind: 'deadline', ref: { taskId: 'a', attempt: 1 }, since: START + 1_000 },
    ])
  })

  check('a deadline passes also while the lane is paused', async (store) => {
    await store.submit({ id: 'a', deadlineMs: 1_000 })
    await store.engine.pause({}, BY)
    store.clock.jump(1_000)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'deadline' }])
  })

  check('when both are past, it is the deadline that is named', async (store) => {
    await store.submit({ id: 'a', deadlineMs: 2_000, settings: { queueTtlMs: 1_000 } })
    store.clock.jump(2_000)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'deadline', since: START + 2_000 }])
  })

  check('the deadline binds the first generation only', async (store) => {
    const lease = await store.running({ id: 'a', deadlineMs: 1_000 })
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure('validation'), decision: dead() }])
    store.clock.jump(5_000)
    await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
    expect((await store.engine.expired(10)).overdue).toEqual([])
    expect(await (await store.worker('w2')).claimIds()).toEqual(['a'])
  })
})
