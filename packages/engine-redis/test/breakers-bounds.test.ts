// What bounds breakers and quotas in Redis: how much one step removes, covers and tells, what a store refuses to be told, and
// which attempts the limit of breakers counts.

import {
  actionName,
  type BreakerSettings,
  type Claimed,
  type ClaimRequest,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  failed,
  lost,
  type RetryQuota,
  released,
  type Settlement,
  succeeded,
  tenantId,
} from '@reprise/core'
import { startRedis } from '@reprise/test-servers'
import { afterAll, expect, test } from 'vitest'
import { type Fixture, failing, NAME, openedOn, outageOf, REFUSED, SETTINGS, START } from './breakers-fixture.ts'
import { BY, PARTITIONS, spec, specs } from './partitions-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())

const opened = (partitions?: number): Promise<Fixture> => openedOn(server.url, partitions)

test('C9: any number of windows that are past is removed step by step, and hurts no settlement', async () => {
  const { clock, engine, request, raw } = await opened()
  const quota: RetryQuota = { name: 'printer', windowMs: 1_000, limit: 1, share: null, allTenants: true }
  const decision = { kind: 'retry', delayMs: 0, reason: 'connection', rule: 'r', sentence: 'Again.' } as const
  const [windows, list] = [raw.key('windows:1000 printer'), raw.key('windowed:1000 printer')]
  const first = START / 1_000
  const numbers = Array.from({ length: 900 }, (_, index) => String(first + index))
  await raw.command('HSET', windows, ...numbers.flatMap((number) => [number, '1']))
  await raw.command('ZADD', list, ...numbers.flatMap((number) => [number, number]))
  clock.jump(86_400_000)
  await engine.submit(specs(20))
  const { claimed } = await engine.claim(request(20))
  const results = await engine.settle(claimed.map((lease) => failed(lease, REFUSED, decision, { quota })))
  expect(results.map((result) => result.outcome === 'settled' && result.status)).toEqual(Array(20).fill('waiting'))
  expect(await engine.counts()).toMatchObject({ waiting: 20, running: 0 })
  expect(await raw.command('HLEN', windows)).toBe(2)
  expect(await raw.command('ZCARD', list)).toBe(2)
})

test('C9: one action is covered by a hundred breakers; failures say nothing to further ones, and are not parked', async () => {
  const { engine, request } = await opened()
  const { park } = outageOf()
  const named = (from: number, count: number, minFailures: number) => ({
    park,
    breakers: Array.from({ length: count }, (_, index) => ({
      name: `dependency:${from + index}`,
      settings: { ...SETTINGS, minFailures },
    })),
  })
  const decision = { kind: 'retry', delayMs: 0, reason: 'connection', rule: 'r', sentence: 'Again.' } as const
  await engine.submit(specs(3))
  const [first, second, third] = (await engine.claim(request(3))).claimed
  if (first === undefined || second === undefined || third === undefined) throw new Error('Not all were claimed.')
  const settle = (lease: Claimed, outage: ReturnType<typeof named>) =>
    engine.settle([failed(lease, REFUSED, decision, { outage })])
  expect(await settle(first, named(0, 110, 2))).toMatchObject([{ status: 'waiting' }])
  expect((await engine.breakers({ limit: 200 })).items).toHaveLength(100)
  expect(await settle(second, named(100, 10, 1))).toMatchObject([{ status: 'waiting' }])
  expect(await settle(third, named(99, 2, 1))).toMatchObject([{ status: 'queued' }])
})

test('C9: lanes of other actions do not keep the first probe waiting', async () => {
  const { clock, engine, request, raw } = await opened()
  const tenants = (count: number, action: string) =>
    Array.from({ length: count }, (_, index) =>
      spec(`${action}-${index}`, { action: actionName(action), tenant: tenantId(`tenant-${index}`) }),
    )
  await engine.submit(tenants(1_000, 'other'))
  await engine.submit(tenants(600, 'render'))
  await engine.submit(tenants(1_000, 'sort'))
  const rendering = { ...request(1_000), actions: [actionName('render')] }
  // Of two tenants: the breaker of all tenants opens.
  const { claimed } = await engine.claim({ ...rendering, limit: 2 })
  await engine.settle(claimed.map((lease) => failing(lease, { probes: 600, maxRamp: 601 })))
  expect(await raw.command('HKEYS', raw.key('unfinished'))).toEqual(['gates render'])
  const held = await engine.claim(rendering)
  expect(held).toMatchObject({ claimed: [], nextDueAt: START + 5_000 })
  expect(await raw.command('EXISTS', raw.key('unfinished'))).toBe(0)
  clock.jump(5_000)
  const probing = await engine.claim(rendering)
  expect(probing.claimed).toHaveLength(500)
  expect(probing.nextDueAt).toBe(START + 5_000)
  const rest = await engine.claim(rendering)
  expect(rest.claimed).toHaveLength(100)
  expect(rest.nextDueAt).toBeNull()
})

