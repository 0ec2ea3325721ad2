// Live workers are not called lost because somebody held the store, or because its clock jumped.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@reprise/client'
import { type Clock, defineAction, type Engine, silentLogger, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createSweep } from '@reprise/orchestrator'
import { createWorker } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { unusual } from './product/product.ts'

const TASKS = 20

async function running(engine: Engine, clock?: VirtualClock) {
  const started: string[] = []
  const release = Promise.withResolvers<void>()
  const everyStarted = Promise.withResolvers<void>()
  const action = defineAction({
    name: 'held',
    async run(_: null, { taskId }) {
      started.push(taskId)
      if (started.length === TASKS) everyStarted.resolve()
      await release.promise
    },
  })
  const timed = clock === undefined ? {} : { clock }
  const client = await createClient({ engine, ...timed })
  const worker = await createWorker({
    engine,
    actions: [action],
    concurrency: TASKS,
    lease: '1s',
    log: silentLogger,
    ...timed,
  })
  const tasks = await client.submitMany(action, Array<null>(TASKS).fill(null))
  onTestFinished(async () => {
    await worker.stop({ grace: 0 })
    await client.close()
    await engine.close()
  })
  return { client, worker, tasks, release, everyStarted: everyStarted.promise }
}

async function startSweep(path: string): Promise<void> {
  const engine = await openSqliteEngine({ path, durability: 'fast' })
  const sweep = createSweep({ engine, intervalMs: 200 })
  await sweep.start()
  onTestFinished(async () => {
    await sweep.stop()
    await engine.close()
  })
}

test('a write lock that is held for longer than a lease loses nobody', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const engine = await openSqliteEngine({ path, durability: 'fast' })
  const { tasks, release, everyStarted } = await running(engine)
  await everyStarted
  // Other processes sweep too, and may get the lock first when it is free again.
  for (let sweeper = 0; sweeper < 4; sweeper++) await startSweep(path)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  // Real time, since the lock is real: three leases long.
  await engine.wait({}, 3_000)
  other.exec('COMMIT')
  other.close()
  release.resolve()
  await Promise.all(tasks.map((task) => task.result()))
  expect(await unusual(engine)).toEqual([])
})

test('fault 15: a jump of the clock of the store, past leases and time-outs, loses nobody', async () => {
  const clock = new VirtualClock()
  let offsetMs = 0
  // The store's wall clock, which can be set; everybody's timers go on as before.
  const storeClock: Clock = {
    now: () => clock.now() + offsetMs,
    monotonic: () => clock.monotonic(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
    soon: (callback) => clock.soon(callback),
  }
  const engine = await openSqliteEngine({ path: ':memory:', clock: storeClock })
  const { tasks, release, everyStarted } = await running(engine, clock)
  await clock.advance(100)
  await everyStarted
  await clock.advance(5_000)
  offsetMs = 3_600_000
  await clock.advance(20_000)
  expect(await unusual(engine)).toEqual([])
  release.resolve()
  await clock.advance(1_000)
  const ended = await Promise.all(tasks.map((task) => task.get()))
  expect(ended.map((task) => task?.state.status)).toEqual(Array(TASKS).fill('succeeded'))
})
