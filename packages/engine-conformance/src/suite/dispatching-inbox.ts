// A worker's inbox: what was assigned to it comes first, in order, with fresh times and a token of its own.

import { actionName, type Claimed, released, taskId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, ids, LEASE_MS, pool, START, type Store } from './fixture.ts'
import { succeeding } from './outage.ts'
import type { Check } from './subject.ts'

/** Tasks that a dispatcher put into the inbox of a worker, in this order. */
async function assigned(store: Store, worker: string, ...names: readonly string[]): Promise<readonly Claimed[]> {
  const dispatcher = await store.worker('dispatcher')
  await store.submit(...names.map((id) => ({ id })))
  const { claimed } = await dispatcher.claim(names.length, { stage: 'dispatch' })
  const inOrder = names.flatMap((name) => claimed.filter((lease) => lease.taskId === name))
  const assignments = inOrder.map((lease) => ({ ...lease, worker: workerId(worker), ttlMs: 60_000 }))
  expect(await store.engine.assign(assignments)).toEqual(names.map(() => ({ outcome: 'assigned' })))
  return inOrder
}

export function inboxes(check: Check): void {
  check('D2: the worker collects it with a new token, and only now its time runs', async (store) => {
    const worker = await store.worker('w1')
    const [first] = await assigned(store, 'w1', 'a')
    store.clock.jump(7_000)
    const lease = await worker.claimOne()
    expect(lease).toMatchObject({
      taskId: 'a',
      attempt: 1,
      startedAt: START + 7_000,
      leaseUntil: START + 7_000 + LEASE_MS,
      timeoutAt: START + 67_000,
      acceptedAt: START,
    })
    expect(lease.token).not.toBe(first?.token)
    expect(await store.engine.execution(taskId('a'), 1)).toMatchObject({
      worker: 'w1',
      token: lease.token,
      dispatchedAt: START + 7_000,
    })
    expect((await store.task('a')).state).toMatchObject({ stage: 'run', worker: 'w1', progress: null, handle: null })
    await succeeding(store, lease)
  })

  check('A16: the token under which it lay in the inbox is worth nothing then', async (store) => {
    const worker = await store.worker('w1')
    await assigned(store, 'w1', 'a')
    const { state } = await store.task('a')
    if (state.status !== 'running') throw new Error('It lies in the inbox.')
    await worker.claimOne()
    expect(
      await store.engine.settle([released({ taskId: taskId('a'), attempt: 1, token: state.token }, 'late')]),
    ).toEqual([{ outcome: 'superseded', because: 'replaced' }])
  })

  check(
    'comes in the order in which it was assigned, before the queue, within one limit',
    async (store) => {
      const worker = await store.worker('w1')
      await assigned(store, 'w1', 'c', 'a', 'b')
      await store.submit({ id: 'queued1', priority: 9 }, { id: 'queued2' })
      expect(await worker.claimIds(2)).toEqual(['c', 'a'])
      expect(await worker.claimIds(2)).toEqual(['b', 'queued1'])
      expect(await worker.claimIds(2)).toEqual(['queued2'])
    },
    { ordered: true },
  )

  check('counts as one attempt that started', async (store) => {
    const worker = await store.worker('w1')
    await assigned(store, 'w1', 'a')
    await worker.claimOne()
    expect(await store.engine.series({ from: START, to: START + 60_000 })).toMatchObject([{ accepted: 1, started: 1 }])
  })

  check('holds, pools and actions are not asked again', async (store) => {
    const worker = await store.worker('w1')
    await assigned(store, 'w1', 'a')
    await store.engine.pause({}, BY)
    expect(await worker.claimIds(5, { pools: [pool('gpu')], actions: [actionName('mail')] })).toEqual(['a'])
  })

  check('nobody else collects it, and only those who want to run it', async (store) => {
    const worker = await store.worker('w1')
    await assigned(store, 'w1', 'a')
    expect(await (await store.worker('w2')).claimIds(5)).toEqual([])
    for (const stage of ['dispatch', 'launch'] as const) expect(await worker.claimIds(5, { stage })).toEqual([])
    expect(await worker.claimIds(5, { stage: 'run' })).toEqual(['a'])
  })

  check('C5: an unhealthy worker collects nothing, a degraded one little', async (store) => {
    const worker = await store.worker('w1')
    await assigned(store, 'w1', 'a', 'b')
    await worker.beat({ queueDepth: 100 })
    expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    await worker.beat({ queueDepth: 50 })
    expect(await worker.claimIds(5)).toHaveLength(1)
  })

  check('C5, C10: what lies in its inbox waits inside a worker, and its own claims take that first', async (store) => {
    const worker = await store.worker('w1')
    await worker.beat({ queueDepth: 3 })
    await assigned(store, 'w1', 'a', 'b')
    const depth = async () => (await store.engine.worker(worker.id))?.queueDepth
    expect(await depth()).toBe(5)
    expect((await store.engine.workers()).items.find((one) => one.worker === 'w1')).toMatchObject({ queueDepth: 5 })
    expect(await worker.claimIds(1)).toEqual(['a'])
    expect(await depth()).toBe(4)
    await store.engine.change({ kind: 'cancel', select: { ids: ids('b') }, by: BY })
    expect(await depth()).toBe(3)
  })

  check('C5: a worker whose inbox is too full is given no more, and may empty it', async (store) => {
    const worker = await store.worker('w1')
    const dispatcher = await store.worker('dispatcher')
    const many = Array.from({ length: 101 }, (_, index) => `t${index}`)
    await store.submit(...many.map((id) => ({ id })))
    const { claimed } = await dispatcher.claim(101, { stage: 'dispatch' })
    const assignments = claimed.map((lease) => ({ ...lease, worker: worker.id, ttlMs: 20_000 }))
    const first = await store.engine.assign(assignments.slice(0, 100))
    expect(new Set(first.map(({ outcome }) => outcome))).toEqual(new Set(['assigned']))
    expect(await store.engine.assign(assignments.slice(100))).toEqual([{ outcome: 'stale' }])
    expect(await store.engine.worker(worker.id)).toMatchObject({
      queueDepth: 100,
      health: { status: 'unhealthy', reasons: ['100 tasks wait inside it'] },
    })
    expect(await worker.claim(10)).toMatchObject({ claimed: { length: 10 }, heldBack: null })
    expect(await store.engine.worker(worker.id)).toMatchObject({ queueDepth: 90, health: { status: 'degraded' } })
  })

  check(
    'C11: where health does not matter, an unhealthy worker is given a task, and collects it alone',
    async (store) => {
      const worker = await store.worker('w1')
      await assigned(store, 'w1', 'other')
      await store.submit({ id: 'mail', action: actionName('mail') })
      const lease = await (await store.worker('dispatcher')).claimOne({ stage: 'dispatch' })
      await worker.beat({ queueDepth: 100 })
      const assignment = { ...lease, worker: worker.id, ttlMs: 20_000 }
      expect(await store.engine.assign([assignment])).toEqual([{ outcome: 'stale' }])
      expect(await store.engine.assign([{ ...assignment, regardless: true }])).toEqual([{ outcome: 'assigned' }])
      expect(await worker.claimIds(5)).toEqual([])
      expect(await worker.claimIds(5, { actions: [actionName('mail')], regardless: true })).toEqual(['mail'])
      expect((await store.engine.explain(taskId('other')))?.summary).toBe("Attempt 1 lies in the inbox of worker 'w1'.")
    },
  )

  check('C11: a silent worker is given nothing, whether or not its health matters', async (store) => {
    const worker = await store.worker('w1')
    store.clock.jump(30_000)
    await store.submit({ id: 'a' })
    const lease = await (await store.worker('dispatcher')).claimOne({ stage: 'dispatch' })
    const assignment = { ...lease, worker: worker.id, ttlMs: 20_000, regardless: true as const }
    expect(await store.engine.assign([assignment])).toEqual([{ outcome: 'stale' }])
  })

  check('collecting is a sign of life', async (store) => {
    const worker = await store.worker('w1')
    await assigned(store, 'w1', 'a')
    store.clock.jump(9_000)
    await worker.claim(5)
    expect((await store.engine.workers()).items.at(-1)).toMatchObject({ worker: 'w1', lastBeatAt: START + 9_000 })
  })

  check('a time-out counts from the collection', async (store) => {
    const dispatcher = await store.worker('dispatcher')
    const worker = await store.worker('w1')
    await store.submit({ id: 'a', settings: { timeoutMs: 4_000 } })
    const lease = await dispatcher.claimOne({ stage: 'dispatch' })
    store.clock.jump(6_000)
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    await store.engine.assign([{ ...lease, worker: worker.id, ttlMs: 20_000 }])
    store.clock.jump(6_000)
    await worker.claimOne()
    store.clock.jump(8_999)
    expect((await store.engine.expired(10)).overdue).toEqual([])
    store.clock.jump(1)
    expect((await store.engine.expired(10)).overdue).toMatchObject([{ kind: 'lease', since: START + 21_000 }])
  })

  check('what the dispatcher renewed does not count as a renewal of the attempt', async (store) => {
    const dispatcher = await store.worker('dispatcher')
    const worker = await store.worker('w1')
    await store.submit({ id: 'a' })
    const lease = await dispatcher.claimOne({ stage: 'dispatch' })
    store.clock.jump(1_000)
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    await store.engine.assign([{ ...lease, worker: worker.id, ttlMs: 20_000 }])
    store.clock.jump(11_000)
    const collected = await worker.claimOne()
    store.clock.jump(5_000)
    await store.engine.renew([{ ...collected, progress: null }], LEASE_MS)
    expect((await store.task('a')).state).toMatchObject({ timeoutAt: collected.timeoutAt })
  })

  check('a worker that waits for its inbox wakes', async (store) => {
    const worker = await store.worker('w1')
    const dispatcher = await store.worker('dispatcher')
    await store.submit({ id: 'a' })
    const lease = await dispatcher.claimOne({ stage: 'dispatch' })
    const since = store.engine.mark()
    const woken = store.engine.wait({ inbox: worker.id }, 3_600_000)
    await store.engine.assign([{ ...lease, worker: worker.id, ttlMs: 5_000 }])
    await woken
    await store.engine.wait({ inbox: worker.id, since }, 3_600_000)
    expect(await worker.claimIds(1)).toEqual(['a'])
  })

  check('explain says where it is', async (store) => {
    const worker = await store.worker('w1')
    const dispatcher = await store.worker('dispatcher')
    await store.submit({ id: 'a' })
    const lease = await dispatcher.claimOne({ stage: 'dispatch' })
    expect((await store.engine.explain(taskId('a')))?.summary).toBe(
      "Attempt 1 is with dispatcher 'dispatcher', which looks for a worker.",
    )
    await store.engine.assign([{ ...lease, worker: worker.id, ttlMs: 5_000 }])
    expect(await store.engine.explain(taskId('a'))).toMatchObject({
      summary: "Attempt 1 lies in the inbox of worker 'w1'.",
      nextAt: START + 5_000,
    })
  })
}
