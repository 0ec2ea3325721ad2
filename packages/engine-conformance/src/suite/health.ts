// Health by evidence: an unhealthy worker gets nothing, a degraded one little, and the last worker of a pool goes on.

import {
  CLAIMS_NOTHING,
  DEFAULT_HEALTH_THRESHOLDS,
  type HealthThresholds,
  succeeded,
  tenantId,
  workerId,
} from '@reprise/core'
import { SERVED_MS } from '@reprise/core/engine'
import { expect } from 'vitest'
import { dead, failure, IDLE, pool, START, type Store, type TestWorker } from './fixture.ts'
import { subject } from './subject.ts'

const strict: { readonly healthThresholds: HealthThresholds } = {
  healthThresholds: { ...DEFAULT_HEALTH_THRESHOLDS, failuresDegraded: 1, failuresUnhealthy: 2 },
}

/** One tenant counts for two of four failures, which is not too many for anything. */
const tolerant: { readonly healthThresholds: HealthThresholds; readonly ordered: boolean } = {
  healthThresholds: { ...DEFAULT_HEALTH_THRESHOLDS, failuresDegraded: 3, failuresUnhealthy: 4 },
  ordered: true,
}

const backlog = Array.from({ length: 6 }, (_, index) => ({ id: `t${index}` }))

async function failOnce(
  store: Store,
  worker: TestWorker,
  reason: Parameters<typeof failure>[0] = 'connection',
): Promise<void> {
  const lease = await worker.claimOne()
  await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(reason), decision: dead() }])
}

/** One of two workers, which has served one tenant well, and on which five tasks of another have failed. */
async function servesOneOfTwo(store: Store): Promise<TestWorker> {
  const worker = await store.worker('w1')
  await store.worker('w2')
  await store.submit({ id: 'fine', tenant: tenantId('quiet') })
  await store.engine.settle([succeeded(await worker.claimOne(), null)])
  await store.submit(...backlog.map((task) => ({ ...task, tenant: tenantId('loud') })))
  for (let times = 0; times < 5; times++) await failOnce(store, worker)
  return worker
}

const viewOf = async (store: Store, name: string) =>
  (await store.engine.workers()).items.find(({ worker }) => worker === name)

