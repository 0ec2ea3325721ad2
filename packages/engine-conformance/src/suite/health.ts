// Health by evidence: an unhealthy worker gets nothing, a degraded one little, and the last worker of a pool goes on.

import { DEFAULT_HEALTH_THRESHOLDS, type HealthThresholds, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { dead, failure, pool, START, type Store, type TestWorker } from './fixture.ts'
import { subject } from './subject.ts'

const strict: { readonly healthThresholds: HealthThresholds } = {
  healthThresholds: { ...DEFAULT_HEALTH_THRESHOLDS, failuresDegraded: 1, failuresUnhealthy: 2 },
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
    const report = {
      worker: worker.id,
      epoch: worker.epoch,
      inFlight: 0,
      queueDepth: 100,
      loopLagMs: 0,
      memoryBytes: 0,
      draining: false,
    }
    await store.engine.beat(report)
    expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    await store.engine.beat({ ...report, queueDepth: 50 })
    expect(await worker.claim(5)).toMatchObject({ claimed: [{ attempt: 1 }], heldBack: 'degraded' })
    await store.engine.beat({ ...report, queueDepth: 49 })
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
      expect(
        await engine.beat({
          worker: workerId('w9'),
          epoch: 1,
          inFlight: 0,
          queueDepth: 0,
          loopLagMs: 0,
          memoryBytes: 0,
          draining: false,
        }),
      ).toEqual({ outcome: 'unknown' })
    },
    strict,
  )
})
