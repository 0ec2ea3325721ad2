// Acceptance: each id once, a bounded backlog, and times by the store's clock.

import { expect } from 'vitest'
import { expectRefused, START, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

export const submitting = subject('submit', (check) => {
  check('accepts tasks and reports them in order', async ({ engine }) => {
    const results = await engine.submit([taskSpec({ id: 'a' }), taskSpec({ id: 'b' })])
    expect(results).toEqual([
      { outcome: 'accepted', id: 'a' },
      { outcome: 'accepted', id: 'b' },
    ])
  })

  check('gives back the snapshot as it was submitted', async (store) => {
    const spec = taskSpec({ id: 'a', payload: { size: 3 }, labels: { team: 'blue' }, priority: 7, dedupeKey: 'k' })
    await store.engine.submit([spec])
    expect(await store.task('a')).toEqual({
      id: 'a',
      action: 'render',
      pool: 'default',
      tenant: 'default',
      payload: '{"size":3}',
      labels: { team: 'blue' },
      priority: 7,
      settings: spec.settings,
      retryToken: 'retry-a',
      dedupeKey: 'k',
      deadlineAt: null,
      acceptedAt: START,
      generation: 1,
      attempt: 0,
      failures: 0,
      losses: 0,
      parks: 0,
      deferrals: 0,
      lastWorker: null,
      state: { status: 'queued', since: START, expiresAt: null },
    })
  })

  check('reports a duplicate id and keeps the first task', async (store) => {
    await store.submit({ id: 'a', payload: 'first' })
    expect(await store.submit({ id: 'a', payload: 'first' })).toEqual([{ outcome: 'duplicate', id: 'a' }])
    expect((await store.engine.counts()).accepted).toBe(1)
  })

  check('reports the second of two equal ids in one batch', async (store) => {
    expect(await store.submit({ id: 'a' }, { id: 'a' }, { id: 'b' })).toEqual([
      { outcome: 'accepted', id: 'a' },
      { outcome: 'duplicate', id: 'a' },
      { outcome: 'accepted', id: 'b' },
    ])
    expect((await store.engine.counts()).accepted).toBe(2)
  })

  check('takes an empty batch', async (store) => {
    expect(await store.engine.submit([])).toEqual([])
  })

  check('takes 1,000 tasks in one batch, and refuses 1,001', async (store) => {
    const specs = Array.from({ length: 1_001 }, (_, index) => taskSpec({ id: `t${index}` }))
    await expectRefused(store.engine.submit(specs), 'REPRISE_INVALID')
    expect((await store.engine.submit(specs.slice(0, 1_000))).every(({ outcome }) => outcome === 'accepted')).toBe(true)
    expect((await store.engine.counts()).queued).toBe(1_000)
  })

  check(
    'B8: refuses a batch whole when the backlog has no room for all of it',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'b', delayMs: 1_000 })
      await expectRefused(store.submit({ id: 'c' }, { id: 'd' }), 'REPRISE_BACKLOG_FULL')
      expect(await store.status('c')).toBe(null)
      expect((await store.submit({ id: 'c' }))[0]?.outcome).toBe('accepted')
    },
    { maxBacklog: 3 },
  )

  check(
    'counts an id that is first a duplicate by its key and then new',
    async (store) => {
      await expectRefused(
        store.submit({ id: 'a', dedupeKey: 'k' }, { id: 'b', dedupeKey: 'k' }, { id: 'b' }),
        'REPRISE_BACKLOG_FULL',
      )
      expect((await store.engine.counts()).accepted).toBe(0)
    },
    { maxBacklog: 1 },
  )

  check(
    'does not count duplicates or running tasks against the backlog',
    async (store) => {
      await store.running({ id: 'a' })
      await store.submit({ id: 'b' })
      await store.submit({ id: 'c' })
      expect((await store.submit({ id: 'a' }, { id: 'b' }))[0]?.outcome).toBe('duplicate')
      await expectRefused(store.submit({ id: 'd' }), 'REPRISE_BACKLOG_FULL')
    },
    { maxBacklog: 2 },
  )

  check(
    'reports duplicates also when the backlog is over its limit',
    async (store) => {
      const lease = await store.running({ id: 'a' })
      await store.submit({ id: 'b' })
      await store.engine.settle([{ kind: 'released', ref: lease, reason: 'stopping' }])
      expect(await store.submit({ id: 'a' })).toEqual([{ outcome: 'duplicate', id: 'a' }])
    },
    { maxBacklog: 1 },
  )

  check('B1: a delayed task waits in the delay queue', async (store) => {
    await store.submit({ id: 'a', delayMs: 5_000 })
    expect((await store.task('a')).state).toEqual({
      status: 'waiting',
      since: START,
      dueAt: START + 5_000,
      reason: 'delayed',
      quota: null,
    })
  })

  check('takes the later of a delay and a moment', async (store) => {
    await store.submit({ id: 'a', delayMs: 5_000, dueAt: START + 9_000 }, { id: 'b', delayMs: 5_000, dueAt: START + 1 })
    expect((await store.task('a')).state).toMatchObject({ dueAt: START + 9_000 })
    expect((await store.task('b')).state).toMatchObject({ dueAt: START + 5_000 })
  })

  check('queues a task whose moment has come or gone', async (store) => {
    await store.submit({ id: 'a', dueAt: START }, { id: 'b', dueAt: START - 1 })
    expect(await store.status('a')).toBe('queued')
    expect(await store.status('b')).toBe('queued')
  })

  check('takes the earlier of two deadlines', async (store) => {
    await store.submit({ id: 'a', deadlineAt: START + 9_000, deadlineMs: 4_000 })
    await store.submit({ id: 'b', deadlineAt: START + 3_000, deadlineMs: 4_000 }, { id: 'c', deadlineMs: 7_000 })
    expect((await store.task('a')).deadlineAt).toBe(START + 4_000)
    expect((await store.task('b')).deadlineAt).toBe(START + 3_000)
    expect((await store.task('c')).deadlineAt).toBe(START + 7_000)
  })

  check('50 concurrent submissions of one id accept it once', async (store) => {
    const results = await Promise.all(Array.from({ length: 50 }, () => store.submit({ id: 'a' })))
    expect(results.flat().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1)
    expect((await store.engine.counts()).accepted).toBe(1)
  })
})
