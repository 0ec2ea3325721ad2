// Redrives and discards where something stands in their way: a process that dies before it can tell, a breaker that is being
// tried, an undo of patched items, and a discard that is regretted.

import { type Engine, failed, type JournalEntryInput, type LeaseRef, type Outage, succeeded } from '@reprise/core'
import { closeRecovered, followOnce, openWorkOrders, redrivesIn } from '@reprise/orchestrator'
import { afterAll, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { breaks, type Redrive, recoveryStore, specs, works } from './redrive-fixture.ts'

afterAll(stopRedis)

const WHY = { reason: 'the deploy was rolled back' }

/** The store, on which the process dies once when it tells what a redrive did by itself: before the entry is written, or after. */
function dying(engine: Engine, when: 'before' | 'after'): { readonly over: Engine; readonly deaths: () => number } {
  let deaths = 0
  const append = async (entries: readonly JournalEntryInput[]): Promise<void> => {
    const isOurs = deaths === 0 && entries.some(({ actor }) => actor === 'redrives')
    if (!isOurs || when === 'after') await engine.journal.append(entries)
    if (!isOurs) return
    deaths++
    throw new Error('killed')
  }
  const journal = new Proxy(engine.journal, {
    get: (target, name) => (name === 'append' ? append : (Reflect.get(target, name) as () => void).bind(target)),
  })
  const over = new Proxy(engine, {
    get: (target, name) => {
      if (name === 'journal') return journal
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  return { over, deaths: () => deaths }
}

test.each(STORES.flatMap((kind) => [[kind, 'before'] as const, [kind, 'after'] as const]))(
  'the end of a redrive is in the journal once, though the process that moves it dies as it tells (%s, %s the entry)',
  async (kind, when) => {
    const { ask, died, serve, until, work, engine } = await recoveryStore(kind)
    await died(specs(3), breaks)
    const { over, deaths } = dying(engine, when)
    await serve(over)
    const { id } = await ask<Redrive>('createRedrive', { all: true, canary: [], start: true, ...WHY })
    let isTold = false
    await until(
      id,
      ({ state }) => state === 'done' && isTold,
      async () => {
        await work(works)
        isTold = deaths() === 1 && (await redrivesIn(engine).get(id))?.document.untold === null
      },
    )
    const { entries } = await engine.journal.read({ limit: 1_000 })
    const told = entries.filter(({ type, actor }) => type === 'redrive.changed' && actor === 'redrives')
    expect(told.map(({ data, reason }) => [data.state, reason])).toEqual([
      ['done', '3 recovered, 0 failed again, 0 skipped, 0 undone.'],
    ])
  },
)

const BREAKER = {
  windowMs: 60_000,
  minFailures: 2,
  failureRate: 0.5,
  openMs: 5_000,
  maxOpenMs: 5_000,
  probes: 1,
  maxRamp: 4,
}
const OUTAGE: Outage = {
  breakers: [{ name: 'bank', settings: BREAKER }],
  park: { kind: 'park', reason: 'connection', rule: 'code:connection', sentence: 'Back to the queue.' },
}

test.each(STORES)(
  'at the pace of a breaker: nothing while it is open, few while it is tried, then all (%s)',
  async (kind) => {
    const { ask, died, serve, until, work, claim, join, engine } = await recoveryStore(kind, { onItsClock: true })
    await died(specs(30), breaks)
    const failing = (ref: LeaseRef) =>
      failed(
        ref,
        { code: 'ECONNREFUSED', message: 'Refused.', reason: 'connection', retriable: true, fingerprint: 'f' } as never,
        { kind: 'retry', delayMs: 3_600_000, reason: 'connection', rule: 'r', sentence: 'Later.' },
        { outage: OUTAGE },
      )
    // The first worker has failed so often that it gets little.
    const fresh = await join('w2', '1')
    await engine.submit([spec('first'), spec('second')])
    await engine.settle((await claim(2, fresh)).map(failing))
    await serve()
    const asked = { q: 'id:t000*', pace: 'breaker', canary: [], start: true, ...WHY }
    const { id } = await ask<Redrive>('createRedrive', asked)
    const held = await until(id, (redrive) => redrive.held !== null)
    expect(held).toMatchObject({ counts: { sent: 0, pending: 30 } })
    expect(held.held).toContain("Breaker 'bank' is open")
    // Its time comes, and a probe is under way: a few are sent meanwhile.
    let probes: readonly LeaseRef[] = []
    const tried = await until(
      id,
      ({ counts }) => counts.sent > 0,
      async () => {
        if (probes.length === 0) probes = await claim(1, fresh)
      },
    )
    expect(tried.counts).toMatchObject({ sent: 10, pending: 20 })
    expect(tried.held ?? '').toMatch(/^$|half open/)
    await engine.settle(probes.map((probe) => succeeded(probe, null)))
    const done = await until(
      id,
      ({ state }) => state === 'done',
      () => work(works, fresh),
    )
    expect(done.counts).toMatchObject({ recovered: 30 })
  },
)

test.each(STORES)('an undo of patched items gives the originals back, and no copy runs (%s)', async (kind) => {
  const { ask, died, serve, until, work, ran, engine } = await recoveryStore(kind)
  await died(specs(12, { payload: '{"amount":1}' as never }), breaks)
  const groups = await engine.failureGroups()
  await serve()
  const asked = { all: true, patch: { amount: 2 }, canary: [5], start: true, ...WHY }
  const { id } = await ask<Redrive>('createRedrive', asked)
  await until(id, ({ counts }) => counts.sent === 5)
  await ask('undoRedrive', { id, ...WHY })
  const undone = await until(id, ({ state }) => state === 'undone')
  expect(undone.counts).toMatchObject({ undone: 5, pending: 7, sent: 0 })
  expect(await engine.counts()).toMatchObject({ accepted: 17, dead: 12, cancelled: 5, discarded: 0, queued: 0 })
  expect(await engine.failureGroups()).toEqual(groups)
  expect(await work(works)).toBe(0)
  expect(ran).toEqual([])
  expect(await engine.task('t00000' as never)).toMatchObject({ payload: '{"amount":1}', state: { status: 'dead' } })
})

test.each(STORES)(
  'items that recover with a patch are told as recovered once, and close case and work order as that (%s)',
  async (kind) => {
    const { ask, died, serve, until, work, engine } = await recoveryStore(kind)
    await died(specs(4, { payload: '{"amount":1}' as never }), breaks)
    await serve()
    const follow = async (): Promise<void> => {
      while (await followOnce(engine));
      while (await openWorkOrders({ engine }));
      await closeRecovered(engine)
    }
    await follow()
    const asked = { all: true, patch: { amount: 2 }, canary: [], start: true, ...WHY }
    const { id } = await ask<Redrive>('createRedrive', asked)
    await until(id, ({ counts }) => counts.sent === 4)
    await follow()
    // The originals are discarded, and nobody knows yet whether the patch helps.
    expect(await ask('listWorkOrders', {})).toMatchObject({ items: [{ state: { status: 'open' } }] })
    await until(
      id,
      ({ state }) => state === 'done',
      () => work(works),
    )
    await follow()
    const { entries } = await engine.journal.read({ limit: 1_000 })
    const told = entries.filter(({ type }) => type === 'task.recovered')
    expect(told.map(({ taskId, data }) => [taskId, data.copy]).toSorted()).toEqual(
      specs(4).map((one) => [one.id, `${one.id}~2`]),
    )
    expect(await ask('listWorkOrders', { status: 'all' })).toMatchObject({
      items: [
        { state: { status: 'resolved', because: 'recovered', result: expect.stringContaining(WHY.reason) as unknown } },
      ],
    })
    const fingerprint = String(told[0]?.data.fingerprint)
    expect(await ask('getFailureGroup', { fingerprint })).toMatchObject({
      case: { state: { status: 'resolved' }, deaths: 4, recovered: 4 },
    })
  },
)

test.each(STORES)('a discard can be taken back for 7 days, and not longer (%s)', async (kind) => {
  const { ask, died, clock, engine } = await recoveryStore(kind, { onItsClock: true })
  await died(specs(4), breaks)
  const groups = await engine.failureGroups()
  const day = 86_400_000
  await ask('discardTasks', { ids: ['t00000', 't00001'], ...WHY })
  clock.skip(6 * day)
  await ask('discardTasks', { ids: ['t00002', 't00003'], ...WHY })
  expect(await engine.counts()).toMatchObject({ dead: 0, discarded: 4 })
  expect(await ask('restoreTasks', { ids: ['t00000'], ...WHY })).toMatchObject({ changed: ['t00000'] })
  clock.skip(2 * day)
  expect(await ask('restoreTasks', { q: 'id:t*', dryRun: true })).toMatchObject({ changed: [], matched: 2 })
  expect(await ask('restoreTasks', { ids: ['t00001'], ...WHY })).toMatchObject({ changed: [] })
  const { changed } = await ask<{ changed: string[] }>('restoreTasks', { q: 'id:t*', ...WHY })
  expect(changed.toSorted()).toEqual(['t00002', 't00003'])
  expect(await engine.counts()).toMatchObject({ accepted: 4, dead: 3, discarded: 1 })
  expect((await engine.failureGroups()).items).toMatchObject(groups.items.map((group) => ({ ...group, count: 3 })))
})
