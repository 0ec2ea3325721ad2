// Counting what a query finds, and changing it: by counters or by looking, in bounded steps, for those who may see it, on every
// kind of store.

import { actionName, countTasks, type Engine, parseQuery, tenantId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const BOTH: Caller = { ...ACME, tenants: [tenantId('acme'), tenantId('globex')] }
const INVALID = { code: 'REPRISE_INVALID' }

const invoice = actionName('invoice')

/** Three dead letters of two actions and two codes, and one task that is queued. */
async function fourTasks(engine: Engine): Promise<void> {
  const eu = { labels: { region: 'eu' }, tenant: tenantId('acme') }
  await died(engine, [spec('a', eu), spec('b', { action: invoice, tenant: tenantId('globex') })], 'E1')
  await died(engine, [spec('c', { action: invoice, ...eu })], 'E2')
  await engine.submit([spec('q', { tenant: tenantId('acme') })])
}

test.each(STORES)('tasks are counted by counters and by looking, in all and by a field (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  await fourTasks(engine)
  const count = (q: string, by?: string) => call(ANN, 'countTasks', by === undefined ? { q } : { q, by })
  const counted = (all: number, ...values: (readonly [string | null, number])[]) => ({
    count: all,
    values: values.map(([value, some]) => ({ value, count: some })),
    next: null,
  })
  expect(await count('')).toEqual(counted(4))
  expect(await count('', 'status')).toEqual(counted(4, ['dead', 3], ['queued', 1]))
  expect(await count('status:dead', 'action')).toEqual(counted(3, ['invoice', 2], ['render', 1]))
  expect(await count('action:invoice,render tenant:acme', 'action')).toEqual(counted(3, ['render', 2], ['invoice', 1]))
  expect(await count('tenant:acme tenant:globex')).toEqual(counted(0))
  expect(await count('status:dead', 'code')).toEqual(counted(3, ['E1', 2], ['E2', 1]))
  expect(await count('died<10m', 'tenant')).toEqual(counted(3, ['acme', 2], ['globex', 1]))
  expect(await count('died>10m')).toEqual(counted(0))
  expect(await count('status:live,dead', 'label.region')).toEqual(counted(4, [null, 2], ['eu', 2]))
  await expect(count('', 'colour')).rejects.toMatchObject(INVALID)
})

test('counters are asked where they tell, and no task is looked at', async () => {
  const { engine } = await storeWithCaller()
  await fourTasks(engine)
  const blind = {
    task: () => Promise.reject(new Error('looked at a task')),
    tasks: () => Promise.reject(new Error('looked at tasks')),
    counts: (scope: Parameters<Engine['counts']>[0]) => engine.counts(scope),
    lanes: (query: Parameters<Engine['lanes']>[0]) => engine.lanes(query),
  }
  const options = { now: 0, by: { kind: 'field', field: 'tenant' } } as const
  expect(await countTasks(blind, parseQuery('status:dead action:invoice'), options)).toMatchObject({ count: 2 })
  await expect(countTasks(blind, parseQuery('code:E1'), options)).rejects.toThrow('looked at')
})

test.each(STORES)('a count that is not whole says so, and goes on to the same sum (%s)', async (kind) => {
  const { engine } = await storeWithCaller(kind)
  const specs = Array.from({ length: 23 }, (_, at) => spec(`t${at}`, { labels: { odd: String(at % 2) } }))
  await engine.submit(specs)
  let cursor: string | null = null
  let calls = 0
  const sums = new Map<string | null, number>()
  do {
    const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const by = { kind: 'label', label: 'odd' } as const
    const part = await countTasks(engine, parseQuery('age<1d'), { now: Date.now(), by, maxScan: 5, ...from })
    for (const { value, count } of part.values) sums.set(value, (sums.get(value) ?? 0) + count)
    cursor = part.next
    calls++
  } while (cursor !== null)
  expect(sums).toEqual(
    new Map([
      ['0', 12],
      ['1', 11],
    ]),
  )
  expect(calls).toBeGreaterThan(3)
})

