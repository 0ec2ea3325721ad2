// Failure groups as cases: the states, what moves a case by itself, merging and splitting, and the figures of one group.

import {
  actionName,
  decideFailed,
  describeFailure,
  type Engine,
  type FailureGroup,
  failed,
  taskId,
  workerId,
} from '@reprise/core'
import { followOnce, onTheClock } from '@reprise/orchestrator'
import { afterAll, describe, expect, test } from 'vitest'
import { SkippingClock, STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const some = (count: number, name: string, change: Parameters<typeof spec>[1] = {}) =>
  Array.from({ length: count }, (_, at) => spec(`${name}${at}`, change))

async function follow(engine: Engine): Promise<void> {
  while (await followOnce(engine));
  while (await followOnce(engine));
}

type Call<T> = (...input: Parameters<Awaited<ReturnType<typeof storeWithCaller>>['call']>) => Promise<T>

interface Shown {
  readonly fingerprint: string
  readonly count: number
  readonly members?: readonly string[]
  readonly case?: { readonly state: { readonly status: string; readonly because?: string }; readonly deaths: number }
}

const groupsOf = async (engine: Engine): Promise<Readonly<Record<string, FailureGroup>>> =>
  Object.fromEntries((await engine.failureGroups()).items.map((group) => [group.sample.code, group]))

/** One task fails for good, in a worker of this version. */
async function diesIn(engine: Engine, id: string, version: string, code: string): Promise<void> {
  await engine.submit([spec(id)])
  const worker = workerId(`worker-${version}`)
  const pools = [spec('x').pool]
  const around = { host: 'h', version, runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 10, leaseMs: 60_000 })
  await engine.settle(
    claimed.map((one) => {
      const failure = describeFailure(Object.assign(new TypeError(`broken: ${code}`), { code }), one.snapshot.action)
      const { settings } = one.snapshot
      return failed(one, failure, decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 }))
    }),
  )
}

const typesOf = async (engine: Engine): Promise<readonly string[]> =>
  (await engine.journal.read({ limit: 1_000 })).entries
    .map(({ type }) => type)
    .filter((type) => type.startsWith('group.'))

