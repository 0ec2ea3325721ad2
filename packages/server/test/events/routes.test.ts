// The routes about events, from the table through real HTTP.

import { RequestError, taskId, tenantId, VirtualClock } from '@reprise/core'
import { ROLES, type Scope } from '@reprise/operations'
import { expect, test } from 'vitest'
import { aReceiver, note, spec } from '../../../operations/test/events/fixture.ts'
import { soon } from '../../../operations/test/events/webhook-fixture.ts'
import { following, only, reasons, serve } from './routes-fixture.ts'

test('B5: the journal is read as events, page by page, by type, by task, by tenant', async () => {
  const { engine, call, as } = await serve()
  await engine.submit([spec('a1', { tenant: tenantId('acme') }), spec('b1')])
  await engine.journal.append([
    note('one', { taskId: taskId('a1') }),
    note('two', { taskId: taskId('b1') }),
    note('three', { taskId: taskId('a1'), type: 'task.promoted' }),
  ])
  const first = await call('GET', '/api/v1/events?limit=2')
  expect(first).toMatchObject({ status: 200, body: { next: expect.any(String) as unknown } })
  expect(reasons(first)).toEqual(['one', 'two'])
  const { cursor } = first.body as { cursor: string }
  expect(reasons(await call('GET', `/api/v1/events?limit=2&cursor=${cursor}`))).toEqual(['three'])
  expect(reasons(await call('GET', '/api/v1/events?type=reprise.task.*'))).toEqual(['three'])
  expect(reasons(await call('GET', '/api/v1/events?task=b1'))).toEqual(['two'])
  as(only('acme'))
  expect(reasons(await call('GET', '/api/v1/events'))).toEqual(['one', 'three'])
  expect(reasons(await call('GET', '/api/v1/events?task=b1'))).toEqual([])
  expect(await call('GET', '/api/v1/events?cursor=nonsense')).toMatchObject({ status: 400 })
})

test('B5: the journal is read since a moment or for a while back, and from the newest backwards', async () => {
  const clock = new VirtualClock()
  const { engine, call } = await serve(clock)
  for (const reason of ['1', '2', '3', '4', '5', '6']) {
    clock.jump(600_000)
    await engine.journal.append([note(reason, { taskId: taskId(Number(reason) % 2 === 0 ? 'even' : 'odd') })])
  }
  const moment = clock.now() - 1_800_000
  for (const since of ['30m', String(moment), new Date(moment).toISOString()]) {
    expect(reasons(await call('GET', `/api/v1/events?since=${since}`))).toEqual(['3', '4', '5', '6'])
  }
  // Entries of the minute before the moment, that the store gives too, stay out.
  expect(reasons(await call('GET', `/api/v1/events?since=${moment + 1}`))).toEqual(['4', '5', '6'])
  const page = await call('GET', '/api/v1/events?since=30m&limit=3')
  expect(page.body).toMatchObject({ next: expect.any(String) as unknown })
  const { cursor } = page.body as { cursor: string }
  expect(reasons(await call('GET', `/api/v1/events?since=30m&cursor=${cursor}`))).toEqual(['6'])
  const end = (await call('GET', `/api/v1/events?since=${clock.now() + 1}`)).body as { cursor: string }
  await engine.journal.append([note('7')])
  expect(reasons(await call('GET', `/api/v1/events?cursor=${end.cursor}`))).toEqual(['7'])

  const newest = await call('GET', '/api/v1/events?newest=true&limit=2')
  expect(newest.body).toMatchObject({ next: expect.any(String) as unknown })
  expect(reasons(newest)).toEqual(['7', '6'])
  const back = (newest.body as { cursor: string }).cursor
  expect(reasons(await call('GET', `/api/v1/events?newest=true&limit=2&cursor=${back}`))).toEqual(['5', '4'])
  expect(reasons(await call('GET', '/api/v1/events?newest=true&task=odd'))).toEqual(['5', '3', '1'])
  const lately = await call('GET', '/api/v1/events?newest=true&since=15m&limit=4')
  expect(lately.body).toMatchObject({ next: null })
  expect(reasons(lately)).toEqual(['7', '6', '5'])
  for (const nonsense of ['soon', '2030-13-99T00:00:00Z', '-5m']) {
    expect(await call('GET', `/api/v1/events?since=${nonsense}`)).toMatchObject({ status: 400 })
  }
})

