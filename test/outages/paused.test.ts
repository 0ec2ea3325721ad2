// Redis stands still for 40 s, longer than any lease (fault 10), as a virtual machine does that is moved: nobody who is
// well is taken for lost, neither by a sweep that was there before nor by one that starts right after; claims that were
// under way are not lost; nothing is settled twice; no process ends.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine, Random } from '@reprise/core'
import { createSweep } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'
import { quick } from './product/actions.ts'
import {
  expectOneSuccessEach,
  expectToCarryOn,
  ownEngine,
  ownProxy,
  ownServer,
  startProduct,
  until,
  unusual,
} from './product/product.ts'
import { startWorkerChild } from './product/worker-child.ts'

const PAUSE_MS = 40_000
const LEASE_MS = 15_000
const GRACE_MS = 5_000
/**
 * A sweep rests after each error, and a long outage makes it rest for seconds. Workers are kept out here until both sweeps
 * are back, and the grace of the first runs meanwhile: so they rest as little as they may, or it would be over by then.
 */
const RESTLESS: Random = { next: () => 0 }

interface WatchedSweep {
  /** How often it has looked. */
  readonly looks: () => number
  /** For how long somebody had looked all the time when it looked last. */
  readonly steadyMs: () => number
}

/** A sweep in a process of its own, as it were. */
async function startSweep(engine: Engine): Promise<WatchedSweep> {
  let looks = 0
  let steadyMs = 0
  const watched: Engine = {
    ...engine,
    async expired(limit) {
      const look = await engine.expired(limit)
      looks++
      steadyMs = look.now - (look.steadySince ?? look.now)
      return look
    },
  }
  const sweep = createSweep({ engine: watched, graceMs: GRACE_MS, intervalMs: 200, random: RESTLESS })
  await sweep.start()
  onTestFinished(() => sweep.stop())
  return { looks: () => looks, steadyMs: () => steadyMs }
}

test('fault 10: paused for 40 s: nobody is lost, nothing runs twice, and work goes on within 5 s', async () => {
  const server = await ownServer()
  // What the one worker sends is there when the server goes on; of what the other sends, nothing gets through.
  const proxy = await ownProxy(server)
  const lossyProxy = await ownProxy(server)
  const child = await startWorkerChild(lossyProxy.url)
  const product = await startProduct(server.url, {
    workerUrl: proxy.url,
    worker: { lease: LEASE_MS, concurrency: 10 },
  })
  const { client, engine, held, begun, errors } = product
  const heldTasks = await client.submitMany(held, Array<null>(25).fill(null))
  await until(() => heldTasks.every(({ id }) => begun.has(id) || child.begun.has(id)))
  expect(Math.min(begun.size, child.begun.size)).toBeGreaterThan(0)
  const oldSweep = await startSweep(await ownEngine(server.url))
  const newEngine = await ownEngine(server.url)
  await until(() => oldSweep.looks() > 3)

  // Due while nobody can claim them: the claims that are under way then find them when the server goes on, long after
  // those who made them have given up.
  const due = await client.submitMany(quick, Array<number>(5).fill(1), () => ({ delay: '3s' }))
  server.pause()
  lossyProxy.swallow('requests')
  await sleep(PAUSE_MS)

  // The sweeps are back before any worker: the worst case.
  await Promise.all([proxy.refuse(true), lossyProxy.refuse(true)])
  lossyProxy.swallow(null)
  await until(() => proxy.connections + lossyProxy.connections === 0)
  server.resume()
  const looks = oldSweep.looks()
  const newSweep = await startSweep(newEngine)
  await until(() => newSweep.looks() > 2 && oldSweep.looks() > looks + 2)
  await Promise.all([proxy.refuse(false), lossyProxy.refuse(false)])
  const last = await expectToCarryOn(client)

  // Both are past the time they give to the living: what they take for lost is settled by now.
  await until(() => Math.min(oldSweep.steadyMs(), newSweep.steadyMs()) > GRACE_MS + 1_000)
  expect(await unusual(engine)).toEqual([])
  expect(new Set([...errors, ...child.errors])).toEqual(new Set(['REPRISE_STORE_BUSY']))

  // The claims that nobody heard of have been heard of: without that, these would wait for the end of their leases.
  await Promise.all(due.map((task) => task.result({ timeout: LEASE_MS / 2 })))
  product.letGo()
  child.letGo()
  await Promise.all(heldTasks.map((task) => task.result()))
  await expectOneSuccessEach(engine, [...heldTasks, ...due, last])
  await child.expectToEndWell()
}, 120_000)
