// A redrive whose orchestrators are killed by SIGKILL, again and again on the way: each dead letter goes back to work exactly once,
// and the memory of those that move it stays flat. `npm run test:long -- redrives` does it with 100,000 and five kills.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@reprise/client'
import {
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  describeFailure,
  type Engine,
  failed,
  JSON_NULL,
  succeeded,
  type TaskSpec,
  workerId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

const isLong = process.env.REPRISE_LONG === '1'
const TASKS = isLong ? 100_000 : 1_000
const KILLS = isLong ? 5 : 1
const MEMORY_GROWTH_MAX = 100_000_000
const PROCESS = fileURLToPath(new URL('./processes/redrives-process.ts', import.meta.url))
const BATCH = 1_000

async function storeOf(kind: 'sqlite' | 'redis'): Promise<{ readonly engine: Engine; readonly address: string }> {
  if (kind === 'redis') {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return { engine: await openRedisEngine({ url: server.url }), address: server.url }
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-redrives-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const path = join(folder, 'store.db')
  return { engine: await openSqliteEngine({ path }), address: `sqlite:${path}` }
}

const specOf = (at: number): TaskSpec => ({
  id: `t${at}` as never,
  action: 'work' as never,
  pool: DEFAULT_POOL,
  tenant: DEFAULT_TENANT,
  payload: JSON_NULL,
  labels: {},
  priority: 5,
  retryToken: `t${at}` as never,
  dedupeKey: null,
  delayMs: 0,
  dueAt: null,
  deadlineAt: null,
  deadlineMs: null,
  settings: DEFAULT_SETTINGS,
})

/** Claims and settles what there is; says how many it was. */
async function worked(engine: Engine, dies: boolean): Promise<number> {
  const worker = workerId(dies ? 'breaks' : 'works')
  const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools: [DEFAULT_POOL], actions: null, ...around })
  let count = 0
  for (;;) {
    const request = { worker, epoch, pools: [DEFAULT_POOL], actions: null, limit: BATCH, leaseMs: 60_000 }
    const { claimed } = await engine.claim(request)
    if (claimed.length === 0) return count
    count += claimed.length
    const failure = describeFailure(new TypeError('broken'), 'work' as never)
    const decision = { kind: 'dead', reason: 'not_retriable', rule: failure.rule, sentence: 'It is broken.' } as const
    await engine.settle(claimed.map((one) => (dies ? failed(one, failure, decision) : succeeded(one, null))))
  }
}

function mover(address: string): { readonly child: ChildProcess; readonly memory: number[] } {
  const child = fork(PROCESS, [address], { execArgv: ['--conditions=reprise-source', '--no-warnings'] })
  const memory: number[] = []
  child.on('message', (bytes) => memory.push(Number(bytes)))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, memory }
}

async function redrivenOf(engine: Engine): Promise<number> {
  let cursor: string | undefined
  let count = 0
  for (;;) {
    const page = await engine.journal.read({ limit: BATCH, ...(cursor === undefined ? {} : { cursor }) })
    count += page.entries.filter(({ type }) => type === 'task.redriven').length
    if (page.entries.length === 0) return count
    cursor = page.cursor
  }
}

test.each(['sqlite', 'redis'] as const)(
  `a redrive of ${TASKS} dead letters whose process is killed ${KILLS} times sends each exactly once (%s)`,
  async (kind) => {
    const { engine, address } = await storeOf(kind)
    onTestFinished(() => engine.close())
    for (let at = 0; at < TASKS; at += BATCH) {
      await engine.submit(Array.from({ length: BATCH }, (_, index) => specOf(at + index)))
      await worked(engine, true)
    }
    const client = await createClient({ engine })
    onTestFinished(() => client.close())
    const why = { reason: 'a test' }
    // A rate keeps it from being over before it can be killed.
    const rate = isLong ? {} : { ratePerS: 500 }
    let redrive = await client.createRedrive({ all: true, canary: [], start: true, ...rate, ...why })
    const { id } = redrive
    while (redrive.state === 'collecting') redrive = await client.collectRedrive({ id })
    expect(redrive.total).toBe(TASKS)

    const until = async (isThere: () => boolean): Promise<void> => {
      while (!isThere()) {
        redrive = await client.getRedrive({ id })
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    for (let kill = 1; kill <= KILLS; kill++) {
      const { child } = mover(address)
      const left = TASKS - (kill * TASKS) / (KILLS + 1)
      await until(() => redrive.counts.pending <= left)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    expect(redrive.counts.pending).toBeGreaterThan(0)
    const { memory } = mover(address)
    await until(() => redrive.counts.pending === 0)
    expect(await worked(engine, false)).toBe(TASKS)
    await until(() => redrive.state === 'done')
    expect(redrive.counts).toMatchObject({ recovered: TASKS, skipped: 0, failed: 0 })
    expect(await redrivenOf(engine)).toBe(TASKS)
    expect(Math.max(...memory) - (memory[0] ?? 0)).toBeLessThan(MEMORY_GROWTH_MAX)
  },
  isLong ? 1_200_000 : 120_000,
)
