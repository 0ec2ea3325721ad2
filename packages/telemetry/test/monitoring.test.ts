// The figures of C10: what they are made of, from when on they worry, and what they say where they are not exact.

import {
  type BeatReport,
  type Claimed,
  type Engine,
  failed,
  type JournalEntryInput,
  succeeded,
  type TaskId,
  type WorkerId,
} from '@reprise/core'
import { JournalTail, type MonitoringFacts, monitoring, monitoringOf } from '@reprise/telemetry'
import { describe, expect, test } from 'vitest'
import { retryOutcomes } from '../src/retry-outcomes.ts'
import { aCrew, aFailure, aTask, deadLetter, openStore, retryIn } from './fixture.ts'

const by = { actor: 'operator:ann', reason: 'fixed' }

function facts(change: Partial<MonitoringFacts> = {}): MonitoringFacts {
  const now = Date.UTC(2030, 0, 1)
  return {
    now,
    from: now - 600_000,
    windowMs: 600_000,
    points: [],
    startedByHealth: 0,
    workers: [],
    gone: [],
    takingWork: 0,
    isAware: true,
    unawareBy: [],
    found: {
      setbacks: [],
      dead: 0,
      unserved: { tasks: 0, due: 0, lanes: [], waitedMs: null },
      waits: [],
      backlogs: [],
      breakers: [],
      newCauses: [],
    },
    retries: { reasons: new Map(), succeeded: 0, failed: 0, pending: 0, isEstimate: false },
    isJournalComplete: true,
    notes: [],
    ...change,
  }
}

const point = { at: 0, accepted: 0, started: 0, succeeded: 0, failed: 0, lost: 0, retried: 0, dead: 0, cancelled: 0 }

describe('C10: levels', () => {
  test.each([
    [20, 'ok'],
    [21, 'warning'],
    [50, 'warning'],
    [51, 'critical'],
  ])('C10: a retry rate of %i per cent is %s', (retried, level) => {
    const { retryRate, ...rest } = monitoringOf(
      facts({ points: [{ ...point, succeeded: 100 - retried, failed: retried, retried }] }),
    )
    expect(retryRate).toEqual({ value: retried / 100, level, ended: 100, retried })
    expect(rest.level).toBe(level)
  })

  test.each([
    [3, 'ok'],
    [4, 'warning'],
    [7, 'warning'],
    [8, 'critical'],
  ])('C10: %i of 10 workers unhealthy is %s', (unhealthy, level) => {
    const workers = Array.from({ length: 10 }, (_, index) => ({
      health: { status: index < unhealthy ? ('unhealthy' as const) : ('degraded' as const), reasons: [] },
      draining: false,
      queueDepth: index,
      lastBeatAt: facts().now - index * 1_000,
    }))
    const found = monitoringOf(facts({ workers }))
    expect(found.health).toMatchObject({ workers: 10, healthy: 0, degraded: 10 - unhealthy, unhealthy, level })
    expect(found.health.heartbeatLagMs).toEqual({ p50: 4_000, p90: 8_000, p99: 9_000, max: 9_000 })
    expect(found.queueDepth).toEqual({ average: 4.5, max: 9 })
    expect(found.level).toBe(level)
  })

  test('C10: what can not be told is null and no reason to worry', () => {
    const found = monitoringOf(facts())
    expect(found).toMatchObject({
      level: 'ok',
      retryRate: { value: null },
      retrySuccess: { value: null },
      reasons: [],
      health: { unhealthyShare: null },
      queueDepth: { average: null },
      healthRouting: { value: null },
      notes: [],
    })
  })
})

/** Fails each of them once, to be tried again at once. */
async function failOnce(engine: Engine, claimed: readonly Claimed[]): Promise<void> {
  await engine.settle(claimed.map((one) => failed(one, aFailure, retryIn(0))))
}