test('B5: the journal is read by a query about the tasks, as the caller sees them', async () => {
  const { engine, call, as } = await serve()
  await engine.submit([
    spec('a1', { tenant: tenantId('acme'), labels: { region: 'eu' } }),
    spec('b1', { labels: { region: 'eu' } }),
    spec('c1', { labels: { region: 'us' } }),
  ])
  await engine.journal.append([
    note('one', { taskId: taskId('a1') }),
    note('two', { taskId: taskId('b1') }),
    note('three', { taskId: taskId('c1') }),
    note('of no task'),
    note('of a task that is gone', { taskId: taskId('gone') }),
  ])
  const eu = encodeURIComponent('label.region:eu')
  expect(reasons(await call('GET', `/api/v1/events?q=${eu}`))).toEqual(['one', 'two'])
  expect(reasons(await call('GET', `/api/v1/events?newest=true&q=-${eu}`))).toEqual(['three'])
  const page = await call('GET', `/api/v1/events?limit=1&q=${encodeURIComponent('id:c1')}`)
  // A page may be empty and have more.
  expect(page.body).toMatchObject({ items: [], next: expect.any(String) as unknown })
  expect(await call('GET', '/api/v1/events?limit=1000&q=status:nonsense')).toMatchObject({ status: 400 })
  as(only('acme'))
  expect(reasons(await call('GET', `/api/v1/events?q=${eu}`))).toEqual(['one'])
  expect(reasons(await call('GET', '/api/v1/events?q=id:b1'))).toEqual([])
})

test('B5: the live stream goes on from Last-Event-ID, and ends when its caller is nobody any more', async () => {
  const { engine, events, origin, as } = await serve()
  await engine.journal.append([note('one'), note('two')])
  const { entries } = await engine.journal.read()
  const stream = await following(origin, '/api/v1/events/stream?cursor=0', { 'last-event-id': String(entries[0]?.id) })
  await stream.until('"two"')
  expect(stream.text).not.toContain('"one"')
  as(null)
  events.clock.skip(1_000)
  await engine.journal.append([note('three')])
  await stream.until('not_allowed')
  expect(stream.text).not.toContain('"three"')
})

test.each([
  ['the store is away', new Error('connect ECONNREFUSED')],
  ['there is no answer in time', new RequestError('REPRISE_UNREACHABLE', 'The keys of the issuer are not known.')],
  ['too many try at once', new RequestError('REPRISE_RATE_LIMITED', 'Wait.', { retryAfterMs: 1_000 })],
])('fault 9: a stream outlives that %s, and ends as soon as its caller is refused', async (_, trouble) => {
  const { engine, events, origin, as } = await serve()
  const stream = await following(origin, '/api/v1/events/stream')
  as(trouble)
  events.clock.skip(1_000)
  await engine.journal.append([note('one')])
  await stream.until('"one"')
  as(new RequestError('REPRISE_UNAUTHENTICATED', 'It was revoked.'))
  events.clock.skip(1_000)
  await engine.journal.append([note('two')])
  await stream.until('not_allowed')
  expect(stream.text).not.toContain('"two"')
})

test('fault 9: a stream whose caller can not be checked for a minute ends so that its client comes back', async () => {
  const { engine, events, origin, as } = await serve()
  const stream = await following(origin, '/api/v1/events/stream')
  as(new Error('connect ECONNREFUSED'))
  events.clock.skip(1_000)
  await engine.journal.append([note('one')])
  await stream.until('"one"')
  events.clock.skip(60_000)
  await engine.journal.append([note('two')])
  await stream.until('store_trouble')
  expect(stream.text).not.toContain('"two"')
})

