// What a log line is: one line, with its fields, without secrets, and without anything that a terminal or a reader takes for
// more than text.

import { createRedactor, type Logger, VirtualClock } from '@reprise/core'
import { createLog, type LogOptions, requestObserver } from '@reprise/telemetry'
import { describe, expect, test } from 'vitest'
import { aRegistry, seriesValue } from './fixture.ts'

function keeping(options: LogOptions = {}): { readonly log: Logger; readonly written: string[] } {
  const written: string[] = []
  const log = createLog({ clock: new VirtualClock(), write: (line) => written.push(line), ...options })
  return { log, written }
}

const parsed = (line: string | undefined): Record<string, unknown> => JSON.parse(line ?? '') as Record<string, unknown>

test('B9: a JSON line has time, level, message and the fields, and ends with a line end', () => {
  const { log, written } = keeping({ format: 'json', base: { service: 'core' } })
  log.warn('A task is dead.', { task_id: 'a', attempt: 2, dlq_flag: true, workorder_id: null, left_out: undefined })
  expect(written).toHaveLength(1)
  expect(written[0]?.endsWith('}\n')).toBe(true)
  expect(parsed(written[0])).toEqual({
    level: 'warn',
    time: '2030-01-01T00:00:00.000Z',
    service: 'core',
    task_id: 'a',
    attempt: 2,
    dlq_flag: true,
    workorder_id: null,
    message: 'A task is dead.',
  })
})

test('levels below the configured one are not written, and silent writes nothing', () => {
  for (const format of ['json', 'text'] as const) {
    const { log, written } = keeping({ format, level: 'warn' })
    log.debug('no')
    log.info('no')
    log.warn('yes')
    log.error('yes')
    expect(written).toHaveLength(2)
    const silent = keeping({ format, level: 'silent' })
    silent.log.error('no')
    expect(silent.written).toEqual([])
  }
})

test('a level or format that does not exist is refused by name', () => {
  expect(() => createLog({ level: 'loud' as 'info' })).toThrow(/one of debug, info, warn, error, silent, not 'loud'/)
  expect(() => createLog({ format: 'xml' as 'json' })).toThrow(/one of json, text, not 'xml'/)
})

describe('intruder 10: a value can not forge a line or paint a terminal', () => {
  const evil = 'x\r\n{"level":"info"}\u001b[31mred\u009b31m\u2028\u2029\u0000\u007fend'

  test.each(['json', 'text'] as const)('intruder 10: as %s', (format) => {
    const { log, written } = keeping({ format })
    log.info(evil, { value: evil, [evil]: 1, nested: { deep: [evil] }, error: new Error(evil) })
    expect(written).toHaveLength(1)
    const line = written[0] ?? ''
    expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
    expect(line.endsWith('\n')).toBe(true)
  })

  test('intruder 10: JSON gives back what was written', () => {
    const { log, written } = keeping({ format: 'json' })
    log.info(evil, { value: evil, [evil]: 1 })
    expect(parsed(written[0])).toMatchObject({ message: evil, value: evil, [evil]: 1 })
  })
})

describe('intruder 6: no secrets', () => {
  test.each(['json', 'text'] as const)(
    'intruder 6: headers, keys and credentials inside texts are taken out, as %s',
    (format) => {
      const rules = createRedactor({ keys: ['licence-plate'] })
      const { log, written } = keeping({ format, redact: (value) => rules.value(value) })
      log.info('Sent with Bearer s3cret-one-aaaa to redis://user:s3cret-two@host:6379', {
        headers: {
          Authorization: 'Basic s3cret-three',
          cookie: 's3cret-four',
          'Set-Cookie': ['s3cret-five'],
          'X-API-Key': 's3cret-six',
          accept: 'text/html',
        },
        list: [{ password: 's3cret-seven' }],
        licence_plate: 's3cret-eight',
        lease_token: 's3cret-nine',
        note: 'authorization: bearer s3cret-ten-bbbb',
        error: new Error('at postgres://u:s3cret-eleven@db/x'),
        retry_token: 'is no secret',
      })
      expect(written[0]).not.toContain('s3cret')
      expect(written[0]).toContain('[redacted]')
      expect(written[0]).toContain('text/html')
      expect(written[0]).toContain('is no secret')
    },
  )

  test('intruder 6: rules from outside see the message and the fields', () => {
    const redact = (value: unknown): unknown =>
      typeof value === 'string' ? value.replace('ann', '***') : { ...(value as object), user: '***' }
    const { log, written } = keeping({ format: 'json', redact })
    log.info('ann signed in', { user: 'ann', other: 1 })
    expect(parsed(written[0])).toMatchObject({ message: '*** signed in', user: '***', other: 1 })
  })
})

