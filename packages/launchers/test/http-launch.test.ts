// What is sent to a plugin, and what its answers mean.

import { actionName, describeFailure, outcomeRequest, PlatformFullError } from '@reprise/core'
import { expect, test, vi } from 'vitest'
import { verifyRequest, verifySignature } from '../src/index.ts'
import { monotonicMs } from '../src/monotonic.ts'
import { anOrder, ended, never, refOf, sighting } from './fixture.ts'
import { anHttpLauncher, aPlugin, json, secret } from './http-fixture.ts'
import { failureIn } from './process-fixture.ts'

test('B6: a launch is a signed request with the order, the key and the retry token', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 200, { result: { pages: 3 } }))
  const launcher = anHttpLauncher(plugin, {
    actions: { render: { pluginId: 'render/2' } },
    callbackUrl: 'https://reprise.example/task-complete',
    headers: { authorization: 'Bearer x' },
  })
  const order = anOrder({ id: 'task ü' })
  await launcher.launch(order, never)
  const [request] = plugin.received
  expect(request).toMatchObject({ method: 'POST', path: '/plugin/runtime/render%2F2/execute' })
  expect(request?.headers).toMatchObject({
    'idempotency-key': 'task%20%C3%BC:1000:1',
    'content-type': 'application/json',
    authorization: 'Bearer x',
  })
  expect(JSON.parse(request?.body ?? '')).toEqual({
    taskId: 'task ü',
    attempt: 1,
    token: order.token,
    retryToken: 'retry-1',
    action: 'render',
    tenant: 'acme',
    labels: { team: 'blue' },
    timeoutMs: 20_000,
    callbackUrl: 'https://reprise.example/task-complete',
    payload: { page: 7 },
  })
  expect(verifySignature(request?.headers ?? {}, request?.body ?? '', secret)).toBe(true)
  expect(verifySignature(request?.headers ?? {}, `${request?.body} `, secret)).toBe(false)
  const { method = '', path = '', headers = {}, body = '' } = request ?? {}
  expect(verifyRequest({ method, url: path, headers, body }, secret)).toBe(true)
  expect(verifyRequest({ method, url: `${path}x`, headers, body }, secret)).toBe(false)
  expect(await sighting(launcher, refOf(order))).toMatchObject({ outcome: { ok: true, result: '{"pages":3}' } })
})

test.each([
  [200, { result: [1] }, '[1]'],
  [200, {}, null],
  [200, { result: null }, 'null'],
  [204, undefined, null],
])('a synchronous answer %i %j is a success', async (status, body, result) => {
  const plugin = await aPlugin((_request, response) => {
    if (body === undefined) response.writeHead(status).end()
    else json(response, status, body)
  })
  const launcher = anHttpLauncher(plugin)
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  expect(await sighting(launcher, refOf(order, handle))).toEqual({
    status: 'ended',
    handle,
    outcome: { ok: true, result },
  })
  await launcher.forget(refOf(order, handle))
  await launcher.launch(order, never)
  expect(plugin.received).toHaveLength(2)
})

test.each([
  [
    200,
    { error: { code: 'QUOTA', message: 'Not today.', retryable: true, retryAfterMs: 60_000 } },
    'QUOTA',
    true,
    60_000,
  ],
  [200, { error: { code: 'BAD', message: 'No.', retryable: false } }, 'BAD', false, null],
  [200, { error: 'It timed out.' }, 'timeout', true, null],
  [200, [1], 'REPRISE_INVALID', false, null],
  [400, { error: 'no page' }, 'HTTP_400', false, null],
  [404, {}, 'HTTP_404', false, null],
  [422, {}, 'HTTP_422', false, null],
  [302, {}, 'HTTP_302', false, null],
  [502, {}, 'HTTP_502', true, null],
  [504, {}, 'HTTP_504', true, null],
])('an answer %i %j is a failure of the attempt: %s', async (status, body, code, retriable, retryAfterMs) => {
  const plugin = await aPlugin((_request, response) =>
    json(response, status, body, { location: 'http://127.0.0.1:1/' }),
  )
  const launcher = anHttpLauncher(plugin)
  const order = anOrder()
  await launcher.launch(order, never)
  expect(failureIn(await sighting(launcher, refOf(order)))).toMatchObject({
    code,
    retriable,
    retryAfterMs,
    stack: null,
  })
  expect(plugin.received).toHaveLength(1)
})

test.each([
  [429, '7', 7_000],
  [503, '120', 120_000],
  [503, undefined, null],
])(
  'A7: an answer %i with Retry-After %s says that there is no room, and leaves nothing behind',
  async (status, after, ms) => {
    const plugin = await aPlugin((_request, response) =>
      json(response, status, {}, after === undefined ? {} : { 'retry-after': after }),
    )
    const launcher = anHttpLauncher(plugin)
    const order = anOrder()
    const error: unknown = await launcher.launch(order, never).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'REPRISE_NO_AVAILABLE_SLOT', retryAfterMs: ms, isOneTarget: true })
    expect(String(error)).toContain(`answered ${status}`)
    await expect(launcher.launch(order, never)).rejects.toMatchObject({ code: 'REPRISE_NO_AVAILABLE_SLOT' })
  },
)

