// Dead letters by cause: the largest first, those that a query finds, and nothing at all while the feature is off.

import { actionName, tenantId } from '@reprise/core'
import { afterAll, describe, expect, test } from 'vitest'
import type { OperationName } from '../src/table.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

interface Groups {
  readonly items: readonly { readonly sample: { readonly code: string }; readonly count: number }[]
  readonly next: string | null
}

const codesOf = ({ items }: Groups): readonly string[] => items.map(({ sample, count }) => `${sample.code} ${count}`)

/** Of dead letters of one moment any may be called the last. */
const withoutLast = ({ items }: Groups) =>
  items.map((group) => ({ ...group, lastTask: null })).toSorted((one, other) => one.count - other.count)

const some = (count: number, name: string, change: Parameters<typeof spec>[1] = {}) =>
  Array.from({ length: count }, (_, at) => spec(`${name}${at}`, change))

test.each(STORES)('9a: the largest groups come first, page by page (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  await died(engine, some(3, 'three'), 'CODE_THREE')
  await died(engine, some(5, 'five', { action: actionName('other') }), 'CODE_FIVE')
  await died(engine, some(1, 'one'), 'CODE_ONE')
  const list = (input: object): Promise<Groups> => call(ANN, 'listFailureGroups', { order: 'count', ...input })
  expect(codesOf(await list({}))).toEqual(['CODE_FIVE 5', 'CODE_THREE 3', 'CODE_ONE 1'])
  expect(codesOf(await list({ action: 'render' }))).toEqual(['CODE_THREE 3', 'CODE_ONE 1'])
  const found: string[] = []
  let cursor: string | null = null
  do {
    const page: Groups = await list({ limit: 1, ...(cursor === null ? {} : { cursor }) })
    found.push(...codesOf(page))
    cursor = page.next
  } while (cursor !== null)
  expect(found).toEqual(['CODE_FIVE 5', 'CODE_THREE 3', 'CODE_ONE 1'])
  expect(codesOf(await call(ANN, 'listFailureGroups', {})).toSorted()).toEqual(found.toSorted())
  await expect(list({ cursor: 'x' })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

test.each(STORES)('9b: a query says which dead letters count (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  const eu = { labels: { region: 'eu' } }
  await died(engine, [...some(2, 'a', eu), ...some(3, 'b')], 'CODE_A')
  await died(engine, some(4, 'c', { ...eu, action: actionName('other'), tenant: tenantId('acme') }), 'CODE_C')
  await engine.submit([spec('queued', eu)])
  const found = async (q: string) => codesOf(await call(ANN, 'listFailureGroups', { q, order: 'count' }))
  expect(await found('label.region:eu')).toEqual(['CODE_C 4', 'CODE_A 2'])
  expect(await found('label.region:eu -tenant:acme')).toEqual(['CODE_A 2'])
  expect(await found('died<10m status:dead')).toEqual(['CODE_A 5', 'CODE_C 4'])
  expect(await found('died>10m')).toEqual([])
  expect(await found('action:other')).toEqual(['CODE_C 4'])
  expect(await found('')).toEqual(['CODE_A 5', 'CODE_C 4'])
  const all: Groups = await call(ANN, 'listFailureGroups', { q: '' })
  const looked: Groups = await call(ANN, 'listFailureGroups', { q: 'age<1d' })
  expect(withoutLast(looked)).toEqual(withoutLast(all))
})

describe('B12: while dlq-inspector is off,', () => {
  test.each<readonly [OperationName, object]>([
    ['listFailureGroups', {}],
    ['listFailureGroups', { q: 'age<1d' }],
    ['redriveTasks', { all: true }],
    ['redriveTasks', { q: 'age<1d', dryRun: true }],
    ['discardTasks', { all: true }],
    ['retryExecution', { id: 'dead' }],
    ['addNote', { fingerprint: 'FINGERPRINT', text: 'x' }],
    ['removeNote', { id: 'NOTE' }],
  ])('%s %j is refused, and works again when it is on', async (name, input) => {
    const { engine, call } = await storeWithCaller()
    await died(engine, [spec('dead')], 'E1')
    const { items }: { readonly items: readonly { readonly fingerprint: string }[] } = await call(
      ANN,
      'listFailureGroups',
      {},
    )
    const fingerprint = items[0]?.fingerprint ?? ''
    const { id: note }: { readonly id: string } = await call(ANN, 'addNote', { fingerprint, text: 'known' })
    const asked = JSON.parse(JSON.stringify(input).replace('FINGERPRINT', fingerprint).replace('NOTE', note)) as object
    await call(ANN, 'setFlag', { name: 'dlq-inspector', on: false })
    const before = await engine.counts()
    await expect(call(ANN, name, asked)).rejects.toMatchObject({ code: 'REPRISE_FEATURE_OFF' })
    expect(await engine.counts()).toEqual(before)
    expect(await call(ANN, 'listTasks', { q: 'status:dead' })).toMatchObject({ items: [{ id: 'dead' }] })
    await call(ANN, 'setFlag', { name: 'dlq-inspector', on: true })
    await expect(call(ANN, name, asked)).resolves.not.toThrow()
  })

  test('tasks are still looked up, and notes on tasks are taken', async () => {
    const { engine, call } = await storeWithCaller()
    await died(engine, [spec('t1')], 'E1')
    await call(ANN, 'setFlag', { name: 'dlq-inspector', on: false })
    await expect(call(ANN, 'retryExecution', { id: 'nobody' })).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
    await engine.submit([spec('t2')])
    expect(await call(ANN, 'addNote', { task: 't2', text: 'looked at it' })).toMatchObject({ text: 'looked at it' })
  })
})
