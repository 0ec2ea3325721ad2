// A worker that was cut off from the store for longer than its leases and the grace time: what it had is lost, and goes on
// elsewhere. When the way is open again it works at once: to be cut off is no sickness.

import { createClient } from '@reprise/client'
import { createSweep } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'
import { heldAction, quick } from './product/actions.ts'
import { ownEngine, ownProxy, ownServer, until } from './product/product.ts'
import { startWorkerChild } from './product/worker-child.ts'

const TASKS = 20
const SILENT_MS = 11_000

test('C5: a worker that was cut off for longer than its leases takes work as soon as it is back', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const engine = await ownEngine(server.url)
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const child = await startWorkerChild(proxy.url, '2s')
  const held = await client.submitMany(
    heldAction(async () => undefined),
    Array<null>(TASKS).fill(null),
  )
  await until(() => held.every(({ id }) => child.begun.has(id)))
  const sweep = createSweep({ engine, intervalMs: 200, graceMs: 1_000 })
  await sweep.start()
  onTestFinished(() => sweep.stop())

  await proxy.refuse(true)
  proxy.cut()
  await until(async () => (await engine.counts()).running === 0)
  const [worker] = (await engine.workers()).items
  if (worker === undefined) throw new Error('The worker is gone.')
  // All that was lost speaks against it, as long as nobody hears of it.
  expect((await engine.worker(worker.worker))?.consecutiveFailures).toBeGreaterThan(0)
  await until(async () => (await engine.now()) > worker.lastBeatAt + SILENT_MS)
  const waiting = await client.submitMany(quick, [1, 2, 3])
  await proxy.refuse(false)

  await until(async () => ((await engine.worker(worker.worker))?.lastBeatAt ?? 0) > worker.lastBeatAt + SILENT_MS)
  expect(await engine.worker(worker.worker)).toMatchObject({ consecutiveFailures: 0 })
  child.letGo()
  await Promise.all([...waiting, ...held].map((task) => task.result({ timeout: '20s' })))
  const { entries } = await engine.journal.read({ limit: 1_000 })
  expect(entries.filter(({ type }) => type === 'execution.lost')).toHaveLength(TASKS)
  await child.expectToEndWell()
})
