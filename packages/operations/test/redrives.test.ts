// Redrives from end to end: planned and asked about through operations, moved by the service of the orchestrator, on every store.

import { type Collection, type Document, type Engine, publishActions, tenantId } from '@reprise/core'
import { deadOnly, redrivesIn } from '@reprise/orchestrator'
import { afterAll, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { breaks, type Redrive, recoveryStore, specs, works } from './redrive-fixture.ts'
import { ACME } from './store-with-caller.ts'

afterAll(stopRedis)

/** `npm run test:long -- redrives` takes 5,000. */
const COUNT = process.env.REPRISE_LONG === '1' ? 5_000 : 150
const WHY = { reason: 'the deploy was rolled back' }

test.each(STORES)(
  'a canary halts by itself while the cause is there, and recovers all once it is gone (%s)',
  async (kind) => {
    const { ask, died, ran, serve, until, work, engine } = await recoveryStore(kind)
    await died(specs(COUNT), breaks)
    const plan = await ask<Redrive>('createRedrive', { all: true, ...WHY })
    expect(plan).toMatchObject({
      state: 'ready',
      total: COUNT,
      found: { actions: [{ count: COUNT }], ages: [{ name: '10m' }] },
    })
    await serve()
    await ask('startRedrive', { id: plan.id, ...WHY })
    const halted = await until(
      plan.id,
      ({ state }) => state === 'halted',
      () => work(breaks),
    )
    expect(halted.halt).toMatchObject({ stage: 0, evidence: [{ isSame: true }] })
    expect(halted.halt?.sentence).toContain('The cause is still there')
    expect(ran).toHaveLength(1)
    expect(await engine.counts()).toMatchObject({ dead: COUNT, queued: 0 })

    await ask('resumeRedrive', { id: plan.id, ...WHY })
    const done = await until(
      plan.id,
      ({ state }) => state === 'done',
      () => work(works),
    )
    expect(done.stages.map(({ size, recovered }) => [size, recovered])).toEqual([
      [1, 0],
      [10, 10],
      [100, 100],
      [null, COUNT - 111],
    ])
    expect(done.counts).toMatchObject({ recovered: COUNT - 1, failed: 1, pending: 0, sent: 0 })
    expect(done.again).toMatchObject([{ message: 'the currency is missing', count: 1 }])
    expect(await engine.counts()).toMatchObject({ succeeded: COUNT - 1, dead: 1 })
    expect(ran).toHaveLength(COUNT)
    const told = async (): Promise<readonly unknown[]> => {
      const states: unknown[] = []
      let page = await engine.journal.read({ limit: 1_000 })
      while (page.entries.length > 0) {
        const changes = page.entries.filter(({ type }) => type === 'redrive.changed')
        states.push(...changes.map(({ data }) => data.state))
        page = await engine.journal.read({ limit: 1_000, cursor: page.cursor })
      }
      return states
    }
    // The entry comes soon after the state that it tells of.
    await expect.poll(told).toEqual(['collecting', 'running', 'halted', 'running', 'done'])
  },
)

test.each(STORES)(
  'what dies after its creation is not in a redrive, and two redrives never fight over an item (%s)',
  async (kind) => {
    const { ask, died, ran, serve, until, work, engine } = await recoveryStore(kind)
    await died(specs(60), breaks)
    const one = await ask<Redrive>('createRedrive', { all: true, canary: [], start: true, ...WHY })
    const other = await ask<Redrive>('createRedrive', { q: 'id:t000*', canary: [], start: true, ...WHY })
    await new Promise((resolve) => setTimeout(resolve, 2))
    await died([spec('late')], breaks)
    await serve()
    await serve()
    const both = [one, other].map(({ id }) =>
      until(
        id,
        ({ state }) => state === 'done',
        () => work(works),
      ),
    )
    const counts = (await Promise.all(both)).map((redrive) => redrive.counts)
    expect(counts.map(({ recovered, skipped }) => recovered + skipped)).toEqual([60, 60])
    expect(counts.reduce((sum, { recovered }) => sum + recovered, 0)).toBe(60)
    expect(ran.toSorted()).toEqual(specs(60).map(({ id }) => id))
    expect(await engine.counts()).toMatchObject({ dead: 1, succeeded: 60 })
  },
)

test('a task that died again since is of another generation: a redrive of before leaves it alone', async () => {
  const { ask, died, ran, serve, until, work } = await recoveryStore()
  await died(specs(5), breaks)
  const before = await ask<Redrive>('createRedrive', { all: true, canary: [], ...WHY })
  const { id } = await ask<Redrive>('createRedrive', { all: true, canary: [], start: true, ...WHY })
  await serve()
  const again = await until(
    id,
    ({ state }) => state === 'done',
    () => work(breaks),
  )
  expect(again.counts).toMatchObject({ failed: 5 })
  await ask('startRedrive', { id: before.id, ...WHY })
  const left = await until(before.id, ({ state }) => state === 'done')
  expect(left.counts).toMatchObject({ skipped: 5 })
  expect(ran).toHaveLength(5)
})

test('what dies while a redrive is still collected is not in it', async () => {
  const { ask, died, engine } = await recoveryStore()
  await died(specs(3), breaks)
  const { id } = await ask<Redrive>('createRedrive', { all: true, ...WHY })
  const redrives = redrivesIn(engine)
  const stored = await redrives.get(id)
  if (stored === null) throw new Error('It is gone.')
  const unfinished = {
    ...stored.document,
    state: 'collecting',
    filter: deadOnly({ terms: [] }),
    chunks: 0,
    total: 0,
  } as const
  await redrives.update(unfinished, stored.version)
  while ((await engine.now()) <= stored.document.createdAt);
  await died([spec('late')], breaks)
  expect(await ask('collectRedrive', { id })).toMatchObject({ state: 'ready', total: 3 })
})

/** The store, through which the next write of items fails after the change of its tasks went through. */
function crashing(engine: Engine): { readonly over: Engine; readonly crashes: () => number } {
  let crashes = 0
  const collection = <D extends Document>(definition: Parameters<Engine['collection']>[0]): Collection<D> => {
    const real = engine.collection<D>(definition)
    if (definition.name !== 'redrive-items') return real
    return {
      ...real,
      get: (id) => real.get(id),
      update: (document, version) => {
        if (++crashes % 2 === 1) throw new Error('killed')
        return real.update(document, version)
      },
    }
  }
  const over = new Proxy(engine, {
    get: (target, name) => {
      if (name === 'collection') return collection
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  return { over, crashes: () => crashes }
}

test.each(['sqlite', 'redis'] as const)(
  'each item is sent once, though processes die between the change and its record (%s)',
  async (kind) => {
    const { ask, died, ran, serve, until, work, engine } = await recoveryStore(kind)
    await died(specs(600), breaks)
    const { over, crashes } = crashing(engine)
    await serve(over)
    const { id } = await ask<Redrive>('createRedrive', { all: true, canary: [], start: true, ...WHY })
    const done = await until(
      id,
      ({ state }) => state === 'done',
      () => work(works),
    )
    expect(crashes()).toBeGreaterThan(1)
    expect(done.counts).toMatchObject({ recovered: 600, skipped: 0, failed: 0 })
    expect(ran).toHaveLength(600)
  },
)

test.each(STORES)(
  'a patch is shown as a difference first, and runs as a copy beside the original (%s)',
  async (kind) => {
    const { ask, died, serve, until, work, engine } = await recoveryStore(kind)
    await died([spec('t1', { payload: '{"customer":{"id":7},"tags":["a"]}' as never, dedupeKey: 'k' })], breaks)
    const patch = [{ op: 'add', path: '/customer/currency', value: 'EUR' }]
    const plan = await ask<Redrive>('createRedrive', { ids: ['t1'], patch, ...WHY })
    const items = await ask<{ items: object[] }>('listRedriveItems', { id: plan.id })
    expect(items.items).toMatchObject([
      { taskId: 't1', status: 'pending', changes: [{ path: '/customer/currency', after: 'EUR' }], problem: null },
    ])
    expect(await engine.counts()).toMatchObject({ accepted: 1, dead: 1 })
    await serve()
    await ask('startRedrive', { id: plan.id, ...WHY })
    const done = await until(
      plan.id,
      ({ state }) => state === 'done',
      () => work(works),
    )
    expect(done.counts).toMatchObject({ recovered: 1 })
    expect(await engine.task('t1' as never)).toMatchObject({
      payload: '{"customer":{"id":7},"tags":["a"]}',
      state: { status: 'discarded' },
    })
    expect(await engine.task('t1~2' as never)).toMatchObject({
      payload: '{"customer":{"id":7,"currency":"EUR"},"tags":["a"]}',
      labels: { redrive_of: 't1' },
      dedupeKey: 'k',
      state: { status: 'succeeded' },
    })
  },
)

test('a patch that does not fit skips the item, and says why before anything runs', async () => {
  const { ask, died, serve, until, engine } = await recoveryStore()
  await died([spec('t1')], breaks)
  const patch = [{ op: 'remove', path: '/nowhere' }]
  const plan = await ask<Redrive>('createRedrive', { ids: ['t1'], patch, ...WHY })
  const { items } = await ask<{ items: object[] }>('listRedriveItems', { id: plan.id })
  expect(items).toMatchObject([{ problem: 'The patch names /nowhere, which is not there.', changes: null }])
  await serve()
  await ask('startRedrive', { id: plan.id, ...WHY })
  expect(await until(plan.id, ({ state }) => state === 'done')).toMatchObject({ counts: { skipped: 1 } })
  expect(await engine.counts()).toMatchObject({ accepted: 1, dead: 1 })
})

test('a patched payload must fit the schema that workers published for its action', async () => {
  const { ask, died, engine } = await recoveryStore()
  const { action, pool, settings } = spec('t1')
  const inputSchema = JSON.stringify({ type: 'object', properties: { currency: { enum: ['EUR', 'USD'] } } })
  await publishActions(engine, [{ name: action, pool, settings, inputSchema }])
  await died([spec('t1', { payload: '{}' as never })], breaks)
  const itemsOf = async (currency: string) => {
    const { id } = await ask<Redrive>('createRedrive', { ids: ['t1'], patch: { currency }, ...WHY })
    return (await ask<{ items: object[] }>('listRedriveItems', { id })).items
  }
  expect(await itemsOf('EUR')).toMatchObject([{ problem: null, changes: [{ path: '/currency', after: 'EUR' }] }])
  expect(await itemsOf('DM')).toMatchObject([
    {
      changes: null,
      problem: `The patched payload does not fit ${action}: /currency: it is none of the allowed values.`,
    },
  ])
})

test.each(STORES)('an undo takes back what has not started, and nothing is lost from the counts (%s)', async (kind) => {
  const { ask, died, serve, until, work, engine } = await recoveryStore(kind)
  await died(specs(40), breaks)
  const groups = await engine.failureGroups()
  await serve()
  const { id } = await ask<Redrive>('createRedrive', { all: true, canary: [10], start: true, ...WHY })
  await until(id, ({ counts }) => counts.sent === 10)
  await ask('undoRedrive', { id, ...WHY })
  const undone = await until(id, ({ state }) => state === 'undone')
  expect(undone.counts).toMatchObject({ undone: 10, pending: 30, sent: 0 })
  expect(await engine.counts()).toMatchObject({ accepted: 40, dead: 40, queued: 0 })
  expect(await engine.failureGroups()).toEqual(groups)
  expect(await work(works)).toBe(0)
})

test('pause, resume and abort: nothing is sent meanwhile, and what was sent is still counted', async () => {
  const { ask, died, serve, until, work } = await recoveryStore()
  await died(specs(30), breaks)
  await serve()
  const { id } = await ask<Redrive>('createRedrive', { all: true, canary: [], concurrency: 5, start: true, ...WHY })
  await until(id, ({ counts }) => counts.sent === 5)
  await ask('pauseRedrive', { id, ...WHY })
  const paused = await until(
    id,
    ({ counts }) => counts.recovered === 5,
    () => work(works),
  )
  expect(paused).toMatchObject({ state: 'paused', counts: { pending: 25, sent: 0 } })
  await ask('resumeRedrive', { id, ...WHY })
  await until(id, ({ counts }) => counts.sent === 5)
  await ask('abortRedrive', { id, ...WHY })
  const aborted = await until(
    id,
    ({ state }) => state === 'aborted',
    () => work(works),
  )
  expect(aborted.counts.sent).toBe(0)
  expect(aborted.counts.pending).toBeGreaterThan(0)
  expect(aborted.counts.recovered + aborted.counts.pending).toBe(30)
  await expect(ask('resumeRedrive', { id, ...WHY })).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
})

test('a redrive that is tied to a fix waits for it, and for older workers to be gone', async () => {
  const { ask, died, serve, until, work, join, ran } = await recoveryStore()
  await died(specs(3), breaks)
  await serve()
  const { id } = await ask<Redrive>('createRedrive', { all: true, fixedIn: '2.0', start: true, ...WHY })
  const fixed = await join('w2', '2.1')
  const waiting = await until(
    id,
    ({ held }) => held !== null,
    () => work(works),
  )
  expect(waiting.held).toContain("Worker 'w1' of version 1 still takes")
  expect(ran).toEqual([])
  await join('w1', '2.0')
  await until(
    id,
    ({ state }) => state === 'done',
    () => work(works, fixed),
  )
  expect(ran).toHaveLength(3)
})

test('a rate is kept to', async () => {
  const { ask, died, serve, until } = await recoveryStore()
  await died(specs(40), breaks)
  const service = await serve()
  const { id } = await ask<Redrive>('createRedrive', { all: true, canary: [], ratePerS: 10, start: true, ...WHY })
  const sent: number[] = []
  await until(id, ({ counts }) => {
    sent.push(counts.sent)
    return counts.pending === 0
  })
  await service.stop()
  const steps = sent.map((count, at) => count - (sent[at - 1] ?? 0))
  expect(Math.max(...steps)).toBeLessThanOrEqual(10)
})

test('preflight says in sentences what would hold the dead letters, and who was superseded', async () => {
  const { ask, died, engine } = await recoveryStore()
  await died([spec('a', { dedupeKey: 'k' }), spec('b')], breaks)
  await engine.submit([spec('c', { dedupeKey: 'k' })])
  await engine.pause({}, { actor: 'ann', reason: 'maintenance' })
  const plan = await ask<Redrive>('createRedrive', { all: true, canary: [], ...WHY })
  expect(plan.found).toMatchObject({ superseded: 1, expired: 0 })
  expect(plan.preflight).toMatchObject({ paused: 2, noWorker: 0 })
  expect(plan.preflight?.warnings.join(' ')).toMatch(/2 of 2 would meet a paused lane.*superseded.*no canary/)
})

test('intruder 7: a caller limited to tenants redrives, sees and stops their own only', async () => {
  const { ask, died, serve, until, work, engine } = await recoveryStore()
  await died([spec('theirs', { tenant: tenantId('other') }), spec('own', { tenant: tenantId('acme') })], breaks)
  const all = await ask<Redrive>('createRedrive', { all: true, ...WHY })
  const own = await ask<Redrive>('createRedrive', { all: true, start: true, ...WHY }, ACME)
  expect(own).toMatchObject({ total: 1, tenants: ['acme'] })
  const notFound = { code: 'REPRISE_NOT_FOUND' }
  await expect(ask('getRedrive', { id: all.id }, ACME)).rejects.toMatchObject(notFound)
  await expect(ask('listRedriveItems', { id: all.id }, ACME)).rejects.toMatchObject(notFound)
  await expect(ask('abortRedrive', { id: all.id, ...WHY }, ACME)).rejects.toMatchObject(notFound)
  expect(await ask('listRedrives', {}, ACME)).toMatchObject({ items: [{ id: own.id }] })
  await expect(ask('createRedrive', { tenant: 'other', ...WHY }, ACME)).rejects.toMatchObject(notFound)
  await serve()
  await until(
    own.id,
    ({ state }) => state === 'done',
    () => work(works),
  )
  expect(await engine.counts({ tenant: tenantId('other') })).toMatchObject({ dead: 1 })
})

test('a redrive needs a reason, a selection, and a patch that is one', async () => {
  const { ask } = await recoveryStore()
  const invalid = { code: 'REPRISE_INVALID' }
  await expect(ask('createRedrive', { all: true })).rejects.toMatchObject(invalid)
  await expect(ask('createRedrive', WHY)).rejects.toMatchObject(invalid)
  await expect(ask('createRedrive', { all: true, patch: [{ op: 'jump' }], ...WHY })).rejects.toMatchObject(invalid)
})
