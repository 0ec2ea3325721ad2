// Dedupe keys: one task at a time for a tenant, an action and a key; how long a task holds its key; what becomes of the key
// when a dead letter comes back.

import { actionName, KEY_FOREVER_MS, taskId, tenantId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, expectRefused, LEASE_MS, type SpecInput, type Store, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

const HOUR_MS = 3_600_000

async function succeed(store: Store, task: SpecInput): Promise<void> {
  const lease = await store.running(task)
  await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
}

const change = (store: Store, kind: 'cancel' | 'discard' | 'redrive', id: string) =>
  store.engine.change({ kind, select: { ids: [taskId(id)] }, by: BY })

const reserve = (store: Store, task: SpecInput, attempt = 1) =>
  store.engine.reserve({
    task: taskSpec(task),
    attempt,
    maxRetries: 3,
    worker: workerId('launcher'),
    leaseMs: LEASE_MS,
  })

/** What a task with this key hears. */
async function outcome(store: Store, task: SpecInput): Promise<string> {
  const [result] = await store.submit(task)
  return result?.outcome === 'duplicate' ? `duplicate of ${result.id}` : (result?.outcome ?? '')
}

const isHeld = async (store: Store, probe: string, dedupeKey = 'k'): Promise<boolean> =>
  (await outcome(store, { id: probe, dedupeKey })) !== 'accepted'

async function entryOf(store: Store, type: string) {
  const { entries } = await store.engine.journal.read()
  return entries.find((entry) => entry.type === type)
}

export const dedupeKeys = subject('dedupe keys', (check) => {
  check('B8: accepts one task per key and names the one that has it', async (store) => {
    await store.submit({ id: 'a', dedupeKey: 'order-1' })
    expect(await store.submit({ id: 'b', dedupeKey: 'order-1' }, { id: 'c', dedupeKey: 'order-2' })).toEqual([
      { outcome: 'duplicate', id: 'a' },
      { outcome: 'accepted', id: 'c' },
    ])
    expect(await store.status('b')).toBe(null)
  })

  check('sees two equal keys in one batch', async (store) => {
    const results = await store.submit({ id: 'a', dedupeKey: 'k' }, { id: 'b', dedupeKey: 'k' })
    expect(results[1]).toEqual({ outcome: 'duplicate', id: 'a' })
  })

  check('keeps the keys of tenants apart', async (store) => {
    const results = await store.submit(
      { id: 'a', dedupeKey: 'k', tenant: tenantId('acme') },
      { id: 'b', dedupeKey: 'k', tenant: tenantId('umbrella') },
    )
    expect(results.map((result) => result.outcome)).toEqual(['accepted', 'accepted'])
  })

  check('keeps the keys of actions apart', async (store) => {
    const results = await store.submit(
      { id: 'a', dedupeKey: 'k', action: actionName('mail.send') },
      { id: 'b', dedupeKey: 'k', action: actionName('mail.print') },
      { id: 'c', dedupeKey: 'k', action: actionName('mail.send') },
    )
    expect(results.map((result) => result.outcome)).toEqual(['accepted', 'accepted', 'duplicate'])
  })

  check('holds a key while its task is queued, waiting or running', async (store) => {
    await store.running({ id: 'running', dedupeKey: 'r' })
    await store.submit({ id: 'queued', dedupeKey: 'q' }, { id: 'waiting', dedupeKey: 'w', delayMs: HOUR_MS })
    for (const [index, key] of ['q', 'w', 'r'].entries()) expect(await isHeld(store, `b${index}`, key)).toBe(true)
  })

  check('frees a key when its task has succeeded', async (store) => {
    await succeed(store, { id: 'a', dedupeKey: 'k' })
    expect(await outcome(store, { id: 'b', dedupeKey: 'k' })).toBe('accepted')
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('duplicate of b')
  })

  check('frees a key when its task is dead, cancelled or discarded', async (store) => {
    await store.deadLetter({ id: 'dead', dedupeKey: 'dead' })
    await store.submit({ id: 'cancelled', dedupeKey: 'cancelled' })
    await change(store, 'cancel', 'cancelled')
    await store.deadLetter({ id: 'discarded', dedupeKey: 'discarded' })
    await change(store, 'discard', 'discarded')
    for (const key of ['dead', 'cancelled', 'discarded']) {
      expect(await outcome(store, { id: `after-${key}`, dedupeKey: key })).toBe('accepted')
    }
  })

  check('holds a key for as long as was asked for, also beyond the end of its task', async (store) => {
    await succeed(store, { id: 'a', dedupeKey: 'k', dedupeMs: HOUR_MS })
    store.clock.jump(HOUR_MS - 1)
    expect(await outcome(store, { id: 'b', dedupeKey: 'k' })).toBe('duplicate of a')
    store.clock.jump(1)
    expect(await outcome(store, { id: 'b', dedupeKey: 'k' })).toBe('accepted')
  })

  check('frees a key after its time also while its task is queued', async (store) => {
    await store.submit({ id: 'a', dedupeKey: 'k', dedupeMs: 1_000 })
    store.clock.jump(1_000)
    expect(await outcome(store, { id: 'b', dedupeKey: 'k' })).toBe('accepted')
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('duplicate of b')
  })

  check('holds a key for ever, and keeps its task for that', async (store) => {
    await succeed(store, { id: 'a', dedupeKey: 'k', dedupeMs: KEY_FOREVER_MS })
    store.clock.jump(1_000 * HOUR_MS)
    expect((await store.engine.retain({ succeededMs: 0 })).tasksRemoved).toBe(0)
    expect(await outcome(store, { id: 'b', dedupeKey: 'k' })).toBe('duplicate of a')
  })

  check('keeps a task while it holds its key, and no longer', async (store) => {
    await succeed(store, { id: 'a', dedupeKey: 'k', dedupeMs: HOUR_MS })
    expect((await store.engine.retain({ succeededMs: 0 })).tasksRemoved).toBe(0)
    store.clock.jump(HOUR_MS)
    expect((await store.engine.retain({ succeededMs: 0 })).tasksRemoved).toBe(1)
    expect(await outcome(store, { id: 'a', dedupeKey: 'k' })).toBe('accepted')
  })

  check('removing a task that had a key leaves the key to the task that has it now', async (store) => {
    await succeed(store, { id: 'a', dedupeKey: 'k' })
    await store.submit({ id: 'b', dedupeKey: 'k' })
    expect((await store.engine.retain({ succeededMs: 0 })).tasksRemoved).toBe(1)
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('duplicate of b')
  })

  check('a dead letter that is redriven holds its key again', async (store) => {
    await store.deadLetter({ id: 'a', dedupeKey: 'k' })
    await change(store, 'redrive', 'a')
    expect(await outcome(store, { id: 'b', dedupeKey: 'k' })).toBe('duplicate of a')
    expect((await entryOf(store, 'task.redriven'))?.data).toEqual({ generation: 2 })
  })

  check('a dead letter whose key another task has taken runs without it, and the journal says so', async (store) => {
    await store.deadLetter({ id: 'a', dedupeKey: 'k' })
    await store.submit({ id: 'b', dedupeKey: 'k' })
    await change(store, 'redrive', 'a')
    expect(await store.status('a')).toBe('queued')
    expect((await entryOf(store, 'task.redriven'))?.data).toEqual({ generation: 2, withoutKey: true })
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('duplicate of b')
    await change(store, 'cancel', 'b')
    expect(await outcome(store, { id: 'd', dedupeKey: 'k' })).toBe('accepted')
  })

  check('so does one that an operator retries', async (store) => {
    await store.deadLetter({ id: 'a', dedupeKey: 'k' })
    await store.submit({ id: 'b', dedupeKey: 'k' })
    await change(store, 'cancel', 'b')
    await store.engine.retry(taskId('a'), { by: BY, maxRetries: 3 })
    expect((await entryOf(store, 'task.retried'))?.data).toEqual({ attempt: 2, withoutKey: true })
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('accepted')
  })

  check('and one that a message starts again', async (store) => {
    await store.deadLetter({ id: 'a', dedupeKey: 'k' })
    await store.submit({ id: 'b', dedupeKey: 'k' })
    await reserve(store, { id: 'a', dedupeKey: 'k' }, 2)
    await change(store, 'cancel', 'b')
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('accepted')
  })

  check('B8: a message whose key is held by another task is a duplicate', async (store) => {
    await store.submit({ id: 'a', dedupeKey: 'k' })
    await expectRefused(reserve(store, { id: 'b', dedupeKey: 'k' }), 'REPRISE_DUPLICATE_EXECUTION')
    expect(await store.status('b')).toBe(null)
  })

  check('a message takes a key that is free again, and holds it', async (store) => {
    await succeed(store, { id: 'a', dedupeKey: 'k' })
    await reserve(store, { id: 'b', dedupeKey: 'k' })
    expect(await outcome(store, { id: 'c', dedupeKey: 'k' })).toBe('duplicate of b')
  })

  check('a message may give its key a life', async (store) => {
    const lease = await reserve(store, { id: 'a', dedupeKey: 'k', dedupeMs: HOUR_MS })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(await isHeld(store, 'b')).toBe(true)
    store.clock.jump(HOUR_MS)
    expect(await isHeld(store, 'b')).toBe(false)
  })

  check('20 concurrent submissions of one free key accept one task', async (store) => {
    await succeed(store, { id: 'before', dedupeKey: 'k' })
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.submit({ id: `a${index}`, dedupeKey: 'k' })),
    )
    const winners = results.flat().filter((result) => result.outcome === 'accepted')
    expect(winners).toHaveLength(1)
    expect(new Set(results.flat().map(({ id }) => id)).size).toBe(1)
  })

  check(
    'counts a task whose key is free again against the backlog',
    async (store) => {
      await succeed(store, { id: 'a', dedupeKey: 'k' })
      await store.submit({ id: 'b' })
      await expectRefused(store.submit({ id: 'c', dedupeKey: 'k' }), 'REPRISE_BACKLOG_FULL')
    },
    { maxBacklog: 1 },
  )
})
