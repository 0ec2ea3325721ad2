// One caller must not freeze everybody: what a request may make the server do before it knows who asks, and how much at once.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type Engine, LANES_PER_TENANT_MAX, OWN_SETTINGS_PER_TENANT_MAX, tenantId, VirtualClock } from '@reprise/core'
import Fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { text } from '../../src/http/handler.ts'
import { RateLimit } from '../../src/http/rate-limit.ts'
import { Sending } from '../../src/http/sending.ts'
import { type Api, claimOne, SQLITE, STORES, startApi } from './fixture.ts'

const manyNames = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()},"\\u0000":1}`

describe('before it is known who asks', () => {
  test('a large body is refused by its head, without being read', async () => {
    const api = await startApi(SQLITE)
    const refused = await api.send('POST', '/task-complete', { token: null, raw: manyNames(99_000) })
    expect(refused).toMatchObject({ status: 413, body: { code: 'REPRISE_TOO_LARGE' } })
    const chunked = await fetch(`${api.url}/task-complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob([manyNames(99_000)]).stream(),
      duplex: 'half',
    })
    expect(chunked.status).toBe(413)
  })

  test('the rest of a refused body stays unread, and the connection is closed', async () => {
    const api = await startApi(SQLITE)
    const { hostname, port } = new URL(api.url)
    const refused = async (head: string): Promise<{ readonly answer: string; readonly written: number }> => {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      let answer = ''
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString('latin1')
      })
      socket.on('error', () => undefined)
      const ended = new Promise((resolve) => socket.once('end', resolve))
      socket.write(
        `${head}\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n`,
      )
      // More than any buffer on the way holds: if it goes, somebody reads it.
      const part = Buffer.alloc(1_000_000)
      let written = 0
      for (let count = 0; count < 100; count++) socket.write(part, (error) => error == null && written++)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      await ended
      await closed
      return { answer, written }
    }
    for (const [head, status] of [
      ['POST /task-complete HTTP/1.1', 413],
      ['POST /api/v1/tasks HTTP/1.1', 401],
      ['POST /nothing HTTP/1.1', 404],
    ] as const) {
      const { answer, written } = await refused(head)
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*connection: close[^]*"code":"REPRISE_`))
      expect(written).toBeLessThan(50)
    }
  })

  test('a large result is taken from whoever brings the token in the head of the request', async () => {
    const api = await startApi(SQLITE)
    await api.post('/api/v1/tasks', { action: 'render', id: 'r1' })
    const lease = await claimOne(api)
    const body = { taskId: 'r1', attempt: 1, status: 'succeeded', result: 'x'.repeat(500_000) }
    const path = '/task-complete?task=r1&attempt=1'
    expect(await api.post(path, body, { token: 'nonsense' })).toMatchObject({ status: 403 })
    expect(await api.post(path, { ...body, attempt: 2 }, { token: lease.token })).toMatchObject({ status: 400 })
    expect(await api.post(path, body, { token: lease.token })).toMatchObject({ status: 200 })
    const { state } = (await api.get('/api/v1/tasks/r1')).body as { state: { result: string } }
    expect(state.result).toHaveLength(500_000)
  })

  test('many who ask whether it is ready ask the store once a second', async () => {
    const engine = await SQLITE.open()
    let asked = 0
    const counted: Engine = {
      ...engine,
      now: () => {
        asked++
        return engine.now()
      },
    }
    const api = await startApi(SQLITE, { engine: counted })
    asked = 0
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.get('/readyz', { token: null })))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(asked).toBeLessThanOrEqual(2)
  })
})

