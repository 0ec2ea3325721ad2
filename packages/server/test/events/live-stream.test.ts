// The live stream over real HTTP: a client that goes away and comes back, filters, limits, and ends.

import type { AddressInfo } from 'node:net'
import { taskId, tenantId } from '@reprise/core'
import Fastify from 'fastify'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { EntryTenants, eventMaker, type Redact } from '../../../operations/src/events/event.ts'
import { EventFeed } from '../../../operations/src/events/feed.ts'
import { note, openStore, SkippingClock, STORES, spec, stopRedis } from '../../../operations/test/events/fixture.ts'
import { LiveStreams, type LiveStreamsOptions, type StreamRequest } from '../../src/events/live-stream.ts'

afterAll(stopRedis)

type Change = Partial<Omit<LiveStreamsOptions, 'feed' | 'makeEvent' | 'tenants'>> & {
  readonly redact?: Redact
  readonly request?: Partial<StreamRequest>
}

async function serve(engine: Awaited<ReturnType<typeof openStore>>, { redact, request, ...change }: Change = {}) {
  const feed = new EventFeed({ engine, pollMs: 5 })
  const streams = new LiveStreams({
    feed,
    makeEvent: eventMaker(redact ?? ((value) => value)),
    tenants: new EntryTenants(engine),
    clock: new SkippingClock(),
    ...change,
  })
  const app = Fastify({ forceCloseConnections: true })
  app.get('/stream', async (call, reply) => {
    const query = call.query as { cursor?: string; type?: string; actor?: string }
    const gone = new AbortController()
    call.raw.once('close', () => gone.abort())
    reply.header('x-request-id', 'r1')
    await streams.open(reply, {
      caller: { actor: query.actor ?? 'token:one', tenants: null },
      cursor: call.headers['last-event-id']?.toString() ?? query.cursor ?? null,
      types: query.type?.split(',') ?? [],
      taskIds: null,
      signal: gone.signal,
      ...request,
    })
    return reply
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await streams.close()
    await app.close()
  })
  const { port } = app.server.address() as AddressInfo
  return { streams, feed, url: `http://127.0.0.1:${port}/stream` }
}

interface Block {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly retry?: string
  readonly comment?: string
}

/** A client as small as one can be. */
class Client {
  readonly #response: Response
  readonly #reader: ReadableStreamDefaultReader<string>
  #rest = ''
  lastId = ''

  constructor(response: Response) {
    this.#response = response
    if (response.body === null) throw new Error('no body')
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<Client> {
    const client = new Client(await fetch(url, { headers }))
    onTestFinished(() => client.leave())
    return client
  }

  get headers(): Headers {
    return this.#response.headers
  }

  get status(): number {
    return this.#response.status
  }

  /** The next block; null at the end. */
  async block(): Promise<Block | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n')
      if (end !== -1) {
        const lines = this.#rest.slice(0, end).split('\n')
        this.#rest = this.#rest.slice(end + 2)
        const block = Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf(':')) || 'comment', line.slice(line.indexOf(':') + 2)]),
        ) as Block
        if (block.id !== undefined) this.lastId = block.id
        return block
      }
      const { done, value } = await this.#reader.read()
      if (done) return null
      this.#rest += value
    }
  }

  /** The reasons of the next so many events. */
  async reasons(count: number): Promise<string[]> {
    const reasons: string[] = []
    while (reasons.length < count) {
      const block = await this.block()
      if (block === null) break
      if (block.data !== undefined) reasons.push((JSON.parse(block.data) as { data: { reason: string } }).data.reason)
    }
    return reasons
  }

  /** Until it has the position behind what it was shown. */
  async position(cursor: string): Promise<void> {
    while (this.lastId !== cursor) if ((await this.block()) === null) throw new Error('ended')
  }

  async leave(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined)
  }
}