test.each([
  [500, '7', 7_000],
  [500, undefined, null],
  [408, undefined, null],
])(
  'A3: an answer %i with Retry-After %s refuses the launch, which leaves nothing behind',
  async (status, after, ms) => {
    const plugin = await aPlugin((_request, response) =>
      json(response, status, {}, after === undefined ? {} : { 'retry-after': after }),
    )
    const launcher = anHttpLauncher(plugin)
    const order = anOrder()
    const error: unknown = await launcher.launch(order, never).catch((thrown: unknown) => thrown)
    expect(describeFailure(error, order.action)).toMatchObject({ code: `HTTP_${status}`, retriable: true })
    expect(outcomeRequest(error)?.retryAfterMs ?? null).toBe(ms)
    await expect(launcher.launch(order, never)).rejects.not.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
  },
)

test('Retry-After may be a date', async () => {
  const plugin = await aPlugin((_request, response) =>
    json(response, 503, {}, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }),
  )
  const error: unknown = await anHttpLauncher(plugin)
    .launch(anOrder(), never)
    .catch((thrown: unknown) => thrown)
  if (!(error instanceof PlatformFullError)) throw error
  expect(error.retryAfterMs).toBeGreaterThan(50_000)
  expect(error.retryAfterMs).toBeLessThanOrEqual(60_000)
})

test('A3: nobody there: the launch fails, and nothing was sent', async () => {
  const launcher = anHttpLauncher({ origin: 'http://127.0.0.1:1' })
  await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    name: 'TransientError',
  })
})

test('a connection that breaks after the request was sent is a failure of the attempt: it may have run', async () => {
  const plugin = await aPlugin((_request, response) => void response.socket?.destroy())
  const launcher = anHttpLauncher(plugin)
  const order = anOrder()
  await launcher.launch(order, never)
  expect(failureIn(await sighting(launcher, refOf(order)))).toMatchObject({ code: 'ECONNRESET', reason: 'connection' })
})

test('a slow answer does not hold the launch up: many run at once, and each is told', async () => {
  const answers: (() => void)[] = []
  const plugin = await aPlugin((request, response) => {
    answers.push(() => json(response, 200, { result: (JSON.parse(request.body) as { taskId: string }).taskId }))
  })
  const launcher = anHttpLauncher(plugin, { answerWithin: 100 })
  const orders = Array.from({ length: 20 }, (_, index) => anOrder({ id: `slow-${index}` }))
  const handles = await Promise.all(orders.map((order) => launcher.launch(order, never)))
  const refs = orders.map((order, index) => refOf(order, handles[index]?.handle ?? null))
  expect((await launcher.look(refs)).map(({ status }) => status)).toEqual(Array(20).fill('running'))
  const ends = orders.map((order) => ended(launcher, order))
  for (const answer of answers) answer()
  expect((await Promise.all(ends)).map((seen) => seen.status)).toEqual(Array(20).fill('ended'))
})

test('a refusal that comes late is a failure of the attempt', async () => {
  const { promise: late, resolve: answer } = Promise.withResolvers<void>()
  const plugin = await aPlugin(
    (_request, response) => void late.then(() => json(response, 503, {}, { 'retry-after': '9' })),
  )
  const launcher = anHttpLauncher(plugin, { answerWithin: 50 })
  const order = anOrder()
  await launcher.launch(order, never)
  const end = ended(launcher, order)
  answer()
  expect(failureIn(await end)).toMatchObject({ code: 'HTTP_503', retriable: true, retryAfterMs: 9_000 })
})

test('A2: a key that is under way here is a duplicate', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 202, {}))
  const launcher = anHttpLauncher(plugin)
  const order = anOrder()
  const [first, second] = await Promise.allSettled([launcher.launch(order, never), launcher.launch(order, never)])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ reason: { code: 'REPRISE_DUPLICATE_EXECUTION' } })
  expect(plugin.received).toHaveLength(1)
})

test('a void order sends nothing, also when it became void while the host was looked up', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 200, {}))
  const held = Promise.withResolvers<{ address: string }[]>()
  const launcher = anHttpLauncher(plugin, {
    baseUrl: `http://plugin.example:${plugin.port}`,
    resolve: () => held.promise,
  })
  const order = anOrder({ voidAt: monotonicMs() + 100 })
  const launching = launcher.launch(order, never)
  await expect(launching).rejects.toMatchObject({ code: 'LAUNCH_VOID' })
  held.resolve([{ address: '127.0.0.1' }])
  await expect(launcher.launch(anOrder({ voidAt: 0 }), never)).rejects.toMatchObject({ code: 'LAUNCH_VOID' })
  expect(plugin.received).toEqual([])
})

