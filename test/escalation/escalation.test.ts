// Escalation end to end, on each engine, with servers that speak the protocols of PagerDuty and Slack, and one that has tickets. D-1: a
// task fails twice and the delayed retry succeeds; its alert closes. D-2: a task dies; PagerDuty and Slack hear once each; there is one
// work order within 5 s, and one ticket; an operator runs a runbook; the task succeeds; work order, ticket and alert close, and the audit
// tells it all.

import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@reprise/client'
import { type Engine, openFlags, silentLogger } from '@reprise/core'
import { createContext, createRunbookHands } from '@reprise/operations'
import { createOrchestrator } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { startFakeTickets } from '@reprise/test-servers'
import { createWorker, defineAction, TransientError } from '@reprise/worker'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SCENARIO_STORES, type ScenarioStore } from '../virtual-time/scenario-store.ts'

interface Heard {
  readonly event_action?: string
  readonly dedup_key?: string
  readonly text?: string
}

/** A server that takes what it is sent. */
async function aReceiver(status: number): Promise<{ readonly url: string; readonly heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createHttpServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      heard.push(JSON.parse(body) as Heard)
      response.writeHead(status).end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, heard }
}

/** Two orchestrators, a server, a worker and a client on one store. */
async function house(store: ScenarioStore) {
  const engine = await store.open()
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const server = await createServer({
    engine,
    policies,
    flags,
    port: 0,
    version: 'test',
    maxRetries: 1,
    webhookAllow: ['127.0.0.0/8'],
  })
  await server.start()
  const context = createContext({ engine, policies, flags, maxRetries: 1, version: 'test' })
  const runbooks = createRunbookHands({ context })
  const orchestrators = [1, 2].map(() =>
    createOrchestrator({ engine, policies, runbooks, log: silentLogger, alerts: { intervalMs: 100 } }),
  )
  await Promise.all(orchestrators.map((one) => one.start()))
  const local = await createClient({ engine, actor: 'local:admin' })
  const { token } = await local.createToken({ name: 'ops', role: 'admin', tenants: null })
  await local.close()
  const client = await createClient({ url: server.url(), token })
  onTestFinished(async () => {
    await client.close()
    await Promise.all([...orchestrators.map((one) => one.stop()), server.stop()])
    await engine.close()
  })
  const [pager, slack] = [await aReceiver(202), await aReceiver(200)]
  await client.createChannel({ name: 'pager', kind: 'pagerduty', settings: { routingKey: 'R', url: pager.url } })
  await client.createChannel({ name: 'slack', kind: 'slack', settings: { url: slack.url } })
  const tickets = await startFakeTickets()
  onTestFinished(() => tickets.close())
  await client.createChannel({ name: 'tickets', kind: 'work_orders', settings: { url: tickets.url } })
  return { engine, client, pager, slack, tickets: tickets.tickets }
}

const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 20 })

async function typesOf(engine: Engine): Promise<readonly string[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.map(({ type }) => type)
}

/** Fails while `isWell` is false. */
function moody(name: string, retries: number) {
  const mood = { isWell: false }
  const action = defineAction({
    name,
    retry: { max: retries, backoff: { kind: 'fixed', delay: 100 } },
    run() {
      if (!mood.isWell) throw new TransientError('the bank is down')
      return 'done'
    },
  })
  return { mood, action }
}

