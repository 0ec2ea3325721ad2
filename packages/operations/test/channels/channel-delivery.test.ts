// Alerts on the wire: servers on loopback that speak the protocols of PagerDuty, Slack, SMTP and others, and that hang, refuse and
// vanish. Whatever one of them does, the others are told on time, and each is told what it was promised.

import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { alertsIn, channelsIn, type Engine, tenantId, workerId } from '@reprise/core'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { CHANNEL_RETRY_DELAYS_MS } from '../../src/channels/channel-delivery.ts'
import { progressCollection } from '../../src/events/webhook-lease.ts'
import { perform } from '../../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../../src/table.ts'
import {
  aReceiver,
  contextOn,
  openStore,
  type Receiver,
  SkippingClock,
  STORES,
  spec,
  stopRedis,
} from '../events/fixture.ts'
import { soon } from '../events/webhook-fixture.ts'
import { ANN, died } from '../store-with-caller.ts'
import { look, recover } from './rounds.ts'
import { SELF_SIGNED } from './self-signed.ts'
import { anSmtpServer } from './smtp-server.ts'

afterAll(stopRedis)

async function tellers(engine: Engine) {
  const clock = new SkippingClock()
  const context = await contextOn(engine, { clock, consoleUrl: () => 'https://reprise.example.com' })
  await context.events.telling.start()
  const call = (name: OperationName, input: object): Promise<never> =>
    perform(context, ANN, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  const channel = async (name: string, kind: string, settings: object, more: object = {}): Promise<void> => {
    await call('createChannel', { name, kind, settings, ...more })
    clock.skip(1_000)
  }
  return { engine, context, clock, call, channel }
}

/** How many things channels were ordered to be told. */
async function noticesOf(engine: Engine): Promise<number> {
  const notices = new Set<unknown>()
  let cursor = await engine.journal.from(0)
  for (;;) {
    const page = await engine.journal.read({ cursor, limit: 1_000 })
    if (page.entries.length === 0) return notices.size
    for (const { type, data } of page.entries) if (type === 'alert.told') notices.add(data.notice)
    cursor = page.cursor
  }
}

const bodies = <T>({ received }: Receiver): readonly T[] => received.map(({ body }) => JSON.parse(body) as T)

interface PagerDutyEvent {
  readonly routing_key: string
  readonly event_action: string
  readonly dedup_key: string
  readonly payload?: { readonly summary: string; readonly severity: string }
}

test('B6: PagerDuty, Slack, e-mail, a template and retry-alert are told once, and of acknowledgement and end', async () => {
  const { engine, call, channel } = await tellers(await openStore())
  const [pager, slack, hook, retry] = await Promise.all([aReceiver(), aReceiver(), aReceiver(), aReceiver()])
  const smtp = await anSmtpServer()
  await channel('pager', 'pagerduty', { routingKey: 'R123', url: pager.url })
  await channel('slack', 'slack', { url: slack.url })
  const template = { title: '{{severity}}: {{says}}', nested: [{ for: '{{action}}{{unknown}}' }], count: 3 }
  await channel('hook', 'webhook', { url: hook.url, headers: { authorization: 'Bearer x' }, template })
  await channel('retry', 'retry_alert', { url: `http://127.0.0.1:${retry.port}/` })
  const mail = { host: '127.0.0.1', port: smtp.port, security: 'none', from: 'r@example.com', to: ['ops@example.com'] }
  await channel('mail', 'email', mail)
  await died(engine, [spec('a<b>')], 'CODE_A')
  await look(engine)
  await look(engine)
  const all = [pager, slack, hook, retry]
  await soon(() => expect(all.map(({ received }) => received.length)).toEqual([1, 1, 1, 1]))
  await soon(() => expect(smtp.messages).toHaveLength(1))
  const { items } = (await call('listAlerts', { rule: 'dead_letters' })) as { items: { id: string }[] }
  const id = items[0]?.id ?? ''
  expect(bodies<PagerDutyEvent>(pager)[0]).toMatchObject({
    routing_key: 'R123',
    event_action: 'trigger',
    dedup_key: id,
    payload: {
      severity: 'warning',
      source: 'reprise',
      component: 'render',
    },
    links: [{ text: 'Open the cause' }, { text: 'Open Reprise' }],
  })
  expect(bodies(slack)[0]).toMatchObject({
    blocks: [{ type: 'header' }, { type: 'section' }, { type: 'context' }, { type: 'actions' }],
  })
  expect(bodies<PagerDutyEvent>(pager)[0]?.payload?.summary).toMatch(/CODE_A/)
  expect(bodies<{ text: string }>(slack)[0]?.text).toMatch(/FIRING normal: dead_letters/)
  expect(bodies(hook)[0]).toMatchObject({ nested: [{ for: 'render' }], count: 3 })
  expect(bodies<{ title: string }>(hook)[0]?.title).toMatch(/^normal: render/)
  expect(hook.received[0]?.headers).toMatchObject({ authorization: 'Bearer x' })
  expect(bodies(retry)[0]).toMatchObject({ what: 'firing', alert: id, action: 'render', rule: 'dead_letters' })
  expect(smtp.messages[0]).toMatch(/Subject: \[Reprise\] FIRING normal: dead_letters/)
  expect(smtp.messages[0]).toMatch(new RegExp(`Message-ID: <${id}\\.1\\.1@reprise>`))

  await call('acknowledgeAlert', { id })
  await look(engine)
  await soon(() => expect(bodies<PagerDutyEvent>(pager)).toHaveLength(2))
  await recover(engine)
  await look(engine)
  await soon(() => expect(bodies<PagerDutyEvent>(pager)).toHaveLength(3))
  expect(bodies<PagerDutyEvent>(pager).map(({ event_action }) => event_action)).toEqual([
    'trigger',
    'acknowledge',
    'resolve',
  ])
  expect(new Set(bodies<PagerDutyEvent>(pager).map(({ dedup_key }) => dedup_key))).toEqual(new Set([id]))
  await soon(() => expect(bodies<{ text: string }>(slack).at(-1)?.text).toMatch(/^RESOLVED/))
  await soon(() => expect(smtp.messages).toHaveLength(3))
})

/** A server with a certificate that nobody has signed. Counts who got as far as a request. */
async function selfSigned(): Promise<{ readonly port: number; readonly requests: () => number }> {
  let requests = 0
  const server = createServer(SELF_SIGNED, (_, response) => {
    requests++
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests: () => requests }
}

/** Takes the request, and answers a byte at a time without an end. */
function drip(response: ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 20)
  response.on('close', () => clearInterval(timer))
}

test('a channel that hangs, drips, fails, is slowed down, is gone or has the wrong TLS delays no other', async () => {
  const { engine, clock, call, channel } = await tellers(await openStore())
  const hanging = await aReceiver(() => undefined)
  const dripping = await aReceiver(drip)
  const unsigned = await selfSigned()
  const failing = await aReceiver((response) => void response.writeHead(503).end())
  const busy = await aReceiver((response) => void response.writeHead(429, { 'retry-after': '120' }).end())
  const gone = await aReceiver((response) => void response.writeHead(410).end())
  const plain = await aReceiver()
  const silent = await anSmtpServer('silent')
  const good = await aReceiver()
  for (const [name, { url }] of Object.entries({ hanging, dripping, failing, busy, gone }))
    await channel(name, 'slack', { url })
  await channel('tls', 'slack', { url: `https://127.0.0.1:${plain.port}/` })
  await channel('unsigned', 'slack', { url: `https://127.0.0.1:${unsigned.port}/` })
  const mail = {
    host: '127.0.0.1',
    port: silent.port,
    security: 'none',
    from: 'r@example.com',
    to: ['ops@example.com'],
  }
  await channel('mail', 'email', mail)
  await channel('good', 'slack', { url: good.url })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(() => expect(good.received).toHaveLength(1))
  await soon(() =>
    expect([hanging, dripping, failing, busy, gone].every(({ received }) => received.length === 1)).toBe(true),
  )

  // A receiver that is gone hears nothing more.
  await soon(async () => {
    const { items } = (await call('listChannels', {})) as { items: { name: string; enabled: boolean }[] }
    expect(items.find(({ name }) => name === 'gone')).toMatchObject({
      enabled: false,
      disabledBecause: 'Its receiver answered 410.',
    })
  })
  const tries = async (id: string) =>
    ((await call('listChannelDeliveries', { id })) as { items: { log: { error: string }[]; nextAt: number }[] }).items
  await soon(async () => expect((await tries('busy'))[0]?.nextAt).toBeGreaterThanOrEqual(clock.now() + 100_000))
  await soon(async () => expect((await tries('tls'))[0]?.log[0]?.error).toMatch(/./))
  await soon(async () => expect((await tries('unsigned'))[0]?.log[0]?.error).toMatch(/self-signed certificate/))
  expect([plain.received.length, unsigned.requests()]).toEqual([0, 0])
  // A channel that comes back is told what it missed.
  failing.respond = (response) => void response.end()
  clock.skip((CHANNEL_RETRY_DELAYS_MS[0] ?? 0) * 1.2)
  await soon(() => expect(failing.received).toHaveLength(2))
  clock.skip(15_000)
  await soon(async () => expect((await tries('hanging'))[0]?.log.length).toBeGreaterThanOrEqual(1))
  // Bytes that come one by one are no answer.
  await soon(async () => expect((await tries('dripping'))[0]?.log[0]?.error).toMatch(/did not answer in full/))
  await soon(async () => expect((await tries('mail'))[0]?.log[0]?.error).toMatch(/in time|imeout/))
})

test('what is over before it could be told is not told: nobody is called for nothing, and nothing is reopened', async () => {
  const { engine, clock, channel } = await tellers(await openStore())
  const pager = await aReceiver((response) => void response.writeHead(500).end())
  await channel('pager', 'pagerduty', { routingKey: 'R', url: pager.url })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(() => expect(pager.received).toHaveLength(1))
  await recover(engine)
  await look(engine)
  pager.respond = (response) => void response.writeHead(202).end()
  clock.skip(60_000)
  await soon(() => expect(bodies<PagerDutyEvent>(pager).at(-1)?.event_action).toBe('resolve'))
  clock.skip(60_000)
  expect(bodies<PagerDutyEvent>(pager).map(({ event_action }) => event_action)).toEqual(['trigger', 'resolve'])
})

test('what somebody acknowledged while the pager was away rings no more when it is back', async () => {
  const { engine, clock, call, channel } = await tellers(await openStore())
  const pager = await aReceiver((response) => void response.writeHead(500).end())
  await channel('pager', 'pagerduty', { routingKey: 'R', url: pager.url })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(() => expect(pager.received).toHaveLength(1))
  const { items } = (await call('listAlerts', { rule: 'dead_letters' })) as { items: { id: string }[] }
  await call('acknowledgeAlert', { id: items[0]?.id ?? '' })
  await look(engine)
  pager.respond = (response) => void response.writeHead(202).end()
  clock.skip(60_000)
  await soon(() => expect(bodies<PagerDutyEvent>(pager).at(-1)?.event_action).toBe('acknowledge'))
  clock.skip(60_000)
  const trigger = async () => {
    const { items: all } = (await call('listChannelDeliveries', { id: 'pager' })) as {
      items: { status: string; log: { answer: string }[] }[]
    }
    return all.map(({ status, log }) => [status, log.at(-1)?.answer])
  }
  await soon(async () =>
    expect(await trigger()).toContainEqual([
      'delivered',
      'Not sent: it was over, or acknowledged, before it could be told.',
    ]),
  )
  expect(bodies<PagerDutyEvent>(pager).map(({ event_action }) => event_action)).toEqual(['trigger', 'acknowledge'])
})

test('a process that stands still between its look and its call tells of nothing that was over meanwhile', async () => {
  const store = await openStore()
  const clock = new SkippingClock()
  let isStopped = false
  const context = await contextOn(
    slowToRead(store, 'alerts', async () => {
      if (isStopped) return
      isStopped = true
      await recover(store)
      await look(store)
      clock.skip(60_000)
    }),
    { clock, consoleUrl: () => 'https://reprise.example.com' },
  )
  await context.events.telling.start()
  const pager = await aReceiver((response) => void response.writeHead(202).end())
  const channel = { name: 'pager', kind: 'pagerduty', settings: { routingKey: 'R', url: pager.url } }
  const { signal } = new AbortController()
  await perform(context, ANN, ['createChannel', ALL_OPERATIONS.createChannel], channel, signal)
  clock.skip(1_000)
  await died(store, [spec('a')], 'CODE_A')
  await look(store)
  await soon(() => expect(bodies<PagerDutyEvent>(pager).at(-1)?.event_action).toBe('resolve'))
  expect(bodies<PagerDutyEvent>(pager).map(({ event_action }) => event_action)).toEqual(['resolve'])
})

/** The answer of each read of this collection comes late: after this step. */
function slowToRead(engine: Engine, name: string, step: () => Promise<void>): Engine {
  return {
    ...engine,
    collection(definition) {
      const collection = engine.collection(definition)
      if (definition.name !== name) return collection
      const get: typeof collection.get = async (id) => {
        const answer = await collection.get(id)
        await step()
        return answer
      }
      return { ...collection, get }
    },
  }
}

test('killed between any two steps: an entry that is written twice, or a send that nobody recorded, is one incident', async () => {
  const { engine, clock, context, channel } = await tellers(await openStore())
  let isCut = true
  const pager = await aReceiver((response) => {
    // It took the event, and the answer is lost.
    if (isCut) response.destroy()
    else response.writeHead(202).end()
    isCut = false
  })
  await channel('pager', 'pagerduty', { routingKey: 'R', url: pager.url })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(() => expect(pager.received).toHaveLength(1))
  // The process that told the journal died before it noted that, and another tells it again.
  const { entries } = await engine.journal.read({ limit: 1_000 })
  const told = entries.filter(({ type }) => type === 'alert.told')
  await engine.journal.append(
    told.map(({ type, taskId, attempt, actor, reason, data }) => ({ type, taskId, attempt, actor, reason, data })),
  )
  clock.skip(5_000)
  await soon(() => expect(pager.received).toHaveLength(2))
  clock.skip(60_000)
  const [first, second] = bodies<PagerDutyEvent>(pager)
  expect(second).toEqual(first)
  const { items } = await context.events.telling.deliveries.list('ch-pager', { limit: 100 })
  expect(items).toHaveLength(1)
})

test('a test says what came of it; secrets are never shown; addresses inside are refused', async () => {
  const { engine, call, channel } = await tellers(await openStore())
  const pager = await aReceiver((response) => void response.writeHead(202).end())
  await channel('pager', 'pagerduty', { routingKey: 'R-secret', url: pager.url })
  expect(await call('testChannel', { id: 'pager' })).toMatchObject({ status: 'delivered', log: [{ status: 202 }] })
  expect(bodies<PagerDutyEvent>(pager).map(({ event_action }) => event_action)).toEqual(['trigger', 'resolve'])
  await channel('slack', 'slack', { url: `http://127.0.0.1:9/secret-path` })
  expect(await call('testChannel', { id: 'slack' })).toMatchObject({ status: 'given_up' })
  const answers = [await call('listChannels', {}), await call('listChannelDeliveries', { id: 'pager' })]
  const { entries } = await engine.journal.read({ limit: 1_000 })
  expect(JSON.stringify([answers, entries])).not.toMatch(/R-secret|secret-path/)
  await expect(channel('x', 'slack', { url: 'http://10.1.2.3/' })).rejects.toThrow(/not a public one/)
  await expect(channel('x', 'slack', {})).rejects.toThrow(/settings of this channel/)
  const smuggled = { url: pager.url, headers: { 'Transfer-Encoding': 'chunked' } }
  await expect(channel('x', 'webhook', smuggled)).rejects.toThrow(/made for each request/)
  await expect(channel('pager', 'slack', { url: pager.url })).rejects.toThrow(/already/)
  await expect(call('testChannel', { id: 'nobody' })).rejects.toThrow(/There is no channel/)
  await call('removeChannel', { id: 'pager' })
  expect(await channelsIn(engine).get('ch-pager')).toBeNull()
  expect(await progressCollection(engine).get('ch-pager')).toBeNull()
})

test.each(STORES)(
  '10,000 dead letters of 5 causes on %s: 5 work orders, 5 pages, no more',
  { timeout: 120_000 },
  async (kind) => {
    const time = new SkippingClock()
    const { engine, channel } = await tellers(await openStore(kind, time))
    const pager = await aReceiver((response) => void response.writeHead(202).end())
    await channel('pager', 'pagerduty', { routingKey: 'R', url: pager.url })
    for (let batch = 0; batch < 10; batch++) {
      const specs = Array.from({ length: 1_000 }, (_, at) => spec(`b${batch}-${at}`))
      await died(engine, specs, `CODE_${'ABCDE'[batch % 5] ?? ''}`)
      if (batch === 4) await look(engine)
    }
    await Promise.all([look(engine), look(engine)])
    const left = await engine.worker(workerId('w1'))
    await engine.deregister(workerId('w1'), left?.epoch ?? 0)
    for (const skippedMs of [70_000, 300_000]) {
      time.skip(skippedMs)
      await Promise.all([look(engine), look(engine)])
    }
    await soon(() => expect(pager.received.length).toBeGreaterThanOrEqual(5))
    expect(await noticesOf(engine)).toBe(5)
    const events = bodies<PagerDutyEvent>(pager)
    expect(new Set(events.map(({ dedup_key }) => dedup_key)).size).toBe(5)
    expect(events.every(({ event_action }) => event_action === 'trigger')).toBe(true)
    const { items } = await alertsIn(engine).list({ limit: 1_000 })
    expect(items.filter(({ document }) => document.rule === 'dead_letters')).toHaveLength(5)
  },
)

test('B16: affected tenants are told of their own tasks alone, a few times an hour, and of the end', async () => {
  const { engine, channel } = await tellers(await openStore())
  await channel('tenants', 'tenants', { perHour: 1 })
  const [acme, blue] = [tenantId('acme'), tenantId('blue')]
  await died(
    engine,
    [spec('a1', { tenant: acme }), spec('a2', { tenant: acme }), spec('b1', { tenant: blue })],
    'CODE_A',
  )
  await look(engine)
  const told = async () => {
    const { entries } = await engine.journal.read({ limit: 1_000 })
    return entries
      .filter(({ type }) => type === 'tenant.notified')
      .map(({ data }) => `${String(data.tenant)} ${String(data.status)} ${String(data.tasks)}`)
  }
  await soon(async () => expect((await told()).toSorted()).toEqual(['acme failing 2', 'blue failing 1']))
  // Another cause within the hour: they had their share.
  await died(engine, [spec('a3', { tenant: acme })], 'CODE_B')
  await look(engine)
  await recover(engine)
  await look(engine)
  await soon(async () =>
    expect((await told()).toSorted()).toEqual([
      'acme failing 2',
      'acme recovered 2',
      'blue failing 1',
      'blue recovered 1',
    ]),
  )
})
