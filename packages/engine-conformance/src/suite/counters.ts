// Counters and series: kept with every transition, and always equal to a recount.

import { type Counts, DEFAULT_TENANT, SERIES_STEP_MS, TASK_STATUSES, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, expectRefused, failure, ids, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const NONE: Counts = {
  accepted: 0,
  queued: 0,
  waiting: 0,
  running: 0,
  succeeded: 0,
  dead: 0,
  discarded: 0,
  cancelled: 0,
  removed: 0,
}
const MINUTE = { accepted: 0, started: 0, succeeded: 0, failed: 0, lost: 0, retried: 0, dead: 0, cancelled: 0 }
const acme = tenantId('acme')

/** One task in each status: queued, waiting, running, succeeded, dead, discarded, cancelled. */
async function oneOfEach(store: Store): Promise<void> {
  const done = await store.running({ id: 'succeeded' })
  await store.engine.settle([{ kind: 'succeeded', ref: done, result: null }])
  await store.deadLetter({ id: 'dead' })
  await store.deadLetter({ id: 'discarded' })
  await store.engine.change({ kind: 'discard', select: { ids: ids('discarded') }, by: BY })
  await store.running({ id: 'running' })
  await store.submit({ id: 'queued' }, { id: 'waiting', delayMs: 1_000 }, { id: 'cancelled' })
  await store.engine.change({ kind: 'cancel', select: { ids: ids('cancelled') }, by: BY })
}

export const counters = subject('counters', (check) => {
  check('an empty store counts nothing', async ({ engine }) => {
    expect(await engine.counts()).toEqual(NONE)
    expect((await engine.lanes()).items).toEqual([])
    expect(await engine.series({ from: START, to: START + SERIES_STEP_MS })).toEqual([])
  })

  check('counts one task in each status', async (store) => {
    await oneOfEach(store)
    expect(await store.engine.counts()).toEqual({
      accepted: 7,
      queued: 1,
      waiting: 1,
      running: 1,
      succeeded: 1,
      dead: 1,
      discarded: 1,
      cancelled: 1,
      removed: 0,
    })
  })

  check('equal a recount of the tasks', async (store) => {
    await oneOfEach(store)
    const counts = await store.engine.counts()
    for (const status of TASK_STATUSES) {
      expect((await store.engine.tasks({ status })).items.map(({ id }) => id)).toEqual([status])
      expect(counts[status]).toBe(1)
    }
  })

  check('are kept for each lane and summed over a scope', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b', tenant: acme }, { id: 'c', tenant: acme, delayMs: 1_000 })
    expect(await store.engine.counts({ tenant: acme })).toEqual({ ...NONE, accepted: 2, queued: 1, waiting: 1 })
    const lanes = (await store.engine.lanes()).items
    expect(new Map(lanes.map(({ tenant, counts }) => [tenant, counts.accepted]))).toEqual(
      new Map([
        [DEFAULT_TENANT, 1],
        [acme, 2],
      ]),
    )
    expect((await store.engine.lanes({ tenant: acme })).items).toHaveLength(1)
  })

  check('come down when a dead letter is redriven or retried', async (store) => {
    await store.deadLetter({ id: 'a' })
    await store.engine.change({ kind: 'redrive', select: {}, by: BY })
    expect(await store.engine.counts()).toEqual({ ...NONE, accepted: 1, queued: 1 })
  })

  check('lanes show what holds them', async (store) => {
    await store.running({ id: 'a' })
    await store.engine.limit({}, 1, BY)
    expect((await store.engine.lanes()).items[0]?.gates).toEqual([
      { kind: 'concurrency', scope: {}, running: 1, concurrency: 1, rank: 'platform' },
    ])
    await store.engine.limit({}, 2, BY)
    expect((await store.engine.lanes()).items[0]?.gates).toEqual([])
  })

  check('a series counts events by the minute and leaves empty minutes out', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(2 * SERIES_STEP_MS + 1)
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: retryIn(0) }])
    const again = await (await store.worker('w2')).claimOne()
    await store.engine.settle([{ kind: 'succeeded', ref: again, result: null }])
    expect(await store.engine.series({ from: START, to: START + 10 * SERIES_STEP_MS })).toEqual([
      { ...MINUTE, at: START, accepted: 1, started: 1 },
      { ...MINUTE, at: START + 2 * SERIES_STEP_MS, failed: 1, retried: 1, started: 1, succeeded: 1 },
    ])
  })

  check('a series counts losses, dead letters and cancellations', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await store.engine.settle([
      { kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: dead('crash_loop') },
    ])
    await store.submit({ id: 'b' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('b') }, by: BY })
    expect(await store.engine.series({ from: START, to: START + SERIES_STEP_MS })).toEqual([
      { ...MINUTE, at: START, accepted: 2, started: 1, lost: 1, dead: 1, cancelled: 1 },
    ])
  })

  check('a series begins with its first minute and ends before its last', async (store) => {
    await store.submit({ id: 'a', tenant: acme })
    store.clock.jump(SERIES_STEP_MS)
    await store.submit({ id: 'b' })
    const from = START + SERIES_STEP_MS
    expect((await store.engine.series({ from, to: from + SERIES_STEP_MS })).map(({ at }) => at)).toEqual([from])
    expect((await store.engine.series({ from: START, to: from })).map(({ at }) => at)).toEqual([START])
    expect((await store.engine.series({ from: START, to: from + 1, tenant: acme })).map(({ at }) => at)).toEqual([
      START,
    ])
  })

  check('a series has at most 1,440 minutes', async (store) => {
    expect(await store.engine.series({ from: START, to: START + 1_440 * SERIES_STEP_MS })).toEqual([])
    await expectRefused(store.engine.series({ from: START, to: START + 1_441 * SERIES_STEP_MS }), 'REPRISE_INVALID')
  })
})
