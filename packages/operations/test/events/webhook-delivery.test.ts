// Webhooks against real receivers that answer, refuse, hang, drip and vanish (fault 27).

import { openFlags, taskId, tenantId } from '@reprise/core'
import { verifySignature } from '@reprise/launchers'
import { afterAll, expect, test } from 'vitest'
import { RETRY_DELAYS_MS, SENDS_AT_ONCE } from '../../src/events/webhook-delivery.ts'
import { PENDING_MAX } from '../../src/events/webhook-runner.ts'
import { aReceiver, note, openStore, STORES, spec, stopRedis } from './fixture.ts'
import { deliveriesOf, delivering, hook, soon, tried } from './webhook-fixture.ts'

afterAll(stopRedis)

const BY = { actor: 'operator:ann', reason: 'testing' }

test.each(STORES)('B5: each event that is wanted comes once, signed, with the id of its entry (%s)', async (kind) => {
  const engine = await openStore(kind)
  await engine.submit([spec('a1', { tenant: tenantId('acme') }), spec('b1', { tenant: tenantId('other') })])
  const events = await delivering(engine)
  await engine.journal.append([note('before it was made')])
  const receiver = await aReceiver()
  const made = await hook(events, receiver.url, { types: ['reprise.note'], tenant: tenantId('acme') })
  await engine.journal.append([
    note('one', { taskId: taskId('a1') }),
    note('of another tenant', { taskId: taskId('b1') }),
    note('of another type', { taskId: taskId('a1'), type: 'task.promoted' }),
    note('two', { taskId: taskId('a1') }),
  ])
  // Its own creation is an event of its tenant as well, since it was made after its place was taken.
  await soon(() =>
    expect(receiver.reasons.filter((reason) => !reason?.includes('webhook')).sort()).toEqual(['one', 'two']),
  )
  const { entries } = await engine.journal.read({ taskId: taskId('a1') })
  for (const { headers, body } of receiver.received) {
    expect(verifySignature(headers, body, made.secret ?? '', { now: events.clock.now() })).toBe(true)
    expect(JSON.parse(body)).toMatchObject({ specversion: '1.0', type: 'reprise.note', id: headers['webhook-id'] })
  }
  const first = receiver.received.find(({ reason }) => reason === 'one')
  expect(first?.headers['webhook-id']).toBe(entries[0]?.id)
  const delivered = await tried(events, made, 'two', 1)
  expect(delivered).toMatchObject({
    status: 'delivered',
    nextAt: null,
    log: [{ status: 200, error: null, answer: 'ok' }],
  })
  expect(JSON.stringify(await events.webhooks.get(made.webhook.id))).not.toContain('whsec_')
})

test('fault 27: a receiver that hangs is given up after 10 s, holds up no other, and gets the same id again', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const hanging = await aReceiver(() => undefined)
  const well = await aReceiver()
  const stuck = await hook(events, hanging.url)
  await hook(events, well.url)
  for (let index = 0; index < 20; index++) await engine.journal.append([note(`n${index}`)])
  await soon(() => expect(well.reasons.filter((reason) => reason?.startsWith('n'))).toHaveLength(20))
  await soon(() => expect(hanging.received).toHaveLength(SENDS_AT_ONCE))
  const [first] = hanging.received
  events.clock.skip(10_000)
  const delivery = await tried(events, stuck, String(first?.reason), 1)
  expect(delivery).toMatchObject({ status: 'pending', tries: 1, log: [{ status: null }] })
  expect(delivery.log[0]?.error).toContain('did not answer in full within 10000 ms')
  hanging.respond = (response) => void response.end()
  await soon(() => {
    events.clock.skip(10_000)
    expect(hanging.reasons.filter((reason) => reason === first?.reason)).toHaveLength(2)
  })
  const ids = hanging.received
    .filter(({ reason }) => reason === first?.reason)
    .map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
})

test('fault 27: what is pending is bounded; the rest waits in the journal and is delivered later', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver(() => undefined)
  const well = await aReceiver()
  const made = await hook(events, receiver.url)
  await hook(events, well.url)
  const names = Array.from({ length: 800 }, (_, index) => `n${index}`)
  await engine.journal.append([...names, 'one more'].map((name) => note(name)))
  await soon(async () =>
    expect((await deliveriesOf(events, made, 'pending')).length).toBeGreaterThanOrEqual(PENDING_MAX),
  )
  // The other has come to the end of the journal: so would this one have, if nothing held it.
  await soon(() => expect(well.reasons).toContain('one more'))
  // At most what was pending and one page.
  expect((await deliveriesOf(events, made, 'pending')).length).toBeLessThan(PENDING_MAX + 100)
  receiver.respond = (response) => void response.end()
  events.clock.skip(10_000)
  await soon(() => {
    events.clock.skip(1_000)
    expect(receiver.reasons).toContain('one more')
    expect(names.every((name) => receiver.reasons.includes(name))).toBe(true)
  })
})

