// Directed dispatch: each task goes to one worker; stale picks, no workers, and what is counted.

import {
  DEFAULT_POOL,
  type Engine,
  type PoolName,
  PREFERRED_WORKER_LABEL,
  seededRandom,
  silentLogger,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import {
  createDispatch,
  type DispatchRound,
  dispatchOnce,
  HEARTBEAT_LAG_SECONDS,
  RecentAssignments,
  registrySnapshot,
  STALE_WORKER_RETRY_TOTAL,
  sweepOnce,
} from '@reprise/orchestrator'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  beaten,
  collected,
  joined,
  keepingMeter,
  LEASE_MS,
  openStore,
  type Store,
  submitted,
  taskOf,
} from './fixture.ts'

const DISPATCHER = 'd1'

async function rounds({ engine, clock }: Store, over: Partial<DispatchRound> = {}) {
  const epoch = await joined(engine, DISPATCHER, { pools: [], actions: [] })
  const meter = keepingMeter()
  const round: DispatchRound = {
    engine,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    meter,
    worker: DISPATCHER as WorkerId,
    epoch,
    pools: [DEFAULT_POOL],
    limit: 100,
    leaseMs: 15_000,
    inboxTtlMs: 30_000,
    maxDispatchRetries: 3,
    jitterMs: 0,
    backoff: { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 30_000, jitter: 0 },
    recent: new RecentAssignments(clock),
    ...over,
  }
  return { meter, dispatch: (more: Partial<DispatchRound> = {}) => dispatchOnce({ ...round, ...more }) }
}

/** The engine with a registry that lags behind: it shows these, whatever became of them. */
function lagging(engine: Engine, seen: readonly (readonly WorkerView[])[]): Engine & { readonly looks: () => number } {
  let looks = 0
  return {
    ...engine,
    looks: () => looks,
    workers: async () => ({ items: seen[Math.min(looks++, seen.length - 1)] ?? [], next: null }),
  }
}

describe('C6: picking', () => {
  test('a task goes into the inbox of the best worker, which collects it with its next claim', async () => {
    const store = await openStore()
    const { engine } = store
    const busy = await joined(engine, 'busy')
    await beaten(engine, 'busy', busy, { inFlight: 5 })
    const idle = await joined(engine, 'idle')
    const id = await submitted(engine, 't1')
    const { dispatch } = await rounds(store)
    expect(await dispatch()).toMatchObject({ assigned: 1, stale: 0 })
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', stage: 'inbox', worker: 'idle' })
    expect(await collected(engine, 'busy', busy)).toEqual([])
    expect(await collected(engine, 'idle', idle)).toMatchObject([{ taskId: id, attempt: 1 }])
    expect((await taskOf(engine, id)).state).toMatchObject({ stage: 'run' })
  })

  test('a batch is spread by load, though no heartbeat tells of it yet', async () => {
    const store = await openStore()
    const { engine } = store
    for (const name of ['a', 'b', 'c']) await joined(engine, name)
    for (let number = 0; number < 30; number++) await submitted(engine, `t${number}`)
    const { dispatch } = await rounds(store)
    expect((await dispatch()).assigned).toBe(30)
    const { items } = await engine.tasks({ limit: 100 })
    const of = (worker: string) => items.filter(({ state }) => 'worker' in state && state.worker === worker).length
    expect([of('a'), of('b'), of('c')]).toEqual([10, 10, 10])
  })

  test('C7: an unhealthy worker gets nothing, and a degraded one only if there is no other', async () => {
    const store = await openStore()
    const { engine } = store
    const sick = await joined(engine, 'sick')
    await beaten(engine, 'sick', sick, { queueDepth: 60 })
    const bad = await joined(engine, 'bad')
    await beaten(engine, 'bad', bad, { queueDepth: 200 })
    const { dispatch } = await rounds(store)
    const first = await submitted(engine, 't1')
    await dispatch()
    expect((await taskOf(engine, first)).state).toMatchObject({ worker: 'sick' })
    const well = await joined(engine, 'well')
    await beaten(engine, 'well', well, { inFlight: 40 })
    const second = await submitted(engine, 't2')
    await dispatch()
    expect((await taskOf(engine, second)).state).toMatchObject({ worker: 'well' })
  })
})

