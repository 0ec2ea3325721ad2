// Processes that watch a store and tell people are killed by SIGKILL after each of their writes in turn, from the death of a task to
// its recovery. Whatever was half done is finished by the next: one work order, one page, one ticket, and an end of each.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@reprise/client'
import { DEFAULT_POOL, describeFailure, type Engine, failed, openFlags, succeeded, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createContext } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { startFakeTickets, startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

const PROCESS = fileURLToPath(new URL('./processes/alerts-process.ts', import.meta.url))

/** `npm run test:long -- crashes/alerts` kills after every write; otherwise after some of them. */
const KILLS = process.env.REPRISE_LONG === '1' ? Array.from({ length: 25 }, (_, at) => at + 1) : [2, 5]

async function storeOf(kind: 'sqlite' | 'redis'): Promise<{ readonly engine: Engine; readonly address: string }> {
  if (kind === 'redis') {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return { engine: await openRedisEngine({ url: server.url }), address: server.url }
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-alerts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const path = join(folder, 'store.db')
  return { engine: await openSqliteEngine({ path, durability: 'fast' }), address: `sqlite:${path}` }
}

const soon = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20))

/** Until the process has ended itself, or all is done. Whether it was the former. */
async function killedAfter(address: string, writes: number, isDone: () => Promise<boolean>): Promise<boolean> {
  const child = fork(PROCESS, [address, String(writes)], { execArgv: ['--conditions=reprise-source', '--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let isOver = false
  void exited.then(() => {
    isOver = true
  })
  while (!isOver && !(await isDone())) await soon()
  const killedItself = isOver
  child.kill('SIGKILL')
  await exited
  return killedItself
}

interface Heard {
  readonly event_action: string
  readonly dedup_key: string
}

async function aPager(): Promise<{ readonly url: string; readonly heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      heard.push(JSON.parse(Buffer.concat(chunks).toString()) as Heard)
      response.writeHead(202).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard }
}

test.each(['sqlite', 'redis'] as const)(
  'B3: killed after each write in turn, nobody is called twice (%s)',
  async (kind) => {
    const { engine, address } = await storeOf(kind)
    onTestFinished(() => engine.close())
    const client = await createClient({ engine })
    onTestFinished(() => client.close())
    const [pager, system] = [await aPager(), await startFakeTickets()]
    onTestFinished(() => system.close())
    const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
    const { channels } = createContext({
      engine,
      policies,
      flags,
      maxRetries: 1,
      version: 'test',
      webhookAllow: ['127.0.0.0/8'],
    }).events
    await channels.create('pager', 'pagerduty', { settings: { routingKey: 'R', url: pager.url } }, 'operator:ann')
    await channels.create('tickets', 'work_orders', { settings: { url: system.url } }, 'operator:ann')
    await client.submit('work', {}, { id: 't1' })
    await settleAll(engine, 'breaks', false)

    const isTold = async (): Promise<boolean> =>
      pager.heard.length > 0 && (await isThere(engine, 'in the pager')) && (await isThere(engine, 'in tickets'))
    const isClosed = async (): Promise<boolean> =>
      pager.heard.some(({ event_action }) => event_action === 'resolve') && system.tickets[0]?.status === 'resolved'
    const kills = await killedInTurn(address, isTold)
    await client.redriveTasks({ ids: ['t1'], reason: 'it is fixed' })
    await settleAll(engine, 'works', true)
    const later = await killedInTurn(address, isClosed)

    expect([kills, later].map((count) => count > 0)).toEqual([true, true])
    expect((await client.listWorkOrders({ status: 'all' })).items).toMatchObject([{ state: { status: 'resolved' } }])
    expect(new Set(pager.heard.map(({ dedup_key }) => dedup_key)).size).toBe(1)
    // A send that nobody recorded is sent again: the same event, which is the same page.
    const actions = pager.heard.map(({ event_action }) => event_action)
    expect(new Set(actions)).toEqual(new Set(['trigger', 'resolve']))
    expect(actions.lastIndexOf('trigger')).toBeLessThan(actions.indexOf('resolve'))
    expect(system.tickets).toHaveLength(1)
  },
  900_000,
)

/** How often a process has ended itself before all was done. */
async function killedInTurn(address: string, isDone: () => Promise<boolean>): Promise<number> {
  let kills = 0
  for (const writes of [...KILLS, 0]) if (await killedAfter(address, writes, isDone)) kills++
  return kills
}

/** Whether nothing is left to be sent to a channel that was told something. */
async function isThere(engine: Engine, where: 'in the pager' | 'in tickets'): Promise<boolean> {
  const channel = where === 'in the pager' ? 'ch-pager' : 'ch-tickets'
  const deliveries = engine.collection<{ readonly id: string; readonly webhookId: string; readonly status: string }>({
    name: 'webhook-deliveries',
    indexes: { webhook: ({ webhookId }) => webhookId },
  })
  const { items } = await deliveries.find({ index: 'webhook', value: channel, limit: 100 })
  return items.length > 0 && items.every(({ document }) => document.status === 'delivered')
}

/** What is queued is claimed, and ends: well, or for good. */
async function settleAll(engine: Engine, name: string, isWell: boolean): Promise<void> {
  const worker = workerId(name)
  const pools = [DEFAULT_POOL]
  const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 100, leaseMs: 60_000 })
  expect(claimed).toHaveLength(1)
  const failure = describeFailure(new TypeError('broken'), 'work' as never)
  const decision = { kind: 'dead', reason: 'not_retriable', rule: failure.rule, sentence: 'It is broken.' } as const
  await engine.settle(claimed.map((one) => (isWell ? succeeded(one, null) : failed(one, failure, decision))))
  await engine.deregister(worker, epoch)
}
