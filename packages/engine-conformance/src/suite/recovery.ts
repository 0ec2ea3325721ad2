// Recovered is an event: a task that succeeds after it failed leaves an entry in the same step. Any other success leaves none.
// Entries that end what a task died of name that cause, so that a reader of the journal alone can keep count.

import { taskId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, BY, dead, failure, retryIn, START, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

export const recovery = subject('recovery', (check) => {
  check('B1: a retry that succeeds is an entry, with its reason, once', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' }, { id: 'b' })
    const first = await worker.claimOne()
    await store.engine.settle([
      { kind: 'failed', ref: first, failure: failure(), decision: retryIn(1_000) },
      { kind: 'succeeded', ref: await worker.claimOne(), result: null },
    ])
    store.clock.jump(20_000)
    const ref = await worker.claimOne()
    const settlement = { kind: 'succeeded', ref, result: null } as const
    await store.engine.settle([settlement])
    expect(await store.engine.settle([settlement])).toMatchObject([{ status: 'succeeded', repeated: true }])
    const id = first.taskId
    expect((await store.journal(id)).slice(1)).toEqual([
      {
        id: expect.any(String) as unknown,
        at: START + 20_000,
        type: 'task.recovered',
        taskId: id,
        attempt: 2,
        actor: 'worker:w1',
        reason: 'The task has succeeded after it had failed.',
        data: { action: ACTION, reason: retryIn(1_000).reason, generation: 1, fingerprint: null },
      },
    ])
    expect((await store.journal()).filter(({ type }) => type === 'task.recovered')).toHaveLength(1)
  })

  check('B2: a redrive that succeeds names what the task had died of, also after another retry', async (store) => {
    const cause = failure('validation', 'The size is missing.')
    await store.deadLetter({ id: 'a' }, cause)
    await store.engine.change({ kind: 'redrive', select: { ids: [taskId('a')] }, by: BY })
    const worker = await store.worker()
    store.clock.jump(20_000)
    const other = failure('transient', 'Busy.')
    await store.engine.settle([
      { kind: 'failed', ref: await worker.claimOne(), failure: other, decision: retryIn(1_000) },
    ])
    store.clock.jump(20_000)
    await store.engine.settle([{ kind: 'succeeded', ref: await worker.claimOne(), result: null }])
    expect((await store.journal('a')).at(-1)).toMatchObject({
      type: 'task.recovered',
      attempt: 3,
      data: { generation: 2, reason: retryIn(1_000).reason, fingerprint: cause.fingerprint },
    })
  })

  check('an attempt that was lost counts, one that was given back does not', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' })
    await store.engine.settle([{ kind: 'released', ref: await worker.claimOne(), reason: 'later' }])
    await store.engine.settle([{ kind: 'succeeded', ref: await worker.claimOne(), result: null }])
    expect((await store.journal('a')).map(({ type }) => type)).toEqual(['execution.released'])
    await store.submit({ id: 'b' })
    const lost = await worker.claimOne()
    store.clock.jump(3_600_000)
    await store.engine.settle([{ kind: 'lost', ref: lost, failure: failure('worker_lost'), decision: retryIn(0) }])
    store.clock.jump(1)
    await store.engine.settle([{ kind: 'succeeded', ref: await worker.claimOne(), result: null }])
    expect((await store.journal('b')).map(({ type }) => type)).toEqual(['execution.lost', 'task.recovered'])
  })

  check(
    'a message that begins with a later attempt recovers nothing; with notify both entries are there',
    async (store) => {
      const task = taskSpec({ id: 'outside' })
      const request = { task, attempt: 2, maxRetries: 3, worker: workerId('w1'), leaseMs: 10_000 }
      await store.engine.settle([{ kind: 'succeeded', ref: await store.engine.reserve(request), result: null }])
      expect(await store.journal('outside')).toEqual([])
      await store.deadLetter({ id: 'a', settings: { notify: true } })
      await store.engine.change({ kind: 'redrive', select: { ids: [taskId('a')] }, by: BY })
      store.clock.jump(20_000)
      await store.engine.settle([{ kind: 'succeeded', ref: await (await store.worker()).claimOne(), result: null }])
      expect((await store.journal('a')).slice(-2).map(({ type }) => type)).toEqual(['task.recovered', 'task.succeeded'])
    },
  )

  check(
    'what ends a death says of which cause: dying again, a discard, a cancellation, and what takes one back',
    async (store) => {
      const [first, second] = [failure('validation', 'No size.'), failure('permission', 'Not yours.')]
      const redrive = () => store.engine.change({ kind: 'redrive', select: { ids: [taskId('a')] }, by: BY })
      await store.deadLetter({ id: 'a' }, first)
      await redrive()
      store.clock.jump(20_000)
      const worker = await store.worker()
      await store.engine.settle([{ kind: 'failed', ref: await worker.claimOne(), failure: second, decision: dead() }])
      const change = (kind: 'discard' | 'revert' | 'cancel') =>
        store.engine.change({ kind, select: { ids: [taskId('a')] }, by: BY })
      await change('discard')
      await change('revert')
      await redrive()
      await change('cancel')
      const told = (await store.journal('a')).map(({ type, data }) => [type, data.fingerprint, data.diedOf])
      expect(told).toEqual([
        ['execution.failed', first.fingerprint, undefined],
        ['task.redriven', undefined, undefined],
        ['execution.failed', second.fingerprint, first.fingerprint],
        ['task.discarded', second.fingerprint, undefined],
        ['task.reverted', second.fingerprint, undefined],
        ['task.redriven', undefined, undefined],
        ['task.cancelled', undefined, second.fingerprint],
      ])
    },
  )
})
