// What strangers send, and what must come of it: a clear refusal, no leak, and a server that is as well as before.

import { gzipSync } from 'node:zlib'
import { type Clock, type Engine, type Logger, silentLogger, systemClock, type TaskId } from '@reprise/core'
import { expect, test } from 'vitest'
import { claimOne, SQLITE, STORES, startApi } from './fixture.ts'

test('intruder 8: bodies that are too large, too deep, too many or compressed are refused with 4xx', async () => {
  const api = await startApi(SQLITE)
  const raw = (body: string, headers = {}) => api.send('POST', '/api/v1/tasks', { raw: body, headers })
  const huge = await raw(JSON.stringify({ action: 'a', payload: 'x'.repeat(10_000_000) }))
  expect([huge.status, huge.body]).toMatchObject([413, { code: 'REPRISE_TOO_LARGE' }])
  const large = await raw(JSON.stringify({ action: 'a', payload: 'x'.repeat(1_100_000) }))
  expect([large.status, large.body]).toMatchObject([413, { code: 'REPRISE_TOO_LARGE' }])
  const deep = await raw(`{"action":"a","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
  expect([deep.status, deep.body]).toMatchObject([400, { code: 'REPRISE_INVALID' }])
  const many = await raw(`{"action":"a","payload":{${Array.from({ length: 120_000 }, (_, n) => `"k${n}":1`).join()}}}`)
  expect([many.status, many.body]).toMatchObject([400, { code: 'REPRISE_INVALID' }])
  const bomb = await fetch(`${api.url}/api/v1/tasks`, {
    method: 'POST',
    body: gzipSync('0'.repeat(1_000_000)),
    headers: {
      authorization: `Bearer ${api.tokens.admin}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
  })
  expect(bomb.status).toBe(415)
  expect((await api.get('/api/v1/counts')).body).toMatchObject({ accepted: 0 })
})

test.each([
  '{"action":"a","payload":{"__proto__":{"polluted":1}}}',
  '{"action":"a","__proto__":{"polluted":1}}',
  '{"action":"a","payload":{"\\u005f_proto__":{"polluted":1}}}',
])('intruder 8: %s is refused, and no prototype changes', async (body) => {
  const api = await startApi(SQLITE)
  const answered = await api.send('POST', '/api/v1/tasks', { raw: body })
  expect(answered.status).toBe(400)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})

test.each(['..', '%2e%2e', '..%2f..%2fetc', 'a%00b', 'a%0ab', '%'])(
  'intruder 9: the name %s in a path names nothing, and harms nothing',
  async (name) => {
    const api = await startApi(SQLITE)
    const answered = await api.get(`/api/v1/tasks/${name}/explain`)
    expect([400, 404]).toContain(answered.status)
    const submitted = await api.post('/api/v1/tasks', { action: 'a', id: decoded(name) })
    expect(submitted.status).toBe(name === '%' ? 201 : 400)
  },
)

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

test('intruder 9: policies with a costly pattern or an alias bomb are refused', async () => {
  const api = await startApi(SQLITE)
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join()}]`)
    .join('\n')}\n`
  const costly = 'rules: [{ name: r, when: { message: "(a{50}){50}" }, then: { reason: transient } }]\n'
  for (const [text, detail] of [
    [bomb, /anchor &a is not allowed/],
    [costly, /grows too large/],
  ] as const) {
    const answered = await api.send('PUT', '/api/v1/policies', { body: { text } })
    expect([answered.status, answered.body]).toMatchObject([400, { code: 'REPRISE_INVALID' }])
    expect((answered.body as { readonly detail: string }).detail).toMatch(detail)
  }
})