describe('D2: a stale pick', () => {
  async function staleStore(names: readonly string[]) {
    const store = await openStore()
    for (const name of names) await joined(store.engine, name)
    const seen = (await registrySnapshot(store.engine)).filter(({ worker }) => worker !== DISPATCHER)
    // They go silent, and the registry that the dispatcher sees does not know it yet.
    store.clock.jump(30_000)
    const fresh = seen.map((view) => ({ ...view, lastBeatAt: store.clock.now() }))
    return { store, fresh }
  }

  test('D3, D5, D7: three re-picks, each from a fresh snapshot without the stale ones; then it is put off as stale_worker', async () => {
    const { store, fresh } = await staleStore(['w1', 'w2', 'w3', 'w4', 'w5'])
    const engine = lagging(store.engine, [fresh])
    const id = await submitted(store.engine, 't1', { labels: { [PREFERRED_WORKER_LABEL]: 'w3' } })
    const lines: unknown[] = []
    const log = { ...silentLogger, info: (...line: unknown[]) => void lines.push(line) }
    const { dispatch, meter } = await rounds(store, { engine, log })
    const report = await dispatch()
    // D7: the words and fields that operators look for.
    expect(lines).toEqual(
      ['w3', 'w1', 'w2'].map((worker, index) => [
        'stale worker detected, retrying dispatch',
        { topic: 'work', worker, attempt: index + 1, limit: 3, task: id, execution: 1 },
      ]),
    )
    expect(report).toMatchObject({ assigned: 0, stale: 4, releasedAs: { stale_worker: 1, no_workers: 0 } })
    expect(engine.looks()).toBe(4)
    // D4: counted at each re-pick, with topic and worker.
    expect(meter.counted).toEqual(
      ['w3', 'w1', 'w2'].map((worker) => ({ name: STALE_WORKER_RETRY_TOTAL, labels: { topic: 'work', worker } })),
    )
    const task = await taskOf(store.engine, id)
    expect(task).toMatchObject({ attempt: 0, failures: 0, losses: 0, deferrals: 1 })
    expect(task.state).toMatchObject({ status: 'waiting', reason: 'stale_worker', dueAt: store.clock.now() + 1_000 })
  })

  test('one stale worker and no other: the loop still looks three times more', async () => {
    const { store, fresh } = await staleStore(['w1'])
    const engine = lagging(store.engine, [fresh])
    const id = await submitted(store.engine, 't1')
    const { dispatch, meter } = await rounds(store, { engine })
    expect(await dispatch()).toMatchObject({ stale: 1, releasedAs: { stale_worker: 1 } })
    expect(meter.counted).toHaveLength(3)
    expect((await taskOf(store.engine, id)).state).toMatchObject({ reason: 'stale_worker' })
  })

  test('D5: success when a fresh worker appears in the middle of the loop', async () => {
    const { store, fresh } = await staleStore(['w1'])
    const id = await submitted(store.engine, 't1', { labels: { [PREFERRED_WORKER_LABEL]: 'w1' } })
    let looks = 0
    const engine: Engine = {
      ...store.engine,
      async workers(page) {
        looks++
        if (looks === 3) await joined(store.engine, 'w2')
        return looks < 3 ? { items: fresh, next: null } : store.engine.workers(page)
      },
    }
    const { dispatch, meter } = await rounds(store, { engine })
    expect(await dispatch()).toMatchObject({ assigned: 1, stale: 1, releasedAs: { stale_worker: 0 } })
    expect(meter.counted).toHaveLength(2)
    expect((await taskOf(store.engine, id)).state).toMatchObject({ stage: 'inbox', worker: 'w2' })
  })

  test('a stale worker that is heard of again may be picked again', async () => {
    const { store, fresh } = await staleStore(['w1'])
    const id = await submitted(store.engine, 't1')
    let looks = 0
    const engine: Engine = {
      ...store.engine,
      async workers(page) {
        if (looks++ === 0) return { items: fresh, next: null }
        await joined(store.engine, 'w1')
        return store.engine.workers(page)
      },
    }
    const { dispatch } = await rounds(store, { engine })
    expect(await dispatch()).toMatchObject({ assigned: 1, stale: 1 })
    expect((await taskOf(store.engine, id)).state).toMatchObject({ worker: 'w1' })
  })

  test('maxDispatchRetries 0 means no second pick', async () => {
    const { store, fresh } = await staleStore(['w1', 'w2'])
    await submitted(store.engine, 't1')
    const { dispatch, meter } = await rounds(store, { engine: lagging(store.engine, [fresh]), maxDispatchRetries: 0 })
    expect(await dispatch()).toMatchObject({ stale: 1, releasedAs: { stale_worker: 1 } })
    expect(meter.counted).toEqual([])
  })

  test('with a jitter, re-picks are apart', async () => {
    const { store, fresh } = await staleStore(['w1'])
    await submitted(store.engine, 't1')
    const { dispatch } = await rounds(store, { engine: lagging(store.engine, [fresh]), jitterMs: 50 })
    const startedAt = store.clock.now()
    let report: unknown = null
    const done = dispatch().then((result) => {
      report = result
    })
    await store.clock.advance(1)
    expect(report).toBeNull()
    await store.clock.advance(150)
    await done
    expect(report).toMatchObject({ releasedAs: { stale_worker: 1 } })
    expect(store.clock.now() - startedAt).toBeLessThanOrEqual(151)
  })
})

