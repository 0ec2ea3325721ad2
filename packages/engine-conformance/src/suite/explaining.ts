// Explain: why a task is not running now, with every gate and every worker considered.

import { actionName, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, BY, pool, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const explain = (store: Store, id: string) => store.engine.explain(taskId(id))

export const explaining = subject('explain', (check) => {
  check('an unknown task has no explanation', async (store) => {
    expect(await explain(store, 'nobody')).toBe(null)
  })

  check('a queued task without workers', async (store) => {
    await store.submit({ id: 'a' })
    expect(await explain(store, 'a')).toEqual({
      task: await store.task('a'),
      summary: "No worker is registered in pool 'default'.",
      gates: [{ kind: 'no_worker' }],
      workers: [],
      nextAt: null,
    })
  })

  check('a queued task that other work is ahead of', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 5_000 } })
    await store.worker('w1')
    expect(await explain(store, 'a')).toMatchObject({
      summary: 'It is queued and can be claimed.',
      gates: [],
      workers: [{ worker: 'w1', verdict: 'eligible', reasons: [] }],
      nextAt: START + 5_000,
    })
  })

  check('a waiting task', async (store) => {
    await store.submit({ id: 'a', delayMs: 90_000 })
    await store.worker()
    expect(await explain(store, 'a')).toMatchObject({
      summary: 'It waits (delayed) and is due in 1m 30s.',
      gates: [{ kind: 'not_due', dueAt: START + 90_000, reason: 'delayed' }],
      nextAt: START + 90_000,
    })
  })

  check('a paused lane and a full limit', async (store) => {
    await store.running({ id: 'a' })
    await store.submit({ id: 'b' })
    await store.engine.limit({}, 1, BY)
    await store.engine.pause({ action: ACTION }, BY)
    expect(await explain(store, 'b')).toMatchObject({
      summary: "Action 'render' is paused by operator:ann: a test",
      gates: [
        { kind: 'paused', scope: { action: 'render' }, by: BY, since: START, rank: 'platform' },
        { kind: 'concurrency', scope: {}, running: 1, concurrency: 1, rank: 'platform' },
      ],
    })
  })

  check('C6: every worker with its verdict', async (store) => {
    await store.submit({ id: 'a' })
    await store.worker('away', { pools: [pool('gpu')] })
    await store.worker('mailer', { actions: [actionName('mail')] })
    const leaving = await store.worker('leaving')
    await leaving.beat({ draining: true })
    const full = await store.worker('full')
    await full.beat({ queueDepth: 100 })
    expect((await explain(store, 'a'))?.workers).toEqual([
      { worker: 'away', verdict: 'other_pool', reasons: [] },
      { worker: 'full', verdict: 'unhealthy', reasons: ['100 tasks wait inside it'] },
      { worker: 'leaving', verdict: 'draining', reasons: [] },
      { worker: 'mailer', verdict: 'other_actions', reasons: [] },
    ])
    expect((await explain(store, 'a'))?.gates).toEqual([{ kind: 'no_worker' }])
  })

  check('a running task and a dead one', async (store) => {
    await store.running({ id: 'a' })
    store.clock.jump(2_500)
    expect(await explain(store, 'a')).toMatchObject({
      summary: "Attempt 1 has been running on 'w1' for 2.5s.",
      gates: [],
      nextAt: START + 10_000,
    })
    await store.deadLetter({ id: 'b' })
    expect(await explain(store, 'b')).toMatchObject({
      summary: 'It is dead (not_retriable): The size is missing.',
      nextAt: null,
    })
  })
})
