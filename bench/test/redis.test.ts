// Every measurement of Reprise on Redis, tiny, on one server: it comes to an end, and has a figure.

import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { measureAvalanche } from '../src/avalanche.ts'
import { handInBacklog, measureBacklog } from '../src/backlog.ts'
import { measureLatency } from '../src/latency.ts'
import { measureLateness } from '../src/lateness.ts'
import { measureMixed } from '../src/mixed.ts'
import { measureProcesses } from '../src/processes.ts'
import { measureRedrive } from '../src/redrive.ts'
import { measureRetention } from '../src/retention.ts'
import { clearStore, type Store } from '../src/store.ts'
import { withClusterStore } from '../src/stores.ts'
import { measureThroughput } from '../src/throughput.ts'

const side = 'ours'
let server: RedisServer
let store: Store

beforeAll(async () => {
  server = await startRedis({ appendonly: true })
  store = { engine: 'redis', at: server.url, mode: 'fast' }
})
afterAll(() => server.stop())
beforeEach(() => clearStore(store))

test('throughput is measured after a warm-up that leaves nothing behind', async () => {
  const found = await measureThroughput({ store, side, tasks: 500, warmupTasks: 100, process: true })
  expect(found.submitPerS).toBeGreaterThan(0)
  expect(found.processPerS).toBeGreaterThan(0)
})

test('mixed submitting and processing is measured to the last task', async () => {
  expect((await measureMixed({ store, side, tasks: 500 })).processPerS).toBeGreaterThan(0)
})

test('a backlog is handed in, and a part of it is worked off', async () => {
  await handInBacklog({ store, tasks: 1_000 })
  expect((await measureBacklog({ store, tasks: 100 })).processPerS).toBeGreaterThan(0)
})

test('redriving dead letters is measured', async () => {
  expect((await measureRedrive({ store, side, tasks: 500 })).redrivePerS).toBeGreaterThan(0)
})

test.each(['in process', 'across processes'] as const)(
  'latency %s has the samples that were asked for',
  async (worker) => {
    const { samplesMs } = await measureLatency({ store, side, samples: 3, worker })
    expect(samplesMs).toHaveLength(3)
    expect(Math.min(...samplesMs)).toBeGreaterThan(0)
  },
)

test('lateness: nothing starts before it is due', async () => {
  const { samplesMs } = await measureLateness({ store, side, tasks: 20, spreadMs: 200 })
  expect(samplesMs).toHaveLength(20)
  expect(Math.min(...samplesMs)).toBeGreaterThanOrEqual(0)
})

test('lateness on a cluster: nothing starts before it is due', async () => {
  const { samplesMs } = await withClusterStore('fast', (own) =>
    measureLateness({ store: own, side, tasks: 60, spreadMs: 300 }),
  )
  expect(samplesMs).toHaveLength(60)
  expect(Math.min(...samplesMs)).toBeGreaterThanOrEqual(0)
})

test('two worker processes', async () => {
  // Seconds of work: where the machine holds up the process that measures, the backlog must outlast that.
  const tasks = 200_000
  await handInBacklog({ store, tasks })
  const found = await measureProcesses({ store, tasks, workers: 2, warmupTasks: 50, windowMs: 20 })
  expect(found.processPerS).toBeGreaterThan(0)
})

test('an avalanche of delayed tasks is measured', async () => {
  const found = await measureAvalanche({ store, delayed: 500, standing: 20_000, windowMs: 300 })
  expect(found.beforePerS).toBeGreaterThan(0)
  expect(found.urgentP95Ms).toBeGreaterThan(0)
  expect(found.longest?.functionMs).toBeGreaterThanOrEqual(0)
})

test('retention is measured', async () => {
  const found = await measureRetention({ store, keepMs: 200, windowMs: 400 })
  expect(found.processPerS).toBeGreaterThan(0)
  expect(found.keptShare).toBeGreaterThan(0)
})