test('intruder 11: bursts get 429 with Retry-After, and a forged X-Forwarded-For does not help', async () => {
  const api = await startApi(SQLITE, { rateLimit: { perSecond: 1, burst: 20 } })
  const ask = (forged: string) => api.get('/api/v1/counts', { token: null, headers: { 'x-forwarded-for': forged } })
  const statuses = []
  let last = await ask('203.0.113.1')
  expect(last.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/)
  for (let turn = 2; turn < 40; turn++) {
    last = await ask(`203.0.113.${turn}`)
    statuses.push(last.status)
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
  expect(last.status).toBe(429)
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(last.body).toMatchObject({ code: 'REPRISE_RATE_LIMITED' })
  expect((await api.get('/healthz', { token: null })).status).toBe(200)
})

test('intruder 11: a 500 tells nothing but its request id, and the log tells the rest', async () => {
  const inner = await SQLITE.open()
  const engine: Engine = new Proxy(inner, {
    get(target, key) {
      if (key === 'counts') return () => Promise.reject(new TypeError('the secret path /srv/x'))
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const said: unknown[] = []
  const log: Logger = { ...silentLogger, error: (message, fields) => void said.push([message, fields]) }
  const api = await startApi(SQLITE, { engine, log })
  const answered = await api.get('/api/v1/counts', { headers: { 'x-request-id': 'req-1' } })
  expect([answered.status, answered.body]).toMatchObject([500, { code: 'REPRISE_INTERNAL', requestId: 'req-1' }])
  expect(answered.text).not.toMatch(/secret|srv|TypeError|at /)
  expect(JSON.stringify(said)).toContain('the secret path')
})

test('intruder 4: every answer forbids framing, sniffing and inline script', async () => {
  const api = await startApi(SQLITE)
  for (const path of ['/healthz', '/api/v1/tasks', '/nowhere', '/auth/link/x']) {
    const { headers } = await api.get(path)
    expect([path, headers.get('x-frame-options')]).toEqual([path, 'DENY'])
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test.each(STORES)(
  'intruder 6: secrets in payloads, labels and errors are redacted on $name; the worker gets all',
  async (store) => {
    const api = await startApi(store)
    const payload = { password: 'hunter2', nested: { apiKey: 'k-123456' }, note: 'Bearer abc.def.ghi123456' }
    await api.post('/api/v1/tasks', { id: 't1', action: 'a', payload, labels: { secret: 'hunter2' } })
    const { taskId, attempt, token, snapshot } = await claimOne(api)
    expect(snapshot.payload).toEqual(payload)
    const error = {
      message: 'GET https://ann:hunter2@example.com failed',
      retryable: false,
      details: { token: 'hunter2' },
    }
    await api.post('/task-complete', { taskId, attempt, token, status: 'failed', error }, { token: null })
    for (const path of [
      'tasks/t1',
      'tasks/t1/executions',
      'tasks/t1/explain',
      'tasks?q=',
      'failure-groups',
      'events',
      'tasks/export?q=',
    ]) {
      const { text, status } = await api.get(`/api/v1/${path}`)
      expect([path, status]).toEqual([path, 200])
      expect([path, text.includes('hunter2') || text.includes('k-123456') || text.includes('abc.def')]).toEqual([
        path,
        false,
      ])
    }
    const raw = await api.get('/api/v1/tasks/export?q=&raw=true')
    expect(raw.text).toContain('hunter2')
    expect((await api.get('/api/v1/tasks/export?raw=true', { token: api.tokens.operator })).status).toBe(403)
  },
)

test.each(STORES)(
  'A16, intruder 7, fault 17, fault 28: one attempt’s token is worth nothing on another, on $name',
  async (store) => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a', settings: { retry: { max: 3 } } })
    const first = await claimOne(api)
    const end = (lease: typeof first, attempt: number, status: string) =>
      api.post(
        '/task-complete',
        {
          taskId: 't1',
          attempt,
          token: lease.token,
          status,
          ...(status === 'failed' ? { error: { message: 'x', retryAfterMs: 0, retryable: true } } : {}),
        },
        { token: null },
      )
    const payload = (attempt: number, token: string) => api.get(`/task-payload/t1/${attempt}`, { token })
    expect((await payload(1, first.token)).body).toMatchObject({ taskId: 't1', attempt: 1 })
    expect((await payload(1, 'x')).status).toBe(403)
    expect((await end(first, 1, 'failed')).body).toMatchObject({ outcome: 'settled', repeated: false })
    // The same again, also from a second worker that the platform started for the launch: the same answer, and one transition.
    expect((await end(first, 1, 'failed')).body).toMatchObject({ outcome: 'settled', repeated: true })
    expect((await payload(1, first.token)).status).toBe(404)
    const second = await claimOne(api, 'w2')
    expect(second.attempt).toBe(2)
    expect((await end(first, 2, 'succeeded')).status).toBe(403)
    expect((await end(first, 1, 'succeeded')).status).toBe(409)
    expect((await end(second, 3, 'succeeded')).status).toBe(403)
    expect((await end(second, 2, 'succeeded')).status).toBe(200)
    expect((await end(second, 2, 'succeeded')).body).toMatchObject({ repeated: true })
    const other = { taskId: 't1', attempt: 2, token: second.token, status: 'succeeded', result: { n: 2 } }
    expect((await api.post('/task-complete', other, { token: null })).body).toMatchObject({ code: 'REPRISE_CONFLICT' })
    expect((await api.get('/api/v1/tasks/t1/executions')).body).toMatchObject({
      items: [{ status: 'failed' }, { status: 'succeeded' }],
    })
  },
)

test.each(STORES)('A11: the payload is not handed out for longer than 2 h, on $name', async (store) => {
  // By the store's clock: the server's may be hours off.
  const start = Date.now()
  let offsetMs = 0
  const shifted = (now: () => number): Clock => ({ ...systemClock, now })
  const engine = await store.open(shifted(() => start + offsetMs))
  const api = await startApi(store, { engine, clock: shifted(() => start + 86_400_000) })
  await api.post('/api/v1/tasks', { id: 't1', action: 'a', payload: { n: 1 }, settings: { timeout: '5h' } })
  const { token } = await claimOne(api)
  const fetched = () => api.get('/task-payload/t1/1', { token })
  offsetMs = 2 * 3_600_000
  expect((await fetched()).body).toMatchObject({ payload: { n: 1 }, now: start + offsetMs })
  offsetMs++
  expect(await fetched()).toMatchObject({ status: 410, body: { code: 'REPRISE_PAYLOAD_EXPIRED' } })
  // The attempt goes on, and its record never held the payload.
  expect((await engine.execution('t1' as TaskId, 1))?.status).toBe('running')
  const ended = { taskId: 't1', attempt: 1, token, status: 'succeeded' }
  expect((await api.post('/task-complete', ended, { token: null })).status).toBe(200)
  offsetMs = 0
  expect((await fetched()).status).toBe(404)
})

test.each(STORES)('A11: the payload goes when the attempt ends in another way, on $name', async (store) => {
  const api = await startApi(store)
  await api.post('/api/v1/tasks', { id: 't1', action: 'a', payload: 1 })
  const { token } = await claimOne(api)
  const beat = (given: string, more: object = {}) =>
    api.post('/task-heartbeat', { taskId: 't1', attempt: 1, token: given, ...more }, { token: null })
  expect((await beat('x')).status).toBe(403)
  const news = { progress: { fraction: 0.5 }, log: { lines: [{ text: 'half' }] } }
  expect((await beat(token, news)).body).toMatchObject({ outcome: 'extended', beatEveryMs: 5_000 })
  expect((await api.get('/api/v1/tasks/t1/logs')).body).toMatchObject({ items: [{ lines: [{ text: 'half' }] }] })
  expect((await api.get('/api/v1/tasks/t1')).body).toMatchObject({ state: { progress: { fraction: 0.5 } } })
  expect((await api.post('/api/v1/tasks/t1/cancel', { reason: 'x' })).status).toBe(200)
  expect((await api.get('/task-payload/t1/1', { token })).status).toBe(404)
  expect((await beat(token)).body).toMatchObject({ code: 'REPRISE_SUPERSEDED' })
})
