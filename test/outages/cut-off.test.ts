// A worker that was cut off from the store, or from its server, for longer than its leases and the grace time: what it had is
// lost, and goes on elsewhere. When the way is open again it works at once: to be cut off is no sickness. Real processes.

import { createClient } from '@reprise/client'
import type { Engine } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createSweep } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'
import { heldAction, quick } from './product/actions.ts'
import { ownEngine, ownProxy, ownServer, until } from './product/product.ts'
import { gateTo, serverOn } from './product/served.ts'
import { startWorkerChild } from './product/worker-child.ts'

const TASKS = 20
const SILENT_MS = 11_000

interface Way {
  readonly engine: Engine
  readonly address: string
  readonly token?: string
  readonly cutOff: () => Promise<void>
  readonly letIn: () => Promise<void>
}

/** Redis itself, or a server. From SQLite, which is a file, nobody is cut off otherwise. */
const WAYS: Readonly<Record<string, () => Promise<Way>>> = {
  Redis: async () => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    return {
      engine: await ownEngine(server.url),
      address: proxy.url,
      cutOff: async () => {
        await proxy.refuse(true)
        proxy.cut()
      },
      letIn: () => proxy.refuse(false),
    }
  },
  'a server on Redis': async () => servedBy(await ownEngine((await ownServer()).url)),
  'a server on SQLite': async () => {
    const engine = await openSqliteEngine({ path: ':memory:' })
    onTestFinished(() => engine.close())
    return servedBy(engine)
  },
}

async function servedBy(engine: Engine): Promise<Way> {
  const { url, token } = await serverOn(engine)
  const gate = await gateTo(url)
  return { engine, address: gate.url, token, cutOff: async () => gate.shut(), letIn: async () => gate.open() }
}

test.each(Object.entries(WAYS))(
  'C5: a worker that was cut off from %s for longer than its leases takes work as soon as it is back',
  async (_, open) => {
    const { engine, address, token, cutOff, letIn } = await open()
    const client = await createClient({ engine })
    onTestFinished(() => client.close())
    const child = await startWorkerChild(address, '2s', token)
    const held = await client.submitMany(
      heldAction(async () => undefined),
      Array<null>(TASKS).fill(null),
    )
    await until(() => held.every(({ id }) => child.begun.has(id)))
    const sweep = createSweep({ engine, intervalMs: 200, graceMs: 1_000 })
    await sweep.start()
    onTestFinished(() => sweep.stop())

    await cutOff()
    await until(async () => (await engine.counts()).running === 0)
    const [worker] = (await engine.workers()).items
    if (worker === undefined) throw new Error('The worker is gone.')
    // All that was lost speaks against it, as long as nobody hears of it.
    expect((await engine.worker(worker.worker))?.consecutiveFailures).toBeGreaterThan(0)
    await until(async () => (await engine.now()) > worker.lastBeatAt + SILENT_MS)
    const waiting = await client.submitMany(quick, [1, 2, 3])
    await letIn()

    await until(async () => ((await engine.worker(worker.worker))?.lastBeatAt ?? 0) > worker.lastBeatAt + SILENT_MS)
    expect(await engine.worker(worker.worker)).toMatchObject({ consecutiveFailures: 0 })
    child.letGo()
    await Promise.all([...waiting, ...held].map((task) => task.result({ timeout: '20s' })))
    const { entries } = await engine.journal.read({ limit: 1_000 })
    expect(entries.filter(({ type }) => type === 'execution.lost')).toHaveLength(TASKS)
    await child.expectToEndWell()
  },
)