describe.each(STORES)('a failure group as a case (%s)', (kind) => {
  test('is opened once, counted once however often a page is read, and told to the journal', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(3, 'a'), 'CODE_A')
    await follow(engine)
    await died(engine, some(2, 'b'), 'CODE_A')
    // Several orchestrators at once.
    await Promise.all([follow(engine), follow(engine), follow(engine)])
    const { CODE_A } = await groupsOf(engine)
    const shown: Shown = await call(ANN, 'getFailureGroup', { fingerprint: CODE_A?.fingerprint })
    expect(shown).toMatchObject({
      count: 5,
      case: { state: { status: 'open', because: 'new' }, deaths: 5, attempts: 5, owner: null },
      sampled: 5,
      versions: [{ value: '1', count: 5 }],
      tenants: [{ value: 'default', count: 5 }],
      attemptsPerTask: 1,
      oldest: { isExact: true },
    })
    expect(shown).toHaveProperty('trend.0.deaths')
    expect(shown).toHaveProperty('chains.2.attempts.0.version', '1')
    expect(await typesOf(engine)).toEqual(['group.opened'])
  })

  test('resolved in a version: a failure of an older worker leaves it, one of that version opens it as a regression', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await diesIn(engine, 'one', '1.9', 'CODE_A')
    await follow(engine)
    const fingerprint = (await groupsOf(engine)).CODE_A?.fingerprint
    const state = async (): Promise<unknown> =>
      (await (call as Call<Shown>)(ANN, 'getFailureGroup', { fingerprint })).case?.state
    await call(ANN, 'acknowledgeFailureGroup', { fingerprint, owner: 'team:billing' })
    expect(await state()).toMatchObject({ status: 'acknowledged', by: 'operator:ann' })
    await call(ANN, 'resolveFailureGroup', { fingerprint, version: '1.10', reason: 'fixed the parser' })
    await diesIn(engine, 'two', '1.9', 'CODE_A')
    await follow(engine)
    expect(await state()).toMatchObject({ status: 'resolved', version: '1.10' })
    await diesIn(engine, 'three', '1.10', 'CODE_A')
    await follow(engine)
    expect(await state()).toMatchObject({ status: 'open', because: 'regression' })
    expect(await typesOf(engine)).toEqual(['group.opened', 'group.acknowledged', 'group.resolved', 'group.reopened'])
    const { entries } = await engine.journal.read({ limit: 1_000 })
    expect(entries.findLast(({ type }) => type === 'group.reopened')).toMatchObject({
      actor: 'cases',
      data: { because: 'regression', owner: 'team:billing', fingerprint },
      reason: expect.stringContaining('task three') as string,
    })
  })

  test('ignored until more have died, or until its time has come', async () => {
    const clock = new SkippingClock()
    const { engine, call } = await storeWithCaller(kind, clock)
    await died(engine, some(1, 'a'), 'CODE_A')
    await died(engine, some(1, 'z'), 'CODE_Z')
    await follow(engine)
    const { CODE_A, CODE_Z } = await groupsOf(engine)
    const status = async (group: FailureGroup | undefined): Promise<unknown> =>
      (await (call as Call<Shown>)(ANN, 'getFailureGroup', { fingerprint: group?.fingerprint })).case?.state
    await expect(call(ANN, 'ignoreFailureGroup', { fingerprint: CODE_A?.fingerprint })).rejects.toMatchObject({
      code: 'REPRISE_INVALID',
    })
    await call(ANN, 'ignoreFailureGroup', { fingerprint: CODE_A?.fingerprint, count: 2 })
    await call(ANN, 'ignoreFailureGroup', { fingerprint: CODE_Z?.fingerprint, for: '1h' })
    await died(engine, some(1, 'b'), 'CODE_A')
    await follow(engine)
    expect(await status(CODE_A)).toMatchObject({ status: 'ignored', untilDeaths: 3 })
    await died(engine, some(1, 'c'), 'CODE_A')
    await follow(engine)
    expect(await status(CODE_A)).toMatchObject({ status: 'open', because: 'count' })
    await onTheClock(engine)
    expect(await status(CODE_Z)).toMatchObject({ status: 'ignored' })
    clock.skip(3_600_001)
    await onTheClock(engine)
    expect(await status(CODE_Z)).toMatchObject({ status: 'open', because: 'time' })
  })

  test('merged groups are one in lists and figures, for new failures too, until they are split', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(2, 'a'), 'CODE_A')
    await died(engine, some(3, 'b'), 'CODE_B')
    await died(engine, some(4, 'c', { action: actionName('other') }), 'CODE_C')
    await follow(engine)
    const { CODE_A, CODE_B } = await groupsOf(engine)
    const root = CODE_A?.fingerprint ?? ''
    await call(ANN, 'mergeFailureGroups', { fingerprint: root, from: [CODE_B?.fingerprint] })
    const listed = async (order: string): Promise<readonly unknown[]> =>
      (await (call as Call<{ readonly items: readonly Shown[] }>)(ANN, 'listFailureGroups', { order })).items
        .map(({ fingerprint, count, members = [] }) => [fingerprint === root ? 'root' : 'other', count, members.length])
        .toSorted()
    await died(engine, some(2, 'd'), 'CODE_B')
    await follow(engine)
    for (const order of ['recent', 'count']) {
      expect(await listed(order)).toEqual([
        ['other', 4, 0],
        ['root', 7, 1],
      ])
    }
    expect(await call(ANN, 'getFailureGroup', { fingerprint: CODE_B?.fingerprint })).toMatchObject({
      fingerprint: root,
      count: 7,
      case: { deaths: 7 },
    })
    await expect(call(ANN, 'mergeFailureGroups', { fingerprint: root, from: [root] })).rejects.toMatchObject({
      code: 'REPRISE_INVALID',
    })
    await call(ANN, 'splitFailureGroup', { fingerprint: CODE_B?.fingerprint })
    expect(await listed('count')).toHaveLength(3)
  })

  test('a redrive by fingerprint takes all groups that were merged, by whichever it is named', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(2, 'a'), 'CODE_A')
    await died(engine, some(3, 'b'), 'CODE_B')
    await died(engine, some(4, 'c'), 'CODE_C')
    await follow(engine)
    const { CODE_A, CODE_B } = await groupsOf(engine)
    await call(ANN, 'mergeFailureGroups', { fingerprint: CODE_A?.fingerprint, from: [CODE_B?.fingerprint] })
    for (const fingerprint of [CODE_A?.fingerprint, CODE_B?.fingerprint]) {
      expect(await call(ANN, 'createRedrive', { fingerprint, reason: 'fixed' })).toMatchObject({
        total: 5,
        selector: `fingerprint:${fingerprint}`,
      })
      expect(await call(ANN, 'redriveTasks', { fingerprint, dryRun: true })).toMatchObject({ matched: 5 })
    }
    const { changed } = await (call as Call<{ readonly changed: readonly string[] }>)(ANN, 'redriveTasks', {
      fingerprint: CODE_B?.fingerprint,
      reason: 'fixed',
    })
    expect(changed).toHaveLength(5)
    expect(await engine.counts()).toMatchObject({ dead: 4, queued: 5 })
  })

  test('split by a label: parts with their counts, and a query that finds each', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(
      engine,
      [...some(2, 'a', { labels: { region: 'eu' } }), ...some(1, 'b', { labels: { region: 'us' } })],
      'A',
    )
    const fingerprint = (await groupsOf(engine)).A?.fingerprint
    await call(ANN, 'splitFailureGroup', { fingerprint, by: 'label.region' })
    await died(engine, some(1, 'c', { labels: { region: 'eu' } }), 'A')
    type Parts = {
      readonly parts: readonly { value: string; count: number; q: string }[]
      readonly partsCounted: number
    }
    const { parts, partsCounted } = await (call as Call<Parts>)(ANN, 'getFailureGroup', { fingerprint })
    expect(partsCounted).toBe(4)
    expect(parts).toMatchObject([
      { value: 'eu', count: 3 },
      { value: 'us', count: 1 },
    ])
    const found = await (call as Call<{ count: number }>)(ANN, 'countTasks', { q: parts[0]?.q })
    expect(found.count).toBe(3)
  })

  test('a list by state; a case stays to be seen when its dead letters are gone', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(2, 'a'), 'CODE_A')
    await died(engine, some(1, 'b'), 'CODE_B')
    await follow(engine)
    const { CODE_A } = await groupsOf(engine)
    const fingerprint = CODE_A?.fingerprint
    await call(ANN, 'resolveFailureGroup', { fingerprint })
    const counts = async (input: object): Promise<readonly number[]> =>
      (await (call as Call<{ readonly items: readonly Shown[] }>)(ANN, 'listFailureGroups', input)).items.map(
        ({ count }) => count,
      )
    for (const order of ['recent', 'count']) {
      expect(await counts({ order, state: 'open' })).toEqual([1])
      expect(await counts({ order, state: 'resolved' })).toEqual([2])
      expect(await counts({ order, state: 'ignored' })).toEqual([])
    }
    await engine.change({
      kind: 'discard',
      select: { ids: [taskId('a0'), taskId('a1')] },
      by: { actor: 'ann', reason: 'a test' },
    })
    expect(await call(ANN, 'getFailureGroup', { fingerprint })).toMatchObject({
      count: 0,
      sample: null,
      case: { deaths: 2, state: { status: 'resolved' } },
    })
    await expect(call(ANN, 'getFailureGroup', { fingerprint: 'none' })).rejects.toMatchObject({
      code: 'REPRISE_NOT_FOUND',
    })
  })
})
