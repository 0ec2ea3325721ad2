// What is the Redis engine's own about breakers and quotas: what it keeps and when that goes, how many lanes it tells at a
// time, and what several partitions make of it. What all engines do alike is in the conformance suite.

import {
  type Claimed,
  type ClaimRequest,
  DEFAULT_POOL,
  type Engine,
  failed,
  type RetryQuota,
  succeeded,
  systemClock,
  tenantId,
  workerId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Partition } from '../src/partition.ts'
import { resetBreakerScript } from '../src/scripts.generated.ts'
import { type Fixture, failing, freshPrefix, NAME, openedOn, REFUSED, START } from './breakers-fixture.ts'
import { BY, idsIn, PARTITIONS, registered, spec } from './partitions-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())

const opened = (partitions?: number): Promise<Fixture> => openedOn(server.url, partitions)

/** Claims until a claim gives nothing more. */
async function claimAll(engine: Engine, request: ClaimRequest): Promise<readonly Claimed[][]> {
  const rounds: Claimed[][] = []
  for (;;) {
    const { claimed } = await engine.claim(request)
    if (claimed.length === 0) return rounds
    rounds.push([...claimed])
  }
}

const KEYS = ['breakers', 'covered', 'owned', 'opened', 'fading', 'holds', 'limits', 'slots', 'unfinished']

const kept = async (raw: Partition): Promise<string[]> => {
  const found = await raw.pipeline(KEYS.map((name) => ['EXISTS', raw.key(name)]))
  return KEYS.filter((_, index) => Number(found[index]) === 1)
}

test('C9: nothing of a breaker is left when its window is clean, though its action has no more work', async () => {
  const { clock, engine, request, raw } = await opened()
  await engine.submit([spec('a')])
  const [lease] = (await engine.claim(request())).claimed
  if (lease === undefined) throw new Error('Nothing was claimed.')
  await engine.settle([failing(lease, { minFailures: 2 })])
  expect(await kept(raw)).toEqual(['breakers', 'covered', 'owned', 'fading'])
  clock.jump(10_000)
  await engine.claim({ ...request(), actions: [] })
  expect(await kept(raw)).toEqual([])
})

test('C9: a breaker that went through all its states leaves no gates behind', async () => {
  const { clock, engine, request, raw } = await opened()
  await engine.submit([spec('a'), spec('b')])
  const { claimed } = await engine.claim(request(2))
  await engine.settle(claimed.map((lease) => failing(lease)))
  // That of all tenants only listens.
  const listening = ['breakers', 'covered', 'fading']
  expect(await kept(raw)).toEqual(['breakers', 'covered', 'owned', 'opened', 'fading', 'holds'])
  clock.jump(5_000)
  const [probe] = (await engine.claim(request(2))).claimed
  expect(await kept(raw)).toEqual(['breakers', 'covered', 'owned', 'fading', 'limits', 'slots'])
  if (probe === undefined) throw new Error('No probe was let through.')
  await engine.settle([succeeded(probe, null)])
  expect(await kept(raw)).toEqual(listening)
  clock.jump(5_000)
  await engine.claim({ ...request(), actions: [] })
  expect(await kept(raw)).toEqual([])
})

const LANES = 1_200

async function manyLanes({ engine, request }: Fixture): Promise<void> {
  const tasks = Array.from({ length: LANES }, (_, index) => spec(`t${index}`, { tenant: tenantId(`tenant-${index}`) }))
  const lasting = tasks.map((task) => ({ ...task, settings: { ...task.settings, queueTtlMs: 20_000 } }))
  for (let at = 0; at < LANES; at += 400) await engine.submit(lasting.slice(at, at + 400))
  // Those of two tenants: the breaker of all tenants opens.
  const { claimed } = await engine.claim(request(2))
  await engine.settle(claimed.map((lease) => failing(lease, { openMs: 30_000 })))
}

