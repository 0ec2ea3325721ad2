// The journal: one entry for each unusual transition, none for the happy path, read in order by cursor.

import { type JournalEntryInput, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { dead, expectRefused, failure, retryIn, START } from './fixture.ts'
import { subject } from './subject.ts'

const remark = (reason: string, id: string | null = null): JournalEntryInput => ({
  type: 'note',
  taskId: id === null ? null : taskId(id),
  attempt: null,
  actor: 'operator:ann',
  reason,
  data: { count: 3, isUrgent: true, owner: null, text: 'später' },
})

export const journal = subject('journal', (check) => {
  check('a succeeded first attempt writes nothing', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.renew([{ ...lease, progress: null }], 10_000)
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(await store.journal()).toEqual([])
  })

  check('B9: a failed attempt writes one entry, with the decision', async (store) => {
    const lease = await store.running({ id: 'a' })
    const cause = failure('connection', 'Refused.')
    store.clock.jump(250)
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: cause, decision: retryIn(2_000, 'connection') }])
    expect(await store.journal()).toEqual([
      {
        id: expect.any(String) as unknown,
        at: START + 250,
        type: 'execution.failed',
        taskId: 'a',
        attempt: 1,
        actor: 'worker:w1',
        reason: 'Retry in 2000 ms.',
        data: {
          code: 'connection',
          reason: 'connection',
          fingerprint: cause.fingerprint,
          decision: 'retry',
          detail: 'connection',
          dueAt: START + 2_250,
        },
      },
    ])
  })

  check('a dead letter’s entry has no due time', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: dead('retries_exhausted') }])
    expect(await store.journal()).toMatchObject([
      { data: { decision: 'dead', detail: 'retries_exhausted', dueAt: null } },
    ])
  })

  check('a lost attempt is the sweep’s entry', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await store.engine.settle([
      { kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: retryIn(0, 'worker_lost') },
    ])
    expect(await store.journal()).toMatchObject([
      { type: 'execution.lost', attempt: 1, actor: 'sweep', data: { decision: 'retry', dueAt: START + 10_000 } },
    ])
  })

  check('takes entries from outside, with the store’s time', async (store) => {
    store.clock.jump(7)
    await store.engine.journal.append([remark('looked at it'), remark('called them', 'a')])
    const entries = await store.journal()
    expect(entries.map(({ id: _id, ...entry }) => entry)).toEqual([
      { ...remark('looked at it'), at: START + 7 },
      { ...remark('called them', 'a'), at: START + 7 },
    ])
  })

  check('is read in order, page by page; the cursor goes on where it stopped', async (store) => {
    const { journal: engineJournal } = store.engine
    for (const reason of ['1', '2', '3']) await engineJournal.append([remark(reason)])
    const first = await engineJournal.read({ limit: 2 })
    expect(first.entries.map(({ reason }) => reason)).toEqual(['1', '2'])
    const second = await engineJournal.read({ limit: 2, cursor: first.cursor })
    expect(second.entries.map(({ reason }) => reason)).toEqual(['3'])
    const third = await engineJournal.read({ cursor: second.cursor })
    expect(third.entries).toEqual([])
    await engineJournal.append([remark('4')])
    expect((await engineJournal.read({ cursor: third.cursor })).entries.map(({ reason }) => reason)).toEqual(['4'])
  })

  check('a reader of an empty journal gets a cursor that misses nothing', async (store) => {
    const { cursor } = await store.engine.journal.read()
    await store.engine.journal.append([remark('first')])
    expect((await store.engine.journal.read({ cursor })).entries.map(({ reason }) => reason)).toEqual(['first'])
  })

  check('no two entries share an id, and an entry keeps its own', async (store) => {
    await store.engine.journal.append([remark('1'), remark('2'), remark('3')])
    const ids = (await store.journal()).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    expect((await store.journal()).map(({ id }) => id)).toEqual(ids)
  })

  check('can be read for one task', async (store) => {
    await store.engine.journal.append([remark('of a', 'a'), remark('of b', 'b'), remark('of a again', 'a')])
    expect((await store.journal('a')).map(({ reason }) => reason)).toEqual(['of a', 'of a again'])
  })

  check('refuses pages and cursors that make no sense', async (store) => {
    for (const limit of [0, 1_001]) await expectRefused(store.engine.journal.read({ limit }), 'REPRISE_INVALID')
    await expectRefused(store.engine.journal.read({ cursor: 'nonsense' }), 'REPRISE_INVALID')
  })
})