test('B5: failures are taken in each of the three ways, at both paths', async () => {
  const { call, as } = await serve()
  const data = { errorCode: 'E1', retryable: true, idempotencyKey: 'k1', action: 'pdf.render' }
  const envelope = { specversion: '1.0', id: 'e1', source: '/s', type: 'task.execution.failed', data }
  const structured = { 'content-type': 'application/cloudevents+json' }
  const first = await call('POST', '/api/v1/events', envelope, structured)
  expect(first).toMatchObject({ status: 200, body: { results: [{ outcome: 'retrying' }] } })
  expect(await call('POST', '/events', envelope, structured)).toEqual(first)
  const binary = { 'ce-specversion': '1.0', 'ce-id': 'e1', 'ce-source': '/s', 'ce-type': 'task.execution.failed' }
  expect(await call('POST', '/events', data, binary)).toEqual(first)
  const batch = { 'content-type': 'application/cloudevents-batch+json' }
  const both = await call('POST', '/events', [envelope, { ...envelope, type: 'other' }], batch)
  expect(both.body).toMatchObject({ results: [{ outcome: 'retrying' }, { outcome: 'ignored' }] })
  expect(await call('POST', '/events', { hello: 1 })).toMatchObject({ status: 400 })
  as({ scopes: new Set<Scope>(ROLES.viewer) })
  expect(await call('POST', '/events', envelope, structured)).toMatchObject({ status: 403 })
})

test('B5: what can not be taken now is answered with 503', async () => {
  const { call, engine } = await serve()
  await engine.pause({}, { actor: 'operator:ann', reason: 'maintenance' })
  const data = { errorCode: 'E1', retryable: false, idempotencyKey: 'k1', action: 'pdf.render' }
  const answer = await call('POST', '/events', {
    specversion: '1.0',
    id: 'e',
    source: '/s',
    type: 'task.execution.failed',
    data,
  })
  expect(answer).toMatchObject({ status: 503, body: { results: [{ outcome: 'unavailable' }] } })
})

test('B5: a webhook from its making to its end; the secret is shown once', async () => {
  const { engine, call, as, events } = await serve()
  const receiver = await aReceiver()
  const made = await call('POST', '/api/v1/webhooks', {
    url: receiver.url,
    types: ['reprise.lanes.*'],
    description: 'd',
  })
  expect(made).toMatchObject({ status: 201, body: { webhook: { enabled: true, createdBy: 'token:admin' } } })
  const { webhook, secret } = made.body as { webhook: { id: string }; secret: string }
  expect(secret).toMatch(/^whsec_/)
  const path = `/api/v1/webhooks/${webhook.id}`
  for (const shown of [await call('GET', path), await call('GET', '/api/v1/webhooks')]) {
    expect(shown.status).toBe(200)
    expect(JSON.stringify(shown.body)).not.toContain('whsec_')
  }
  expect((await call('PATCH', path, { description: 'e' })).body).toMatchObject({
    webhook: { description: 'e' },
    secret: null,
  })
  const renewed = (await call('PATCH', path, { renewSecret: true })).body as { secret: string }
  expect(renewed.secret).not.toBe(secret)
  expect((await call('POST', `${path}/test`)).body).toMatchObject({ type: 'reprise.ping', status: 'delivered' })
  await engine.pause({}, { actor: 'operator:ann', reason: 'pause' })
  await soon(() => {
    events.clock.skip(1_000)
    expect(receiver.reasons).toContain('pause')
  })
  await soon(async () => {
    const { items } = (await call('GET', `${path}/deliveries?status=delivered`)).body as {
      items: { id: string; type: string }[]
    }
    expect(items.map(({ type }) => type)).toEqual(['reprise.ping', 'reprise.lanes.paused'])
  })
  const { items } = (await call('GET', `${path}/deliveries`)).body as { items: { id: string }[] }
  expect(await call('POST', `${path}/deliveries/${items[1]?.id}/redeliver`)).toMatchObject({ status: 202 })
  await soon(() => {
    events.clock.skip(1_000)
    expect(receiver.reasons.filter((reason) => reason === 'pause')).toHaveLength(2)
  })
  as(only('acme'))
  for (const [method, where] of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/test`],
    ['GET', `${path}/deliveries`],
  ] as const) {
    expect(await call(method, where)).toMatchObject({ status: 404 })
  }
  as({ scopes: new Set<Scope>(ROLES.operator) })
  expect(await call('GET', path)).toMatchObject({ status: 403 })
  as({})
  expect(await call('DELETE', path)).toMatchObject({ status: 204 })
  expect(await call('GET', path)).toMatchObject({ status: 404 })
})

test('intruder 5: an address inside is a 400 that says how to allow it', async () => {
  const { call } = await serve()
  const answer = await call('POST', '/api/v1/webhooks', { url: 'http://169.254.169.254/latest' })
  expect(answer).toMatchObject({ status: 400, body: { code: 'REPRISE_INVALID' } })
  expect(JSON.stringify(answer.body)).toContain('webhooks.allow')
})