test('C9: more lanes than one step tells are all held, and their queue TTLs stand still', async () => {
  const fixture = await opened()
  const { clock, engine, request } = fixture
  await manyLanes(fixture)
  clock.jump(10)
  expect((await engine.claim(request(1_000))).claimed).toEqual([])
  expect((await engine.claim(request(1_000))).claimed).toEqual([])
  clock.jump(29_000)
  expect((await engine.expired(1_000)).overdue).toEqual([])
  expect((await engine.claim(request(1_000))).claimed).toEqual([])
})

test('C9: the lanes come back with the claims that follow, each task once', async () => {
  const fixture = await opened()
  const { clock, engine, request } = fixture
  await manyLanes(fixture)
  expect((await engine.claim(request(1_000))).claimed).toEqual([])
  clock.jump(30_000)
  const probes = (await engine.claim(request(1_000))).claimed
  expect(probes).toHaveLength(1)
  await engine.settle(probes.map((probe) => succeeded(probe, null)))
  const rounds = await claimAll(engine, request(1_000))
  expect(rounds.flat()).toHaveLength(LANES - 1)
  expect(new Set(rounds.flat().map(({ taskId }) => taskId)).size).toBe(LANES - 1)
})

test('C9: a reset brings all lanes back before it answers', async () => {
  const fixture = await opened()
  const { engine, request, raw } = fixture
  await manyLanes(fixture)
  expect((await engine.claim(request(1_000))).claimed).toEqual([])
  expect(await engine.resetBreaker(NAME, BY)).toBe(true)
  expect(await kept(raw)).toEqual([])
  expect((await claimAll(engine, request(1_000))).flat()).toHaveLength(LANES)
})

test('a reset whose answer was lost is answered the same again, and told once', async () => {
  const fixture = await opened()
  const { engine, request, raw } = fixture
  await engine.submit([spec('a')])
  const { claimed } = await engine.claim(request())
  await engine.settle(claimed.map((lease) => failing(lease)))
  const args = ['request-1', `${NAME}\ndefault`, BY.actor, BY.reason, '1']
  expect([await raw.run(resetBreakerScript, args), await raw.run(resetBreakerScript, args)]).toEqual([1, 1])
  const { entries } = await engine.journal.read()
  expect(entries.filter(({ type }) => type === 'breaker.closed')).toHaveLength(1)
})

test('C9: a reset wakes who waits for work elsewhere', async () => {
  const prefix = freshPrefix()
  const open = async (): Promise<Engine> => {
    const engine = await openRedisEngine({ url: server.url, prefix })
    onTestFinished(() => engine.close())
    return engine
  }
  const [here, there] = [await open(), await open()]
  const request = await registered(here, 'w1')
  await here.submit([spec('a')])
  const { claimed } = await here.claim(request())
  await here.settle(claimed.map((lease) => failing(lease, { openMs: 3_600_000, maxOpenMs: 3_600_000 })))
  const since = there.mark()
  const waiting = there.wait({ pools: [DEFAULT_POOL], since }, 20_000)
  await here.resetBreaker(NAME, BY)
  const startedAt = systemClock.monotonic()
  await waiting
  expect(systemClock.monotonic() - startedAt).toBeLessThan(10_000)
  expect((await there.claim(request())).claimed).toHaveLength(1)
})

test('C9: a step of the ramp wakes as many as it lets through', async () => {
  const { clock, engine, request, raw } = await opened()
  const open = async (): Promise<Engine> => {
    const other = await openRedisEngine({ url: server.url, prefix: raw.prefix, clock })
    onTestFinished(() => other.close())
    return other
  }
  const others = [await open(), await open()]
  await engine.submit([spec('a'), spec('b'), spec('c'), spec('d')])
  const { claimed } = await engine.claim(request())
  await engine.settle(claimed.map((lease) => failing(lease, { maxRamp: 100 })))
  clock.jump(5_000)
  const probes = (await engine.claim(request(10))).claimed
  expect(probes).toHaveLength(1)
  const waiting = others.map((other) => other.wait({ pools: [DEFAULT_POOL] }, 60_000))
  const idle = async (): Promise<unknown> => raw.command('ZCARD', raw.key(`idle:${DEFAULT_POOL}\n`))
  await expect.poll(idle).toBe(2)
  await engine.settle(probes.map((probe) => succeeded(probe, null)))
  expect(await Promise.all(waiting)).toHaveLength(2)
  expect((await engine.claim(request(10))).claimed).toHaveLength(2)
})