test('fault 27: a receiver that drips is cut off by the same deadline', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const dripping = await aReceiver((response) => {
    response.writeHead(200)
    response.write('a')
    const timer = setInterval(() => response.write('a'), 5)
    response.once('close', () => clearInterval(timer))
  })
  const made = await hook(events, dripping.url, { types: ['reprise.lanes.*', 'reprise.note'] })
  await engine.journal.append([note('drip')])
  await soon(() => expect(dripping.reasons).toContain('drip'))
  events.clock.skip(10_000)
  expect(await tried(events, made, 'drip', 1)).toMatchObject({ status: 'pending', log: [{ status: null }] })
})

test('fault 27: Retry-After is kept, within bounds, and for everything that goes there', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver(
    (response) => void response.writeHead(429, { 'retry-after': '120' }).end('slow down'),
  )
  const made = await hook(events, receiver.url, { types: ['note'], tenant: tenantId('acme') })
  const ours = { data: { tenant: 'acme' } }
  await engine.journal.append([note('busy', ours)])
  const first = await tried(events, made, 'busy', 1)
  expect((first.nextAt ?? 0) - (first.log[0]?.at ?? 0)).toBeGreaterThanOrEqual(120_000)
  expect((first.nextAt ?? 0) - (first.log[0]?.at ?? 0)).toBeLessThan(125_000)
  expect(first.log[0]).toMatchObject({ status: 429, answer: 'slow down' })
  const before = receiver.received.length
  await engine.journal.append([note('later', ours)])
  await soon(async () => expect(await deliveriesOf(events, made, 'pending')).toHaveLength(before + 1))
  events.clock.skip(100_000)
  await events.feed.tail()
  expect(receiver.reasons).not.toContain('later')
  receiver.respond = (response) => void response.writeHead(503, { 'retry-after': '999999999' }).end()
  events.clock.skip(21_000)
  const second = await tried(events, made, 'busy', 2)
  expect((second.nextAt ?? 0) - (second.log[1]?.at ?? 0)).toBeLessThan(6 * 3_600_000 + 5_000)
  expect((second.nextAt ?? 0) - (second.log[1]?.at ?? 0)).toBeGreaterThanOrEqual(6 * 3_600_000)
})

test('fault 27: what fails is tried for a day, then given up and told, and later events are not held up by it', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver((response, { reason }) => {
    response.statusCode = reason === 'bad' ? 500 : 204
    response.end()
  })
  const made = await hook(events, receiver.url)
  await engine.journal.append([note('bad'), note('good')])
  await soon(() => expect(receiver.reasons).toContain('good'))
  let waitedMs = 0
  for (let times = 1; times <= RETRY_DELAYS_MS.length; times++) {
    const { nextAt, status } = await tried(events, made, 'bad', times)
    expect(status).toBe('pending')
    const waitMs = (nextAt ?? 0) - events.clock.now()
    waitedMs += waitMs
    events.clock.skip(waitMs + 1)
  }
  const last = await tried(events, made, 'bad', RETRY_DELAYS_MS.length + 1)
  expect(last).toMatchObject({ status: 'given_up', nextAt: null })
  expect(waitedMs / 3_600_000).toBeGreaterThan(18)
  expect(waitedMs / 3_600_000).toBeLessThan(26)
  const tries = receiver.received.filter(({ reason }) => reason === 'bad')
  expect(tries).toHaveLength(9)
  expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  const { entries } = await engine.journal.read({ limit: 1_000 })
  const told = entries.filter(({ actor }) => actor === 'webhooks')
  expect(told.map(({ reason }) => reason)).toEqual([expect.stringContaining('is given up')])
  await engine.journal.append([note('after')])
  await soon(() => expect(receiver.reasons).toContain('after'))
  // To deliver what is told of deliveries would never end.
  expect(receiver.received.some(({ body }) => body.includes('is given up'))).toBe(false)
})

test('fault 27: 410 switches a webhook off at once, and only that one', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const gone = await aReceiver((response) => void response.writeHead(410).end())
  const other = await aReceiver()
  const made = await hook(events, gone.url)
  await hook(events, other.url)
  await engine.journal.append([note('one')])
  await soon(async () => expect(await events.webhooks.get(made.webhook.id)).toMatchObject({ enabled: false }))
  expect((await events.webhooks.get(made.webhook.id)).disabledBecause).toContain('410')
  await engine.journal.append([note('two')])
  await soon(() => expect(other.reasons).toContain('two'))
  expect(gone.reasons).not.toContain('two')
  // Switched on again, it goes on where it stopped.
  gone.respond = (response) => void response.end()
  await events.webhooks.update(made.webhook.id, { enabled: true }, 'operator:ann')
  await soon(() => {
    events.clock.skip(1_000)
    expect(gone.reasons).toContain('two')
  })
})