describe('D3: no workers', () => {
  test('is another reason, is found at once, and backs off by how often it happened', async () => {
    const store = await openStore()
    const { engine, clock } = store
    const id = await submitted(engine, 't1')
    const { dispatch, meter } = await rounds(store)
    for (const delayMs of [1_000, 2_000, 4_000]) {
      expect((await dispatch()).releasedAs).toEqual({ no_workers: 1, stale_worker: 0 })
      expect((await taskOf(engine, id)).state).toMatchObject({
        status: 'waiting',
        reason: 'no_workers',
        dueAt: clock.now() + delayMs,
      })
      clock.jump(delayMs)
    }
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 0, failures: 0, deferrals: 3 })
    expect(meter.counted).toEqual([])
  })

  test('a worker of another pool, or for other actions, or about to stop, is none', async () => {
    const store = await openStore()
    const { engine } = store
    await joined(engine, 'elsewhere', { pools: ['gpu' as PoolName] })
    await joined(engine, 'other', { actions: [] })
    await beaten(engine, 'leaving', await joined(engine, 'leaving'), { draining: true })
    await submitted(engine, 't1')
    const { dispatch } = await rounds(store)
    expect((await dispatch()).releasedAs.no_workers).toBe(1)
  })
})

describe('D1: inboxes', () => {
  test('what lies too long, or lies with a worker that went silent, is taken back and charged to nobody', async () => {
    const store = await openStore()
    const { engine, clock } = store
    const epoch = await joined(engine, 'w1')
    const id = await submitted(engine, 't1')
    const { dispatch } = await rounds(store, { inboxTtlMs: 10_000 })
    await dispatch()
    clock.jump(9_999)
    await beaten(engine, 'w1', epoch)
    expect((await sweepOnce(engine, seededRandom(1))).overdue).toBe(0)
    clock.jump(1)
    expect((await sweepOnce(engine, seededRandom(1))).settled).toBe(1)
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 0, failures: 0, losses: 0, state: { status: 'queued' } })
    const [entry] = (await engine.journal.read({ taskId: id })).entries
    expect(entry).toMatchObject({ type: 'execution.released', actor: 'worker:w1' })
    // Once more, and now the worker falls silent before the time in the inbox is over.
    await dispatch({ inboxTtlMs: 3_600_000 })
    clock.jump(30_000)
    expect((await sweepOnce(engine, seededRandom(1))).settled).toBe(1)
    expect((await taskOf(engine, id)).state.status).toBe('queued')
  })
})

describe('D2: whoever lets a task lie', () => {
  test('is not asked again while there is somebody else, though preferred', async () => {
    const store = await openStore()
    const { engine, clock } = store
    const lazy = await joined(engine, 'lazy')
    const id = await submitted(engine, 't1', { labels: { [PREFERRED_WORKER_LABEL]: 'lazy' } })
    const { dispatch } = await rounds(store, { inboxTtlMs: 5_000 })
    const workerOf = async () => (await taskOf(engine, id)).state
    for (const expected of ['lazy', 'lazy', 'other']) {
      if (expected === 'other') await joined(engine, 'other')
      await dispatch()
      expect(await workerOf()).toMatchObject({ stage: 'inbox', worker: expected })
      clock.jump(5_000)
      await beaten(engine, 'lazy', lazy)
      await sweepOnce(engine, seededRandom(1))
    }
  })
})

