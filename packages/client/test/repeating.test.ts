// When a request is repeated, when it is not, and what comes out when it never succeeds. In virtual time, with a server that
// answers as the test says.

import { type Client, createClient, type HttpClientOptions, isRepriseError } from '@reprise/client'
import { VirtualClock } from '@reprise/core'
import { expect, onTestFinished, test } from 'vitest'
import { caught } from './fixture.ts'

const TOKEN = 'rpt_secret_0123456789'

type Reply = Response | Error | 'silence'

interface Script {
  readonly client: Client
  readonly clock: VirtualClock
  /** Method and path of each request, and when it came. */
  readonly sent: { readonly line: string; readonly at: number; readonly body: unknown }[]
}

/** Answers in order; the last answer again and again. */
async function scripted(
  replies: readonly ((sent: number) => Reply)[],
  options: Partial<HttpClientOptions> = {},
): Promise<Script> {
  const clock = new VirtualClock(0)
  const sent: Script['sent'] = []
  const fetch: HttpClientOptions['fetch'] = (url, init) => {
    const text = typeof init.body === 'string' ? init.body : 'null'
    const body: unknown = text.includes('\n') ? text : JSON.parse(text)
    sent.push({ line: `${init.method} ${new URL(url).pathname}`, at: clock.now(), body })
    const reply = replies[Math.min(sent.length, replies.length) - 1]?.(sent.length) ?? 'silence'
    if (reply instanceof Response) return Promise.resolve(reply)
    if (reply instanceof Error) return Promise.reject(reply)
    return new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
    })
  }
  const client = await createClient({
    url: 'http://reprise.test:7440',
    token: TOKEN,
    fetch,
    clock,
    random: { next: () => 0.5 },
    ...options,
  })
  onTestFinished(() => client.close())
  return { client, clock, sent }
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (): Response =>
    new Response(status === 204 ? null : JSON.stringify(body), { status, headers })
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  answer(
    status,
    { type: 'x', title: 't', status, code, detail: `Said by the server: ${code}.`, requestId: 'r1' },
    headers,
  )
const broken = (code: string) => (): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
const sentToken = (body: unknown): string => (body as { readonly retryToken: string }).retryToken
const COUNTS = { accepted: 0 }

test('a read is repeated after a broken connection and after 502, 503 and 504, a little later each time', async () => {
  const { client, clock, sent } = await scripted([
    broken('ECONNRESET'),
    answer(502, 'a page of a proxy'),
    problem(503, 'REPRISE_STORE_BUSY'),
    answer(504, null),
    answer(200, COUNTS),
  ])
  const counts = client.counts()
  await clock.advance(29_000)
  expect(await counts).toEqual(COUNTS)
  expect(sent.map(({ line }) => line)).toEqual(Array(5).fill('GET /api/v1/counts'))
  const pauses = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
  expect(pauses.every((pause, index) => pause > (pauses[index - 1] ?? 0))).toBe(true)
})

test('Retry-After is heeded, in seconds and as a date, and one beyond the time-out ends it at once', async () => {
  const { client, clock, sent } = await scripted([
    problem(429, 'REPRISE_RATE_LIMITED', { 'retry-after': '7' }),
    problem(429, 'REPRISE_RATE_LIMITED', { 'retry-after': new Date(15_000).toUTCString() }),
    answer(200, COUNTS),
    problem(429, 'REPRISE_RATE_LIMITED', { 'retry-after': '3600' }),
  ])
  const counts = client.counts()
  await clock.advance(20_000)
  expect(await counts).toEqual(COUNTS)
  expect(sent.map(({ at }) => at)).toEqual([0, 7_000, 15_000])
  expect(await caught(client.counts())).toMatchObject({ code: 'REPRISE_RATE_LIMITED', retryAfterMs: 3_600_000 })
})

test('a server that can not be reached is told after the time-out, by its address and without the token', async () => {
  const { client, clock, sent } = await scripted([broken('ECONNREFUSED')], { timeout: '5s' })
  const error = caught(client.counts())
  await clock.advance(6_000)
  expect(await error).toMatchObject({
    name: 'RequestError',
    code: 'REPRISE_UNREACHABLE',
    message: expect.stringContaining('http://reprise.test:7440 can not be reached (ECONNREFUSED)') as unknown,
  })
  expect(sent.length).toBeGreaterThan(2)
  expect(clock.now()).toBeLessThanOrEqual(6_000)
})

