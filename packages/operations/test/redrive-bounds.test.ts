// What one caller's redrives can't do to others: take every place, keep others' from being moved, read what is hidden, or make dead
// letters that nobody can send back.

import { actionName, createRedactor, type Engine, stepDocument, tenantId } from '@reprise/core'
import { redrivesIn } from '@reprise/orchestrator'
import { afterAll, expect, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { refuseHidden } from '../src/patch-sight.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { breaks, type Redrive, recoveryStore, specs, works } from './redrive-fixture.ts'
import { ACME, ANN } from './store-with-caller.ts'

afterAll(stopRedis)

const WHY = { reason: 'the deploy was rolled back' }
const OTHER: Caller = { ...ACME, actor: 'token:other', tenants: [tenantId('other')] }
/** It has begun, and waits for a version that never comes. */
const waitsForEver = (engine: Engine, { id }: Redrive): Promise<unknown> =>
  stepDocument(redrivesIn(engine), id, (redrive) => ({
    ...redrive,
    state: 'running' as const,
    startedAt: redrive.createdAt,
    plan: { ...redrive.plan, fixedIn: '999' },
  }))
const own = (id: string, tenant: string) => spec(id, { tenant: tenantId(tenant) })

test.each(STORES)(
  'of redrives that are made at once only so many stay, and others have their own room (%s)',
  async (kind) => {
    const { ask, died } = await recoveryStore(kind)
    await died([own('a', 'acme'), own('o', 'other')], breaks)
    const make = (caller: Caller) => ask<Redrive>('createRedrive', { all: true, ...WHY }, caller)
    const made = await Promise.allSettled(Array.from({ length: 60 }, () => make(ACME)))
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(20)
    const { items } = await ask<{ readonly items: readonly Redrive[] }>('listRedrives', {}, ACME)
    expect(items.length).toBeLessThanOrEqual(20)
    await expect(make(OTHER)).resolves.toMatchObject({ total: 1 })
    await expect(make(ANN)).resolves.toMatchObject({ total: 2 })
  },
)

test('a tenant is not told by a redrive which versions workers have', async () => {
  const { ask, died } = await recoveryStore()
  await died([own('a', 'acme')], breaks)
  const make = (caller: Caller) => ask('createRedrive', { all: true, fixedIn: '1.0', ...WHY }, caller)
  await expect(make(ACME)).rejects.toMatchObject({ code: 'REPRISE_FORBIDDEN' })
  await expect(make(ANN)).resolves.toMatchObject({ plan: { fixedIn: '1.0' } })
})

test('redrives of one tenant that wait for ever keep no other from being moved', async () => {
  const { ask, died, serve, until, work, engine } = await recoveryStore()
  await died([own('a', 'acme'), own('o', 'other')], breaks)
  for (let made = 0; made < 20; made++) {
    await waitsForEver(engine, await ask<Redrive>('createRedrive', { all: true, ...WHY }, ACME))
  }
  const theirs = await ask<Redrive>('createRedrive', { all: true, start: true, ...WHY }, OTHER)
  await serve()
  const done = await until(
    theirs.id,
    ({ state }) => state === 'done',
    () => work(works),
  )
  expect(done.counts).toMatchObject({ recovered: 1 })
})

test('each of many redrives that wait has its turn', async () => {
  const { ask, died, serve, until, engine } = await recoveryStore()
  await died([own('a', 'acme')], breaks)
  const ids: string[] = []
  for (let made = 0; made < 12; made++) {
    const redrive = await ask<Redrive>('createRedrive', { all: true, ...WHY }, ACME)
    await waitsForEver(engine, redrive)
    ids.push(redrive.id)
  }
  await serve()
  for (const id of ids) expect(await until(id, ({ held }) => held !== null)).toMatchObject({ state: 'running' })
})

test('planning and aborting again and again does not fill the store', async () => {
  const { ask, died, engine } = await recoveryStore()
  await died([own('a', 'acme')], breaks)
  for (let made = 0; made < 55; made++) {
    const { id } = await ask<Redrive>('createRedrive', { all: true, ...WHY }, ACME)
    await ask('abortRedrive', { id, ...WHY }, ACME)
  }
  const documents = await Promise.all(
    ['redrives', 'redrive-items'].map((name) => engine.collection({ name, indexes: {} }).list({ limit: 1_000 })),
  )
  expect(documents.map(({ items }) => items.length)).toEqual([50, 50])
})

test('dead letters in lanes with long names can be sent back', async () => {
  const { ask, died } = await recoveryStore()
  // Three bytes each.
  const many = specs(490).map((one, at) => ({ ...one, action: actionName(`${at}`.padEnd(200, '漢')) }))
  await died(many, breaks)
  await expect(ask('createRedrive', { all: true, ...WHY })).resolves.toMatchObject({ state: 'ready', total: 490 })
})

test('how long a redrive may take is told by the own tasks', async () => {
  const { ask, died, engine, work } = await recoveryStore()
  await died([own('a', 'acme')], breaks)
  await engine.submit(Array.from({ length: 20 }, (_, at) => own(`o${at}`, 'other')))
  await work(works)
  const plan = (caller: Caller) => ask<Redrive>('createRedrive', { all: true, ...WHY }, caller)
  const { preflight: all } = await plan(ANN)
  const { preflight: limited } = await plan(ACME)
  expect(all?.estimatedMs).toBeLessThan(limited?.estimatedMs ?? 0)
})

test.each([
  [[{ op: 'copy', from: '/api_key', path: '/note' }]],
  [[{ op: 'move', from: '/account/password/0', path: '/note' }]],
  [[{ op: 'test', path: '/account', value: { password: 'guess' } }]],
  [[{ op: 'test', path: '/pin', value: 1234 }]],
  [[{ op: 'test', path: '/note', value: '4111 1111 1111 1111' }]],
  [[{ op: 'copy', from: '/a'.repeat(1_000), path: '/note' }]],
] as const)('a patch that reads what is hidden is refused: %j', (patch) => {
  expect(() => refuseHidden(patch, createRedactor())).toThrow(/hidden from you/)
})

test.each([
  [[{ op: 'copy', from: '/account', path: '/note' }]],
  [[{ op: 'move', from: '/note', path: '/api_key' }]],
  [[{ op: 'add', path: '/api_key', value: 'new' }]],
  [[{ op: 'test', path: '/currency', value: 'EUR' }]],
  [{ api_key: 'new' }],
] as const)('a patch that reads what everybody sees is taken: %j', (patch) => {
  expect(() => refuseHidden(patch, createRedactor())).not.toThrow()
})

test('who may not configure learns nothing hidden by a patch', async () => {
  const { ask, died } = await recoveryStore('sqlite', { redaction: createRedactor() })
  await died([own('a', 'acme')], breaks)
  const patch = [{ op: 'copy', from: '/api_key', path: '/note' }]
  const operator: Caller = { ...ACME, scopes: new Set(['read', 'operate']) }
  const asked = { all: true, patch, ...WHY }
  await expect(ask('createRedrive', asked, operator)).rejects.toThrow(/hidden from you/)
  await expect(ask('createRedrive', asked, ACME)).resolves.toMatchObject({ state: 'ready' })
})

test('a page of what a patch changes is bounded, and long values are left out', async () => {
  const { ask, died } = await recoveryStore()
  const payload = JSON.stringify({
    text: 'x'.repeat(200_000),
    ...Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`k${at}`, 'y'.repeat(1_900)])),
  })
  await died(specs(12, { payload: payload as never }), breaks)
  const { id } = await ask<Redrive>('createRedrive', {
    all: true,
    patch: [{ op: 'replace', path: '', value: {} }],
    ...WHY,
  })
  const page = await ask<{
    readonly items: readonly { readonly changes: readonly { readonly before?: unknown }[] }[]
    readonly next: string | null
  }>('listRedriveItems', { id, limit: 50 })
  expect(page.items[0]?.changes.some(({ before }) => before === '(long)')).toBe(true)
  expect(page.items.length).toBeLessThan(12)
  expect(page.next).not.toBeNull()
})
