// The worker registry: epochs that fence an id used twice, what workers report, and what happens to their leases.

import { poolName, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, expectRefused, LEASE_MS, START, type Store, type TestWorker } from './fixture.ts'
import { subject } from './subject.ts'

const report = (worker: TestWorker) =>
  ({
    worker: worker.id,
    epoch: worker.epoch,
    inFlight: 2,
    queueDepth: 1,
    loopLagMs: 3,
    memoryBytes: 4_096,
    draining: false,
    maxQuietMs: 30_000,
    outlook: 'its lag grows',
  }) as const

const names = async (store: Store) => (await store.engine.workers()).items.map(({ worker }) => worker)

export const registry = subject('registry', (check) => {
  check('D1: a registered worker can be seen, with its health', async (store) => {
    await store.engine.register({
      worker: workerId('w1'),
      pools: [poolName('gpu')],
      actions: [ACTION],
      host: 'h1',
      version: '2.0',
      runtimes: ['node'],
      endpoint: 'http://h1:8080/health',
      concurrency: 25,
    })
    expect((await store.engine.workers()).items).toEqual([
      {
        worker: 'w1',
        pools: ['gpu'],
        actions: ['render'],
        host: 'h1',
        version: '2.0',
        runtimes: ['node'],
        endpoint: 'http://h1:8080/health',
        concurrency: 25,
        epoch: expect.any(Number) as unknown,
        registeredAt: START,
        lastBeatAt: START,
        inFlight: 0,
        queueDepth: 0,
        loopLagMs: 0,
        memoryBytes: 0,
        draining: false,
        policyVersion: null,
        consecutiveFailures: 0,
        recentOutcomes: 0,
        recentFailures: 0,
        lastFailureAt: null,
        failuresBy: [],
        servedWell: [],
        lastProgressAt: START,
        maxQuietMs: 0,
        outlook: null,
        probeFailures: 0,
        health: { status: 'healthy', reasons: [] },
      },
    ])
  })

  check('D1: one worker can be asked for by its id', async (store) => {
    for (const name of ['w1', 'w2']) await store.worker(name)
    const shown = (await store.engine.workers()).items.find(({ worker }) => worker === 'w2')
    expect(await store.engine.worker(workerId('w2'))).toEqual(shown)
    expect(await store.engine.worker(workerId('w'))).toBe(null)
  })

  check('C8: a heartbeat brings what the worker reports', async (store) => {
    const worker = await store.worker()
    store.clock.jump(1_000)
    expect(await store.engine.beat({ ...report(worker), draining: true, policyVersion: 3 })).toEqual({
      outcome: 'current',
    })
    expect((await store.engine.workers()).items).toMatchObject([
      {
        lastBeatAt: START + 1_000,
        inFlight: 2,
        queueDepth: 1,
        loopLagMs: 3,
        memoryBytes: 4_096,
        draining: true,
        policyVersion: 3,
        maxQuietMs: 30_000,
        outlook: 'its lag grows',
      },
    ])
  })

  check(
    'a worker says which policies it applies; a new epoch, and one that leaves it to others, say nothing',
    async (store) => {
      const applied = async () => (await store.engine.workers()).items.map(({ policyVersion }) => policyVersion)
      const worker = await store.worker()
      await store.engine.beat({ ...report(worker), policyVersion: 0 })
      expect(await applied()).toEqual([0])
      await store.engine.beat(report(worker))
      expect(await applied()).toEqual([null])
      await store.engine.beat({ ...report(worker), policyVersion: 12 })
      await store.worker()
      expect(await applied()).toEqual([null])
    },
  )

  check('D1: a heartbeat 30 s old is stale', async (store) => {
    await store.worker()
    store.clock.jump(29_999)
    expect((await store.engine.workers()).items).toMatchObject([{ health: { status: 'healthy' } }])
    store.clock.jump(1)
    expect((await store.engine.workers()).items).toMatchObject([
      { health: { status: 'unhealthy', reasons: ['no heartbeat for 30 s'] } },
    ])
  })

  check('an id used again fences the older epoch', async (store) => {
    const old = await store.worker('w1')
    const current = await store.worker('w1')
    expect(current.epoch).not.toBe(old.epoch)
    expect(await store.engine.beat(report(old))).toEqual({ outcome: 'replaced' })
    expect(await store.engine.beat(report(current))).toEqual({ outcome: 'current' })
    await expectRefused(old.claim(), 'REPRISE_WORKER_FENCED')
    expect(await names(store)).toEqual(['w1'])
  })

  check('registering again takes the leases away: the old holder is told, the sweep finds them', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(1_000)
    const { epoch } = await store.worker('w1')
    expect(await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)).toEqual([
      { outcome: 'superseded', because: 'replaced' },
    ])
    expect(await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])).toEqual([
      { outcome: 'superseded', because: 'replaced' },
    ])
    const { overdue } = await store.engine.expired(10)
    expect(overdue).toMatchObject([
      { kind: 'lease', ref: { taskId: 'a', attempt: 1 }, worker: 'w1', since: START + 1_000 },
    ])
    expect(await store.journal()).toMatchObject([
      {
        type: 'worker.replaced',
        taskId: null,
        actor: 'registry',
        reason: 'registered again under the same id',
        data: { worker: 'w1', epoch, leases: 1 },
      },
      { type: 'execution.superseded', taskId: 'a' },
    ])
  })

  check('the execution shows the token that counts now', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.worker('w1')
    const execution = await store.engine.execution(lease.taskId, 1)
    const { state } = await store.task('a')
    expect(execution?.token).not.toBe(lease.token)
    expect(state).toMatchObject({ status: 'running', token: execution?.token, leaseUntil: START })
  })

  check('deregistering forgets the worker and ends its leases', async (store) => {
    await store.submit({ id: 'a' })
    const worker = await store.worker()
    const lease = await worker.claimOne()
    await store.engine.deregister(worker.id, worker.epoch)
    expect(await names(store)).toEqual([])
    expect(await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])).toEqual([
      { outcome: 'superseded', because: 'replaced' },
    ])
    expect((await store.engine.expired(10)).overdue).toHaveLength(1)
    await expectRefused(worker.claim(), 'REPRISE_NOT_FOUND')
  })

  check('deregistering with an old epoch changes nothing', async (store) => {
    const old = await store.worker('w1')
    await store.worker('w1')
    await store.engine.deregister(old.id, old.epoch)
    expect(await names(store)).toEqual(['w1'])
  })

  check('lists workers by id, page by page', async (store) => {
    for (const name of ['w3', 'w1', 'w2']) await store.worker(name)
    const first = await store.engine.workers({ limit: 2 })
    expect(first.items.map(({ worker }) => worker)).toEqual(['w1', 'w2'])
    const second = await store.engine.workers({ limit: 2, cursor: first.next ?? '' })
    expect(second.items.map(({ worker }) => worker)).toEqual(['w3'])
    expect(second.next).toBe(null)
  })
})