test('intruder 5: a redirect is not followed', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const inner = await aReceiver()
  const outer = await aReceiver((response) => void response.writeHead(307, { location: inner.url }).end())
  const made = await hook(events, outer.url)
  await engine.journal.append([note('where')])
  const delivery = await tried(events, made, 'where', 1)
  expect(delivery).toMatchObject({ status: 'pending', log: [{ status: 307 }] })
  expect(delivery.log[0]?.error).toContain('Redirects are not followed')
  expect(inner.received).toEqual([])
})

test('intruder 6: what is logged of an answer is short, of one line, and redacted; so is what is sent', async () => {
  const engine = await openStore()
  const redact = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[redacted]'))
  const events = await delivering(engine, {
    redaction: { value: redact, text: String, paced: async (value) => redact(value) },
  })
  const receiver = await aReceiver(
    (response) => void response.end(`password\r\n\u001b[31mhunter2 ${'x'.repeat(100_000)}`),
  )
  const made = await hook(events, receiver.url)
  await engine.journal.append([note('the secret is hunter2')])
  const delivery = await tried(events, made, 'the secret is [redacted]', 1)
  expect(delivery.log[0]?.answer).toMatch(/^password \[31m\[redacted\] x+$/)
  expect(delivery.log[0]?.answer.length).toBe(500)
  expect(JSON.stringify(receiver.received)).not.toContain('hunter2')
})

test('B5: an event that is too large for the log comes without its data, and holds up nothing', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver()
  await hook(events, receiver.url)
  await engine.journal.append([note('large', { data: { text: 'x'.repeat(300_000) } }), note('next')])
  await soon(() => expect(receiver.reasons).toContain('next'))
  const { entries } = await engine.journal.read()
  const large = receiver.received.find(({ headers }) => headers['webhook-id'] === entries.at(-2)?.id)
  expect(large?.body).toContain('"type":"reprise.note"')
  expect(large?.body).toContain('"data":{"cut":"It takes more than 65536 bytes')
})

test('B5: a delivery can be sent again by hand, and a webhook tried out', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver()
  const made = await hook(events, receiver.url, { types: ['note'] })
  await engine.journal.append([note('again')])
  const { id } = await tried(events, made, 'again', 1)
  expect(await events.delivery.redeliver(made.webhook.id, id)).toMatchObject({ status: 'pending', tries: 0 })
  await soon(() => {
    events.clock.skip(1_000)
    expect(receiver.reasons.filter((reason) => reason === 'again')).toHaveLength(2)
  })
  const [first, second] = receiver.received.filter(({ reason }) => reason === 'again')
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  await expect(events.delivery.redeliver(made.webhook.id, 'nonsense')).rejects.toMatchObject({
    code: 'REPRISE_NOT_FOUND',
  })
  const ping = await events.delivery.test(made.webhook.id)
  expect(ping).toMatchObject({ type: 'reprise.ping', status: 'delivered' })
  expect(receiver.received.at(-1)?.body).toContain('reprise.ping')
})

test('B12: with audit-streaming off nothing is sent, and nothing is lost', async () => {
  const engine = await openStore()
  const flags = await openFlags({ engine })
  const events = await delivering(engine, { flags })
  const receiver = await aReceiver()
  await hook(events, receiver.url)
  await engine.journal.append([note('one')])
  await soon(() => expect(receiver.reasons).toContain('one'))
  await flags.set('audit-streaming', false, BY)
  await soon(async () => {
    events.clock.skip(1_000)
    const { items } = await engine
      .collection<{ id: string; owner: string | null }>({ name: 'webhook-progress', indexes: {} })
      .list()
    expect(items.map(({ document }) => document.owner)).toEqual([null])
  })
  await engine.journal.append([note('two')])
  events.clock.skip(5_000)
  expect(receiver.reasons).not.toContain('two')
  await flags.set('audit-streaming', true, BY)
  await soon(() => {
    events.clock.skip(1_000)
    expect(receiver.reasons).toContain('two')
  })
})

test('B5: the log is bounded: of what has ended, the latest are kept', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver()
  const made = await hook(events, receiver.url)
  for (let batch = 0; batch < 6; batch++) {
    await engine.journal.append(Array.from({ length: 50 }, (_, index) => note(`n${batch * 50 + index}`)))
  }
  await soon(() => expect(new Set(receiver.reasons).size).toBeGreaterThanOrEqual(300))
  await soon(async () => expect(await deliveriesOf(events, made, 'pending')).toEqual([]))
  const kept = await deliveriesOf(events, made)
  expect(kept.length).toBeLessThanOrEqual(250)
  expect(kept.at(-1)?.body).toContain('"n299"')
  await events.webhooks.remove(made.webhook.id, 'operator:ann')
  await soon(async () => expect(await deliveriesOf(events, made)).toEqual([]))
})
