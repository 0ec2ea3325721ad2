// What the sweep decides about each kind of thing that is past its time.

import {
  DEFAULT_POOL,
  type Engine,
  latestForTask,
  NO_POLICIES,
  type PolicyBook,
  type Settlement,
  seededRandom,
  workerId,
} from '@reprise/core'
import { expect, test } from 'vitest'
import { sweepOnce } from '../src/sweep-once.ts'
import { claimed, LEASE_MS, openStore, submitted, taskOf } from './fixture.ts'

const random = seededRandom(1)
const WELL = { inFlight: 0, queueDepth: 0, loopLagMs: 0, memoryBytes: 1, draining: false, maxQuietMs: 0, outlook: null }

const registration = (name: string) => ({
  worker: workerId(name),
  pools: [DEFAULT_POOL],
  actions: null,
  host: 'here',
  version: '1',
  runtimes: [],
  endpoint: null,
})

test('a lease that ended: lost, and it runs again soon', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1')
  await claimed(engine)
  clock.jump(LEASE_MS - 1)
  expect(await sweepOnce(engine, random)).toMatchObject({ overdue: 0 })
  clock.jump(1)
  expect(await sweepOnce(engine, random)).toEqual({ overdue: 1, settled: 1, superseded: 0, full: false })
  expect(await taskOf(engine, id)).toMatchObject({
    failures: 0,
    losses: 1,
    state: { status: 'waiting', reason: 'worker_lost' },
  })
  expect(await latestForTask(engine, id)).toMatchObject({ status: 'lost', errorCode: 'worker_lost' })
})

test('a task that takes down its worker each time is dead after maxLosses, and used up no retry', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1', { settings: { maxLosses: 2, maxRetries: 5 } })
  for (let loss = 0; loss < 3; loss++) {
    clock.jump(3_600_000)
    expect(await claimed(engine)).toHaveLength(1)
    clock.jump(LEASE_MS)
    await sweepOnce(engine, random)
  }
  expect(await taskOf(engine, id)).toMatchObject({ failures: 0, state: { status: 'dead', reason: 'crash_loop' } })
})

test('losses of a worker that came back in the same epoch do not make a crash loop', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1', { settings: { maxLosses: 1 } })
  const { epoch } = await engine.register(registration('cut-off'))
  const worker = workerId('cut-off')
  const claim = { worker, epoch, pools: [DEFAULT_POOL], actions: null, limit: 1, leaseMs: LEASE_MS }
  const lose = async (comesBack: boolean): Promise<void> => {
    clock.jump(3_600_000)
    expect((await engine.claim({ ...claim, regardless: true })).claimed).toHaveLength(1)
    clock.jump(LEASE_MS)
    await sweepOnce(engine, random)
    clock.jump(1)
    if (comesBack) await engine.beat({ ...WELL, worker, epoch })
  }
  await lose(true)
  await lose(false)
  expect(await taskOf(engine, id)).toMatchObject({ losses: 2, state: { status: 'waiting', reason: 'worker_lost' } })
  // It claims, so it lives, but it was not heard of after the loss before. One excuse is not enough for two.
  await engine.register(registration('cut-off'))
  const { epoch: next } = await engine.register(registration('cut-off'))
  clock.jump(3_600_000)
  await engine.claim({ ...claim, epoch: next, regardless: true })
  clock.jump(LEASE_MS)
  await sweepOnce(engine, random)
  expect(await taskOf(engine, id)).toMatchObject({ state: { status: 'dead', reason: 'crash_loop' } })
})

test('C7: an attempt past its timeout: failed with timeout, retried as the action says', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1', { settings: { timeoutMs: 1_000, maxRetries: 1 } })
  const leases = await claimed(engine)
  // Its worker lives and renews, and has a grace time to end it.
  clock.jump(1_000)
  await engine.renew(
    leases.map((lease) => ({ ...lease, progress: null })),
    15_000,
  )
  expect((await sweepOnce(engine, random)).overdue).toBe(0)
  clock.jump(5_000)
  expect((await sweepOnce(engine, random)).settled).toBe(1)
  expect(await taskOf(engine, id)).toMatchObject({
    failures: 1,
    losses: 0,
    state: { status: 'waiting', reason: 'timeout' },
  })
})

test('C7: a queue entry past its TTL: failed with queue_timeout', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1', { settings: { queueTtlMs: 60_000 } })
  clock.jump(60_000)
  expect((await sweepOnce(engine, random)).settled).toBe(1)
  const { state } = await taskOf(engine, id)
  expect(state).toMatchObject({ status: 'dead', reason: 'retries_exhausted', failure: { code: 'queue_timeout' } })
})

test('a queue entry past its deadline: dead for good', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1', { deadlineMs: 60_000, settings: { maxRetries: 5 } })
  clock.jump(60_000)
  await sweepOnce(engine, random)
  const { state } = await taskOf(engine, id)
  expect(state).toMatchObject({ status: 'dead', reason: 'deadline', failure: { code: 'deadline' } })
})

test('a deadline binds the first generation only', async () => {
  const { engine, clock } = await openStore()
  const id = await submitted(engine, 't1', { deadlineMs: 60_000 })
  clock.jump(60_000)
  await sweepOnce(engine, random)
  await engine.change({ kind: 'redrive', select: { ids: [id] }, by: { actor: 'operator:ann', reason: 'try again' } })
  await claimed(engine)
  clock.jump(LEASE_MS)
  await sweepOnce(engine, random)
  expect((await taskOf(engine, id)).state).toMatchObject({ status: 'waiting', reason: 'worker_lost' })
})

test('fault 5: two sweepers settle each expiry once', async () => {
  const { engine, clock } = await openStore()
  for (let number = 0; number < 10; number++) await submitted(engine, `t${number}`)
  await claimed(engine)
  clock.jump(LEASE_MS)
  const reports = await Promise.all([sweepOnce(engine, random), sweepOnce(engine, random)])
  expect(reports.map(({ settled }) => settled)).toEqual([10, 0])
  const { entries } = await engine.journal.read()
  expect(entries.filter(({ type }) => type === 'execution.lost')).toHaveLength(10)
})

test('the policies decide, and what the store must look at goes with the settlement', async () => {
  const { engine, clock } = await openStore()
  const quota = { name: 'retries', windowMs: 60_000, limit: 10, share: null }
  const book: PolicyBook = {
    ...NO_POLICIES,
    version: 7,
    policies: [{ name: 'patient', match: {}, retries: 5, maxLosses: 9, quota }],
  }
  const settlements: Settlement[] = []
  const watched: Engine = {
    ...engine,
    settle: (batch) => {
      settlements.push(...batch)
      return engine.settle(batch)
    },
  }
  await submitted(engine, 'lost', { settings: { maxLosses: 0 } })
  await claimed(engine)
  await submitted(engine, 'late', { settings: { queueTtlMs: LEASE_MS } })
  clock.jump(LEASE_MS)
  expect((await sweepOnce(watched, random, book)).settled).toBe(2)
  const policy = { name: 'patient', version: 7 }
  expect(settlements).toMatchObject([
    { kind: 'lost', ref: { taskId: 'lost' }, decision: { kind: 'retry', policy }, quota },
    { kind: 'expired', ref: { taskId: 'late' }, decision: { kind: 'retry', policy }, quota },
  ])
})
