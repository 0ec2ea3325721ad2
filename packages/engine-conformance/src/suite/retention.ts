// Retention: what ended long enough ago goes, a bounded number per call; dead letters and living tasks stay.

import { latestForTask, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, expectRefused, ids, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const DAY_MS = 86_400_000

async function succeed(store: Store, ...names: readonly string[]): Promise<void> {
  for (const id of names) {
    const lease = await store.running({ id, dedupeKey: `key-${id}` })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
  }
}

export const retention = subject('retention', (check) => {
  check('removes what ended long enough ago, and not a moment earlier', async (store) => {
    await succeed(store, 'a')
    store.clock.jump(999)
    expect(await store.engine.retain({ succeededMs: 1_000 })).toEqual({
      tasksRemoved: 0,
      entriesRemoved: 0,
      next: null,
    })
    store.clock.jump(1)
    expect(await store.engine.retain({ succeededMs: 1_000 })).toEqual({
      tasksRemoved: 1,
      entriesRemoved: 0,
      next: null,
    })
    expect(await store.status('a')).toBe(null)
    expect(await latestForTask(store.engine, taskId('a'))).toBe(null)
  })

  check('cancelled and discarded tasks are kept as long as their own rule says', async (store) => {
    await store.submit({ id: 'a' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    await store.deadLetter({ id: 'b' })
    await store.engine.change({ kind: 'discard', select: { ids: ids('b') }, by: BY })
    const rules = { cancelledMs: 1_000, discardedMs: 2_000 }
    const removedAfter = async (byMs: number) => {
      store.clock.jump(byMs)
      return (await store.engine.retain(rules)).tasksRemoved
    }
    expect([await removedAfter(999), await removedAfter(1), await removedAfter(999), await removedAfter(1)]).toEqual([
      0, 1, 0, 1,
    ])
  })

  check('never removes a dead letter or a living task', async (store) => {
    await store.deadLetter({ id: 'dead' })
    await store.running({ id: 'running' })
    await store.submit({ id: 'queued' }, { id: 'waiting', delayMs: 2 * DAY_MS })
    store.clock.jump(DAY_MS)
    const rules = { succeededMs: 0, cancelledMs: 0, discardedMs: 0 }
    expect((await store.engine.retain(rules)).tasksRemoved).toBe(0)
    for (const id of ['dead', 'running', 'queued', 'waiting']) expect(await store.status(id)).toBe(id)
  })

  check('keeps for ever what no rule names', async (store) => {
    await succeed(store, 'a')
    await store.submit({ id: 'b' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('b') }, by: BY })
    await store.deadLetter({ id: 'c' })
    await store.engine.change({ kind: 'discard', select: { ids: ids('c') }, by: BY })
    store.clock.jump(DAY_MS)
    expect((await store.engine.retain({ cancelledMs: 0 })).tasksRemoved).toBe(1)
    expect((await store.engine.retain({ discardedMs: 0 })).tasksRemoved).toBe(1)
    expect(await store.status('a')).toBe('succeeded')
  })

  check('frees the id and the idempotency key', async (store) => {
    await succeed(store, 'a')
    await store.engine.retain({ succeededMs: 0 })
    expect(await store.submit({ id: 'a', dedupeKey: 'key-a' })).toEqual([{ outcome: 'accepted', id: 'a' }])
    expect(await store.engine.executions(taskId('a'))).toEqual({ items: [], next: null })
  })

  check('counts what was removed, and notes all of it once', async (store) => {
    await succeed(store, 'a', 'b')
    const before = (await store.journal()).length
    await store.engine.retain({ succeededMs: 0 })
    expect(await store.engine.counts()).toMatchObject({ accepted: 2, succeeded: 0, removed: 2 })
    const notes = (await store.journal()).slice(before)
    for (const note of notes) {
      expect(note).toMatchObject({
        type: 'tasks.removed',
        taskId: null,
        actor: 'retention',
        reason: 'kept long enough',
      })
    }
    // Each place of a store notes what it removed.
    expect(notes.reduce((sum, { data }) => sum + Number(data.count), 0)).toBe(2)
  })

  check('looks at a bounded number of tasks per call and goes on from its cursor', async (store) => {
    await succeed(store, 'a', 'b', 'c')
    let removed = 0
    let calls = 0
    for (let cursor: string | null = ''; cursor !== null && calls < 10; calls++) {
      const page = await store.engine.retain({ succeededMs: 0 }, { limit: 1, ...(cursor === '' ? {} : { cursor }) })
      expect(page.tasksRemoved).toBeLessThanOrEqual(1)
      removed += page.tasksRemoved
      cursor = page.next
    }
    expect(removed).toBe(3)
    await expectRefused(store.engine.retain({}, { limit: 1_001 }), 'REPRISE_INVALID')
  })

  check('removes old journal entries', async (store) => {
    await store.deadLetter({ id: 'a' })
    store.clock.jump(DAY_MS)
    await store.engine.pause({}, BY)
    // The worker joined, and the attempt failed.
    expect(await store.engine.retain({ journalMs: DAY_MS })).toEqual({ tasksRemoved: 0, entriesRemoved: 2, next: null })
    expect(await store.journalTypes()).toEqual(['lanes.paused', 'worker.left'])
  })

  check('removes old minutes of the series, and keeps the counters', async (store) => {
    await store.submit({ id: 'a' })
    const from = store.clock.now()
    store.clock.jump(DAY_MS / 2)
    await store.engine.retain({ seriesMs: DAY_MS / 4 })
    expect(await store.engine.series({ from, to: from + DAY_MS })).toEqual([])
    expect((await store.engine.counts()).accepted).toBe(1)
  })

  check('forgets workers that were not heard of for a day', async (store) => {
    await store.worker('gone')
    store.clock.jump(DAY_MS / 2)
    await store.worker('here')
    store.clock.jump(DAY_MS / 2)
    await store.engine.retain({})
    expect((await store.engine.workers()).items.map(({ worker }) => worker)).toEqual(['here'])
  })
})
