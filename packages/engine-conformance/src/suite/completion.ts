// Completion events: a task whose settings ask for them leaves an entry at its end, in the same step; any other leaves none.

import { taskId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { wholeInspection } from '../whole-inspection.ts'
import { ACTION, dead, failure, retryIn, START, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

const ASKED = { notify: true } as const

export const completion = subject('completion events', (check) => {
  check('the success of a task that asks is an entry, with action, attempt and worker', async (store) => {
    const lease = await store.running({ id: 'a', settings: ASKED })
    store.clock.jump(250)
    const settlement = { kind: 'succeeded', ref: lease, result: null } as const
    expect(await store.engine.settle([settlement])).toMatchObject([{ status: 'succeeded', repeated: false }])
    expect(await store.engine.settle([settlement])).toMatchObject([{ status: 'succeeded', repeated: true }])
    const entry = {
      id: expect.any(String) as unknown,
      at: START + 250,
      type: 'task.succeeded',
      taskId: 'a',
      attempt: 1,
      actor: 'worker:w1',
      reason: 'The task has succeeded.',
      data: { action: ACTION },
    }
    expect(await store.journal()).toEqual([entry])
    expect(await store.journal('a')).toEqual([entry])
  })

  check('in one batch only those that ask get an entry', async (store) => {
    await store.submit(
      { id: 'quiet' },
      { id: 'asks', settings: ASKED },
      { id: 'asks too', settings: { ...ASKED, queueTtlMs: 60_000 } },
      { id: 'also quiet' },
    )
    const { claimed } = await (await store.worker()).claim(10)
    await store.engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: ref.snapshot.payload })))
    const told = (await store.journal()).map((entry) => entry.taskId)
    expect(told.toSorted()).toEqual(['asks', 'asks too'])
  })

  check('the wish outlasts delays, releases, retries and a redrive', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', settings: ASKED, delayMs: 1_000 })
    store.clock.jump(1_000)
    await store.engine.settle([{ kind: 'released', ref: await worker.claimOne(), reason: 'later' }])
    await store.engine.settle([
      { kind: 'failed', ref: await worker.claimOne(), failure: failure(), decision: retryIn(1_000) },
    ])
    store.clock.jump(20_000)
    await store.engine.settle([{ kind: 'failed', ref: await worker.claimOne(), failure: failure(), decision: dead() }])
    await store.engine.change({
      kind: 'redrive',
      select: { ids: [taskId('a')] },
      by: { actor: 'operator:ann', reason: 'mended' },
    })
    store.clock.jump(20_000)
    await store.engine.settle([{ kind: 'succeeded', ref: await worker.claimOne(), result: null }])
    expect((await store.journal('a')).map(({ type, attempt }) => [type, attempt])).toEqual([
      ['execution.released', 1],
      ['execution.failed', 1],
      ['execution.failed', 2],
      ['task.dead', 2],
      ['task.redriven', 2],
      ['task.recovered', 3],
      ['task.succeeded', 3],
    ])
  })

  check('the death of a task that asks is an entry of its own, behind that of its attempt', async (store) => {
    const cause = failure('validation', 'The size is missing.')
    await store.deadLetter({ id: 'quiet' }, cause)
    await store.deadLetter({ id: 'a', settings: ASKED }, cause)
    expect((await store.journal('quiet')).map(({ type }) => type)).toEqual(['execution.failed'])
    expect(await store.journal('a')).toMatchObject([
      { type: 'execution.failed', attempt: 1 },
      {
        type: 'task.dead',
        attempt: 1,
        actor: 'worker:w1',
        reason: 'It does not go away by itself.',
        data: {
          action: ACTION,
          code: 'validation',
          message: 'The size is missing.',
          reason: 'validation',
          fingerprint: cause.fingerprint,
          decision: 'dead',
          detail: 'not_retriable',
        },
      },
    ])
  })

  check('so it is for a task that an outside message brought, and for one that expired', async (store) => {
    const { engine } = store
    const task = taskSpec({ id: 'outside', settings: ASKED })
    const lease = await engine.reserve({ task, attempt: 2, maxRetries: 3, worker: workerId('w1'), leaseMs: 10_000 })
    await engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(await store.journal('outside')).toMatchObject([{ type: 'task.succeeded', attempt: 2 }])
    await store.submit({ id: 'late', settings: { ...ASKED, queueTtlMs: 1_000 } })
    store.clock.jump(2_000)
    const ref = { taskId: taskId('late'), attempt: 1 }
    await engine.settle([{ kind: 'expired', ref, failure: failure('queue_timeout'), decision: dead() }])
    expect(await store.journal('late')).toMatchObject([
      { type: 'execution.expired', actor: 'sweep' },
      { type: 'task.dead', actor: 'sweep', attempt: 1 },
    ])
  })

  check('other ends have their entries anyway, and only those', async (store) => {
    const by = { actor: 'operator:ann', reason: 'not needed' }
    await store.submit({ id: 'a', settings: ASKED })
    await store.engine.change({ kind: 'cancel', select: { ids: [taskId('a')] }, by })
    expect((await store.journal('a')).map(({ type }) => type)).toEqual(['task.cancelled'])
  })

  check('a store with such tasks agrees with itself, at every step of theirs', async (store) => {
    const findings = async (): Promise<unknown> =>
      (await wholeInspection(store.engine, { repair: false, by: { actor: 'operator:ann', reason: 'a look' } })).findings
    await store.submit({ id: 'a', settings: ASKED }, { id: 'b', settings: ASKED, deadlineMs: 60_000 })
    expect(await findings()).toEqual([])
    const { claimed } = await (await store.worker()).claim(2)
    expect(await findings()).toEqual([])
    await store.engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
    expect(await findings()).toEqual([])
  })
})
