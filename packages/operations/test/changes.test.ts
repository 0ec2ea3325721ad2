// Many tasks are changed in steps of the store, none of which is long, on both engines.

import { type ChangeRequest, type Engine, tenantId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { localCaller } from '../src/access/caller.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS } from '../src/table.ts'
import { contextOn, openStore, STORES, spec, stopRedis } from './events/fixture.ts'

afterAll(stopRedis)

const ANN = localCaller('operator:ann')

interface Changed {
  readonly changed: readonly string[]
  readonly next: string | null
}

async function aStore(kind: (typeof STORES)[number], failsAt = Number.POSITIVE_INFINITY) {
  const store = await openStore(kind)
  const steps: number[] = []
  const change = async (request: ChangeRequest): ReturnType<Engine['change']> => {
    steps.push(request.limit ?? 0)
    if (steps.length === failsAt) throw new Error('The store is away.')
    return store.change(request)
  }
  const context = await contextOn(Object.assign(Object.create(store) as Engine, { change }))
  const cancel = (input: object): Promise<Changed> =>
    perform(
      context,
      ANN,
      ['cancelTasks', ALL_OPERATIONS.cancelTasks],
      input,
      new AbortController().signal,
    ) as Promise<Changed>
  await store.submit(Array.from({ length: 350 }, (_, at) => spec(`t${at}`, { tenant: tenantId('acme') })))
  return { store, steps, cancel }
}

test.each(STORES)('one request changes many tasks, a hundred at a time (%s)', async (kind) => {
  const { store, steps, cancel } = await aStore(kind)
  const first = await cancel({ tenant: 'acme', limit: 250 })
  expect(first.changed).toHaveLength(250)
  expect(Math.max(...steps)).toBe(100)
  const rest = await cancel({ tenant: 'acme', cursor: first.next ?? '' })
  expect(rest).toMatchObject({ next: null })
  expect(new Set([...first.changed, ...rest.changed]).size).toBe(350)
  expect(await store.counts()).toMatchObject({ cancelled: 350, queued: 0 })
})

test.each(STORES)('tasks that are named are changed in steps as well (%s)', async (kind) => {
  const { steps, cancel } = await aStore(kind)
  const ids = Array.from({ length: 250 }, (_, at) => `t${at}`)
  expect(await cancel({ ids })).toEqual({ changed: ids, next: null })
  expect(Math.max(...steps)).toBe(100)
})

test('a store that fails on the way leaves word of how far it came', async () => {
  const { cancel } = await aStore('sqlite', 3)
  const first = await cancel({ tenant: 'acme' })
  expect(first.changed).toHaveLength(200)
  const rest = await cancel({ tenant: 'acme', cursor: first.next ?? '' })
  expect(rest).toMatchObject({ next: null, changed: { length: 150 } })
  const failing = await aStore('sqlite', 1)
  await expect(failing.cancel({ tenant: 'acme' })).rejects.toThrow('The store is away.')
})