export const health = subject('health', (check) => {
  check(
    'C5: a degraded worker gets one task at a time',
    async (store) => {
      const worker = await store.worker()
      await store.submit(...backlog)
      await failOnce(store, worker)
      expect(await worker.claim(5)).toMatchObject({ claimed: [{ attempt: 1 }], heldBack: 'degraded' })
    },
    strict,
  )

  check(
    'C5: an unhealthy worker gets nothing while another can go on',
    async (store) => {
      const worker = await store.worker('w1')
      const other = await store.worker('w2')
      await store.submit(...backlog)
      await failOnce(store, worker)
      await failOnce(store, worker)
      expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
      expect(await other.claimIds(5)).toHaveLength(4)
    },
    strict,
  )

  check(
    'the failures of one tenant don’t make a worker unhealthy that serves another one well',
    async (store) => {
      const worker = await servesOneOfTwo(store)
      expect(await viewOf(store, 'w1')).toMatchObject({
        consecutiveFailures: 5,
        failuresBy: [{ tenant: 'loud', inRow: 5, recent: 5 }],
        servedWell: [{ tenant: 'quiet', at: START }],
        health: { status: 'healthy' },
      })
      expect(await worker.claim(5)).toMatchObject({ claimed: [{}], heldBack: null })
    },
    tolerant,
  )

  check(
    'a worker on which the tasks of several tenants fail is found, and so is one that serves nobody else any more',
    async (store) => {
      const worker = await servesOneOfTwo(store)
      store.clock.jump(SERVED_MS)
      await worker.beat()
      await failOnce(store, worker)
      expect(await viewOf(store, 'w1')).toMatchObject({ health: { status: 'unhealthy' } })
      const other = await store.worker('w3')
      await store.submit({ id: 'good', tenant: tenantId('quiet') })
      await store.engine.settle([succeeded(await other.claimOne(), null)])
      await store.submit(...['c1', 'c2'].map((id) => ({ id, tenant: tenantId('loud') })))
      for (let times = 0; times < 2; times++) await failOnce(store, other)
      await store.submit(...['d1', 'd2'].map((id) => ({ id, tenant: tenantId('quiet') })))
      for (let times = 0; times < 2; times++) await failOnce(store, other)
      expect(await viewOf(store, 'w3')).toMatchObject({ health: { status: 'unhealthy' } })
    },
    tolerant,
  )

  check(
    'a failure that excuses its worker is neither a bad nor a good outcome of it',
    async (store) => {
      const worker = await store.worker('w1')
      await store.submit(...backlog)
      await failOnce(store, worker)
      for (let times = 0; times < 3; times++) {
        const lease = await worker.claimOne()
        const end = { failure: failure('timeout'), decision: dead(), excusesWorker: true } as const
        await store.engine.settle([{ kind: 'failed', ref: lease, ...end }])
      }
      expect(await viewOf(store, 'w1')).toMatchObject({ recentOutcomes: 1, recentFailures: 1, consecutiveFailures: 1 })
    },
    strict,
  )

  check(
    'the last worker of its pools goes on as a degraded one',
    async (store) => {
      const worker = await store.worker('w1', { pools: [pool('default')] })
      await store.worker('elsewhere', { pools: [pool('gpu')] })
      await store.submit(...backlog)
      await failOnce(store, worker)
      await failOnce(store, worker)
      expect(await worker.claim(5)).toMatchObject({ claimed: [{ attempt: 1 }], heldBack: 'degraded' })
      expect((await viewOf(store, 'w1'))?.health.status).toBe('unhealthy')
    },
    strict,
  )

  check(
    'a worker whose heartbeat is stale does not count as the one who can go on',
    async (store) => {
      const worker = await store.worker('w1')
      await store.worker('w2')
      await store.submit(...backlog)
      store.clock.jump(29_000)
      await failOnce(store, worker)
      await failOnce(store, worker)
      expect((await worker.claim(5)).heldBack).toBe('unhealthy')
      store.clock.jump(1_000)
      expect((await worker.claim(5)).heldBack).toBe('degraded')
    },
    strict,
  )

  check('C5: a worker with too much waiting inside it gets nothing, even when it is the last', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    await worker.beat({ queueDepth: 100 })
    expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    await worker.beat({ queueDepth: 50 })
    expect(await worker.claim(5)).toMatchObject({ claimed: [{ attempt: 1 }], heldBack: 'degraded' })
    await worker.beat({ queueDepth: 49 })
    expect(await worker.claim(5)).toMatchObject({ heldBack: null })
  })

  check(
    'C5: after the cool-down a worker may prove itself, and one success clears it',
    async (store) => {
      const worker = await store.worker('w1')
      await store.submit(...backlog)
      await failOnce(store, worker)
      await failOnce(store, worker)
      store.clock.jump(30_000)
      await store.worker('w2')
      const { claimed, heldBack } = await worker.claim(5)
      expect(heldBack).toBe('degraded')
      await store.engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
      expect((await worker.claim(5)).heldBack).toBe(null)
    },
    strict,
  )

  check('counts failures that blame the worker, and not those that are the task’s own fault', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    await failOnce(store, worker, 'connection')
    await failOnce(store, worker, 'validation')
    await failOnce(store, worker, 'unknown')
    expect(await viewOf(store, 'w1')).toMatchObject({
      consecutiveFailures: 2,
      recentOutcomes: 2,
      recentFailures: 2,
      lastFailureAt: START,
    })
  })

  check('a claim that takes something is a sign of life', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    store.clock.jump(40_000)
    expect((await viewOf(store, 'w1'))?.health).toEqual({ status: 'unhealthy', reasons: ['no heartbeat for 40 s'] })
    expect((await worker.claim(1)).heldBack).toBe(null)
    expect(await viewOf(store, 'w1')).toMatchObject({ lastBeatAt: START + 40_000, health: { status: 'healthy' } })
  })

  check(
    'an unhealthy worker’s claim still promotes what is due',
    async (store) => {
      const worker = await store.worker('w1')
      await store.worker('w2')
      await store.submit(...backlog.slice(0, 2), { id: 'later', delayMs: 1_000 })
      await failOnce(store, worker)
      await failOnce(store, worker)
      store.clock.jump(1_000)
      expect((await worker.claim(5)).heldBack).toBe('unhealthy')
      expect(await store.status('later')).toBe('queued')
    },
    strict,
  )

  check(
    'tells its thresholds, and that it does not know a worker',
    async ({ engine }) => {
      expect(engine.healthThresholds.failuresUnhealthy).toBe(2)
      expect((await engine.workers()).items).toEqual([])
      expect(await engine.beat({ ...IDLE, worker: workerId('w9'), epoch: 1 })).toEqual({ outcome: 'unknown' })
    },
    strict,
  )

  check('C5: a worker that beats, runs something and finishes nothing is unhealthy', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    const lease = await worker.claimOne({ leaseMs: 60_000 })
    const busy = { inFlight: 1, maxQuietMs: 5_000 }
    store.clock.jump(14_999)
    await worker.beat(busy)
    expect((await viewOf(store, 'w1'))?.health.status).toBe('healthy')
    store.clock.jump(1)
    expect((await viewOf(store, 'w1'))?.health).toEqual({
      status: 'unhealthy',
      reasons: ['runs 1 and has finished none for 15 s'],
    })
    // Nobody stands in for it, and still it gets nothing: a stuck worker would only hold more.
    expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(await viewOf(store, 'w1')).toMatchObject({ lastProgressAt: START + 15_000, health: { status: 'healthy' } })
  })

  check('C5: failures, releases and having nothing to do are progress; losing an attempt is not', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    const progress = async () => (await viewOf(store, 'w1'))?.lastProgressAt
    const [first, second, third] = (await worker.claim(3)).claimed
    if (first === undefined || second === undefined || third === undefined) throw new Error('Six were submitted.')
    store.clock.jump(1_000)
    await store.engine.settle([{ kind: 'failed', ref: first, failure: failure('validation'), decision: dead() }])
    expect(await progress()).toBe(START + 1_000)
    store.clock.jump(1_000)
    await store.engine.settle([{ kind: 'released', ref: second, reason: 'stopping' }])
    expect(await progress()).toBe(START + 2_000)
    store.clock.jump(8_000)
    await worker.beat({ inFlight: 1 })
    await store.engine.settle([{ kind: 'lost', ref: third, failure: failure('worker_lost'), decision: dead() }])
    expect(await progress()).toBe(START + 2_000)
    await worker.beat({ inFlight: 0 })
    expect(await progress()).toBe(START + 10_000)
  })

  check('C5: what was lost before a worker registered again does not count against it', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    const { claimed } = await worker.claim(5)
    store.clock.jump(1_000)
    await store.worker()
    const { overdue } = await store.engine.expired(10)
    expect(overdue).toHaveLength(claimed.length)
    for (const item of overdue) {
      if (item.kind !== 'lease') throw new Error(`It is ${item.kind}.`)
      await store.engine.settle([{ kind: 'lost', ref: item.ref, failure: failure('worker_lost'), decision: dead() }])
    }
    expect(await viewOf(store, 'w1')).toMatchObject({ consecutiveFailures: 0, recentOutcomes: 0, lastFailureAt: null })
  })

  check(
    'C5: a lost attempt counts as a failure of its worker',
    async (store) => {
      const worker = await store.worker()
      await store.submit(...backlog)
      const lease = await worker.claimOne()
      store.clock.jump(10_000)
      await store.engine.settle([{ kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: dead() }])
      expect(await viewOf(store, 'w1')).toMatchObject({
        consecutiveFailures: 1,
        recentOutcomes: 1,
        recentFailures: 1,
        lastFailureAt: START + 10_000,
      })
      expect((await worker.claim(5)).heldBack).toBe('degraded')
    },
    strict,
  )

  check('C5: a late event loop degrades a worker, then shuts it out', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    await worker.beat({ loopLagMs: 10_000 })
    expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    await worker.beat({ loopLagMs: 2_000 })
    expect(await worker.claim(5)).toMatchObject({ claimed: [{ attempt: 1 }], heldBack: 'degraded' })
    await worker.beat({ loopLagMs: 1_999 })
    expect((await worker.claim(1)).heldBack).toBe(null)
  })

  check('C9: what a worker sees coming degrades it, and it says why', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    await worker.beat({ outlook: 'its failure rate will cross 30 % in 2 min' })
    expect((await viewOf(store, 'w1'))?.health).toEqual({
      status: 'degraded',
      reasons: ['its failure rate will cross 30 % in 2 min'],
    })
    expect(await worker.claimIds(5)).toHaveLength(1)
    await worker.beat()
    expect((await worker.claim(1)).heldBack).toBe(null)
  })

  check('C5: a worker that says that it claims nothing any more is unhealthy, and says why', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    const outlook = `${CLAIMS_NOTHING}10 handlers never returned`
    await worker.beat({ outlook })
    expect((await viewOf(store, 'w1'))?.health).toEqual({ status: 'unhealthy', reasons: [outlook] })
    expect(await worker.claim(1)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    await worker.beat()
    expect((await worker.claim(1)).heldBack).toBe(null)
  })

  check(
    'C9: probes in a row without an answer degrade a worker, then shut it out; one answer clears it',
    async (store) => {
      const worker = await store.worker()
      const { id, epoch } = worker
      const old = { worker: id, epoch: epoch + 1_000, ok: false }
      const silent = { worker: id, epoch, ok: false }
      await store.engine.probed([silent, old, { ...silent, worker: workerId('nobody') }])
      expect(await viewOf(store, 'w1')).toMatchObject({ probeFailures: 1, health: { status: 'healthy' } })
      await store.engine.probed([silent])
      expect((await viewOf(store, 'w1'))?.health).toEqual({
        status: 'degraded',
        reasons: ['2 probes in a row unanswered'],
      })
      await store.engine.probed([silent])
      expect(await worker.claim(1)).toMatchObject({ heldBack: 'unhealthy' })
      await store.engine.probed([{ ...silent, ok: true }])
      expect(await viewOf(store, 'w1')).toMatchObject({ probeFailures: 0, health: { status: 'healthy' } })
    },
  )

  check('C5: registering again clears the evidence', async (store) => {
    const worker = await store.worker()
    await store.submit(...backlog)
    await failOnce(store, worker)
    await worker.beat({ inFlight: 1, maxQuietMs: 1_000, outlook: 'bad', loopLagMs: 5 })
    await store.engine.probed([{ worker: worker.id, epoch: worker.epoch, ok: false }])
    store.clock.jump(1_000)
    await store.worker()
    expect(await viewOf(store, 'w1')).toMatchObject({
      consecutiveFailures: 0,
      recentOutcomes: 0,
      lastProgressAt: START + 1_000,
      maxQuietMs: 0,
      outlook: null,
      probeFailures: 0,
      inFlight: 0,
      health: { status: 'healthy' },
    })
  })
})
