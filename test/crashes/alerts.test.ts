// Processes that watch a store, tell people and move runbooks are killed by SIGKILL after each of their writes in turn. D-1: from two
// failures of a task to the success of its retry. D-2: from the death of a task to its recovery by a runbook. Whatever was half done is
// finished by the next: one work order, one page, one ticket, one redrive, and an end of each.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@reprise/client'
import {
  DEFAULT_POOL,
  describeFailure,
  type Engine,
  failed,
  openFlags,
  silentLogger,
  succeeded,
  workerId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createContext } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { type Page, startFakePager, startFakeTickets, startRedis } from '@reprise/test-servers'
import { createWorker, defineAction, TransientError } from '@reprise/worker'
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

/** What one has to watch a store with: a client, a pager and a system of tickets. */
async function house(kind: 'sqlite' | 'redis') {
  const { engine, address } = await storeOf(kind)
  onTestFinished(() => engine.close())
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const [pager, system] = [await startFakePager(), await startFakeTickets()]
  onTestFinished(() => pager.close())
  onTestFinished(() => system.close())
  const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
  const context = createContext({
    engine,
    policies,
    flags,
    maxRetries: 1,
    version: 'test',
    webhookAllow: ['127.0.0.0/8'],
  })
  const { channels } = context.events
  // Rates are about all that happens meanwhile.
  const rules = ['dead_letters', 'repeated_failures']
  const settings = { settings: { routingKey: 'R', url: pager.url }, minSeverity: 'low', rules } as const
  await channels.create('pager', 'pagerduty', settings, 'operator:ann')
  await channels.create('tickets', 'work_orders', { settings: { url: system.url } }, 'operator:ann')
  return { engine, address, client, pages: pager.pages, tickets: system.tickets }
}

/** A send that nobody recorded is sent again: the same event, which is the same page. */
function expectOnePage(pages: readonly Page[]): void {
  expect(new Set(pages.map(({ dedup_key }) => dedup_key)).size).toBe(1)
  const actions = pages.map(({ event_action }) => event_action)
  expect(new Set(actions)).toEqual(new Set(['trigger', 'resolve']))
  expect(actions.lastIndexOf('trigger')).toBeLessThan(actions.indexOf('resolve'))
}

const isOver = (pages: readonly Page[]): boolean => pages.some(({ event_action }) => event_action === 'resolve')

test.each(['sqlite', 'redis'] as const)(
  'B2: D-1, killed after each write in turn: what fails twice is one alert, which its success closes (%s)',
  async (kind) => {
    const { engine, address, client, pages, tickets } = await house(kind)
    const bank = { isDown: true }
    const charge = defineAction({
      name: 'charge',
      retry: { max: 1_000, backoff: { kind: 'fixed', delay: 400 } },
      run() {
        if (bank.isDown) throw new TransientError('the bank is down')
        return 'done'
      },
    })
    const worker = await createWorker({ engine, actions: [charge], log: silentLogger })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const task = await client.submit(charge, {})
    const isTold = async (): Promise<boolean> => pages.length > 0 && (await isThere(engine, 'in the pager'))
    const kills = await killedInTurn(address, isTold)
    bank.isDown = false
    await task.result()
    const later = await killedInTurn(address, async () => isOver(pages))
    expect([kills, later].map((count) => count > 0)).toEqual([true, true])
    expectOnePage(pages)
    expect([(await client.listWorkOrders({ status: 'all' })).items, tickets]).toEqual([[], []])
  },
  900_000,
)

test.each(['sqlite', 'redis'] as const)(
  'B3, B4: D-2, killed after each write in turn: one work order, one page, one ticket, and one recovery by a runbook (%s)',
  async (kind) => {
    const { engine, address, client, pages, tickets } = await house(kind)
    await client.submit('work', {}, { id: 't1' })
    await settleAll(engine, 'breaks', false)

    const isTold = async (): Promise<boolean> =>
      pages.length > 0 && (await isThere(engine, 'in the pager')) && (await isThere(engine, 'in tickets'))
    const kills = await killedInTurn(address, isTold)
    const { items } = await client.listFailureGroups({})
    const inputs = { fingerprint: items[0]?.fingerprint ?? '' }
    const { id } = await client.startRunbook({ name: 'replay-after-outage', inputs, reason: 'the bank is back' })
    const hasRun = async (): Promise<boolean> => {
      if ((await engine.counts()).queued > 0) await settleAll(engine, 'works', true)
      const run = await client.getRunbookRun({ id })
      if (run.question !== null) await client.answerRunbookRun({ id, answer: 'yes' })
      return run.state === 'succeeded'
    }
    const inRun = await killedInTurn(address, hasRun)
    const isClosed = async (): Promise<boolean> => isOver(pages) && tickets[0]?.status === 'resolved'
    const later = await killedInTurn(address, isClosed)

    // Once the runbook has ended, all may be closed already.
    expect([kills, inRun].map((count) => count > 0)).toEqual([true, true])
    expect(later).toBeGreaterThanOrEqual(0)
    expect((await client.listWorkOrders({ status: 'all' })).items).toMatchObject([{ state: { status: 'resolved' } }])
    expectOnePage(pages)
    expect(tickets).toHaveLength(1)
    expect((await client.listExecutions({ id: 't1' })).items.map(({ status }) => status)).toEqual([
      'failed',
      'succeeded',
    ])
    expect((await client.listRedrives({})).items).toMatchObject([{ state: 'done' }])
    const { entries } = await engine.journal.read({ limit: 1_000 })
    expect(entries.filter(({ type }) => type === 'task.redriven')).toHaveLength(1)
    const told = new Set(entries.map(({ type }) => type))
    for (const type of ['work_order.opened', 'alert.fired', 'runbook.started', 'runbook.ended', 'work_order.closed']) {
      expect(told).toContain(type)
    }
    expect(await client.verifyAudit({})).toMatchObject({ problems: [] })
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