test('C10, C11: from a store: retries, their success by reason, their reasons and their success, health, depth, and routing by health', async () => {
  const { engine, clock } = await openStore()
  await engine.submit(Array.from({ length: 10 }, (_, index) => aTask(`t${index}`)))
  // Nobody is registered for this pool, as for one of launched workers.
  await engine.submit([aTask('launched', { pool: 'launch' as never })])
  await engine.reserve({
    task: aTask('launched', { pool: 'launch' as never }),
    attempt: 1,
    maxRetries: 1,
    worker: 'ephemeral' as WorkerId,
    leaseMs: 15_000,
  })
  const crew = await aCrew(engine)
  const report: BeatReport = {
    worker: 'w1' as WorkerId,
    epoch: crew.epoch,
    inFlight: 0,
    queueDepth: 60,
    loopLagMs: 0,
    memoryBytes: 0,
    draining: false,
    maxQuietMs: 0,
    outlook: null,
  }
  const first = await crew.claim(4)
  await failOnce(engine, first)
  clock.jump(3_000)
  const again: Claimed[] = []
  while (again.length < 4) {
    const found = await crew.claim(1)
    if (found.length === 0) throw new Error('nothing claimed')
    again.push(...found.filter(({ attempt }) => attempt === 2))
    await engine.settle(found.filter(({ attempt }) => attempt === 1).map((one) => succeeded(one, null)))
  }
  const [x, y, z] = again
  if (x === undefined || y === undefined || z === undefined) throw new Error('nothing claimed')
  // Two succeed, one fails for good, one still runs.
  await engine.settle([succeeded(x, null), succeeded(y, null), failed(z, aFailure, deadLetter())])
  await engine.change({ kind: 'redrive', select: { ids: [z.taskId] }, by })
  await engine.beat(report)

  const found = await monitoring(engine, { windowMs: 600_000, now: clock.now() })
  const { succeeded: ended } = await engine.counts()
  expect(found.retryRate).toMatchObject({ ended: ended + 5, retried: 4 })
  expect(found.retrySuccess).toEqual({ value: 2 / 3, succeeded: 2, failed: 1, pending: 2, isEstimate: false })
  expect(found.reasons).toEqual([
    { reason: 'connection', count: 4, share: 0.8, success: 2 / 3, succeeded: 2, failed: 1 },
    { reason: 'manual', count: 1, share: 0.2, success: null, succeeded: 0, failed: 0 },
  ])
  expect(found.health).toMatchObject({ workers: 1, degraded: 1, unhealthyShare: 0, level: 'ok' })
  expect(found.queueDepth).toEqual({ average: 60, max: 60 })
  expect(found.healthRouting.started).toBeGreaterThan(8)
  expect(found.healthRouting.value).toBe((found.healthRouting.started - 1) / found.healthRouting.started)
  expect(found.isJournalComplete).toBe(true)
  expect(found.notes).toEqual([])

  // An hour later all of that is outside of the window, and the store says what time it is.
  clock.jump(3_600_000)
  const later = await monitoring(engine)
  expect(later).toMatchObject({
    at: clock.now(),
    retryRate: { value: null },
    reasons: [],
    healthRouting: { value: null },
  })
  // Its worker has been silent for so long that it is gone. What it left behind waits for another one.
  expect(later.health).toMatchObject({ workers: 0, gone: 1, unhealthyShare: null, level: 'ok' })
  expect(later).toMatchObject({ level: 'critical', because: [{ about: 'no_worker' }] })
})

test('C10: a window that no store could answer for is refused', async () => {
  const { engine } = await openStore()
  await expect(monitoring(engine, { windowMs: 90_000_000 })).rejects.toThrow(/window is between/)
  await expect(monitoring(engine, { windowMs: 10 })).rejects.toThrow(/window is between/)
})