test('a request without an answer is tried once more, and then timed out', async () => {
  const { client, clock, sent } = await scripted([() => 'silence'], { timeout: '10s' })
  const error = caught(client.counts())
  await clock.advance(11_000)
  expect(await error).toMatchObject({ name: 'TimedOutError', code: 'REPRISE_TIMED_OUT' })
  expect(sent).toHaveLength(2)
})

test('a retry, a redrive, a new token and a change of policies are not repeated when they may have been done', async () => {
  const { client, clock, sent } = await scripted([broken('ECONNRESET')])
  const calls = [
    client.retryExecution({ id: 't1' }),
    client.redriveTasks({ ids: ['t1'] }),
    client.createToken({ name: 'ci', role: 'viewer' }),
    client.publishPolicies({ text: 'policies: []' }),
    client.inspect({ repair: true }),
  ]
  const errors = Promise.all(calls.map(caught))
  await clock.advance(60_000)
  for (const error of await errors) {
    expect(error).toMatchObject({
      code: 'REPRISE_UNREACHABLE',
      message: expect.stringContaining('look first') as unknown,
    })
  }
  expect(sent).toHaveLength(calls.length)
})

test('they are repeated when nothing can have been done: no connection, or turned away at the door', async () => {
  const { client, clock, sent } = await scripted([
    broken('ECONNREFUSED'),
    problem(429, 'REPRISE_RATE_LIMITED'),
    answer(202, { taskId: 't1', attempt: 2, status: 'queued' }),
  ])
  const retried = client.retryExecution({ id: 't1' })
  await clock.advance(20_000)
  expect(await retried).toMatchObject({ status: 'queued', attempt: 2 })
  expect(sent).toHaveLength(3)
})

test('a repeated submission has one id, and its own task found as a duplicate counts as accepted', async () => {
  const ids = (): unknown[] => sent.map(({ body }) => (body as { readonly id: string }).id)
  const { client, clock, sent } = await scripted([
    broken('ECONNRESET'),
    () => answer(200, { id: ids()[0], outcome: 'duplicate' })(),
  ])
  const task = client.submit('sum', 1)
  await clock.advance(20_000)
  expect((await task).accepted).toBe(true)
  expect(new Set(ids()).size).toBe(1)
})

test('with an id of the caller, the retry token tells whether the task that is there is the one that was sent', async () => {
  for (const isOwn of [true, false]) {
    const { client, clock, sent } = await scripted([
      broken('ECONNRESET'),
      answer(200, { id: 'mine', outcome: 'duplicate' }),
      () => answer(200, { id: 'mine', retryToken: isOwn ? sentToken(sent[0]?.body) : 'x' })(),
    ])
    const task = client.submit('sum', 1, { id: 'mine' })
    await clock.advance(20_000)
    expect((await task).accepted).toBe(isOwn)
    expect(sent.at(-1)?.line).toBe('GET /api/v1/tasks/mine')
  }
})

test('waiting for a result outlives an outage that is longer than any one request may take', async () => {
  const ended = { id: 't1', payload: null, state: { status: 'succeeded', at: 1, result: { sum: 3 } } }
  const { client, clock, sent } = await scripted(
    [...Array<() => Error>(40).fill(broken('ECONNREFUSED')), answer(200, ended)],
    { timeout: '1s' },
  )
  const result = client.task('t1').result()
  const hurried = caught(client.task('t1').result({ timeout: '3s' }))
  await clock.advance(120_000)
  expect(await result).toEqual({ sum: 3 })
  expect(await hurried).toMatchObject({ code: 'REPRISE_TIMED_OUT' })
  expect(sent.length).toBeGreaterThan(40)
})

test('a full backlog is told at once, as by an engine', async () => {
  const { client, sent } = await scripted([problem(503, 'REPRISE_BACKLOG_FULL', { 'retry-after': '1' })])
  expect(await caught(client.submit('sum', 1))).toMatchObject({
    name: 'BacklogFullError',
    code: 'REPRISE_BACKLOG_FULL',
  })
  expect(sent).toHaveLength(1)
})

test('of many tasks that are refused the first is told, with how many were taken', async () => {
  const lines = [
    { line: 1, id: 'a', outcome: 'accepted' },
    { line: 2, outcome: 'refused', code: 'REPRISE_BACKLOG_FULL', detail: 'The backlog is full.' },
    { line: 3, outcome: 'refused', code: 'REPRISE_INVALID', detail: 'No.' },
  ]
  const { client, sent } = await scripted([
    () => new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { status: 200 }),
  ])
  expect(await caught(client.submitMany('sum', [1, 2, 3]))).toMatchObject({
    name: 'BacklogFullError',
    message: 'Of 3 tasks 2 were refused, the first at place 1: The backlog is full. The other 1 were taken.',
  })
  expect(sent.map(({ line }) => line)).toEqual(['POST /api/v1/tasks/bulk'])
})