test.each(STORES)('B5: a client that comes back with the last id gets exactly what it missed (%s)', async (kind) => {
  const engine = await openStore(kind)
  const { url, feed } = await serve(engine)
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => note(`n${from + index}`, { taskId: taskId(`t${index % 5}`) }))
  const names = (from: number, to: number) => numbered(from, to).map(({ reason }) => reason)
  await engine.journal.append([note('before')])
  const first = await Client.open(url)
  expect(first.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(first.headers.get('x-request-id')).toBe('r1')
  await first.block()
  await engine.journal.append(numbered(0, 10))
  expect((await first.reasons(10)).sort()).toEqual(names(0, 10).sort())
  await first.position(await feed.tail())
  await first.leave()

  await engine.journal.append(numbered(10, 300))
  const second = await Client.open(url, { 'last-event-id': first.lastId })
  expect((await second.reasons(290)).sort()).toEqual(names(10, 300).sort())
  await engine.journal.append([note('live again')])
  expect(await second.reasons(1)).toEqual(['live again'])
  const third = await Client.open(`${url}?cursor=${first.lastId}`)
  expect((await third.reasons(291)).sort()).toEqual([...names(10, 300), 'live again'].sort())
})

test.each(STORES)('B5: a client that is cut off in the middle of a page misses nothing (%s)', async (kind) => {
  const engine = await openStore(kind)
  const { url } = await serve(engine)
  const client = await Client.open(url)
  await client.block()
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  await engine.journal.append(names.map((name) => note(name, { taskId: taskId(name) })))
  const before = await client.reasons(2)
  await client.leave()
  const back = await Client.open(url, { 'last-event-id': client.lastId })
  expect(back.status).toBe(200)
  // What was shown may be shown again where the store has no cursor within a page.
  const seen = new Set(before)
  while (seen.size < names.length) for (const name of await back.reasons(1)) seen.add(name)
  expect([...seen].sort()).toEqual(names)
})

test('B5: within a page each event has its own id where the store has one for it', async () => {
  const engine = await openStore()
  const { url } = await serve(engine)
  const client = await Client.open(url)
  await client.block()
  await engine.journal.append([note('a'), note('b'), note('c')])
  expect(await client.reasons(2)).toEqual(['a', 'b'])
  const after = await Client.open(url, { 'last-event-id': client.lastId })
  expect(await after.reasons(1)).toEqual(['c'])
})

test('B5: only the types and the tenants that are asked for, and the place is told all the same', async () => {
  const engine = await openStore()
  await engine.submit([spec('a1', { tenant: tenantId('acme') }), spec('b1', { tenant: tenantId('other') })])
  const { url, feed } = await serve(engine, {
    request: { caller: { actor: 'token:one', tenants: [tenantId('acme')] }, types: ['lanes.*', 'note'] },
  })
  const client = await Client.open(url)
  await client.block()
  const by = { actor: 'operator:ann', reason: 'pause' }
  await engine.journal.append([
    note('theirs', { taskId: taskId('b1') }),
    note('of nobody'),
    note('gone', { taskId: taskId('x') }),
  ])
  await engine.change({ kind: 'cancel', select: { ids: [taskId('a1')] }, by: { ...by, reason: 'another type' } })
  await engine.pause({ tenant: tenantId('other') }, { ...by, reason: 'their lanes' })
  await engine.pause({ tenant: tenantId('acme') }, { ...by, reason: 'our lanes' })
  await engine.journal.append([note('ours', { taskId: taskId('a1') })])
  expect(await client.reasons(2)).toEqual(['our lanes', 'ours'])
  await engine.journal.append([note('theirs again', { taskId: taskId('b1') })])
  const tail = await feed.tail()
  await client.position(tail)
  expect(client.lastId).toBe(tail)
})

