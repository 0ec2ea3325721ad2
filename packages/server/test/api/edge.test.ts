// The edge of the server: what is answered before, or in place of, a handler. Limits for whoever asks for nothing that exists,
// problem details for requests that are none, and what may be said of a store that is away.

import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Engine, type Logger, StoreBusyError } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { type Api, SQLITE, startApi } from './fixture.ts'

const AWAY = 'Redis at 10.1.2.3:6379 could not be used for 10000 ms: connect ECONNREFUSED 10.1.2.3:6379.'

interface Line {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

function remembering(): { readonly log: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const at = (level: keyof Logger) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
    void lines.push({ level, message, fields: fields ?? {} })
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

interface Outage {
  readonly engine: Engine
  /** From now on everything that is asked of documents and tasks fails; gives how often that was. */
  readonly begin: () => { asked: number }
}

async function breakable(): Promise<Outage> {
  const inner = await SQLITE.open()
  let count: { asked: number } | null = null
  const failing = <T extends object>(target: T, names: ReadonlySet<PropertyKey>): T =>
    new Proxy(target, {
      get(one, key) {
        const value: unknown = Reflect.get(one, key)
        if (key === 'collection') return (options: never) => failing(inner.collection(options), new Set(['get']))
        if (typeof value !== 'function') return value
        if (!names.has(key)) return value.bind(one) as unknown
        return (...given: unknown[]) => {
          if (count === null) return Reflect.apply(value, one, given) as unknown
          count.asked++
          return Promise.reject(new StoreBusyError(AWAY))
        }
      },
    })
  return {
    engine: failing(inner, new Set(['task', 'counts'])),
    begin: () => {
      count = { asked: 0 }
      return count
    },
  }
}

/** Lets the credentials of the fixture be asked for anew: an answer of the store counts for a second. */
const DEV = { env: 'local' } as const

describe('a store that is away', () => {
  test.each(['/dashboard/executions/t1/retry', '/api/v1/executions/t1/retry', '/internal/tasks/retry'])(
    'A8: POST %s is 502 also if the store fails while it is asked who is asking',
    async (path) => {
      const { engine, begin } = await breakable()
      const api = await startApi(SQLITE, { engine })
      const body = path.startsWith('/internal') ? { taskId: 't1' } : undefined
      begin()
      const byToken = await api.post(path, body)
      expect([byToken.status, byToken.body]).toMatchObject([502, { code: 'REPRISE_STORE_UNREACHABLE' }])
      const headers = { cookie: `reprise=${'0'.repeat(64)}` }
      const bySession = await api.post(path, body, { token: null, headers })
      expect([bySession.status, bySession.body]).toMatchObject([502, { code: 'REPRISE_STORE_UNREACHABLE' }])
    },
  )

  test('A8: an attempt that is named as <task>:<attempt> asks a store that is away once', async () => {
    const { engine, begin } = await breakable()
    const api = await startApi(SQLITE, { engine, access: DEV })
    const count = begin()
    const headers = { 'x-dev-user': 'ann' }
    const answered = await api.post('/api/v1/executions/t1:1/retry', undefined, { token: null, headers })
    expect([answered.status, answered.body]).toMatchObject([502, { code: 'REPRISE_STORE_UNREACHABLE' }])
    expect(count.asked).toBe(1)
  })

  test('intruder 11: callers are not told where it is; the log is, once', async () => {
    const { engine, begin } = await breakable()
    const { log, lines } = remembering()
    const api = await startApi(SQLITE, { engine, log, access: DEV })
    begin()
    const sent = { token: null, headers: { 'x-dev-user': 'ann', 'x-request-id': 'req-7' } }
    const counts = await api.get('/api/v1/counts', sent)
    expect([counts.status, counts.body]).toMatchObject([503, { code: 'REPRISE_STORE_BUSY' }])
    expect(counts.text).not.toMatch(/10\.1\.2\.3|ECONNREFUSED|Redis/)
    expect(counts.headers.get('retry-after')).toBe('1')
    const stranger = await api.get('/api/v1/counts', { token: `rpr_${'a'.repeat(16)}_${'b'.repeat(64)}` })
    expect(stranger.status).toBe(503)
    expect(stranger.text).not.toMatch(/10\.1\.2\.3|ECONNREFUSED|Redis/)
    const told = lines.filter(({ fields }) => fields.request_id === 'req-7' && fields.error !== undefined)
    expect(told).toMatchObject([{ level: 'warn', fields: { error: AWAY } }])
    await api.post('/dashboard/executions/t1/retry', undefined, {
      ...sent,
      headers: { ...sent.headers, 'x-request-id': 'req-8' },
    })
    const retried = lines.filter(({ fields }) => fields.request_id === 'req-8' && fields.error !== undefined)
    expect(retried).toMatchObject([{ level: 'warn', fields: { error: AWAY } }])
  })
})

describe('limits', () => {
  const statuses = async (times: number, ask: (turn: number) => Promise<{ readonly status: number }>) => {
    const found: number[] = []
    for (let turn = 0; turn < times; turn++) found.push((await ask(turn)).status)
    return found
  }
  const rateLimit = { perSecond: 1, burst: 20 }

  test('intruder 11: paths that nobody knows, and methods that a path does not offer, are limited too', async () => {
    const nowhere = await startApi(SQLITE, { rateLimit })
    const unknown = await statuses(40, () => nowhere.get('/nowhere', { token: null }))
    expect([unknown[0], unknown.at(-1)]).toEqual([404, 429])
    const wrong = await startApi(SQLITE, { rateLimit })
    const refused = await statuses(40, () => wrong.send('DELETE', '/api/v1/counts', { token: null }))
    expect([refused[0], refused.at(-1)]).toEqual([405, 429])
    const odd = await startApi(SQLITE, { rateLimit })
    const malformed = await statuses(40, () => odd.get('/api/v1/tasks/%zz', { token: null }))
    expect([malformed[0], malformed.at(-1)]).toEqual([400, 429])
  })

  test('intruder 11: all addresses of one IPv6 network share one limit', async () => {
    const api = await startApi(SQLITE, { rateLimit, access: { trustedProxies: ['127.0.0.0/8'] } })
    const from = (address: string) =>
      api.get('/api/v1/counts', { token: null, headers: { 'x-forwarded-for': address } })
    const found = await statuses(40, (turn) => from(`2001:db8:1:2::${(turn + 1).toString(16)}`))
    expect([found[0], found.at(-1)]).toEqual([401, 429])
    expect((await from('2001:db8:1:3::1')).status).toBe(401)
  })
})

const raw = async (api: Api, request: string): Promise<string> => {
  const { port, hostname } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  socket.write(request)
  return text(socket)
}

describe('metrics', () => {
  test('intruder 3: a page that points its own name at this host is not near', async () => {
    const api = await startApi(SQLITE)
    const asked = async (host: string) =>
      (await raw(api, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).split('\r\n', 1)[0]
    for (const host of ['evil.example', 'evil.example:7440', '127.0.0.1.evil.example', 'localhost.evil.example']) {
      expect([host, await asked(host)]).toEqual([host, 'HTTP/1.1 401 Unauthorized'])
    }
    for (const host of ['localhost', 'LOCALHOST:7440', '127.0.0.1', '[::1]:7440']) {
      expect([host, await asked(host)]).toEqual([host, 'HTTP/1.1 200 OK'])
    }
  })

  const look = async (api: Api, headers: Readonly<Record<string, string>>) =>
    (await api.get('/metrics', { token: null, headers })).status

  test('intruder 11: whoever came by a proxy on the same host is not near', async () => {
    const api = await startApi(SQLITE)
    expect(await look(api, {})).toBe(200)
    expect(await look(api, { 'x-forwarded-for': '203.0.113.7' })).toBe(401)
    expect(await look(api, { 'x-forwarded-for': '127.0.0.1' })).toBe(401)
    expect(await look(api, { forwarded: 'for=203.0.113.7' })).toBe(401)
    expect((await api.get('/metrics', { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(200)
  })

  test.each(['203.0.113.7', '203.0.113.7:5555', '[2001:db8::1]:443', 'unknown', '', '127.0.0.1, nonsense'])(
    'intruder 11: behind a proxy that is trusted, %j is not near',
    async (forwarded) => {
      const api = await startApi(SQLITE, { access: { trustedProxies: ['127.0.0.0/8'] } })
      expect(await look(api, { 'x-forwarded-for': forwarded })).toBe(401)
      expect(await look(api, { 'x-forwarded-for': '127.0.0.1' })).toBe(200)
      expect(await look(api, { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=203.0.113.7' })).toBe(401)
    },
  )
})

describe('requests that are none', () => {
  const asked = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${headers}connection: close\r\n\r\n`

  test.each([
    ['bad encoding', asked('GET /api/v1/tasks/%zz'), 400, 'REPRISE_INVALID'],
    ['a part of the path that is too long', asked(`GET /api/v1/tasks/${'a'.repeat(1_001)}`), 400, 'REPRISE_INVALID'],
    ['headers that are too large', asked('GET /healthz', `x-a: ${'a'.repeat(100_000)}\r\n`), 413, 'REPRISE_TOO_LARGE'],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'REPRISE_INVALID'],
    ['two lengths', asked('POST /healthz', 'content-length: 1\r\ncontent-length: 2\r\n'), 400, 'REPRISE_INVALID'],
    ['OPTIONS', asked('OPTIONS /healthz'), 405, 'REPRISE_METHOD_NOT_ALLOWED'],
    [
      'QUERY',
      asked('QUERY /healthz', 'content-type: text/plain\r\ncontent-length: 0\r\n'),
      405,
      'REPRISE_METHOD_NOT_ALLOWED',
    ],
    ['QUERY without a body', asked('QUERY /healthz'), 405, 'REPRISE_METHOD_NOT_ALLOWED'],
    ['TRACE', asked('TRACE /healthz'), 405, 'REPRISE_METHOD_NOT_ALLOWED'],
    ['PROPFIND', asked('PROPFIND /healthz'), 404, 'REPRISE_NOT_FOUND'],
    ['OPTIONS *', asked('OPTIONS *'), 405, 'REPRISE_METHOD_NOT_ALLOWED'],
    ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'REPRISE_INVALID'],
    ['an expectation', asked('POST /healthz', 'expect: the-unexpected\r\n'), 405, 'REPRISE_METHOD_NOT_ALLOWED'],
  ])(
    'intruder 8: %s is answered by problem details, with the headers of every answer',
    async (_, request, status, code) => {
      const api = await startApi(SQLITE)
      const answered = await raw(api, request)
      const [head = '', body = ''] = answered.split('\r\n\r\n')
      expect(head.split('\r\n')[0]).toContain(`HTTP/1.1 ${status} `)
      expect(head).toMatch(/^content-type: application\/problem\+json/im)
      for (const name of ['x-frame-options', 'content-security-policy', 'x-content-type-options', 'x-request-id']) {
        expect(head.toLowerCase()).toContain(`${name}: `)
      }
      const [, id] = /^x-request-id: (.+)$/im.exec(head) ?? []
      expect(JSON.parse(body)).toMatchObject({
        status,
        code,
        requestId: id,
        detail: expect.stringMatching(/\w/) as string,
      })
      expect((await api.get('/healthz', { token: null })).status).toBe(200)
    },
  )
})

describe('the log', () => {
  test('intruder 6: has no one-time link, whichever way somebody asked for it', async () => {
    const { log, lines } = remembering()
    const api = await startApi(SQLITE, { log })
    const { pathname } = new URL((await api.server.access.firstLink()) ?? '')
    const code = pathname.split('/').at(-1) ?? ''
    expect(code).toMatch(/^[0-9a-f]{64}$/)
    for (const path of [pathname, `${pathname}/`, `/${pathname}`, `${pathname}/%zz`, `${pathname}?a=${code}`]) {
      await api.get(path, { token: null })
      await api.send('PUT', path, { token: null })
    }
    await api.get('/api/v1/tasks/t1', { token: null })
    const answered = lines.filter(({ fields }) => fields.event === 'http.request')
    expect(answered.length).toBeGreaterThanOrEqual(9)
    expect(JSON.stringify(lines)).not.toContain(code)
    expect(answered.at(0)?.fields).toMatchObject({ path: '/auth/link/:code', route: '/auth/link/:code' })
    expect(answered.at(-1)?.fields).toMatchObject({ path: '/api/v1/tasks/t1', route: '/api/v1/tasks/:id' })
  })
})