test('fault 26: of many tasks those that a stopping server did not take are sent again', async () => {
  const stops = { line: 2, outcome: 'refused', code: 'REPRISE_UNREACHABLE', detail: 'The server stops.' }
  const answer = (lines: readonly object[]) => () =>
    new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { status: 200 })
  const { client, sent } = await scripted([
    answer([{ line: 1, id: 'a', outcome: 'accepted' }, stops]),
    answer([
      { line: 1, id: 'b', outcome: 'accepted' },
      { line: 2, id: 'c', outcome: 'accepted' },
    ]),
  ])
  const ids = ['a', 'b', 'c']
  const tasks = await client.submitMany('sum', [1, 2, 3], (_, index) => ({ id: ids[index] ?? '' }))
  expect(tasks.map(({ id, accepted }) => [id, accepted])).toEqual(ids.map((id) => [id, true]))
  expect(sent.map(({ line }) => line)).toEqual(['POST /api/v1/tasks/bulk', 'POST /api/v1/tasks/bulk'])
})

test('problems become the errors that an engine throws, in the words of the server', async () => {
  const { client } = await scripted([problem(409, 'REPRISE_CONFLICT')])
  const conflict = await caught(client.publishPolicies({ text: 'x', expected: 3 }))
  expect(conflict).toMatchObject({
    name: 'ConflictError',
    status: 409,
    message: 'Said by the server: REPRISE_CONFLICT.',
  })
  expect(isRepriseError(conflict, 'REPRISE_CONFLICT')).toBe(true)
  expect((conflict as Error).stack).toContain('ConflictError: Said by the server: REPRISE_CONFLICT.')
  const other = await scripted([problem(418, 'REPRISE_OF_TOMORROW')])
  expect(await caught(other.client.counts())).toMatchObject({
    code: 'REPRISE_UNREACHABLE',
    message: expect.stringContaining('418') as unknown,
  })
})

test('intruder 6: whatever a server answers, the token is in no error', async () => {
  const replies = [
    answer(400, { code: 'REPRISE_INVALID', detail: `You sent ${TOKEN}.` }),
    answer(401, { code: 'REPRISE_UNAUTHENTICATED', detail: `Bearer ${TOKEN} is refused.` }),
    answer(302, null, { location: 'https://elsewhere.test/' }),
    answer(200, [TOKEN]),
    () => new Response(`<html>${TOKEN}</html>`, { status: 200 }),
    () => new Response(TOKEN, { status: 404 }),
    () => new TypeError(`Headers: ${TOKEN}`),
  ]
  for (const reply of replies) {
    const { client, clock } = await scripted([reply], { timeout: '1s' })
    const error = caught(client.counts())
    await clock.advance(2_000)
    const thrown = await error
    expect(isRepriseError(thrown)).toBe(true)
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown)) + String(thrown)).not.toContain(TOKEN)
  }
})

test('intruder 6: a token that can be none, and an address with a secret in it, are refused without being shown', async () => {
  for (const options of [
    { url: 'https://user:hidden@reprise.test' },
    { url: 'https://reprise.test/?token=hidden' },
    { url: 'ftp://hidden' },
    { url: 'hidden' },
    { url: 'https://reprise.test', token: 'hidden\nx' },
    { url: 'https://reprise.test', token: '' },
    { url: 'https://reprise.test', headers: { 'x y': 'hidden' } },
    { url: 'https://reprise.test', headers: { x: 'hidden\r\ny: z' } },
  ]) {
    const error = await caught(createClient(options))
    expect(error).toMatchObject({ code: 'REPRISE_INVALID' })
    expect(String(error)).not.toContain('hidden')
  }
})

test('a token that has to be renewed is asked for at each request, and a path before the API is kept', async () => {
  const seen: (string | null)[] = []
  let number = 0
  const client = await createClient({
    url: 'https://reprise.test/prefix/',
    token: async () => `t${++number}`,
    fetch: async (url, init) => {
      seen.push(`${url} ${new Headers(init.headers).get('authorization')}`)
      return answer(200, COUNTS)()
    },
  })
  await client.counts()
  await client.counts({ tenant: 'a&b' })
  expect(seen).toEqual([
    'https://reprise.test/prefix/api/v1/counts Bearer t1',
    'https://reprise.test/prefix/api/v1/counts?tenant=a%26b Bearer t2',
  ])
})