/** One running task in each of the first partitions. */
async function runningIn({ engine, request }: Fixture, places: readonly number[]): Promise<readonly Claimed[]> {
  await engine.submit(places.flatMap((place) => idsIn(place, 1)).map((id) => spec(id)))
  return (await claimAll(engine, request(10))).flat()
}

test('C9: each partition has its own breaker; shown is where it stands worst', async () => {
  const fixture = await opened(PARTITIONS)
  const { clock, engine, request } = fixture
  const leases = await runningIn(fixture, [0, 1, 2])
  expect(leases).toHaveLength(3)
  const [one, two, three] = leases
  if (one === undefined || two === undefined || three === undefined) throw new Error('Not all were claimed.')
  const results = await engine.settle([failing(one), failing(two, { minFailures: 2 })])
  expect(results).toMatchObject([{ status: 'queued' }, { status: 'waiting' }])
  expect((await engine.breakers()).items).toMatchObject([
    { name: NAME, actions: ['render'], state: { status: 'open' } },
  ])
  expect((await engine.lanes()).items).toMatchObject([{ gates: [{ kind: 'breaker', name: NAME, status: 'open' }] }])
  expect(await engine.explain(one.taskId)).toMatchObject({ gates: [{ kind: 'breaker', until: START + 5_000 }] })
  const again = await engine.claim(request(10))
  expect(again.claimed.map(({ taskId }) => taskId)).toEqual([two.taskId])
  expect(again.nextDueAt).toBe(START + 5_000)
  clock.jump(5_000)
  expect((await engine.claim(request(10))).claimed).toMatchObject([{ taskId: one.taskId, parks: 1, failures: 0 }])
})

test('C9: messages alone bring a breaker back, each partition for itself', async () => {
  const { clock, engine } = await opened(PARTITIONS)
  const reserve = (id: string) =>
    engine.reserve({ task: spec(id), attempt: 1, maxRetries: 1, worker: workerId('consumer'), leaseMs: 30_000 })
  const refused = { code: 'REPRISE_NO_AVAILABLE_SLOT' }
  for (const place of [0, 2]) {
    const [failingId = '', heldId = '', probeId = '', nextId = ''] = idsIn(place, 4, 'message')
    await engine.settle([failing(await reserve(failingId))])
    await expect(reserve(heldId)).rejects.toMatchObject(refused)
    clock.jump(5_000)
    const probe = await reserve(probeId)
    await expect(reserve(nextId)).rejects.toMatchObject(refused)
    expect(await engine.settle([succeeded(probe, null)])).toMatchObject([{ status: 'succeeded' }])
    expect(await reserve(nextId)).toMatchObject({ attempt: 1 })
  }
  expect((await engine.breakers()).items).toEqual([])
})

test('C9: a message that opens the gates of more lanes than one step tells leaves the rest to the claims', async () => {
  const fixture = await opened()
  const { clock, engine, request } = fixture
  await manyLanes(fixture)
  for (const _ of [1, 2]) expect((await engine.claim(request(1_000))).claimed).toEqual([])
  clock.jump(30_000)
  const worker = workerId('consumer')
  const probe = await engine.reserve({ task: spec('message'), attempt: 1, maxRetries: 1, worker, leaseMs: 30_000 })
  expect((await engine.claim(request(1_000))).claimed).toEqual([])
  await engine.settle([succeeded(probe, null)])
  const ids: string[] = []
  for (let round = 0; round < 10; round++) {
    const { claimed } = await engine.claim(request(1_000))
    ids.push(...claimed.map(({ taskId }) => taskId))
  }
  expect(ids).toHaveLength(LANES)
  expect(new Set(ids).size).toBe(LANES)
})