const RETRY = { kind: 'retry', delayMs: 0, reason: 'connection', rule: 'r', sentence: 'Again.' } as const
const QUOTA: RetryQuota = { name: 'printer', windowMs: 1_000, limit: 1, share: null }
const guardedBy = (name: string, settings: Partial<BreakerSettings>) => ({
  outage: { ...outageOf(), breakers: [{ name, settings: { ...SETTINGS, ...settings } }] },
})

const NONSENSE: readonly (readonly [string, (lease: Claimed) => Settlement])[] = [
  ['a breaker with a line break', (lease) => failed(lease, REFUSED, RETRY, guardedBy('a\nb', {}))],
  ['a breaker with a control character', (lease) => failed(lease, REFUSED, RETRY, guardedBy('a\rb', {}))],
  ['a breaker without a name', (lease) => failed(lease, REFUSED, RETRY, guardedBy('', {}))],
  ['minFailures NaN', (lease) => failed(lease, REFUSED, RETRY, guardedBy(NAME, { minFailures: Number.NaN }))],
  ['openMs 0', (lease) => failed(lease, REFUSED, RETRY, guardedBy(NAME, { openMs: 0 }))],
  ['probes 1e300', (lease) => failed(lease, REFUSED, RETRY, guardedBy(NAME, { probes: 1e300 }))],
  ['a quota with a line break', (lease) => failed(lease, REFUSED, RETRY, { quota: { ...QUOTA, name: 'a\nb' } })],
  ['windowMs 0', (lease) => failed(lease, REFUSED, RETRY, { quota: { ...QUOTA, windowMs: 0 } })],
  ['limit NaN', (lease) => failed(lease, REFUSED, RETRY, { quota: { ...QUOTA, limit: Number.NaN } })],
  ['share 2', (lease) => lost(lease, REFUSED, RETRY, { quota: { ...QUOTA, share: 2 } })],
  ['delayMs NaN', (lease) => failed(lease, REFUSED, { ...RETRY, delayMs: Number.NaN })],
  ['delayMs 1e300', (lease) => lost(lease, REFUSED, { ...RETRY, delayMs: 1e300 })],
  ['deferral 0.5', (lease) => released(lease, 'x', { delayMs: 0.5, reason: 'delayed' })],
  ['deferral -1', (lease) => released(lease, 'x', { delayMs: -1, reason: 'delayed' })],
  ['deferral Infinity', (lease) => released(lease, 'x', { delayMs: Number.POSITIVE_INFINITY, reason: 'delayed' })],
]

