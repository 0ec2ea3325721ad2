// Processes that stand still, and processes that are asked to end while a handler does not listen: what their handlers learn
// before an effect. Real processes, on each engine.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { createSweep } from '@reprise/orchestrator'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, expect, onTestFinished, test } from 'vitest'

const PROGRAM = join(import.meta.dirname, 'processes', 'effect-worker.ts')
const RUN_MS_MAX = 60_000

let redis: Promise<RedisServer> | null = null
afterAll(async () => (await redis)?.stop())

const STORES: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  sqlite: async (folder) => `sqlite:${join(folder, 'store.db')}`,
  redis: async () => {
    redis ??= startRedis()
    return `${(await redis).url}?prefix=${randomUUID()}`
  },
}

async function setUp(addressIn: (folder: string) => Promise<string>) {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-standstill-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const address = await addressIn(folder)
  const connection = await connectEngine(address)
  const { engine } = connection
  onTestFinished(() => connection.close())
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const file = join(folder, 'effects')
  writeFileSync(file, '')
  const worker = () => {
    const child: ChildProcess = spawn(process.execPath, ['--conditions=reprise-source', PROGRAM, address, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const begun = Promise.withResolvers<void>()
    if (child.stdout !== null) createInterface(child.stdout).on('line', () => begun.resolve())
    return { child, begun: begun.promise, exited: once(child, 'exit') }
  }
  return {
    engine,
    client,
    worker,
    effects: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
  }
}

test.each(
  Object.entries(STORES).flatMap(([engine, address]) =>
    (['while it waits', 'before it waits'] as const).map((when) => [when, engine, address] as const),
  ),
)(
  'C7: a handler that stands still %s sees by its signal, its clock and the store that its lease is over, on %s',
  async (when, _, address) => {
    const { engine, client, worker, effects } = await setUp(address)
    const task = await client.submit('careful', when)
    const stopped = worker()
    await stopped.begun
    const sweep = createSweep({ engine, graceMs: 0 })
    await sweep.start()
    onTestFinished(() => sweep.stop())
    // The next attempt waits: no worker is there for it.
    for (;;) {
      const execution = await engine.execution(task.id, 1)
      if (execution?.status === 'lost') break
      await engine.wait({ tasks: [task.id] }, 100)
    }
    stopped.child.kill('SIGCONT')
    await task.result({ timeout: '30s' })
    const [first, second] = effects()
    expect(first).toBe('attempt 1 {"aborted":true,"leaseMsLeft":0,"stillMine":false}')
    expect(second).toMatch(/^attempt 2 \{"aborted":false,"leaseMsLeft":[1-9]\d*,"stillMine":true\}$/)
  },
  RUN_MS_MAX,
)

test.each(Object.entries(STORES))(
  'a process that is asked to end is gone at the end of its grace time, and a handler that does not listen has no effect, on %s',
  async (_, address) => {
    const { client, worker, effects } = await setUp(address)
    const task = await client.submit('deaf', null)
    const { child, begun, exited } = worker()
    await begun
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(effects()).toEqual([])
    expect(await task.get()).toMatchObject({ attempt: 0, state: { status: 'queued' } })
  },
  RUN_MS_MAX,
)
