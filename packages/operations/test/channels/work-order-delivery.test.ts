// Work orders in an outside system (B3, B6, B10, B15): one ticket for each, whatever the system does to our requests; it follows ours,
// and ours is closed when it is closed there. The system is a server on loopback that makes a ticket for every request it gets.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Engine, ticketsIn } from '@reprise/core'
import { type FakeTickets, startFakeTickets } from '@reprise/test-servers'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { perform } from '../../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../../src/table.ts'
import { aReceiver, contextOn, openStore, SkippingClock, STORES, spec, stopRedis } from '../events/fixture.ts'
import { soon } from '../events/webhook-fixture.ts'
import { ANN, died } from '../store-with-caller.ts'
import { look, recover } from './rounds.ts'

afterAll(stopRedis)

interface Detail {
  readonly id: string
  readonly state: { readonly status: string; readonly because?: string; readonly result?: string; readonly by?: string }
  readonly tickets: readonly {
    readonly system: string
    readonly ticket: string | null
    readonly status: string | null
    readonly isThere: boolean
    readonly error: string | null
  }[]
}

async function aSystem(): Promise<FakeTickets> {
  const system = await startFakeTickets()
  onTestFinished(() => system.close())
  return system
}

async function house(kind: (typeof STORES)[number] = 'sqlite') {
  const clock = new SkippingClock()
  const engine = await openStore(kind, clock)
  const serve = async () => {
    const context = await contextOn(engine, { clock, consoleUrl: () => 'https://reprise.example.com' })
    await context.events.telling.start()
    return context
  }
  const context = await serve()
  const call = (name: OperationName, input: object): Promise<never> =>
    perform(context, ANN, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  const channel = async (settings: object, more: object = {}): Promise<void> => {
    await call('createChannel', { name: 'tickets', kind: 'work_orders', settings, ...more })
    clock.skip(1_000)
  }
  const order = async (): Promise<Detail> => {
    const { items } = (await call('listWorkOrders', { status: 'all' })) as { items: { id: string }[] }
    expect(items).toHaveLength(1)
    return call('getWorkOrder', { id: items[0]?.id ?? '' })
  }
  /** Waits for a tick of everything that looks again after a while, too. */
  const later = async (check: () => unknown, stepMs = 5_000): Promise<unknown> =>
    soon(async () => {
      clock.skip(stepMs)
      await check()
    })
  return { engine, context, clock, call, channel, order, serve, later }
}

async function typesOf(engine: Engine): Promise<readonly string[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.map(({ type }) => type).filter((type) => type.startsWith('work_order.'))
}

describe.each(STORES)('B6: tickets of an outside system (%s)', (kind) => {
  test('one for each work order: made, taken, closed and opened again there as it is here', async () => {
    const { engine, channel, call, order } = await house(kind)
    const system = await aSystem()
    await channel({ url: system.url, headers: { authorization: 'Bearer x' } })
    await died(engine, [spec('a'), spec('b')], 'CODE_A')
    await look(engine)
    await soon(() => expect(system.tickets).toHaveLength(1))
    const { id } = await order()
    expect(system.tickets[0]?.asked).toMatchObject({
      key: id,
      status: 'open',
      severity: 'normal',
      action: 'render',
      dead: 2,
      code: 'CODE_A',
      link: `https://reprise.example.com/work-orders/${id}`,
      context: { task: { status: 'dead' }, chain: [{ attempt: 1, code: 'CODE_A', worker: 'w1' }] },
    })
    expect(new Set(system.tickets[0]?.asked.tasks as string[] | undefined)).toEqual(new Set(['a', 'b']))
    const [asked] = system.callsOf('create')
    expect(asked?.headers).toMatchObject({ authorization: 'Bearer x', 'idempotency-key': id })
    await soon(async () =>
      expect((await order()).tickets).toMatchObject([{ system: 'tickets', ticket: 'T-1', isThere: true, error: null }]),
    )
    await call('takeWorkOrder', { id })
    await soon(() =>
      expect(system.tickets[0]?.changes).toMatchObject([{ status: 'in_progress', owner: 'operator:ann' }]),
    )
    await recover(engine)
    await look(engine)
    await soon(() => expect(system.tickets[0]?.status).toBe('resolved'))
    expect(system.tickets[0]?.changes.at(-1)?.result).toMatch(/recovered/)
    await died(engine, [spec('c')], 'CODE_A')
    await look(engine)
    await soon(() => expect(system.tickets[0]?.status).toBe('open'))
    expect(system.tickets).toHaveLength(1)
    expect((await typesOf(engine)).filter((type) => type === 'work_order.pushed')).toHaveLength(1)
  })

  test('closed there by a person, and ours closes; who did it, and where, is on record', async () => {
    const { engine, channel, order, later, call } = await house(kind)
    const system = await aSystem()
    await channel({ url: system.url })
    await died(engine, [spec('a')], 'CODE_A')
    await look(engine)
    await soon(async () => expect((await order()).tickets).toMatchObject([{ isThere: true }]))
    const [ticket] = system.tickets
    if (ticket !== undefined) ticket.status = 'Done'
    await later(async () => expect((await order()).state.status).toBe('resolved'), 15_000)
    expect(await order()).toMatchObject({
      state: { because: 'outside', by: 'channel:tickets', result: 'Closed in tickets as Done (T-1).' },
    })
    await later(async () => expect((await order()).tickets).toMatchObject([{ status: 'Done', isClosed: true }]), 15_000)
    // It is closed there already: nobody tells it so.
    expect(ticket?.changes).toEqual([])
    const figures = (await call('measureWorkOrders', {})) as Record<string, unknown>
    expect(figures).toMatchObject({ opened: 1, completed: 1, because: { outside: 1 }, open: 0, share: 1 })
    // Another death opens it again, in both; the old state there closes nothing.
    await died(engine, [spec('b')], 'CODE_A')
    await look(engine)
    await later(() => expect(ticket?.status).toBe('open'), 15_000)
    expect((await order()).state.status).toBe('open')
    expect(system.tickets).toHaveLength(1)
  })
})

describe('whatever the system does, there is one ticket', () => {
  test.each(['broken after', 'hanging after'] as const)(
    'its answer to the request for one is lost (%s)',
    async (trouble) => {
      const { engine, channel, order, later } = await house()
      const system = await aSystem()
      await channel({ url: system.url })
      system.trouble('create', trouble)
      await died(engine, [spec('a')], 'CODE_A')
      await look(engine)
      await soon(() => expect(system.tickets).toHaveLength(1))
      await later(async () =>
        expect((await order()).tickets).toMatchObject([{ ticket: 'T-1', isThere: true, error: null }]),
      )
      expect(system.callsOf('create')).toHaveLength(1)
    },
  )

  test('it is slow to make one, and does not answer: it is asked again only when that is over', async () => {
    const { engine, channel, clock, later } = await house()
    const system = await aSystem()
    await channel({ url: system.url })
    // It got the request and shows no ticket.
    system.trouble('create', 'hanging')
    await died(engine, [spec('a')], 'CODE_A')
    await look(engine)
    await soon(() => expect(system.callsOf('create')).toHaveLength(1))
    const askedAt = clock.now()
    await later(() => expect(system.callsOf('create')).toHaveLength(2), 2_000)
    expect(clock.now() - askedAt).toBeGreaterThanOrEqual(15_000)
    expect(system.callsOf('find').length).toBeGreaterThan(2)
    await soon(() => expect(system.tickets).toHaveLength(1))
  })

  test('B10: it fails for a while: that is an alert, which ends when the ticket is made', async () => {
    const { engine, channel, call, order, later } = await house()
    const system = await aSystem()
    await channel({ url: system.url })
    system.trouble('create', 'failing', 1_000)
    await died(engine, [spec('a')], 'CODE_A')
    await look(engine)
    const alerts = async () =>
      ((await call('listAlerts', { rule: 'work_orders_unpushed' })) as { items: { says: string; state: object }[] })
        .items
    await later(async () => {
      await look(engine)
      expect(await alerts()).toMatchObject([{ state: { status: 'firing' }, group: { system: 'tickets' } }])
    })
    expect((await alerts())[0]?.says).toMatch(/^1 work order could not be made in tickets: ./)
    const [ticket] = (await order()).tickets
    // It answered 500, or, as the test moves the clock, not in time.
    expect([ticket?.isThere, ticket?.error === null]).toEqual([false, false])
    const figures = (await call('measureWorkOrders', {})) as { systems: object[] }
    expect(figures.systems).toEqual([{ system: 'tickets', wanted: 1, there: 0, failing: 1 }])
    system.recover()
    await later(async () => {
      await look(engine)
      expect(await alerts()).toEqual([])
    }, 60_000)
    expect(system.tickets).toHaveLength(1)
  })

  test('another server takes over between any two steps', async () => {
    const { engine, context, channel, serve, clock, later } = await house()
    const system = await aSystem()
    await channel({ url: system.url })
    // It made the ticket, and the server died before it heard of that.
    const made = Promise.withResolvers<void>()
    system.onDone = ({ name }) => {
      if (name === 'create') made.resolve()
    }
    system.trouble('create', 'hanging after')
    await died(engine, [spec('a')], 'CODE_A')
    await look(engine)
    await made.promise
    await context.events.telling.stop()
    await serve()
    clock.skip(60_000)
    await later(async () => {
      const { items } = await ticketsIn(engine).list({ limit: 10 })
      expect(items).toMatchObject([{ document: { there: { id: 'T-1' } } }])
    })
    expect(system.tickets).toHaveLength(1)
  })

  test('a process that stands still before it asks for one looks again first', async () => {
    const clock = new SkippingClock()
    const store = await openStore('sqlite', clock)
    let isStopped = false
    const failureGroups: Engine['failureGroups'] = async (query) => {
      const answer = await store.failureGroups(query)
      if (!isStopped) clock.skip(60_000)
      isStopped = true
      return answer
    }
    const context = await contextOn({ ...store, failureGroups }, { clock })
    await context.events.telling.start()
    const system = await aSystem()
    const channel = { name: 'tickets', kind: 'work_orders', settings: { url: system.url } }
    const { signal } = new AbortController()
    await perform(context, ANN, ['createChannel', ALL_OPERATIONS.createChannel], channel, signal)
    clock.skip(1_000)
    await died(store, [spec('a')], 'CODE_A')
    await look(store)
    await soon(() => {
      clock.skip(5_000)
      expect(system.tickets).toHaveLength(1)
    })
    expect(isStopped).toBe(true)
    expect(system.callsOf('find').length).toBeGreaterThan(1)
  })

  test('it was over before it could be made: nobody hears of it', async () => {
    const { engine, channel, later } = await house()
    const system = await aSystem()
    await channel({ url: system.url })
    system.trouble('create', 'failing', 1_000)
    await died(engine, [spec('a')], 'CODE_A')
    await look(engine)
    await soon(() => expect(system.callsOf('create').length).toBeGreaterThan(0))
    await recover(engine)
    await look(engine)
    system.recover()
    await later(async () => expect((await ticketsIn(engine).list({ limit: 10 })).items).toEqual([]))
    expect(system.tickets).toEqual([])
  })
})

test('what was open before the system was named is there too; what is not severe enough is not', async () => {
  const { engine, channel, later } = await house()
  const [system, other] = [await aSystem(), await aSystem()]
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await channel({ url: other.url }, { name: 'pressing', minSeverity: 'critical' })
  await channel({ url: system.url })
  await died(engine, [spec('b')], 'CODE_B')
  await look(engine)
  await later(() => expect(system.tickets).toHaveLength(2), 15_000)
  expect(other.tickets).toEqual([])
})

test('a template and own paths; answers of any shape; another ticket is never taken for ours', async () => {
  const { engine, channel, order } = await house()
  const asked: string[] = []
  const jira = await aReceiver((response, { body }) => {
    asked.push(body)
    // It does not know the question, and answers with what it has.
    if (body === '') response.end(JSON.stringify({ issues: [{ id: 7, fields: { labels: ['other'] } }] }))
    else
      response
        .writeHead(201)
        .end(JSON.stringify({ id: 8, self: 'javascript:alert(1)', fields: { state: { name: 'To do' } } }))
  })
  await channel({
    url: `http://127.0.0.1:${jira.port}`,
    createPath: '/rest/issue',
    findPath: '/rest/search?jql=labels%3D{{key}}',
    updatePath: 'none',
    template: { fields: { summary: '{{title}}', labels: ['{{key}}'], priority: { name: '{{severity}}' } } },
    fields: { items: 'issues', key: 'fields.labels', status: 'fields.state.name', url: 'self' },
  })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(async () =>
    expect((await order()).tickets).toMatchObject([{ ticket: '8', status: 'To do', url: null, isClosed: false }]),
  )
  const { id } = await order()
  expect(asked.map((body) => (body === '' ? null : (JSON.parse(body) as unknown)))).toEqual([
    null,
    { fields: { summary: 'render: 1 task died: CODE_A', labels: [id], priority: { name: 'normal' } } },
  ])
})

test('a system that is not told of changes closes a work order once: what it goes on saying closes nothing', async () => {
  const { engine, channel, order, later, clock, call } = await house()
  const system = await aSystem()
  await channel({ url: system.url, updatePath: 'none' })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(async () => expect((await order()).tickets).toMatchObject([{ isThere: true }]))
  const [ticket] = system.tickets
  if (ticket !== undefined) ticket.status = 'done'
  await later(async () => expect((await order()).state.status).toBe('resolved'), 15_000)
  await died(engine, [spec('b')], 'CODE_A')
  await look(engine)
  const looks = system.callsOf('find').length
  // It is asked again, twice at least, and says what it said.
  await later(() => expect(system.callsOf('find').length).toBeGreaterThan(looks + 2), 15_000)
  clock.skip(1_000)
  const { items } = (await call('listChannelDeliveries', { id: 'tickets' })) as { items: { status: string }[] }
  expect(items.every(({ status }) => status === 'delivered')).toBe(true)
  expect((await order()).state.status).toBe('open')
  expect(ticket?.changes).toEqual([])
})

test('a system says by itself how a ticket is', async () => {
  const { engine, channel, call, order } = await house()
  const system = await aSystem()
  await channel({ url: system.url, pollSeconds: 0 })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(async () => expect((await order()).tickets).toMatchObject([{ isThere: true }]))
  const { id } = await order()
  const report = (status: string): Promise<never> => call('reportWorkOrder', { id, system: 'tickets', status })
  expect(await report('triaged')).toMatchObject({ ticket: 'T-1', status: 'triaged', isClosed: false })
  expect((await order()).state.status).toBe('open')
  expect(await report('Closed')).toMatchObject({ status: 'Closed', isClosed: true })
  expect(await order()).toMatchObject({ state: { status: 'resolved', because: 'outside', by: 'operator:ann' } })
  expect(await report('Closed')).toMatchObject({ isClosed: true })
  expect((await typesOf(engine)).filter((type) => type === 'work_order.reported')).toHaveLength(2)
  await expect(call('reportWorkOrder', { id, system: 'nobody', status: 'x' })).rejects.toThrow(/There is no channel/)
  await expect(call('reportWorkOrder', { id: 'wo-no', system: 'tickets', status: 'x' })).rejects.toThrow(
    /no work order/,
  )
})

test('a ticket whose id would lead to another path there is told of nothing', async () => {
  const { engine, channel, call, order, later } = await house()
  const asked: (string | undefined)[] = []
  const system = createServer((request, response) => {
    asked.push(request.method)
    request.resume()
    response.writeHead(request.method === 'GET' ? 404 : 201, { 'content-type': 'application/json' })
    response.end('{"id":"..","status":"new"}')
  })
  await new Promise<void>((resolve) => system.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void system.close())
  await channel({
    url: `http://127.0.0.1:${(system.address() as AddressInfo).port}`,
    headers: { authorization: 'Bearer x' },
  })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(async () => expect((await order()).tickets).toMatchObject([{ ticket: '..' }]))
  await call('takeWorkOrder', { id: (await order()).id })
  await later(async () => {
    const { items } = (await call('listChannelDeliveries', { id: 'tickets' })) as { items: { status: string }[] }
    expect(items.map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })
  expect(asked).toEqual(['GET', 'POST'])
})

test('a test makes no ticket; an end of the system switches the channel off; removed, it leaves nothing', async () => {
  const { engine, channel, call } = await house()
  const system = await aSystem()
  await channel({ url: system.url })
  expect(await call('testChannel', { id: 'tickets' })).toMatchObject({ status: 'delivered', log: [{ status: 200 }] })
  expect(system.tickets).toEqual([])
  await call('removeChannel', { id: 'tickets' })
  const gone = await aReceiver((response) => void response.writeHead(410).end())
  await channel({ url: `http://127.0.0.1:${gone.port}` })
  await died(engine, [spec('a')], 'CODE_A')
  await look(engine)
  await soon(async () =>
    expect(await call('listChannels', {})).toMatchObject({
      items: [{ enabled: false, disabledBecause: 'Its receiver answered 410.' }],
    }),
  )
  expect((await ticketsIn(engine).list({ limit: 10 })).items).toHaveLength(1)
  await call('removeChannel', { id: 'tickets' })
  expect((await ticketsIn(engine).list({ limit: 10 })).items).toEqual([])
  await expect(channel({ url: 'http://127.0.0.1:1/?a=b' })).rejects.toThrow(/Without a query/)
})
