// Which worker gets a task of a directed pool (C6), why others don't, and how late heartbeats are (D4).

import {
  actionName,
  heartbeatLag,
  PREFERRED_WORKER_LABEL,
  poolName,
  selectWorker,
  type WorkerView,
  workerId,
} from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AFFINITY_LABEL, RUNTIME_LABEL, type SelectionRequest } from '../../src/workers/select-worker.ts'
import { NOW, snapshotWith, workerWith } from '../fixture.ts'

const named = (id: string, over: Partial<WorkerView> = {}): WorkerView => workerWith({ worker: workerId(id), ...over })
const degraded = { health: { status: 'degraded', reasons: ['3 failures in a row'] } } as const
const unhealthy = { health: { status: 'unhealthy', reasons: ['10 failures in a row'] } } as const

function select(
  workers: readonly WorkerView[],
  labels: Record<string, string> = {},
  over: Partial<SelectionRequest> = {},
) {
  const task = snapshotWith({ labels })
  return selectWorker({ task, workers, now: NOW, heartbeatStaleMs: 30_000, ...over })
}
const pick = (...input: Parameters<typeof select>): string | null => select(...input).worker?.worker ?? null

describe('C6: the best, or none', () => {
  test('health comes first, then what waits and runs inside', () => {
    const busy = named('busy', { queueDepth: 3, inFlight: 4 })
    const idle = named('idle', { queueDepth: 1, inFlight: 5 })
    const sick = named('sick', degraded)
    expect(pick([sick, busy, idle])).toBe('idle')
    expect(pick([sick, busy])).toBe('busy')
    expect(pick([sick])).toBe('sick')
    expect(pick([named('bad', unhealthy)])).toBeNull()
    expect(pick([])).toBeNull()
  })

  test('C11: where health does not matter, the load alone decides among those that are alive', () => {
    const busy = named('busy', { inFlight: 4 })
    const bad = named('bad', unhealthy)
    const silent = named('silent', { lastBeatAt: NOW - 30_000 })
    expect(pick([busy, bad, silent])).toBe('busy')
    expect(pick([busy, bad, silent], {}, { regardless: true })).toBe('bad')
    expect(pick([silent], {}, { regardless: true })).toBeNull()
  })

  test('C6: load is a share of what a worker can run at once, and who is full comes last', () => {
    const full = workerWith({ worker: workerId('small'), concurrency: 1, inFlight: 1 })
    const half = workerWith({ worker: workerId('large'), concurrency: 20, inFlight: 10 })
    const idle = workerWith({ worker: workerId('tiny'), concurrency: 1 })
    expect(select([full, half])).toMatchObject({ worker: { worker: 'large' } })
    expect(select([full, half, idle])).toMatchObject({ worker: { worker: 'tiny' } })
    expect(select([full, { ...half, inFlight: 20 }])).toMatchObject({ worker: { worker: 'small' } })
  })

  test('C6: of equal health the queue depth decides, before the load', () => {
    const deep = named('deep', { queueDepth: 2, inFlight: 0, concurrency: 100 })
    const loaded = named('loaded', { queueDepth: 0, inFlight: 9, concurrency: 10 })
    expect(pick([deep, loaded])).toBe('loaded')
    // Beyond what it can run at once, what it was given waits inside it.
    const given = { givenSince: new Map([[workerId('loaded'), 4]]) }
    expect(pick([deep, loaded], {}, given)).toBe('deep')
  })

  test('C6: the runtime of the action counts, unless the task asks for another', () => {
    const [python, node] = [named('p', { runtimes: ['python3.12'] }), named('n', { runtimes: ['node 26.1.0'] })]
    const settings = { ...snapshotWith({}).settings, runtime: 'python3' }
    const pickFor = (labels: Record<string, string>) => {
      const task = snapshotWith({ labels, settings })
      return selectWorker({ task, workers: [node, python], now: NOW, heartbeatStaleMs: 30_000 }).worker?.worker
    }
    expect(pickFor({})).toBe('p')
    expect(pickFor({ [RUNTIME_LABEL]: 'node' })).toBe('n')
  })

  test('what was given to a worker since the snapshot counts as its load', () => {
    const workers = [named('a'), named('b', { inFlight: 1 })]
    expect(pick(workers)).toBe('a')
    expect(pick(workers, {}, { givenSince: new Map([[workerId('a'), 2]]) })).toBe('b')
  })

  test.each<[string, Partial<WorkerView>, string, string]>([
    ['another pool', { pools: [poolName('gpu')] }, 'other_pool', "serves no pool 'default'"],
    ['other actions', { actions: [actionName('mail')] }, 'other_actions', "can't run action 'render'"],
    ['no such runtime', { runtimes: ['python 3.13'] }, 'other_runtime', "has no runtime 'node 26'"],
    ['draining', { draining: true }, 'draining', 'is about to stop'],
    ['silent', { lastBeatAt: NOW - 30_000 }, 'stale', 'no heartbeat for 30 s'],
    ['unhealthy', unhealthy, 'unhealthy', '10 failures in a row'],
  ])('a worker is left out, and why: %s', (_, over, verdict, reason) => {
    const worker = named('w1', { runtimes: ['node 26.1.0'], ...over })
    expect(select([worker], { [RUNTIME_LABEL]: 'node 26' })).toEqual({
      worker: null,
      by: null,
      leftOut: [{ worker: 'w1', verdict, reason }],
    })
  })

  test('one that was just found stale is left out', () => {
    const workers = [named('a'), named('b', { inFlight: 9 })]
    const selection = select(workers, {}, { exclude: new Set([workerId('a')]) })
    expect(selection).toMatchObject({ worker: { worker: 'b' }, leftOut: [{ worker: 'a', verdict: 'excluded' }] })
  })

  test('a heartbeat 1 ms before the limit is fresh', () => {
    expect(pick([named('a', { lastBeatAt: NOW - 29_999 })])).toBe('a')
  })

  test.each([
    ['node', true],
    ['node 26', true],
    ['node 26.1', true],
    ['node 26.1.0', true],
    ['node 2', false],
    ['nod', false],
  ])("runtime '%s' of a worker with node 26.1.0: %s", (asked, isServed) => {
    expect(pick([named('a', { runtimes: ['node 26.1.0'] })], { [RUNTIME_LABEL]: asked }) !== null).toBe(isServed)
  })
})

