import { actionName, type Engine, poolName, seededRandom, systemClock, taskId, tenantId, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startCluster } from '@reprise/test-servers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Link, openLink } from '../src/link/link.ts'
import {
  BY,
  dyingLink,
  engineOn,
  idsIn,
  PARTITIONS,
  partitionsOn,
  placeOf,
  registered,
  runAll,
  spec,
  specs,
  stallingLink,
} from './partitions-fixture.ts'

const cluster = await startCluster()
let link: Link
let stores = 0

beforeAll(async () => {
  link = await openLink({ url: cluster.urls, clock: systemClock, random: seededRandom(1) })
})
afterAll(async () => {
  await link.close()
  await cluster.stop()
})

const STEPS = 40

/** Claims until nothing more comes; answers how many run in all. */
async function claimAll(engine: Engine, name = 'all'): Promise<number> {
  const request = await registered(engine, name)
  while ((await engine.claim(request(100))).claimed.length > 0);
  return (await engine.counts()).running
}

describe('limits in a store with several partitions', () => {
  it.each([1, 2, 4, 10])('let no more than %i run at once, and all in the end', async (concurrency) => {
    const prefix = `store-${stores++}`
    const engines = await Promise.all(
      Array.from({ length: 3 }, () => openRedisEngine({ url: cluster.urls, prefix, partitions: PARTITIONS })),
    )
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    const [engine] = engines
    await engine?.limit({ tenant: tenantId('default') }, concurrency, BY)
    // All tasks of one partition first: the slots have to follow the work.
    const tasks = [0, 1, 2].flatMap((place) => idsIn(place, 40))
    await engine?.submit(tasks.map((id) => spec(id)))
    const report = await runAll({ engines, total: tasks.length, concurrency: 5, runMs: () => Math.random() * 3 })
    expect(report.done.toSorted()).toEqual(tasks.toSorted())
    expect(report.most).toBeLessThanOrEqual(concurrency)
    expect(report.most).toBeGreaterThanOrEqual(Math.min(concurrency, 4))
  })

  it('serve all partitions by turns when there are fewer slots than partitions', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    await engine.limit({}, 1, BY)
    await engine.submit([0, 1, 2].flatMap((place) => idsIn(place, 20)).map((id) => spec(id)))
    const request = await registered(engine, 'w')
    const served = [0, 0, 0]
    let { claimed } = await engine.claim(request(5))
    for (let trip = 0; trip < 30; trip++) {
      expect(claimed.length).toBeLessThanOrEqual(1)
      for (const lease of claimed) served[placeOf(lease.taskId)] = (served[placeOf(lease.taskId)] ?? 0) + 1
      const settlements = claimed.map((ref) => ({ kind: 'succeeded', ref, result: null }) as const)
      claimed = (await engine.settleAndClaim(settlements, request(5))).claimed
    }
    expect(Math.min(...served)).toBeGreaterThanOrEqual(6)
  })

  it('move slots to where the work is', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    await engine.limit({}, 9, BY)
    await engine.submit(idsIn(1, 20).map((id) => spec(id)))
    expect(await claimAll(engine)).toBe(9)
    const [view] = (await engine.lanes()).items
    expect(view?.gates).toEqual([{ kind: 'concurrency', scope: {}, running: 9, concurrency: 9, rank: 'platform' }])
    const waiting = (await engine.tasks({ status: 'queued', limit: 1 })).items[0]
    expect((await engine.explain(waiting?.id ?? taskId('none')))?.gates).toMatchObject([
      { kind: 'concurrency', running: 9, concurrency: 9 },
    ])
  })

  it('can be lowered below what runs, raised and lifted', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    await engine.submit(specs(60))
    const request = await registered(engine, 'w')
    const { claimed } = await engine.claim(request(12))
    await engine.limit({}, 5, BY)
    expect(await claimAll(engine)).toBe(12)
    const end = (from: number, to: number) =>
      engine.settle(claimed.slice(from, to).map((ref) => ({ kind: 'succeeded', ref, result: null })))
    await end(0, 7)
    expect(await claimAll(engine)).toBe(5)
    await end(7, 9)
    expect(await claimAll(engine)).toBe(5)
    await engine.limit({}, 8, BY)
    expect(await claimAll(engine)).toBe(8)
    await engine.limit({}, 2, BY)
    expect(await claimAll(engine)).toBe(8)
    await engine.limit({}, null, BY)
    expect(await claimAll(engine)).toBe(51)
    const types = (await engine.journal.read()).entries.filter(({ type }) => type === 'lanes.limited')
    expect(types.map(({ data }) => data.concurrency)).toEqual([5, 8, 2, null])
    const store = partitionsOn(link, `store-${stores - 1}`)
    expect(await store.each((it) => it.command('HLEN', it.key('limits')))).toEqual([0, 0, 0])
  })

  it('several of them hold at the same time', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    await engine.limit({}, 6, BY)
    await engine.limit({ pool: poolName('a') }, 3, BY)
    await engine.limit({ action: actionName('render') }, 4, BY)
    const inA = { pool: poolName('a') }
    await engine.submit([...Array(20).keys()].map((n) => spec(`a${n}`, inA)))
    await engine.submit([...Array(20).keys()].map((n) => spec(`b${n}`, { ...inA, action: actionName('other') })))
    await engine.submit([...Array(20).keys()].map((n) => spec(`c${n}`, { action: actionName('other') })))
    const { epoch } = await engine.register({
      worker: workerId('w'),
      pools: [poolName('a'), poolName('default')],
      actions: null,
      host: 'here',
      version: '1',
      runtimes: [],
      endpoint: null,
    })
    const request = { worker: workerId('w'), epoch, pools: [poolName('a'), poolName('default')], actions: null }
    for (let times = 0; times < 10; times++) await engine.claim({ ...request, limit: 50, leaseMs: 30_000 })
    expect((await engine.counts()).running).toBe(6)
    expect((await engine.counts({ pool: poolName('a') })).running).toBe(3)
  })

  it('wake whoever waits for a slot that another pool frees in another partition', async () => {
    const engine = await openRedisEngine({ url: cluster.urls, prefix: `store-${stores++}`, partitions: PARTITIONS })
    onTestFinished(() => engine.close())
    const tenant = tenantId('acme')
    await engine.limit({ tenant }, 1, BY)
    const [here = ''] = idsIn(0, 1, 'here')
    const [there = ''] = idsIn(2, 1, 'there')
    const request = await registered(engine, 'w')
    await engine.submit([spec(here, { tenant })])
    const [lease] = (await engine.claim(request())).claimed
    const other = poolName('other')
    await engine.submit([spec(there, { tenant, pool: other })])
    let since = engine.mark()
    // The first waits come back at once: they learn how the pool stands.
    for (let round = 0; round < 3; round++) {
      since = engine.mark()
      expect((await engine.claim({ ...request(), pools: [other] })).claimed).toEqual([])
      await engine.wait({ pools: [other], since }, 100)
    }
    const startedAt = performance.now()
    const woken = engine.wait({ pools: [other], since }, 20_000)
    if (lease !== undefined) await engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    await woken
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect((await engine.claim({ ...request(), pools: [other] })).claimed).toHaveLength(1)
  })

  it('do not swap the slots of two of them for ever', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const engine = engineOn(link, `store-${stores++}`)
      const acme = { tenant: tenantId('acme') }
      await engine.submit([spec(`a${seed}`, acme), spec(`b${seed}`, acme), spec(`c${seed}`), spec(`d${seed}`)])
      await engine.limit({ pool: poolName('default') }, 3, BY)
      await engine.limit(acme, 1, BY)
      expect((await engine.claim((await registered(engine, 'w'))(9))).claimed).toHaveLength(3)
    }
  })

  it('hold for reservations, which get slots from other partitions too', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    await engine.limit({}, 3, BY)
    const ids = idsIn(2, 4)
    const reserve = (id: string) =>
      engine.reserve({ task: spec(id), attempt: 1, maxRetries: 3, worker: workerId('w'), leaseMs: 10_000 })
    for (const id of ids.slice(0, 3)) expect((await reserve(id)).taskId).toBe(id)
    await expect(reserve(ids[3] ?? '')).rejects.toThrow(/3/)
  })

  it('are in force after whoever set them died at any step, once somebody sweeps', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let step = 0; step < STEPS; step++) {
        const prefix = `store-${stores++}`
        const engine = engineOn(link, prefix)
        await engine.submit(specs(30))
        await engine.claim((await registered(engine, 'w'))(2))
        const setter = engineOn(dyingLink(link, step, moment), prefix)
        const isSet = await setter.limit({}, 5, BY).then(
          () => true,
          () => false,
        )
        const { entries } = await engine.journal.read()
        const isNoted = entries.some(({ type }) => type === 'lanes.limited')
        expect(isNoted || !isSet).toBe(true)
        await engine.expired(10)
        expect(await claimAll(engine)).toBe(isNoted ? 5 : 30)
        if (isSet) break
      }
    }
  })

  it('are gone after whoever lifted them died at any step, once somebody sweeps', async () => {
    for (let step = 0; step < STEPS; step++) {
      const prefix = `store-${stores++}`
      const engine = engineOn(link, prefix)
      await engine.submit(specs(30))
      await engine.limit({}, 5, BY)
      const isSet = await engineOn(dyingLink(link, step, 'after'), prefix)
        .limit({}, null, BY)
        .then(
          () => true,
          () => false,
        )
      await engine.expired(10)
      expect(await claimAll(engine)).toBe(30)
      if (isSet) break
    }
  })

  it('lose no slot and grant none twice when whoever moves them dies at any step', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let step = 0; step < STEPS; step++) {
        const prefix = `store-${stores++}`
        const engine = engineOn(link, prefix)
        await engine.limit({}, 7, BY)
        await engine.submit(idsIn(1, 20).map((id) => spec(id)))
        const request = await registered(engine, 'w')
        const mover = engineOn(dyingLink(link, step, moment), prefix)
        const isDone = await mover.claim(request(20)).then(
          () => true,
          () => false,
        )
        expect((await engine.counts()).running).toBeLessThanOrEqual(7)
        expect(await claimAll(engine)).toBe(7)
        if (isDone && step > 10) break
      }
    }
  })

  it('grant no slot twice when movers and setters hold each other up at any step', async () => {
    for (let step = 0; step < STEPS; step++) {
      const prefix = `store-${stores++}`
      const engine = engineOn(link, prefix)
      await engine.limit({}, 7, BY)
      await engine.submit([1, 2].flatMap((place) => idsIn(place, 10)).map((id) => spec(id)))
      const request = await registered(engine, 'w')
      const { link: stalling, stalled, goOn } = stallingLink(link, step)
      const late = engineOn(stalling, prefix).claim(request(20))
      await Promise.race([stalled, late])
      if (step % 2 === 0) await engine.limit({}, 4, BY)
      await engine.claim(request(20))
      goOn()
      await late
      const most = step % 2 === 0 ? 4 : 7
      // What ran when the limit was lowered may run on.
      expect((await engine.counts()).running).toBeLessThanOrEqual(7)
      const tasks = (await engine.tasks({ status: 'running' })).items
      const leases = tasks.flatMap(({ id, state }) =>
        state.status === 'running' ? [{ taskId: id, attempt: state.attempt, token: state.token }] : [],
      )
      await engine.settle(leases.map((ref) => ({ kind: 'succeeded', ref, result: null })))
      expect(await claimAll(engine)).toBe(most)
    }
  })
})