describe('names in a body', () => {
  const numbered = (count: number, one: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => one(index)).join()
  const letters = (index: number): string[] =>
    Array.from(index.toString(4).padStart(7, '0'), (digit, at) => `${at}${digit}`)
  test.each<[string, string, 'taken' | 'refused']>([
    ['many of the same', `[${numbered(20_000, () => '{"a":1,"b":2}')}]`, 'taken'],
    ['a table', `{${numbered(9_000, (index) => `"k${index}":1`)}}`, 'taken'],
    ['a table that is too large', `{${numbered(11_000, (index) => `"k${index}":1`)}}`, 'refused'],
    ['objects that all differ', `[${numbered(4_000, (index) => `{"k${index}" : 1}`)}]`, 'refused'],
    [
      'the same few names in other orders',
      `[${numbered(4_000, (index) => `{${letters(index).map((name) => `"${name}":1`)}}`)}]`,
      'refused',
    ],
  ])('%s', async (_, payload, outcome) => {
    const api = await startApi(SQLITE)
    const { status } = await api.send('POST', '/api/v1/tasks', { raw: `{"action":"a","payload":${payload}}` })
    expect(status).toBe(outcome === 'taken' ? 201 : 400)
  })
})

test('to try a text of policies one must be able to publish it', async () => {
  const api = await startApi(SQLITE)
  const body = { action: 'a', failure: { code: 'X' }, text: 'policies: []' }
  const path = '/api/v1/policies/simulate'
  for (const token of [api.tokens.viewer, api.tokens.operator, await api.tokenFor('admin', ['acme'])]) {
    expect(await api.post(path, body, { token })).toMatchObject({ status: 403 })
    expect(await api.post(path, { ...body, text: undefined }, { token })).toMatchObject({ status: 200 })
  }
  expect(await api.post(path, body)).toMatchObject({ status: 200 })
})

describe.each(STORES)('searches on $name', (store) => {
  test('large payloads are read only of what is found, and a page is bounded by its bytes', async () => {
    const api = await startApi(store)
    const size = 700_000
    for (let index = 0; index < 12; index++) {
      await api.post('/api/v1/tasks', {
        action: 'a',
        id: `t${index}`,
        payload: 'x'.repeat(size),
        labels: { n: `${index}` },
      })
    }
    const seen: string[] = []
    const { found, maxBytes } = await pages(api, 'q=label.n:*', seen)
    expect(found).toBe(12)
    expect(maxBytes).toBeLessThan(7 * size)
    expect(new Set(seen).size).toBe(12)
    const ids = Array.from({ length: 12 }, (_, index) => `t${index}`).join()
    expect(await pages(api, `q=id:${ids}`, [])).toMatchObject({ found: 12 })
    expect(await pages(api, 'q=label.n:7', [])).toMatchObject({ found: 1 })
  })
})

async function pages(api: Api, query: string, seen: string[]): Promise<{ found: number; maxBytes: number }> {
  let cursor: string | null = null
  let maxBytes = 0
  do {
    const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { text, body } = await api.get(`/api/v1/tasks?limit=100&${query}${next}`)
    const page = body as { items: { id: string }[]; next: string | null }
    maxBytes = Math.max(maxBytes, text.length)
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== null)
  return { found: seen.length, maxBytes }
}

test("tokens that a tenant's admin minted are one caller to limits", async () => {
  const api = await startApi(SQLITE)
  const admin = await api.tokenFor('admin', ['acme'])
  const minted = await api.post('/api/v1/tokens', { name: 'one', scopes: ['read', 'tokens'] }, { token: admin })
  const { token } = minted.body as { token: string }
  const again = await api.post('/api/v1/tokens', { name: 'two', scopes: ['read'] }, { token })
  const { tokens } = api.server.access
  const two = await tokens.verify((again.body as { token: string }).token)
  expect(two).toMatchObject({ madeBy: (await tokens.verify(admin)).actor, tenants: [tenantId('acme')] })
  expect(await tokens.verify(api.tokens.viewer)).not.toHaveProperty('madeBy')
})

test('a token that was just made has what is left of the requests of its maker, and of its tenant', async () => {
  const clock = new VirtualClock()
  const limit = new RateLimit({ perSecond: 10, burst: 100 }, clock)
  const acme = [tenantId('acme')]
  const left = (caller: Parameters<RateLimit['takeFor']>[0]): string =>
    limit.takeFor(caller).ratelimit?.split(';')[1] ?? ''
  for (let count = 0; count < 50; count++) limit.takeFor({ actor: 'token:ann', tenants: acme })
  expect(left({ actor: 'token:minted', madeBy: 'token:ann', tenants: acme })).toBe('r=49')
  expect(left({ actor: 'token:platform-made', tenants: acme })).toBe('r=99')
  const flood = Array.from({ length: 10 }, (_, index) => ({ actor: `token:${index}`, tenants: acme }))
  expect(() => {
    for (const caller of flood) for (let count = 0; count < 100; count++) limit.takeFor(caller)
  }).toThrow("tenant 'acme'")
  expect(left({ actor: 'token:bob', tenants: [tenantId('globex')] })).toBe('r=99')
  expect(left({ actor: 'token:platform', tenants: null })).toBe('r=99')
})

