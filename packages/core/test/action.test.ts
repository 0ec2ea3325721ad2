// Defining an action: its defaults, what is refused, and how an input is parsed.

import {
  type ActionOptions,
  DEFAULT_BACKOFF,
  DEFAULT_SETTINGS,
  defineAction,
  InvalidError,
  parseInput,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'

describe('defineAction', () => {
  test('C2: the defaults are 5 minutes, no retries, no queue TTL', () => {
    expect(defineAction({ name: 'render' })).toEqual({
      name: 'render',
      pool: 'default',
      settings: {
        timeoutMs: 300_000,
        maxRetries: null,
        lossesMax: 3,
        queueTtlMs: null,
        backoff: DEFAULT_BACKOFF,
        retryUnknown: false,
      },
      input: null,
      run: null,
    })
    expect(defineAction({ name: 'render' }).settings).toEqual(DEFAULT_SETTINGS)
  })

  test('C2: everything can be set', () => {
    const run = (input: number): number => input * 2
    const action = defineAction({
      name: 'render',
      pool: 'gpu',
      timeout: '2m',
      maxRetries: 0,
      lossesMax: 1,
      queueTtl: '1h30m',
      backoff: { kind: 'fixed', delayMs: 5, jitter: 0 },
      retryUnknown: true,
      run,
    })
    expect(action).toMatchObject({
      pool: 'gpu',
      settings: {
        timeoutMs: 120_000,
        maxRetries: 0,
        lossesMax: 1,
        queueTtlMs: 5_400_000,
        backoff: { kind: 'fixed', delayMs: 5, jitter: 0 },
        retryUnknown: true,
      },
    })
    expect(action.run).toBe(run)
  })

  test.each<[string, Partial<ActionOptions<unknown, unknown, unknown>>, string]>([
    ['an empty name', { name: '' }, 'The action name must not be empty'],
    ['a name with a line feed', { name: 'a\nb' }, 'control character'],
    ['an empty pool', { pool: '' }, 'The pool name must not be empty'],
    ['a timeout of nothing', { timeout: 0 }, 'The timeout must be at least 1 ms'],
    ['a timeout that rounds to nothing', { timeout: 0.4 }, 'The timeout must be at least 1 ms'],
    ['a timeout nobody understands', { timeout: 'soon' }, "The timeout 'soon' is not understood"],
    ['a queue TTL of nothing', { queueTtl: '0s' }, 'The queueTtl must be at least 1 ms'],
    ['negative retries', { maxRetries: -1 }, 'maxRetries must be a whole number from 0 to 1000, not -1'],
    ['half a retry', { maxRetries: 0.5 }, 'maxRetries must be a whole number'],
    ['too many retries', { maxRetries: 1_001 }, 'maxRetries must be a whole number'],
    ['retries that are no number', { maxRetries: Number.NaN }, 'maxRetries must be a whole number'],
    ['negative losses', { lossesMax: -1 }, 'lossesMax must be a whole number'],
    ['a backoff without sense', { backoff: { kind: 'schedule', delaysMs: [], jitter: 0 } }, 'at least one delay'],
  ])('refuses %s', (_, options, message) => {
    expect(() => defineAction({ name: 'render', ...options })).toThrow(InvalidError)
    expect(() => defineAction({ name: 'render', ...options })).toThrow(message)
  })
})

describe('parseInput', () => {
  const schemaOf = <Output>(
    validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>,
  ): StandardSchema<unknown, Output> => ({ '~standard': { version: 1, vendor: 'by-hand', validate } })
  const refusing = (...issues: SchemaIssue[]) => defineAction({ name: 'render', input: schemaOf(() => ({ issues })) })

  const width = (value: unknown): SchemaResult<number> =>
    typeof value === 'string' ? { value: Number(value) } : { issues: [{ message: 'must be a text' }] }

  test('without a schema the value passes as it is', async () => {
    const value = { any: 'thing' }
    expect(await parseInput(defineAction({ name: 'render' }), value)).toBe(value)
  })

  test.each([
    ['at once', defineAction({ name: 'render', input: schemaOf(width) })],
    ['later', defineAction({ name: 'render', input: schemaOf(async (value) => width(value)) })],
  ])('a schema that answers %s gives the parsed value, or refuses', async (_, action) => {
    expect(await parseInput(action, '640')).toBe(640)
    await expect(parseInput(action, 640)).rejects.toThrow(InvalidError)
    await expect(parseInput(action, 640)).rejects.toThrow(
      "The payload of action 'render' is not valid: must be a text.",
    )
  })

  test('issues are told with their paths, plain or as segments', async () => {
    const action = refusing(
      { message: 'too small', path: ['size', 'width'] },
      { message: 'unknown', path: [{ key: 'pages' }, 3, { key: Symbol('id') }] },
      { message: 'no way', path: [] },
    )
    await expect(parseInput(action, {})).rejects.toThrow(
      'not valid: size.width: too small; pages.3.Symbol(id): unknown; no way.',
    )
  })

  test('of many issues ten are told', async () => {
    const issues = Array.from({ length: 50 }, (_, index) => ({ message: `issue ${index}` }))
    const refused = parseInput(refusing(...issues), {})
    await expect(refused).rejects.toThrow(/issue 9\.$/)
  })
})