describe('D4: heartbeat lag', () => {
  test('is observed at each look, of the workers of directed pools', async () => {
    const store = await openStore()
    await joined(store.engine, 'w1')
    await submitted(store.engine, 't1')
    const { dispatch, meter } = await rounds(store)
    await dispatch()
    expect(meter.observed).toEqual(
      ['p50', 'p90', 'p99', 'max'].map((statistic) => ({ name: HEARTBEAT_LAG_SECONDS, labels: { statistic } })),
    )
  })
})

test('D6: tasks of a pool that is not directed cost no look at the registry and no assignment', async () => {
  const store = await openStore()
  const { engine } = store
  const calls: string[] = []
  const watched: Engine = {
    ...engine,
    workers: (page) => {
      calls.push('workers')
      return engine.workers(page)
    },
    assign: (assignments) => {
      calls.push('assign')
      return engine.assign(assignments)
    },
  }
  const { dispatch } = await rounds(store, { engine: watched })
  const pools = ['pulled' as PoolName]
  const puller = {
    worker: 'puller' as WorkerId,
    epoch: await joined(engine, 'puller', { pools }),
    pools,
    actions: null,
  }
  for (let number = 0; number < 10; number++) {
    await submitted(engine, `pulled-${number}`, { pool: 'pulled' as PoolName })
    expect((await dispatch()).claim.claimed).toEqual([])
    expect((await watched.claim({ ...puller, limit: 1, leaseMs: LEASE_MS })).claimed).toHaveLength(1)
  }
  expect(calls).toEqual([])
  // A directed task pays for both, and the watch sees it.
  await joined(engine, 'w1')
  await submitted(engine, 'directed')
  expect(await dispatch()).toMatchObject({ assigned: 1 })
  expect(calls).toEqual(['workers', 'assign'])
})

describe('the dispatcher as a service', () => {
  test('hands tasks over as they come, and again after it was forgotten or its id was taken', async () => {
    const { engine, clock } = await openStore()
    const epoch = await joined(engine, 'w1')
    const service = createDispatch({ engine, clock, random: seededRandom(1), pools: ['default'], id: DISPATCHER })
    await service.start()
    onTestFinished(() => service.stop())
    await clock.advance(10)
    const collect = async (id: string): Promise<string[]> => {
      await submitted(engine, id)
      await beaten(engine, 'w1', epoch)
      await clock.advance(2_000)
      return (await collected(engine, 'w1', epoch)).map(({ taskId }) => taskId)
    }
    expect(await collect('t1')).toEqual(['t1'])
    const view = (await registrySnapshot(engine)).find(({ worker }) => worker === DISPATCHER)
    await engine.deregister(DISPATCHER as WorkerId, view?.epoch ?? 0)
    expect(await collect('t2')).toEqual(['t2'])
    await joined(engine, DISPATCHER)
    expect(await collect('t3')).toEqual(['t3'])
    await service.stop()
    expect((await registrySnapshot(engine)).map(({ worker }) => worker)).toEqual(['w1'])
  })

  test('C5: it is never taken for a worker itself', async () => {
    const { engine, clock } = await openStore()
    const service = createDispatch({ engine, clock, random: seededRandom(1), pools: ['default'] })
    await service.start()
    onTestFinished(() => service.stop())
    const id = await submitted(engine, 't1')
    await clock.advance(100)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'waiting', reason: 'no_workers' })
  })

  test('two of them share the work: each task is handed over once', async () => {
    const { engine, clock } = await openStore()
    const epoch = await joined(engine, 'w1')
    for (let number = 0; number < 50; number++) await submitted(engine, `t${number}`)
    const services = [1, 2].map((seed) =>
      createDispatch({ engine, clock, random: seededRandom(seed), pools: ['default'] }),
    )
    for (const service of services) {
      await service.start()
      onTestFinished(() => service.stop())
    }
    await clock.advance(1_000)
    expect(await collected(engine, 'w1', epoch)).toHaveLength(50)
  })
})
