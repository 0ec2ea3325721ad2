// What several processes must agree on though each remembers something of its own: two engines on one file stand for them.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type Claimed,
  DEFAULT_BREAKER,
  failed,
  observedFailure,
  type Priority,
  type Settlement,
  succeeded,
  taskId,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { openSqliteEngine, type SqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { claimer, spec, specs, temporaryFolder } from './fixture.ts'

const NOW = Date.UTC(2030, 0, 1)
const BREAKER = { name: 'dependency:mail', settings: { ...DEFAULT_BREAKER, minFailures: 2, openMs: 1_000 } }

/** A failure that counts for the breaker. */
function outage(lease: Claimed): Settlement {
  const failure = observedFailure('connection', 'The mail server is down.', lease.snapshot.action)
  const decision = { rule: failure.rule, sentence: 'In a test.', reason: failure.reason } as const
  return failed(
    lease,
    failure,
    { ...decision, kind: 'retry', delayMs: 60_000 },
    { outage: { breakers: [BREAKER], park: { ...decision, kind: 'park' } } },
  )
}

async function twoEngines() {
  const path = join(temporaryFolder(), 'store.db')
  const clock = new VirtualClock(NOW)
  const open = async (): Promise<SqliteEngine> => {
    const engine = await openSqliteEngine({ path, clock, durability: 'fast' })
    onTestFinished(() => engine.close())
    return engine
  }
  return { path, clock, here: await open(), there: await open() }
}

describe('two processes on one file', () => {
  it('see each other’s breakers: opened by one, it holds the other; let through there, it is half open here', async () => {
    const { clock, here, there } = await twoEngines()
    const mine = await claimer(here, 'here', 2)
    const yours = await claimer(there, 'there', 10)
    await here.submit(specs(7))
    const { claimed } = await here.claim(mine)
    // The other process has looked at the store while there was no breaker.
    expect((await there.claim({ ...yours, limit: 1 })).claimed).toHaveLength(1)
    await here.settle(claimed.map(outage))
    expect(await there.claim(yours)).toMatchObject({ claimed: [], nextDueAt: NOW + 1_000 })
    await clock.advance(1_000)
    // One ran before it became half open; three more are probes.
    const probes = await there.claim(yours)
    expect(probes.claimed).toHaveLength(DEFAULT_BREAKER.probes)
    expect((await here.breakers()).items).toMatchObject([{ name: BREAKER.name, state: { status: 'half_open' } }])
    expect((await here.claim(mine)).claimed).toEqual([])
    await there.settle(probes.claimed.map((lease) => succeeded(lease, null)))
    expect((await here.claim(mine)).claimed).not.toHaveLength(0)
  })

  it('count failures together', async () => {
    const { here, there } = await twoEngines()
    await here.submit(specs(2))
    const [first] = (await here.claim(await claimer(here, 'here', 1))).claimed
    const [second] = (await there.claim(await claimer(there, 'there', 1))).claimed
    if (first === undefined || second === undefined) throw new Error('Nothing was claimed.')
    expect(await here.settle([outage(first)])).toMatchObject([{ status: 'waiting' }])
    expect(await there.settle([outage(second)])).toMatchObject([{ status: 'queued' }])
    expect(await there.resetBreaker(BREAKER.name, { actor: 'test', reason: 'test' })).toBe(true)
    expect((await here.claim(await claimer(here, 'here', 1))).claimed).toHaveLength(1)
  })

  it('collect what the other one assigned, though the inboxes were empty when they last looked', async () => {
    const { here, there } = await twoEngines()
    const dispatcher = await claimer(here, 'dispatcher', 10)
    const worker = await claimer(there, 'worker', 10)
    for (const id of ['one', 'two']) {
      await here.submit([spec(id)])
      const [lease] = (await here.claim({ ...dispatcher, stage: 'dispatch' })).claimed
      if (lease === undefined) throw new Error('Nothing was claimed.')
      expect(await here.assign([{ ...lease, worker: worker.worker, ttlMs: 5_000 }])).toEqual([{ outcome: 'assigned' }])
      const { claimed } = await there.claim(worker)
      expect(claimed.map((collected) => collected.taskId)).toEqual([id])
      expect((await there.claim(worker)).claimed).toEqual([])
      expect((await here.claim(dispatcher)).claimed).toEqual([])
    }
  })

  it('keep nothing of a breaker that is forgotten, nor of quota windows that are past', async () => {
    const { path, clock, here, there } = await twoEngines()
    await here.submit(specs(3))
    const { claimed } = await here.claim(await claimer(here, 'here', 3))
    const [first, second, third] = claimed
    if (first === undefined || second === undefined || third === undefined) throw new Error('Too few were claimed.')
    const quota = { name: 'retries', windowMs: 1_000, limit: 1, share: null }
    await here.settle([{ ...outage(first), quota } as Settlement])
    const db = new DatabaseSync(path)
    onTestFinished(() => db.close())
    const rows = (table: string) => db.prepare(`SELECT count(*) AS count FROM ${table}`).get()
    // The tenant's own, and that of all tenants.
    expect([rows('breakers'), rows('quota_windows')]).toEqual([{ count: 2 }, { count: 1 }])
    await clock.advance(120_000)
    expect((await here.breakers()).items).toEqual([])
    await there.settle([succeeded(second, null)])
    expect(rows('breakers')).toEqual({ count: 0 })
    await here.retain({})
    expect(rows('quota_windows')).toEqual({ count: 0 })
  })
})

describe('a group that is rolled back', () => {
  it('leaves no trace in what the process remembers of breakers', async () => {
    const clock = new VirtualClock(NOW)
    const engine = await openSqliteEngine({ path: ':memory:', clock })
    onTestFinished(() => engine.close())
    await engine.submit([spec('one')])
    const { claimed } = await engine.claim(await claimer(engine, 'w', 1))
    const settling = engine.settle(claimed.map(outage))
    // Breaks its transaction, which is made again without it.
    const broken = engine.submit([spec('broken', { priority: 10 as Priority })])
    await expect(broken).rejects.toMatchObject({ code: 'REPRISE_STORE_FAILED' })
    expect(await settling).toMatchObject([{ status: 'waiting' }])
    const [breaker] = (await engine.breakers()).items
    expect(breaker?.buckets).toMatchObject([{ ok: 0, failed: 1 }])
    expect(await engine.task(taskId('one'))).toMatchObject({ failures: 1, parks: 0 })
  })
})

describe('an inbox', () => {
  it('wakes the worker it belongs to, also when it was filled between looking and waiting', async () => {
    const engine = await openSqliteEngine({ path: ':memory:', clock: new VirtualClock(NOW) })
    onTestFinished(() => engine.close())
    const dispatcher = await claimer(engine, 'dispatcher', 10)
    const { worker } = await claimer(engine, 'worker', 10)
    await engine.submit(specs(2))
    const { claimed } = await engine.claim({ ...dispatcher, stage: 'dispatch' })
    const since = engine.mark()
    const woken: string[] = []
    const other = new AbortController()
    const waits = [
      engine.wait({ inbox: worker }, 3_600_000).then(() => woken.push('worker')),
      engine.wait({ inbox: workerId('somebody') }, 3_600_000, other.signal).then(() => woken.push('somebody')),
    ]
    await engine.assign(claimed.map((lease) => ({ ...lease, worker, ttlMs: 5_000 })))
    await waits[0]
    expect(woken).toEqual(['worker'])
    await engine.wait({ inbox: worker, since }, 3_600_000)
    other.abort()
    await Promise.all(waits)
  })
})