test.each(['json', 'text'] as const)(
  'intruder 6: who did it is written as it is, beside what is redacted: %s',
  (format) => {
    const { log, written } = keeping({ format, base: { actor: 'token:base-2024-10' } })
    log.info('A request was answered.', { token: 'ci-deploy-2024', actor: 'token:ci-deploy-2024', path: '/x' })
    log.info('Started.')
    log.info('Odd.', { actor: { password: 'hunter2' } })
    expect(written[0]).toContain('token:ci-deploy-2024')
    expect(written[0]?.match(/ci-deploy-2024/g)).toHaveLength(1)
    expect(written[1]).toContain('token:base-2024-10')
    expect(written[2]).not.toContain('hunter2')
  },
)

test('fault 20: values that can not be shown cost no line', () => {
  const circle: Record<string, unknown> = { name: 'circle' }
  circle.self = circle
  const trap = {
    get boom(): never {
      throw new Error('boom')
    },
    fine: 1,
  }
  const { log, written } = keeping({ format: 'json' })
  log.error('odd', {
    circle,
    trap,
    big: 10n,
    nan: Number.NaN,
    symbol: Symbol('s'),
    at: new Date(Number.NaN),
    long: 'y'.repeat(9_000),
  })
  expect(written).toHaveLength(1)
  expect(written[0]?.length).toBeLessThan(6_000)
  expect(parsed(written[0])).toMatchObject({ trap: { boom: '[can not be shown]', fine: 1 }, big: '10', nan: 'NaN' })
  const proxy = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no')
      },
    },
  )
  log.error('odd', proxy)
  expect(parsed(written[1])).toMatchObject({ message: 'odd', fields: '[can not be shown]' })
})

test('text lines are for people: time, level, message, and fields that are quoted where needed', () => {
  const { log, written } = keeping({ format: 'text' })
  log.info('Hello.', { task_id: 'a', note: 'two words', count: 2, nothing: null })
  expect(written).toEqual(['00:00:00Z INFO  Hello. task_id=a note="two words" count=2\n'])
})

test('a request is one line without its query, and one observation by its route', async () => {
  const metrics = aRegistry()
  const { log, written } = keeping({ format: 'json', level: 'debug' })
  const observe = requestObserver({ metrics, log })
  const request = {
    method: 'GET',
    route: '/api/v1/tasks/:id',
    url: '/api/v1/tasks/7?token=s3cret',
    status: 200,
    durationMs: 12.34,
    requestId: 'r1',
    actor: 'user:ann',
    address: '127.0.0.1',
  }
  observe(request)
  observe({ ...request, status: 503, isRoutine: true })
  observe({ ...request, method: 'BREW', route: null, isRoutine: true })
  expect(written.map((line) => parsed(line).level)).toEqual(['info', 'error', 'debug'])
  expect(written.join('')).not.toContain('s3cret')
  expect(parsed(written[0])).toMatchObject({
    event: 'http.request',
    request_id: 'r1',
    method: 'GET',
    path: '/api/v1/tasks/7',
    status: 200,
    duration_ms: 12.3,
    actor: 'user:ann',
  })
  const count = 'reprise_http_request_duration_seconds_count'
  expect(await seriesValue(metrics, count, { method: 'GET', route: '/api/v1/tasks/:id', status: '200' })).toBe(1)
  expect(await seriesValue(metrics, count, { method: 'other', route: 'none', status: '200' })).toBe(1)
})