describe.each(SCENARIO_STORES)('on $name', (store) => {
  test('B2: D-1, a task that fails twice makes an alert, and its success closes it; nobody is called', async () => {
    const { engine, client, pager, slack, tickets } = await house(store)
    const { mood, action } = moody('shaky', 1_000)
    const worker = await createWorker({ engine, actions: [action], log: silentLogger })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const task = await client.submit(action, {})
    await soon(async () => {
      const { items } = await client.listAlerts({ rule: 'repeated_failures' })
      expect(items).toMatchObject([{ state: { status: 'firing' }, group: { action: 'shaky' } }])
    })
    mood.isWell = true
    await expect(task.result()).resolves.toBe('done')
    await soon(async () => expect((await client.listAlerts({ rule: 'repeated_failures' })).items).toEqual([]))
    expect((await client.listAlerts({ status: 'resolved', rule: 'repeated_failures' })).items).toHaveLength(1)
    expect([pager.heard, slack.heard, tickets]).toEqual([[], [], []])
    expect((await client.listWorkOrders({ status: 'all' })).items).toEqual([])
  })

  test('B3: D-2, a task dies: one work order, one page, one message; a runbook repairs it, and all of it closes', async () => {
    const { engine, client, pager, slack, tickets } = await house(store)
    const { mood, action } = moody('charge', 1)
    const worker = await createWorker({ engine, actions: [action], log: silentLogger })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const task = await client.submit(action, {})
    await expect(task.result()).rejects.toThrow(/the bank is down/)
    await soon(() => expect([pager.heard.length, slack.heard.length]).toEqual([1, 1]))
    const { items: orders } = await client.listWorkOrders({})
    expect(orders).toHaveLength(1)
    const [order] = orders
    const dead = await engine.task(task.id)
    const diedAt = dead?.state.status === 'dead' ? dead.state.at : 0
    const { entries } = await engine.journal.read({ limit: 1_000 })
    const openedAt = entries.find(({ type }) => type === 'work_order.opened')?.at ?? Number.POSITIVE_INFINITY
    expect(openedAt - diedAt).toBeLessThan(5_000)
    const { items: alerts } = await client.listAlerts({ rule: 'dead_letters' })
    expect(alerts).toMatchObject([{ state: { status: 'firing' }, group: { workOrder: order?.id } }])
    expect(pager.heard).toMatchObject([{ event_action: 'trigger', dedup_key: alerts[0]?.id }])

    await client.takeWorkOrder({ id: order?.id ?? '' })
    await soon(() => expect(pager.heard.at(-1)).toMatchObject({ event_action: 'acknowledge' }))
    mood.isWell = true
    const inputs = { fingerprint: order?.subject.fingerprint ?? '' }
    const run = await client.startRunbook({ name: 'replay-after-outage', inputs, reason: 'the bank is back' })
    const state = async (): Promise<string> => (await client.getRunbookRun({ id: run.id })).state
    await soon(async () => expect(await state()).toBe('waiting'))
    await client.answerRunbookRun({ id: run.id, answer: 'yes' })
    await soon(async () => expect(await state()).toBe('succeeded'))
    expect((await engine.task(task.id))?.state.status).toBe('succeeded')
    await soon(async () => expect((await client.listWorkOrders({ status: 'resolved' })).items).toHaveLength(1))
    await soon(() => expect(pager.heard.at(-1)).toMatchObject({ event_action: 'resolve' }))
    await soon(() => expect(slack.heard.at(-1)?.text).toMatch(/^RESOLVED/))
    expect(pager.heard.map(({ event_action }) => event_action)).toEqual(['trigger', 'acknowledge', 'resolve'])
    expect(new Set(pager.heard.map(({ dedup_key }) => dedup_key)).size).toBe(1)
    expect(slack.heard).toHaveLength(3)
    await soon(() => expect(tickets).toMatchObject([{ key: order?.id, status: 'resolved' }]))
    expect((await client.listAlerts({})).items.filter(({ rule }) => rule === 'dead_letters')).toEqual([])
    const told = await typesOf(engine)
    for (const type of [
      'work_order.opened',
      'work_order.taken',
      'alert.acknowledged',
      'task.redriven',
      'work_order.closed',
    ]) {
      expect([type, told.filter((one) => one === type).length]).toEqual([type, 1])
    }
    expect(told).toEqual(
      expect.arrayContaining(['alert.fired', 'task.recovered', 'alert.resolved', 'runbook.started', 'runbook.ended']),
    )
    const { items: audited } = await client.listAudit({ limit: 1_000, type: 'operation.performed' })
    const did = audited.map(({ data }) => data.operation)
    expect(did).toEqual(expect.arrayContaining(['takeWorkOrder', 'startRunbook', 'answerRunbookRun']))
  })
})
