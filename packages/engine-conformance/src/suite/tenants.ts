// What tenants have in the store: tasks that have not ended, tasks that run, and the bytes of their payloads, kept with
// every transition.

import { DEFAULT_TENANT, tenantId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, ids, LEASE_MS, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

const [acme, blue] = [tenantId('acme'), tenantId('blue')]
const LONG = 'x'.repeat(5_000)

export const tenants = subject('tenants', (check) => {
  check('a store without tasks has no tenants', async (store) => {
    expect(await store.engine.tenants()).toEqual({ items: [], next: null })
  })

  check('counts by tenant what has not ended, over all its lanes', async (store) => {
    await store.running({ id: 'a', tenant: acme })
    await store.submit(
      { id: 'b', tenant: acme, priority: 9 },
      { id: 'c', tenant: acme, delayMs: 1_000 },
      { id: 'd', tenant: blue },
      { id: 'e' },
    )
    await store.engine.change({ kind: 'cancel', select: { ids: ids('e') }, by: BY })
    expect((await store.engine.tenants()).items).toMatchObject([
      { tenant: 'acme', backlog: 3, running: 1 },
      { tenant: 'blue', backlog: 1, running: 0 },
      { tenant: DEFAULT_TENANT, backlog: 0, running: 0 },
    ])
  })

  check('counts the bytes of payloads in UTF-8, each accepted task once', async (store) => {
    await store.submit({ id: 'a', tenant: acme, payload: 'é€' })
    await store.submit({ id: 'a', tenant: acme, payload: 'again' }, { id: 'b', tenant: acme, payload: LONG })
    await store.submit({ id: 'c', tenant: acme, payload: 12, dedupeKey: 'k', delayMs: 1_000, labels: { payload: 'x' } })
    await store.submit({ id: 'd', tenant: acme, payload: 'other', dedupeKey: 'k' })
    await store.submit({ id: 'b', tenant: acme }, { id: 'e', tenant: acme, payload: true })
    const bytes = Buffer.byteLength('"é€"') + (LONG.length + 2) + 2 + 4
    expect((await store.engine.tenants()).items).toMatchObject([{ tenant: 'acme', bytes }])
  })

  check('a task that a message brings counts too', async (store) => {
    const task = taskSpec({ id: 'm', tenant: acme, payload: 'abc' })
    await store.engine.reserve({ task, attempt: 1, maxRetries: 1, worker: workerId('launcher'), leaseMs: LEASE_MS })
    expect((await store.engine.tenants()).items).toEqual([{ tenant: 'acme', backlog: 1, running: 1, bytes: 5 }])
  })

  check('payloads count until their task is removed', async (store) => {
    for (const id of ['a', 'b', 'c'])
      await store.submit({ id, tenant: id === 'c' ? blue : acme, payload: id === 'a' ? LONG : 'abc' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a', 'c') }, by: BY })
    expect((await store.engine.tenants()).items).toMatchObject([{ bytes: 5_007 }, { bytes: 5 }])
    store.clock.jump(1_000)
    await store.engine.retain({ cancelledMs: 0 })
    expect((await store.engine.tenants()).items).toEqual([
      { tenant: 'acme', backlog: 1, running: 0, bytes: 5 },
      { tenant: 'blue', backlog: 0, running: 0, bytes: 0 },
    ])
  })

  check('comes in pages, by name', async (store) => {
    await store.submit(...['c', 'a', 'b'].map((name) => ({ id: name, tenant: tenantId(name) })))
    const first = await store.engine.tenants({ limit: 2 })
    expect(first.items.map(({ tenant }) => tenant)).toEqual(['a', 'b'])
    const second = await store.engine.tenants({ limit: 2, ...(first.next === null ? {} : { cursor: first.next }) })
    expect([second.items.map(({ tenant }) => tenant), second.next]).toEqual([['c'], null])
  })
})