describe('C10: the journal, read in bounded looks', () => {
  const entry = (id: number): JournalEntryInput => ({
    type: 'execution.failed',
    taskId: `t${id}` as TaskId,
    attempt: 1,
    actor: 'worker:w1',
    reason: 'Again.',
    data: { decision: 'retry', reason: 'timeout' },
  })
  const entries = (from: number, count: number): JournalEntryInput[] =>
    Array.from({ length: count }, (_, index) => entry(from + index))

  test('C10: a tail that is kept arrives at the present, and says until then that it has not', async () => {
    const { engine, clock } = await openStore()
    for (let page = 0; page < 3; page++) await engine.journal.append(entries(page * 1_000, 1_000))
    const tail = new JournalTail(engine, { maxRead: 2_000 })
    const from = clock.now() - 1
    expect(await tail.look(from)).toMatchObject({ isComplete: false, entries: { length: 2_000 } })
    expect(await tail.look(from)).toMatchObject({ isComplete: true, entries: { length: 3_000 } })
    clock.jump(10)
    await engine.journal.append(entries(3_000, 1))
    expect(await tail.look(clock.now())).toMatchObject({ isComplete: true, entries: { length: 1 } })
  })

  test('C10: a tail that is new is complete at once, however long the journal before its window is', async () => {
    const { engine, clock } = await openStore()
    for (let page = 0; page < 5; page++) await engine.journal.append(entries(page * 1_000, 1_000))
    clock.jump(3_600_000)
    await engine.journal.append(entries(5_000, 10))
    const found = await monitoring(engine, { now: clock.now(), journal: new JournalTail(engine, { maxRead: 2_000 }) })
    expect(found).toMatchObject({ isJournalComplete: true, notes: [], reasons: [{ reason: 'timeout', count: 10 }] })
  })

  test('C10: a look at a longer window than before begins anew, and a shorter one goes on with that', async () => {
    const { engine, clock } = await openStore()
    await engine.journal.append(entries(0, 5))
    clock.jump(3_600_000)
    await engine.journal.append(entries(5, 3))
    const tail = new JournalTail(engine)
    expect(await tail.look(clock.now() - 60_000)).toMatchObject({ isComplete: true, entries: { length: 3 } })
    expect(await tail.look(clock.now() - 7_200_000)).toMatchObject({ isComplete: true, entries: { length: 8 } })
    expect(await tail.look(clock.now() - 60_000)).toMatchObject({ isComplete: true, entries: { length: 3 } })
  })

  test('C10: a tail that was not looked at for long does not read all that it missed', async () => {
    const { engine, clock } = await openStore()
    await engine.journal.append(entries(0, 1))
    const tail = new JournalTail(engine, { maxRead: 2_000 })
    expect(await tail.look(clock.now())).toMatchObject({ isComplete: true, entries: { length: 1 } })
    for (let page = 0; page < 5; page++) await engine.journal.append(entries(page * 1_000, 1_000))
    clock.jump(3_600_000)
    await engine.journal.append(entries(5_000, 4))
    expect(await tail.look(clock.now() - 60_000)).toMatchObject({ isComplete: true, entries: { length: 4 } })
  })

  test('C10: it keeps no more than it may, and says that part of the window is missing', async () => {
    const { engine, clock } = await openStore()
    await engine.journal.append(entries(0, 100))
    const tail = new JournalTail(engine, { maxKept: 30 })
    const view = await tail.look(clock.now() - 1)
    expect(view.isComplete).toBe(false)
    expect(view.entries.map(({ taskId }) => taskId)).toEqual(entries(70, 30).map(({ taskId }) => taskId))
    const found = await monitoring(engine, { now: clock.now(), journal: new JournalTail(engine, { maxKept: 30 }) })
    expect(found.notes).toEqual([expect.stringMatching(/stand on a part of the window/)])
  })

  test('C10: of many open retries a sample is looked up, and the result says so', async () => {
    let asked = 0
    const engine = {
      task: async (id: string) => {
        asked++
        return { state: { status: Number(id) % 2 === 0 ? 'succeeded' : 'running' } }
      },
    } as unknown as Pick<Engine, 'task'>
    const open = Array.from({ length: 40 }, (_, index) => ({
      at: 0,
      taskId: String(index) as TaskId,
      attempt: 1,
      isRetry: true,
      reason: 'timeout',
    }))
    expect(await retryOutcomes(engine, open, 10)).toMatchObject({
      succeeded: 20,
      failed: 0,
      pending: 20,
      isEstimate: true,
    })
    expect(asked).toBe(10)
  })
})
