// Ten thousand dead letters of five causes within a minute: five work orders and five pages, no more, and what watches the store needs
// no more memory for it. `npm run test:long -- storm-of-deaths` has the full number; otherwise it is a tenth.

import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@reprise/client'
import { openFlags, silentLogger } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createContext } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { startFakePager, startRedis } from '@reprise/test-servers'
import { createWorker, defineAction, PermanentError } from '@reprise/worker'
import { expect, onTestFinished, test, vi } from 'vitest'

const PROCESS = fileURLToPath(new URL('./processes/alerts-process.ts', import.meta.url))
const TASKS = process.env.REPRISE_LONG === '1' ? 10_000 : 1_000
const CAUSES = ['AWAY', 'BROKEN', 'CLOSED', 'DENIED', 'EMPTY']
const PARTS = 10
const MEMORY_GROWTH_MAX = 100_000_000
const WITHIN_MS = 120_000

async function storeOf(kind: 'sqlite' | 'redis') {
  if (kind === 'redis') {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return { engine: await openRedisEngine({ url: server.url }), address: server.url }
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-storm-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const path = join(folder, 'store.db')
  return { engine: await openSqliteEngine({ path, durability: 'fast' }), address: `sqlite:${path}` }
}

const failing = defineAction({
  name: 'order.confirm',
  run({ at }: { readonly at: number }): string {
    const code = CAUSES[at % CAUSES.length] ?? ''
    throw Object.assign(new PermanentError(`The shop says ${code}, order ${at}.`), { code })
  },
})

/** Until they are all dead, and the work orders and alerts have followed. */
async function untilFollowed(client: Client, dead: number): Promise<void> {
  const until = { timeout: WITHIN_MS, interval: 50 }
  await vi.waitFor(async () => expect((await client.counts()).dead).toBe(dead), until)
  await vi.waitFor(async () => {
    const { items } = await client.listWorkOrders({})
    const { items: alerts } = await client.listAlerts({ rule: 'dead_letters' })
    expect([items.length, alerts.length]).toEqual([CAUSES.length, CAUSES.length])
    expect(items.reduce((all, { dead: some }) => all + (some ?? 0), 0)).toBe(dead)
  }, until)
}

test.each(['sqlite', 'redis'] as const)(
  `B3: ${TASKS} dead letters of five causes are five work orders and five pages (%s)`,
  async (kind) => {
    const { engine, address } = await storeOf(kind)
    onTestFinished(() => engine.close())
    const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
    const { channels } = createContext({
      engine,
      policies,
      flags,
      maxRetries: 1,
      version: 'test',
      webhookAllow: ['127.0.0.0/8'],
    }).events
    const pager = await startFakePager()
    onTestFinished(() => pager.close())
    await channels.create('pager', 'pagerduty', { settings: { routingKey: 'R', url: pager.url } }, 'operator:ann')
    const client = await createClient({ engine })
    onTestFinished(() => client.close())
    const worker = await createWorker({ engine, actions: [failing], concurrency: 50, log: silentLogger })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const child = fork(PROCESS, [address, '0'], { execArgv: ['--conditions=reprise-source', '--no-warnings'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const memory: number[] = []
    child.on('message', (bytes) => memory.push(Number(bytes)))

    for (let part = 0; part < PARTS; part++) {
      const size = TASKS / PARTS
      const inputs = Array.from({ length: size }, (_, at) => ({ at: part * size + at }))
      await client.submitMany(failing, inputs)
      await untilFollowed(client, (part + 1) * size)
      // What it needs when it has seen each cause.
      if (part === 0) memory.splice(0, memory.length - 1)
    }
    await vi.waitFor(() => expect(pager.pages.length).toBeGreaterThanOrEqual(CAUSES.length), { timeout: WITHIN_MS })
    expect(pager.pages.map(({ event_action }) => event_action)).toEqual(CAUSES.map(() => 'trigger'))
    expect(new Set(pager.pages.map(({ dedup_key }) => dedup_key)).size).toBe(CAUSES.length)
    expect((await client.listWorkOrders({ status: 'all' })).items).toHaveLength(CAUSES.length)
    expect(memory.length).toBeGreaterThan(0)
    expect(Math.max(...memory) - (memory[0] ?? 0)).toBeLessThan(MEMORY_GROWTH_MAX)
  },
  600_000,
)
