// Whether an operator may retry a task, in every view, by the budget in force; the ceiling of that budget; and what the chain of
// attempts says of it. On every kind of store.

import { DEFAULT_SETTINGS } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, failAll, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const NO_RETRIES = { settings: { ...DEFAULT_SETTINGS, maxRetries: null } }
const EXHAUSTED = { code: 'REPRISE_BUDGET_EXHAUSTED' }

const policies = (retries: number): string =>
  `policies:\n  - name: usual\n    match: { actions: [render] }\n    retries: ${retries}\n  - name: generous\n    match: { actions: [other] }\n    retries: 7\n`

test.each(STORES)('A9: every view says whether a task can be retried (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  const seen = async () => {
    const task = (await call(ANN, 'getTask', { id: 't' })) as { retryable: boolean }
    const { items } = (await call(ANN, 'listTasks', { q: 'id:t' })) as { items: { retryable: boolean }[] }
    const explained = (await call(ANN, 'explainTask', { id: 't' })) as { task: { retryable: boolean } }
    const lines = (await call(ANN, 'exportTasks', { q: 'id:t' })) as AsyncIterable<{ retryable: boolean }>
    const exported: boolean[] = []
    for await (const { retryable } of lines) exported.push(retryable)
    return [task.retryable, items[0]?.retryable, explained.task.retryable, ...exported]
  }
  const attempts = async () =>
    ((await call(ANN, 'listExecutions', { id: 't' })) as { items: { retryable: boolean }[] }).items.map(
      ({ retryable }) => retryable,
    )
  await engine.submit([spec('t', NO_RETRIES)])
  expect(await seen()).toEqual([false, false, false, false])
  await failAll(engine, 1, 'E1')
  expect(await seen()).toEqual([true, true, true, true])
  expect(await attempts()).toEqual([true])
  expect(await call(ANN, 'getExecution', { id: 't', attempt: 'latest' })).toMatchObject({ retryable: true })
  expect(await call(ANN, 'retryExecution', { id: 't' })).toMatchObject({ attempt: 2 })
  expect(await seen()).toEqual([false, false, false, false])
  expect(await attempts()).toEqual([false])
  await failAll(engine, 1, 'E1')
  // MAX_RETRIES is 1 here.
  expect(await seen()).toEqual([false, false, false, false])
  expect(await attempts()).toEqual([false, false])
  await expect(call(ANN, 'retryExecution', { id: 't' })).rejects.toMatchObject(EXHAUSTED)
})

test('A9, C1: the policies in force say how often, and the chain tells it', async () => {
  const { engine, call } = await storeWithCaller()
  await died(engine, [spec('t', NO_RETRIES)], 'E1')
  await call(ANN, 'retryExecution', { id: 't' })
  await failAll(engine, 1, 'E1')
  const latest = () => call(ANN, 'getExecution', { id: 't', attempt: 'latest' })
  expect(await latest()).toMatchObject({ retryable: false, chain: { maxRetries: 0 } })
  await call(ANN, 'publishPolicies', { text: policies(3) })
  expect(await latest()).toMatchObject({ retryable: true, chain: { maxRetries: 3, retryCount: 1 } })
  expect(await call(ANN, 'getTask', { id: 't' })).toMatchObject({ retryable: true })
  expect(await call(ANN, 'retryExecution', { id: 't' })).toMatchObject({ attempt: 3 })
})

test.each(STORES)('A6: a number of retries that is asked for stays below the ceiling (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  await died(engine, [spec('t', NO_RETRIES)], 'E1')
  expect(await call(ANN, 'retryExecution', { id: 't', maxRetries: 500 })).toMatchObject({ attempt: 2 })
  await failAll(engine, 1, 'E1')
  await expect(call(ANN, 'retryExecution', { id: 't', maxRetries: 500 })).rejects.toMatchObject(EXHAUSTED)
  await call(ANN, 'publishPolicies', { text: policies(1) })
  await expect(call(ANN, 'retryExecution', { id: 't', maxRetries: 500 })).rejects.toMatchObject(EXHAUSTED)
  // A policy that is named raises the ceiling to its own number.
  const generous = { id: 't', policy: 'generous', maxRetries: 500 }
  expect(await call(ANN, 'retryExecution', generous)).toMatchObject({ attempt: 3 })
  await failAll(engine, 1, 'E1')
  await expect(call(ANN, 'retryExecution', { ...generous, maxRetries: 2 })).rejects.toMatchObject(EXHAUSTED)
})