test('a tenant has so many requests that wait at once, and the platform has its own', async () => {
  const api = await startApi(SQLITE)
  const token = await api.tokenFor('operator', ['acme'])
  await api.post('/api/v1/tasks', { action: 'nobody', id: 't1', pool: 'nobody' }, { token })
  const over = new AbortController()
  const waiting = (by: string): Promise<number> =>
    fetch(`${api.url}/api/v1/tasks/t1?wait=60s`, {
      headers: { authorization: `Bearer ${by}` },
      signal: over.signal,
    }).then(({ status }) => status)
  const enough = Promise.withResolvers<void>()
  const answered: number[] = []
  const note = (status: number): void => {
    answered.push(status)
    if (answered.length === 20) enough.resolve()
  }
  const polls = Array.from({ length: 520 }, () => waiting(token).then(note, () => undefined))
  await enough.promise
  expect(new Set(answered)).toEqual(new Set([429]))
  expect(await api.get('/api/v1/tasks/acme~t1?wait=1ms')).not.toMatchObject({ status: 429 })
  over.abort()
  await Promise.all(polls)
})

test.each(STORES)('a tenant has so many lanes and kinds of settings, and those it has go on ($name)', async (store) => {
  const api = await startApi(store)
  await api.send('PUT', '/api/v1/policies', {
    body: { text: 'policies: []\ntenants:\n  acme: { submits_per_second: none }\n' },
  })
  const token = await api.tokenFor('admin', ['acme'])
  const lines = Array.from({ length: LANES_PER_TENANT_MAX }, (_, index) => JSON.stringify({ action: `a${index}` }))
  const bulk = { token, raw: lines.join('\n'), headers: { 'content-type': 'application/x-ndjson' } }
  expect((await api.send('POST', '/api/v1/tasks/bulk', bulk)).text).not.toContain('refused')
  expect(await api.post('/api/v1/tasks', { action: 'one.more' }, { token })).toMatchObject({ status: 409 })
  expect(await api.post('/api/v1/tasks', { action: 'a7' }, { token })).toMatchObject({ status: 201 })
  expect(await api.post('/api/v1/tasks', { action: 'one.more' })).toMatchObject({ status: 201 })
  const statuses = new Set<number>()
  for (let index = 0; index <= OWN_SETTINGS_PER_TENANT_MAX; index++) {
    const body = { action: 'a7', settings: { timeout: 1_000 + index } }
    statuses.add((await api.post('/api/v1/tasks', body, { token })).status)
  }
  expect([...statuses]).toEqual([201, 409])
  expect(await api.post('/api/v1/lanes/pause', { tenant: 'acme', action: 'none' }, { token })).toMatchObject({
    status: 404,
  })
  expect(await api.post('/api/v1/lanes/pause', { tenant: 'acme', action: 'a7' }, { token })).toMatchObject({
    status: 200,
  })
})

test('a reader that takes nothing is cut off, and what it was sent is let go', async () => {
  const clock = new VirtualClock()
  const sending = new Sending({ clock, stallMs: 1_000 })
  const app = Fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const me = { actor: 'user:slow', tenants: null }
  app.get('/large', (_request, reply) => sending.send(text(200, 'x'.repeat(30_000_000), 'text/plain'), reply, () => me))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const slow = connect(port, '127.0.0.1')
  const closed = once(slow, 'close')
  slow.on('error', () => undefined)
  slow.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(slow, 'readable')
  expect((await fetch(`http://127.0.0.1:${port}/large`)).status).toBe(429)
  await clock.advance(5_000)
  slow.resume()
  await closed
  expect((await fetch(`http://127.0.0.1:${port}/large`)).status).toBe(200)
})