test('an aborted launch sends nothing, or is looked after', async () => {
  const plugin = await aPlugin(() => undefined)
  const launcher = anHttpLauncher(plugin, { answerWithin: '20s' })
  await expect(launcher.launch(anOrder(), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  const controller = new AbortController()
  const order = anOrder()
  const launching = launcher.launch(order, controller.signal)
  await vi.waitFor(() => expect(plugin.received).toHaveLength(1), { timeout: 30_000 })
  controller.abort()
  const { handle } = await launching
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'running', handle })
  await launcher.end(refOf(order, handle), 0)
  expect(failureIn(await sighting(launcher, refOf(order)))).toMatchObject({ code: 'ABORT_ERR' })
})

test('the whole answer has one deadline: one that drips is cut off', async () => {
  const plugin = await aPlugin((_request, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  const launcher = anHttpLauncher(plugin, { answerWithin: 50 })
  const order = anOrder({ timeoutMs: 400 })
  await launcher.launch(order, never)
  expect(failureIn(await ended(launcher, order))).toMatchObject({ code: 'timeout', retriable: true })
})

test('an answer that is too large is cut off', async () => {
  const plugin = await aPlugin((_request, response) => {
    response.writeHead(200)
    const flood = (): void => {
      while (response.write('x'.repeat(100_000)));
      response.once('drain', flood)
    }
    flood()
  })
  const launcher = anHttpLauncher(plugin, { answerWithin: '20s' })
  const order = anOrder()
  await launcher.launch(order, never)
  expect(failureIn(await sighting(launcher, refOf(order)))).toMatchObject({
    code: 'REPRISE_TOO_LARGE',
    retriable: false,
  })
})

test('intruder 7: each target has a secret of its own, and a question about a launch is signed like the launch', async () => {
  const [one, other] = ['one, long enough for a secret', 'other, long enough as well'].map(
    (text) => `whsec_${Buffer.from(text).toString('base64')}`,
  ) as [string, string]
  const plugin = await aPlugin((request, response) =>
    json(response, request.method === 'POST' ? 202 : 200, { statusUrl: '/runs/1', status: 'running' }),
  )
  const actions = { render: { secret: one }, 'render.other': { secret: [other, secret] }, 'render.plain': {} }
  const launcher = anHttpLauncher(plugin, { actions, signatures: ['v2'] })
  const signers = (secrets: readonly string[]): readonly boolean[] => {
    const { method = '', path = '', headers = {}, body = '' } = plugin.received.at(-1) ?? {}
    expect(headers['webhook-signature']).not.toContain('v1,')
    return secrets.map((by) => verifyRequest({ method, url: path, headers, body }, by))
  }
  const expected = {
    render: [true, false, false],
    'render.other': [false, true, true],
    'render.plain': [false, false, true],
  }
  for (const [action, by] of Object.entries(expected)) {
    const order = anOrder({ id: action, action: actionName(action) })
    const { handle } = await launcher.launch(order, never)
    expect([action, signers([one, other, secret])]).toEqual([action, by])
    await launcher.look([refOf(order, handle)])
    expect([action, plugin.received.at(-1)?.method, signers([one, other, secret])]).toEqual([action, 'GET', by])
  }
  // Another orchestrator knows only where the launch went: one of the secrets there is the right one.
  const order = anOrder({ id: 'render' })
  const later = anHttpLauncher(plugin, { actions, signatures: ['v2'] })
  await later.look([refOf(order, `status:${Date.now() + 60_000}:${plugin.origin}/runs/1`)])
  expect(signers([one, other, secret])).toEqual([true, true, true])
})

test('options are checked', () => {
  const origin = 'https://plugins.example'
  expect(() => anHttpLauncher({ origin }, { secret: 'short' })).toThrow('whsec_')
  expect(() => anHttpLauncher({ origin }, { secret: [] })).toThrow('needs a secret')
  expect(() => anHttpLauncher({ origin }, { signatures: [] })).toThrow("'signatures' must be")
  expect(() => anHttpLauncher({ origin: 'ftp://x' })).toThrow('http or https')
  expect(() => anHttpLauncher({ origin: 'https://user:pass@x' })).toThrow('password')
  expect(() => anHttpLauncher({ origin }, { allow: ['10.0.0.0/99'] })).toThrow('10.0.0.0/99')
  expect(() => anHttpLauncher({ origin }, { allow: '10.0.0.0/8' as never })).toThrow("'allow' must be a list")
  expect(() => anHttpLauncher({ origin }, { speed: 1 } as never)).toThrow("no HTTP launcher option 'speed'")
})
