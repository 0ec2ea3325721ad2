// Input that could only be taken as something else than was sent is refused; and pages stay within bounds that a server can bear.

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { claimOne, SQLITE, STORES, startApi } from './fixture.ts'

test.each([
  ['1e999', '{"action":"a","payload":{"n":1e999}}'],
  ['-1e400', '{"action":"a","payload":[[-1e400]]}'],
  ['a number of 400 digits', `{"action":"a","payload":${'9'.repeat(400)}}`],
  ['a moment after the last date', '{"action":"a","runAt":9007199254740991}'],
  ['a deadline after the last date', '{"action":"a","deadlineAt":8640000000000001}'],
  ['a trace context that is none', '{"action":"a","labels":{"traceparent":"nonsense"}}'],
])('fault 23: %s is refused, not changed', async (_what, raw) => {
  const api = await startApi(SQLITE)
  const answered = await api.send('POST', '/api/v1/tasks', { raw })
  expect([answered.status, answered.body]).toMatchObject([400, { code: 'REPRISE_INVALID' }])
  expect((await api.get('/api/v1/counts')).body).toMatchObject({ accepted: 0 })
})

test('fault 23: what is near those bounds is taken as it is', async () => {
  const api = await startApi(SQLITE)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const sent = {
    id: 't1',
    action: 'a',
    payload: [1e308, '1e999'],
    runAt: 8_640_000_000_000_000,
    labels: { traceparent },
  }
  expect((await api.post('/api/v1/tasks', sent)).status).toBe(201)
  expect((await api.get('/api/v1/tasks/t1')).body).toMatchObject({ payload: sent.payload, labels: { traceparent } })
})

test('fault 23: a body in another character set than UTF-8 is refused', async () => {
  const api = await startApi(SQLITE)
  const as = (type: string) =>
    api.send('POST', '/api/v1/tasks', { raw: '{"action":"a"}', headers: { 'content-type': type } })
  for (const type of ['application/json; charset=utf-16', 'application/json;charset="ISO-8859-1"']) {
    const answered = await as(type)
    expect([type, answered.status, answered.body]).toMatchObject([type, 415, { code: 'REPRISE_UNSUPPORTED_MEDIA' }])
  }
  for (const type of ['application/json; charset=utf-8', 'application/json; charset="UTF-8"']) {
    expect([type, (await as(type)).status]).toEqual([type, 201])
  }
})

/** As a program that sends no headers of its own; fetch always says a type. */
async function sentWithout(url: string, token: string, method: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-length': 14 }
  const sent = request(`${url}/api/v1/tasks`, { method, headers }).end('{"action":"a"}')
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('a body without a type, or as the form that curl makes of it, is 415', async () => {
  const api = await startApi(SQLITE)
  expect(await sentWithout(api.url, api.tokens.admin, 'POST')).toBe(415)
  const form = { raw: '{"action":"a"}', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const answered = await api.send('POST', '/api/v1/tasks', form)
  expect([answered.status, answered.body]).toMatchObject([415, { code: 'REPRISE_UNSUPPORTED_MEDIA' }])
  expect(answered.text).toContain('content-type: application/json')
})

test.each(['0x10', '1e3', '1.0', '+5', '%205', '', '0', '1001', '99999999999999999999'])(
  'fault 23: limit=%s is no number of items',
  async (limit) => {
    const api = await startApi(SQLITE)
    expect((await api.get(`/api/v1/tasks?limit=${limit}`)).status).toBe(400)
    expect((await api.get('/api/v1/tasks?limit=10')).status).toBe(200)
  },
)

interface Page {
  readonly items: readonly { readonly id: string; readonly attempt: number }[]
  readonly next: string | null
}

const LENGTH_MAX = 8_000_000

test.each(STORES)(
  'fault 25, intruder 8: a page of large tasks ends before it is too large, on $name',
  async (store) => {
    const api = await startApi(store)
    const ids = Array.from({ length: 12 }, (_, index) => `big${index}`)
    for (const id of ids) await api.post('/api/v1/tasks', { id, action: 'big', payload: 'x'.repeat(900_000) })
    for (let index = 0; index < 60; index++) await api.post('/api/v1/tasks', { id: `small${index}`, action: 'small' })
    const found: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const answered = await api.get(`/api/v1/tasks?limit=1000${after}`)
      expect(answered.text.length).toBeLessThan(LENGTH_MAX)
      const page = answered.body as Page
      found.push(...page.items.map(({ id }) => id))
      cursor = page.next
      pages++
    } while (cursor !== null)
    expect(found).toHaveLength(72)
    expect(new Set(found).size).toBe(72)
    expect(pages).toBeLessThan(9)
  },
)

test('fault 25, intruder 8: a page of attempts ends before it is too large, and a page of small ones is whole', async () => {
  const api = await startApi(SQLITE)
  await api.post('/api/v1/tasks', {
    id: 't1',
    action: 'a',
    payload: 'x'.repeat(1_000_000),
    settings: { retry: { max: 100 } },
  })
  const error = { message: 'x', retryAfterMs: 0, retryable: true }
  for (let attempt = 1; attempt <= 12; attempt++) {
    const { token } = await claimOne(api)
    await api.post('/task-complete', { taskId: 't1', attempt, token, status: 'failed', error }, { token: null })
  }
  const attempts: number[] = []
  let cursor: string | null = null
  do {
    const after = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`
    const answered = await api.get(`/api/v1/tasks/t1/executions${after}`)
    expect(answered.text.length).toBeLessThan(LENGTH_MAX)
    const page = answered.body as Page
    attempts.push(...page.items.map(({ attempt }) => attempt))
    cursor = page.next
  } while (cursor !== null)
  expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  const exported = await api.get('/api/v1/tasks/export?q=')
  expect(JSON.parse(exported.text)).toMatchObject({ attempts: { length: 12 } })
})

test('intruder 7: the place in a list of many tenants can be handed back, however long their names', async () => {
  const api = await startApi(SQLITE)
  const tenants = Array.from({ length: 14 }, (_, index) => `${'t'.repeat(120)}${index}`)
  const made = await api.post('/api/v1/tokens', { name: 'many', role: 'operator', tenants })
  const { token } = made.body as { readonly token: string }
  for (const tenant of tenants) await api.post('/api/v1/tasks', { id: 'one', action: 'a', tenant }, { token })
  const first = await api.get('/api/v1/tasks?limit=10', { token })
  const { next } = first.body as Page
  const second = await api.get(`/api/v1/tasks?limit=10&cursor=${encodeURIComponent(next ?? '')}`, { token })
  expect([second.status, second.body]).toMatchObject([200, { items: { length: 4 }, next: null }])
})