test('intruder 4, intruder 6: what an entry says can not break out of its event, and secrets are taken out', async () => {
  const engine = await openStore()
  const redact: Redact = (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[redacted]'))
  const { url } = await serve(engine, { redact })
  const client = await Client.open(url)
  await client.block()
  const hostile = 'x\n\nevent: reprise.fake\ndata: {}\r\n<script>hunter2</script>'
  await engine.journal.append([note(hostile)])
  const block = await client.block()
  expect(block?.event).toBe('reprise.note')
  expect(JSON.parse(block?.data ?? '')).toMatchObject({ data: { reason: hostile.replace('hunter2', '[redacted]') } })
})

test('intruder 11: at most so many streams for one caller and in all; one that ends makes room', async () => {
  const engine = await openStore()
  const { url, streams } = await serve(engine, { places: { all: 3, perCaller: 2, perTenant: 3, kept: 0 } })
  const [first] = [await Client.open(`${url}?actor=a`), await Client.open(`${url}?actor=a`)]
  expect((await fetch(`${url}?actor=a`)).status).toBe(429)
  await Client.open(`${url}?actor=b`)
  expect((await fetch(`${url}?actor=c`)).status).toBe(429)
  await first?.leave()
  await vi.waitFor(() => expect(streams.size).toBe(2), { timeout: 30_000 })
  expect((await Client.open(`${url}?actor=a`)).status).toBe(200)
})

test('B5: a cursor that is none is refused before anything is sent', async () => {
  const { url, streams } = await serve(await openStore())
  expect((await fetch(`${url}?cursor=nonsense`)).status).toBe(400)
  expect(streams.size).toBe(0)
})

test('B12: with audit-streaming off no stream opens, and open ones end and say why', async () => {
  let isOn = true
  const engine = await openStore()
  const { url } = await serve(engine, { isOn: () => isOn })
  const client = await Client.open(url)
  await client.block()
  isOn = false
  await engine.journal.append([note('unseen')])
  const last = await client.block()
  expect(last?.event).toBe('reprise.stream.end')
  expect(last?.data).toContain('feature_off')
  expect(await client.block()).toBeNull()
  expect((await fetch(url)).status).toBe(403)
})

test('intruder 7: a stream ends when its caller may not see it any more, before the next event', async () => {
  let may = true
  const clock = new SkippingClock()
  const engine = await openStore()
  const { url } = await serve(engine, { clock, request: { mayStay: () => may } })
  const client = await Client.open(url)
  await client.block()
  may = false
  clock.skip(1_000)
  await engine.journal.append([note('unseen')])
  expect((await client.block())?.data).toContain('not_allowed')
})

test('B5: a quiet stream beats, and a server that stops ends it with a last event and a time to come back', async () => {
  const clock = new SkippingClock()
  const engine = await openStore()
  const { url, streams } = await serve(engine, { clock })
  const client = await Client.open(url)
  expect(await client.block()).toMatchObject({ retry: '2000', id: '0' })
  clock.skip(15_000)
  expect(await client.block()).toEqual({ comment: 'heartbeat' })
  await streams.close()
  const last = await client.block()
  expect(last).toMatchObject({ event: 'reprise.stream.end', retry: '2000' })
  expect(last?.data).toContain('server_stopping')
  expect(await client.block()).toBeNull()
  const anew = await Client.open(url)
  await anew.block()
  await engine.journal.append([note('anew')])
  expect(await anew.reasons(1)).toEqual(['anew'])
})

test('B5: a client that takes nothing is cut off, and held up nobody', async () => {
  const clock = new SkippingClock()
  const engine = await openStore()
  const { url, streams } = await serve(engine, { clock })
  const stuck = await Client.open(url)
  const other = await Client.open(url)
  await other.block()
  // More than the buffers of both ends and of the kernel hold.
  const page = Array.from({ length: 500 }, (_, index) => note(`${index} ${'x'.repeat(20_000)}`))
  for (let round = 0; round < 3; round++) {
    await engine.journal.append(page)
    expect(await other.reasons(500)).toHaveLength(500)
  }
  await vi.waitFor(
    () => {
      clock.skip(30_000)
      expect(streams.size).toBe(1)
    },
    { timeout: 30_000 },
  )
  await expect(stuck.reasons(1_500)).rejects.toThrow('terminated')
})
