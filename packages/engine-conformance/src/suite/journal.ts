// The journal: one entry for each unusual transition, none for the happy path, read in order by cursor.

import { CLOCK_STEP_BACK_MS, type JournalEntry, type JournalEntryInput, type JournalPage, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { dead, expectRefused, failure, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const remark = (reason: string, id: string | null = null): JournalEntryInput => ({
  type: 'note',
  taskId: id === null ? null : taskId(id),
  attempt: null,
  actor: 'operator:ann',
  reason,
  data: { count: 3, isUrgent: true, owner: null, text: 'später' },
})

/** Notes about tasks of all partitions, each this many ms after the one before; a negative number sets the clock back. */
async function written(store: Store, gapsMs: readonly number[], first = 0): Promise<void> {
  for (const [index, gapMs] of gapsMs.entries()) {
    store.clock.jump(gapMs)
    await store.engine.journal.append([remark(String(first + index), `t${(first + index) % 7}`)])
  }
}

async function readAll(store: Store, start: string): Promise<readonly JournalEntry[]> {
  const found: JournalEntry[] = []
  for (let cursor = start; ; ) {
    const page = await store.engine.journal.read({ cursor, limit: 50 })
    if (page.entries.length === 0) return found
    found.push(...page.entries)
    cursor = page.cursor
  }
}

/** A reader that begins at any of these moments sees all that there is of it and later, and next to nothing else. */
async function expectNothingMissed(store: Store, moments: readonly number[]): Promise<void> {
  const all = await readAll(store, (await store.engine.journal.read({ limit: 1, taskId: taskId('none') })).cursor)
  for (const moment of moments) {
    const found = await readAll(store, await store.engine.journal.from(moment))
    const reasons = new Set(found.map(({ reason }) => reason))
    const missed = all.filter(({ at, reason }) => at >= moment && !reasons.has(reason))
    expect(missed, `from ${moment - START}`).toEqual([])
    expect(reasons.size).toBe(found.length)
    const early = found.filter(({ at }) => at < moment - 2 * CLOCK_STEP_BACK_MS)
    expect(early, `from ${moment - START}`).toEqual([])
  }
}

const spread = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms)
const reasonsOf = ({ entries }: JournalPage): string[] => entries.map(({ reason }) => reason)

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
          action: 'render',
          code: 'connection',
          message: 'Refused.',
          reason: 'connection',
          fingerprint: cause.fingerprint,
          decision: 'retry',
          detail: 'connection',
          dueAt: START + 2_250,
        },
      },
    ])
  })

  check('keeps the beginning of a long message, and no half of a pair', async (store) => {
    const lease = await store.running({ id: 'a' })
    const long = failure('unknown', `${'x'.repeat(199)}😀${'y'.repeat(1_000)}`)
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: long, decision: dead() }])
    const [entry] = await store.journal()
    expect(entry?.data.message).toBe(`${'x'.repeat(199)}… [cut, 1002 more characters]`)
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
    await expectRefused(store.engine.journal.read({ cursor: 'nonsense', newest: true }), 'REPRISE_INVALID')
    await expectRefused(store.engine.journal.from(Number.NaN), 'REPRISE_INVALID')
  })

  check(
    'B9: a reader that begins at a moment misses nothing of it and later, and gets little of before',
    async (store) => {
      await written(store, [...spread(30, 20_000), ...spread(10, 0), 3_600_000, ...spread(20, 45_000)])
      const end = store.clock.now()
      const moments = Array.from({ length: 40 }, (_, index) => START + index * 30_000)
      await expectNothingMissed(store, [0, ...moments, START + 620_000, START + 2_000_000, end - 1, end])
    },
  )

  check('B9: a clock that is set back by up to a minute hides nothing', async (store) => {
    await written(store, [0, ...spread(12, 5_000), -60_000, ...spread(30, 2_000), -30_000, ...spread(20, 6_000)])
    const moments = Array.from({ length: 70 }, (_, index) => START + index * 2_500)
    await expectNothingMissed(
      store,
      moments.filter((moment) => moment <= store.clock.now()),
    )
  })

  check('B9: a moment that is yet to come is the end of the journal as it is now', async (store) => {
    const { journal: engineJournal } = store.engine
    const moments = (): number[] => [store.clock.now() + 1, store.clock.now() + 86_400_000, Number.POSITIVE_INFINITY]
    const empty = await Promise.all(moments().map((at) => engineJournal.from(at)))
    await written(store, spread(10, 1))
    for (const cursor of empty) expect(await readAll(store, cursor)).toHaveLength(10)
    const full = await Promise.all(moments().map((at) => engineJournal.from(at)))
    for (const cursor of full) expect(await readAll(store, cursor)).toEqual([])
    await written(store, spread(5, 0), 10)
    for (const cursor of full) {
      expect((await readAll(store, cursor)).map(({ reason }) => reason).sort()).toEqual(['10', '11', '12', '13', '14'])
    }
  })

  check('B9: what retention removed is not in the way of who begins at a moment', async (store) => {
    await written(store, spread(40, 60_000))
    await store.engine.retain({ journalMs: 600_000 })
    const now = store.clock.now()
    await expectNothingMissed(store, [0, START, now - 1_200_000, now - 480_000, now - 60_000, now])
    store.clock.jump(3_600_000)
    await store.engine.retain({ journalMs: 600_000 })
    const cursors = await Promise.all([0, now, store.clock.now(), Infinity].map((at) => store.engine.journal.from(at)))
    await written(store, spread(3, 1), 40)
    for (const cursor of cursors) expect(await readAll(store, cursor)).toHaveLength(3)
  })

  check('B9: can be read from the newest backwards, and what is written meanwhile stays out', async (store) => {
    const { journal: engineJournal } = store.engine
    expect((await engineJournal.read({ newest: true })).entries).toEqual([])
    await written(store, spread(9, 1_000))
    let page = await engineJournal.read({ newest: true, limit: 1 })
    expect(reasonsOf(page)).toEqual(['8'])
    await written(store, spread(7, 1_000), 9)
    page = await engineJournal.read({ newest: true, limit: 4, cursor: page.cursor })
    expect(reasonsOf(page)).toEqual(['7', '6', '5', '4'])
    page = await engineJournal.read({ newest: true, limit: 4, cursor: page.cursor })
    expect(reasonsOf(page)).toEqual(['3', '2', '1', '0'])
    page = await engineJournal.read({ newest: true, limit: 4, cursor: page.cursor })
    expect(page.entries).toEqual([])
  })

  check('B9: can be read backwards for one task', async (store) => {
    const { journal: engineJournal } = store.engine
    const query = { taskId: taskId('t3'), newest: true, limit: 2 } as const
    expect((await engineJournal.read(query)).entries).toEqual([])
    await written(store, spread(21, 1_000))
    const first = await engineJournal.read(query)
    expect(reasonsOf(first)).toEqual(['17', '10'])
    const second = await engineJournal.read({ ...query, cursor: first.cursor })
    expect(reasonsOf(second)).toEqual(['3'])
    expect((await engineJournal.read({ ...query, cursor: second.cursor })).entries).toEqual([])
  })
})