test('a caller limited to tenants counts the own tasks only', async () => {
  const { engine, call } = await storeWithCaller()
  await fourTasks(engine)
  for (const q of ['', 'status:dead,queued', 'age<1d']) {
    expect(await call(ACME, 'countTasks', { q, by: 'tenant' })).toMatchObject({ values: [{ value: 'acme', count: 3 }] })
    expect(await call(BOTH, 'countTasks', { q })).toMatchObject({ count: 4 })
  }
  expect(await call(ACME, 'countTasks', { q: 'tenant:globex' })).toMatchObject({ count: 0 })
})

test.each(STORES)('a dry run says how many, of which actions, and a few, and changes nothing (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  await fourTasks(engine)
  const before = await engine.counts()
  const whole = { changed: [], next: null, dryRun: true, matched: 3 }
  const byAction = [
    { action: 'invoice', count: 2 },
    { action: 'render', count: 1 },
  ]
  for (const which of [{ q: 'code:E1,E2' }, { all: true }, { ids: ['a', 'b', 'c', 'q', 'nobody'] }]) {
    const answer = await call(ANN, 'redriveTasks', { ...which, dryRun: true })
    expect(answer).toMatchObject({ ...whole, byAction })
    const { samples } = answer as { readonly samples: readonly { readonly id: string }[] }
    expect(samples.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
  }
  expect(await call(ANN, 'cancelTasks', { q: 'age<1d', dryRun: true })).toMatchObject({
    matched: 1,
    samples: [{ id: 'q', action: 'render', tenant: 'acme', status: 'queued' }],
  })
  expect(await call(ANN, 'promoteTasks', { action: 'render', dryRun: true })).toMatchObject({
    matched: 0,
    byAction: [],
  })
  expect(await call(ACME, 'discardTasks', { q: 'code:*', dryRun: true })).toMatchObject({ matched: 2 })
  expect(await engine.counts()).toEqual(before)
})

test.each(STORES)('what a query finds is changed, in bounded steps (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  const specs = Array.from({ length: 7 }, (_, at) => spec(`t${at}`))
  await died(engine, specs, 'E1')
  await died(engine, [spec('other')], 'E2')
  const changed: string[] = []
  let cursor: string | null = null
  do {
    const from: object = cursor === null ? {} : { cursor }
    const step: { readonly changed: readonly string[]; readonly next: string | null } = await call(
      ANN,
      'redriveTasks',
      { q: 'code:E1', limit: 3, reason: 'mended', ...from },
    )
    expect(step.changed.length).toBeLessThanOrEqual(3)
    changed.push(...step.changed)
    cursor = step.next
  } while (cursor !== null)
  expect(changed.sort()).toEqual(specs.map(({ id }) => id))
  expect(await engine.counts()).toMatchObject({ queued: 7, dead: 1 })
  const { entries } = await engine.journal.read({ limit: 100 })
  const redriven = entries.filter(({ type }) => type === 'task.redriven')
  expect(redriven.map(({ reason, actor }) => `${reason} ${actor}`)).toEqual(Array(7).fill('mended operator:ann'))
})

test('a query names tasks alone, must not be empty by mistake, and touches no other tenant', async () => {
  const { engine, call } = await storeWithCaller()
  await fourTasks(engine)
  for (const wrong of [
    { q: '' },
    { q: 'code:E1', action: 'invoice' },
    { q: 'code:E1', ids: ['a'] },
    { q: 'colour:red' },
  ]) {
    await expect(call(ANN, 'redriveTasks', wrong)).rejects.toMatchObject(INVALID)
  }
  expect(await call(ACME, 'discardTasks', { q: 'code:E1' })).toEqual({ changed: ['a'], next: null })
  expect((await engine.task(spec('b').id))?.state.status).toBe('dead')
  expect(await call(ANN, 'discardTasks', { q: '', all: true })).toMatchObject({ next: null })
  expect(await engine.counts()).toMatchObject({ discarded: 3, dead: 0, queued: 1 })
})