test.each(NONSENSE)('%s is refused before anything is written', async (_, settlement) => {
  for (const partitions of [1, PARTITIONS]) {
    const { engine, request } = await opened(partitions)
    await engine.submit(specs(2))
    const { claimed } = await engine.claim(request(2))
    const [one, two] = claimed
    if (one === undefined || two === undefined) throw new Error('Not all were claimed.')
    const batch = [succeeded(one, null), settlement(two)]
    await expect(engine.settle(batch)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    await expect(engine.settleAndClaim(batch, request(1))).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    expect(await engine.counts()).toMatchObject({ running: 2, succeeded: 0 })
  }
})

test('C9: what started before the probes does not count among them, however it ends', async () => {
  const { clock, engine, request, raw } = await opened()
  await engine.submit(specs(40))
  const { claimed } = await engine.claim(request(20))
  const [first, ...old] = claimed
  if (first === undefined) throw new Error('Nothing was claimed.')
  await engine.settle([failing(first, { probes: 3, maxRamp: 100 })])
  clock.jump(5_000)
  const probes = (await engine.claim(request(10))).claimed
  expect(probes).toHaveLength(3)
  const [failingOne, releasedOne, cancelledOne, ...others] = old
  if (failingOne === undefined || releasedOne === undefined || cancelledOne === undefined) throw new Error('Too few.')
  await engine.settle([failing(failingOne, { probes: 3, maxRamp: 100 }), released(releasedOne, 'x')])
  await engine.change({ kind: 'cancel', select: { ids: [cancelledOne.taskId] }, by: BY })
  await engine.settle(others.slice(0, 5).map((lease) => succeeded(lease, null)))
  expect((await engine.claim(request(10))).claimed).toEqual([])
  const slots = async (): Promise<unknown> => raw.command('HGET', raw.key('slots'), '\r\nrender\ndefault')
  expect(await slots()).toBe('3')
  await engine.settle(probes.map((lease) => succeeded(lease, null)))
  expect((await engine.breakers()).items).toMatchObject([{ state: { status: 'ramping', concurrency: 6 } }])
  expect((await engine.claim(request(10))).claimed).toHaveLength(6)
  expect(await slots()).toBe('6')
})

test('C9: an action that joins a half-open breaker has what it started since then among its probes', async () => {
  const { clock, engine, request, raw } = await opened()
  const print = actionName('print')
  await engine.submit([...specs(1), ...Array.from({ length: 10 }, (_, index) => spec(`p${index}`, { action: print }))])
  const printing = (limit: number, stage: 'run' | 'launch' = 'run'): ClaimRequest => ({
    ...request(limit),
    actions: [print],
    stage,
  })
  const [first] = (await engine.claim({ ...request(), actions: [actionName('render')] })).claimed
  const [old] = (await engine.claim(printing(1))).claimed
  const settings = { probes: 3, maxRamp: 100 }
  if (first === undefined || old === undefined) throw new Error('Nothing was claimed.')
  await engine.settle([failing(first, settings)])
  clock.jump(5_000)
  const [ended] = (await engine.claim(printing(2))).claimed
  const [launched] = (await engine.claim(printing(2, 'launch'))).claimed
  if (ended === undefined || launched === undefined) throw new Error('Nothing was claimed.')
  await engine.settle([succeeded(ended, null), succeeded(launched, null), failing(old, settings)])
  expect((await engine.breakers()).items).toMatchObject([
    { actions: ['render', 'print'], state: { status: 'half_open' } },
  ])
  expect(await raw.command('HGET', raw.key('slots'), '\r\nprint\ndefault')).toBe('2')
  expect((await engine.claim(printing(10))).claimed).toHaveLength(1)
})

test('settings of tasks and breakers that were stored under old names are read under the new ones', async () => {
  const { clock, engine, request, raw } = await opened()
  const rewrite = async (hash: string, field: string): Promise<void> => {
    const text = String(await raw.command('HGET', raw.key(hash), field))
    const old = text
      .replace('maxLosses', 'lossesMax')
      .replace('minFailures', 'failuresMin')
      .replace('maxOpenMs', 'openMsMax')
      .replace('maxRamp', 'rampMax')
    expect(old).not.toBe(text)
    await raw.command('HSET', raw.key(hash), field, old)
  }
  await engine.submit(specs(2))
  await rewrite('profile', '1')
  const [first] = (await engine.claim(request(1))).claimed
  if (first === undefined) throw new Error('Nothing was claimed.')
  expect(first.snapshot.settings).toEqual(spec('t').settings)
  await engine.settle([failing(first)])
  // The one for all tenants, and the one that is open: the tenant's own.
  await rewrite('breakers', NAME)
  await rewrite('breakers', `${NAME}\n${DEFAULT_TENANT}`)
  expect((await engine.breakers()).items).toMatchObject([{ settings: SETTINGS, state: { status: 'open' } }])
  clock.jump(5_000)
  const [probe] = (await engine.claim(request(1))).claimed
  if (probe === undefined) throw new Error('Nothing was claimed.')
  await engine.settle([succeeded(probe, null)])
  // It closed, which needs the end of its ramp, and is forgotten.
  expect((await engine.breakers()).items).toEqual([])
})

test('lanes that layout 1 listed by number are held and let go like all others', async () => {
  const { engine, request, raw } = await opened()
  const tasks = Array.from({ length: 700 }, (_, index) => spec(`t${index}`, { tenant: tenantId(`tenant-${index}`) }))
  await engine.submit(tasks)
  const listed = (await raw.command('ZRANGE', raw.key('stocked'), '0', '-1')) as string[]
  const numbers = listed.map((place) => place.slice(-10))
  await raw.command('DEL', raw.key('stocked'))
  await raw.command('ZADD', raw.key('stocked'), ...numbers.flatMap((number) => [String(Number(number)), number]))
  expect(await raw.command('ZCARD', raw.key(`active:${DEFAULT_POOL}\nrender`))).toBe(700)
  await engine.pause({ action: actionName('render') }, BY)
  expect(await raw.command('ZCARD', raw.key(`active:${DEFAULT_POOL}\nrender`))).toBe(0)
  await engine.resume({ action: actionName('render') }, BY)
  expect((await engine.claim(request(1_000))).claimed).toHaveLength(700)
  expect(await raw.command('EXISTS', raw.key('stocked'), raw.key('unfinished'))).toBe(0)
})