test('a reset goes to every partition, and is told once', async () => {
  const fixture = await opened(PARTITIONS)
  const { engine, request } = fixture
  const leases = await runningIn(fixture, [1, 2])
  await engine.settle(leases.map((lease) => failing(lease)))
  expect((await engine.claim(request(10))).claimed).toEqual([])
  expect(await engine.resetBreaker(NAME, BY)).toBe(true)
  expect(await engine.resetBreaker(NAME, BY)).toBe(false)
  expect((await engine.breakers()).items).toEqual([])
  expect((await claimAll(engine, request(10))).flat()).toHaveLength(2)
  const { entries } = await engine.journal.read()
  expect(entries.filter(({ type }) => type === 'breaker.closed')).toMatchObject([{ ...BY, data: { breaker: NAME } }])
})

test('C5: a parked attempt says nothing about its worker, in whichever partition', async () => {
  const fixture = await opened(PARTITIONS)
  const leases = await runningIn(fixture, [0, 1, 2])
  await fixture.engine.settle(leases.map((lease) => failing(lease)))
  expect((await fixture.engine.workers()).items).toMatchObject([{ recentOutcomes: 0, consecutiveFailures: 0 }])
})

test('C9: a retry quota holds for all partitions together', async () => {
  const fixture = await opened(PARTITIONS)
  const { clock, engine, request } = fixture
  const ids = [0, 1, 2].flatMap((place) => idsIn(place, 4))
  await engine.submit(ids.map((id) => spec(id)))
  const leases = (await claimAll(engine, request(20))).flat()
  expect(leases).toHaveLength(ids.length)
  const quota: RetryQuota = { name: 'printer', windowMs: 1_000, limit: 2, share: null }
  const decision = { kind: 'retry', delayMs: 100, reason: 'connection', rule: 'r', sentence: 'Again.' } as const
  await engine.settle(leases.map((lease) => failed(lease, REFUSED, decision, { quota })))
  const windows = new Map<number, number>()
  for (const { state } of (await engine.tasks({})).items) {
    if (state.status !== 'waiting') throw new Error('It does not wait.')
    const window = Math.floor(state.dueAt / quota.windowMs)
    windows.set(window, (windows.get(window) ?? 0) + 1)
    expect(state.quota).toBe(state.dueAt > clock.now() + 100 ? 'printer' : null)
  }
  // What is over waits in the next window, no longer than one.
  const first = Math.floor(clock.now() / quota.windowMs)
  expect([...windows].toSorted()).toEqual([
    [first, 2],
    [first + 1, 10],
  ])
})

test('C9: windows that are past are removed, and the counts of a tenant go when it has no more retries', async () => {
  const { clock, engine, request, raw } = await opened()
  const quota: RetryQuota = { name: 'printer', windowMs: 1_000, limit: 1, share: null }
  const decision = { kind: 'retry', delayMs: 0, reason: 'connection', rule: 'r', sentence: 'Again.' } as const
  const counts = raw.key('windows:1000 printer\nacme')
  for (const round of [0, 1, 2, 3]) {
    await engine.submit([0, 1, 2].map((index) => spec(`t${round}-${index}`, { tenant: tenantId('acme') })))
    const leases = (await engine.claim({ ...request(20) })).claimed
    await engine.settle(leases.map((lease) => failed(lease, REFUSED, decision, { quota })))
    expect(Number(await raw.command('HLEN', counts))).toBeLessThanOrEqual(2)
    clock.jump(1_000)
  }
  for (const key of [counts, raw.key('windowed:1000 printer\nacme')]) {
    expect(Number(await raw.command('PTTL', key))).toBeGreaterThan(0)
  }
})