describe('D2: a task for one worker', () => {
  const workers = [named('a'), named('b', { inFlight: 40, ...degraded }), named('c', { draining: true })]

  test('goes there if that worker can take it, however busy', () => {
    expect(select(workers, { [PREFERRED_WORKER_LABEL]: 'b' })).toMatchObject({
      worker: { worker: 'b' },
      by: 'preferred',
    })
  })

  test('goes to the best other one if not', () => {
    expect(select(workers, { [PREFERRED_WORKER_LABEL]: 'c' })).toMatchObject({ worker: { worker: 'a' }, by: 'load' })
    expect(pick(workers, { [PREFERRED_WORKER_LABEL]: 'unheard of' })).toBe('a')
  })
})

describe('C9: affinity', () => {
  const fleet = Array.from({ length: 10 }, (_, index) => named(`worker-${index}`))
  const at = (workers: readonly WorkerView[], key: string) => pick(workers, { [AFFINITY_LABEL]: key })

  test('one key stays with one worker, whatever its load and the order of the snapshot', () => {
    const first = at(fleet, 'customer-7')
    expect(at(fleet.toReversed(), 'customer-7')).toBe(first)
    expect(
      at(
        fleet.map((one) => (one.worker === first ? { ...one, inFlight: 49 } : one)),
        'customer-7',
      ),
    ).toBe(first)
  })

  test('when a worker goes, only its own keys move', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.integer({ min: 0, max: 9 }), (key, gone) => {
        const before = at(fleet, key)
        const after = at(fleet.toSpliced(gone, 1), key)
        expect(after === before).toBe(before !== `worker-${gone}`)
      }),
    )
  })

  test('keys spread over all workers', () => {
    const counts = new Map<string | null, number>()
    for (let key = 0; key < 10_000; key++) {
      const worker = at(fleet, `customer-${key}`)
      counts.set(worker, (counts.get(worker) ?? 0) + 1)
    }
    expect(counts.size).toBe(10)
    expect(Math.min(...counts.values())).toBeGreaterThan(800)
    expect(Math.max(...counts.values())).toBeLessThan(1_200)
  })

  test('a degraded worker loses its keys while there are healthy ones', () => {
    const first = at(fleet, 'customer-7')
    const sick = fleet.map((one) => (one.worker === first ? { ...one, ...degraded } : one))
    expect(at(sick, 'customer-7')).not.toBe(first)
  })
})

describe('D4: heartbeat lag', () => {
  test('percentiles are lags that some worker has', () => {
    const workers = Array.from({ length: 100 }, (_, index) => ({ lastBeatAt: NOW - (index + 1) * 10 }))
    expect(heartbeatLag(workers, NOW)).toEqual({ p50: 500, p90: 900, p99: 990, max: 1_000, count: 100 })
  })

  test('nobody, one, and a clock that is behind', () => {
    expect(heartbeatLag([], NOW)).toEqual({ p50: 0, p90: 0, p99: 0, max: 0, count: 0 })
    expect(heartbeatLag([{ lastBeatAt: NOW - 7 }], NOW)).toEqual({ p50: 7, p90: 7, p99: 7, max: 7, count: 1 })
    expect(heartbeatLag([{ lastBeatAt: NOW + 7 }], NOW).max).toBe(0)
  })
})
