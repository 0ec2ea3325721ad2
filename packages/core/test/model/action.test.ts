// Defining an action: its defaults, what is refused, and how an input is parsed.

import {
  type ActionOptions,
  DEFAULT_BACKOFF,
  DEFAULT_BREAKER,
  DEFAULT_SETTINGS,
  defineAction,
  InvalidError,
  implement,
  parseInput,
  type StandardSchema,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'
import type { SchemaIssue, SchemaResult } from '../../src/model/standard-schema.ts'

describe('defineAction', () => {
  test('C2: the defaults are 5 minutes, no retries, no queue TTL', () => {
    expect(defineAction({ name: 'render' })).toEqual({
      name: 'render',
      pool: 'default',
      settings: {
        timeoutMs: 300_000,
        maxRetries: null,
        maxLosses: 3,
        queueTtlMs: null,
        backoff: DEFAULT_BACKOFF,
        retryUnknown: false,
      },
      leftOpen: ['timeoutMs', 'queueTtlMs', 'backoff'],
      input: null,
      output: null,
      run: null,
      reconcile: null,
    })
    expect(defineAction({ name: 'render' }).settings).toEqual(DEFAULT_SETTINGS)
  })

  test.each([
    [{}, false],
    [{ max: 0 }, false],
    [{ max: 2 }, true],
    [{ max: 2, unknown: false }, false],
    [{ unknown: true }, true],
  ])('C3: unknown failures are retried where the code asks for retries: %o', (retry, retried) => {
    expect(defineAction({ name: 'render', retry }).settings.retryUnknown).toBe(retried)
  })

  test('C2: every option can be set, and arrives in the settings', () => {
    const every: Required<ActionOptions<unknown, number, number>> = {
      name: 'render',
      input: { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: 1 }) } },
      output: { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: 2 }) } },
      pool: 'gpu',
      timeout: '2m',
      retry: { max: 0, backoff: { kind: 'fixed', delayMs: 5, jitter: 0 }, unknown: true },
      maxLosses: 1,
      queueTtl: '1h30m',
      uses: ['stripe'],
      breaker: { minFailures: 2 },
      retryQuota: { window: '1m', limit: 30 },
      onLost: 'reconcile',
      sla: '10m',
      pack: 'billing',
      runtime: 'python3',
      healthAware: false,
      notify: true,
      reconcile: () => ({ outcome: 'done', result: 5 }),
      run: (input) => input * 2,
    }
    expect(defineAction(every)).toEqual({
      name: 'render',
      pool: 'gpu',
      leftOpen: [],
      settings: {
        timeoutMs: 120_000,
        maxRetries: 0,
        maxLosses: 1,
        queueTtlMs: 5_400_000,
        backoff: { kind: 'fixed', delayMs: 5, jitter: 0 },
        retryUnknown: true,
        breakers: [{ name: 'dependency:stripe', settings: { ...DEFAULT_BREAKER, minFailures: 2 } }],
        quota: { name: 'render', windowMs: 60_000, limit: 30, share: null },
        onLost: 'reconcile',
        slaMs: 600_000,
        pack: 'billing',
        runtime: 'python3',
        healthAware: false,
        notify: true,
      },
      input: every.input,
      output: every.output,
      run: every.run,
      reconcile: every.reconcile,
    })
  })

  test.each<[string, Partial<ActionOptions<unknown, unknown, unknown>>, string]>([
    ['an empty name', { name: '' }, 'The action name must not be empty'],
    ['a name with a line feed', { name: 'a\nb' }, 'control character'],
    ['an empty pool', { pool: '' }, 'The pool name must not be empty'],
    ['a timeout of nothing', { timeout: 0 }, 'The timeout must be at least 1 ms'],
    ['a timeout that rounds to nothing', { timeout: 0.4 }, 'The timeout must be at least 1 ms'],
    ['a timeout nobody understands', { timeout: 'soon' }, "The timeout 'soon' is not understood"],
    ['a queue TTL of nothing', { queueTtl: '0s' }, 'The queueTtl must be at least 1 ms'],
    ['negative retries', { retry: { max: -1 } }, 'retry.max must be a whole number from 0 to 1000, not -1'],
    ['half a retry', { retry: { max: 0.5 } }, 'retry.max must be a whole number'],
    ['too many retries', { retry: { max: 1_001 } }, 'retry.max must be a whole number'],
    ['retries that are no number', { retry: { max: Number.NaN } }, 'retry.max must be a whole number'],
    ['an unknown retry option', { retry: { times: 2 } as object }, "no retry option 'times'. Known are: max, backoff"],
    [
      'retries without their option',
      { retry: 2 as unknown as object },
      'Expected an object of retry options, not number',
    ],
    ['the old name of retries', { maxRetries: 2 } as object, "It is called 'retry: { max }'."],
    ['the old name of backoff', { backoff: {} } as object, "It is called 'retry: { backoff }'."],
    ['the old name of unknown', { retryUnknown: true } as object, "It is called 'retry: { unknown }'."],
    ['negative losses', { maxLosses: -1 }, 'maxLosses must be a whole number'],
    ['an SLA of nothing', { sla: 0 }, 'The sla must be at least 1 ms'],
    ['a meaning nobody knows', { onLost: 'shrug' as 'hold' }, 'onLost is one of retry, hold, reconcile'],
    ['a pack without a name', { pack: '' }, 'The pack must not be empty'],
    ['a dependency without a name', { uses: [''] }, 'The dependency name must not be empty'],
    ['a text of dependencies', { uses: 'stripe' as unknown as string[] }, 'uses is a list of names'],
    ['eleven dependencies', { uses: 'abcdefghijk'.split('') }, 'at most 10'],
    ['an unknown breaker setting', { breaker: { windowMs: 5 } as object }, "There is no breaker setting 'windowMs'"],
    ['a breaker without sense', { breaker: { probes: 0 } }, 'probes are a whole number'],
    ['a quota without a limit', { retryQuota: { window: '1m' } }, 'a limit, a share, or both'],
    ['a reconcile that is none', { reconcile: 5 as unknown as () => 'done' }, 'must be a function, not number'],
    [
      'a backoff of no kind',
      { retry: { backoff: { kind: 'odd' } as unknown as { kind: 'fixed'; delay: 1 } } },
      'no such kind',
    ],
    [
      'a backoff without its delay',
      { retry: { backoff: { kind: 'fixed' } as { kind: 'fixed'; delay: 1 } } },
      'Backoff delays',
    ],
    [
      'a backoff with a stray field',
      { retry: { backoff: { kind: 'exponential', step: 1 } as object as { kind: 'exponential' } } },
      "no backoff field 'step'",
    ],
    [
      'a backoff without sense',
      { retry: { backoff: { kind: 'schedule', delaysMs: [], jitter: 0 } } },
      'at least one delay',
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => defineAction({ name: 'render', ...options })).toThrow(InvalidError)
    expect(() => defineAction({ name: 'render', ...options })).toThrow(message)
  })
})

describe('C9: what guards an action', () => {
  const settingsOf = (options: object) => defineAction({ name: 'charge', ...options }).settings
  const set = (options: object) => {
    const added: Record<string, unknown> = { ...settingsOf(options) }
    for (const field of Object.keys(DEFAULT_SETTINGS)) delete added[field]
    return added
  }

  test('is stored only where it is set', () => {
    expect(set({})).toEqual({})
    expect(set({ onLost: 'retry', breaker: false, uses: [] })).toEqual({})
  })

  test('a breaker for each thing it depends on, with the same settings, or none', () => {
    const refs = (settings: object) => [
      { name: 'dependency:stripe', settings },
      { name: 'dependency:postgres', settings },
    ]
    const uses = ['stripe', 'postgres', 'stripe']
    expect(set({ uses })).toEqual({ breakers: refs(DEFAULT_BREAKER) })
    expect(set({ uses, breaker: true })).toEqual({ breakers: refs(DEFAULT_BREAKER) })
    expect(set({ uses, breaker: false })).toEqual({})
    expect(set({ uses, breaker: { window: '1m', open: '10m', minFailures: 2 } })).toEqual({
      breakers: refs({ ...DEFAULT_BREAKER, windowMs: 60_000, openMs: 600_000, maxOpenMs: 600_000, minFailures: 2 }),
    })
  })

  test('a breaker of its own if it depends on nothing', () => {
    expect(set({ breaker: true })).toEqual({ breakers: [{ name: 'action:charge', settings: DEFAULT_BREAKER }] })
    expect(set({ breaker: { maxOpen: '1h', failureRate: 0.9, probes: 1, maxRamp: 8 } })).toEqual({
      breakers: [
        {
          name: 'action:charge',
          settings: { ...DEFAULT_BREAKER, maxOpenMs: 3_600_000, failureRate: 0.9, probes: 1, maxRamp: 8 },
        },
      ],
    })
  })

  test('a quota, named after the action unless it has a name', () => {
    expect(set({ retryQuota: { window: '1m', limit: 30 } })).toEqual({
      quota: { name: 'charge', windowMs: 60_000, limit: 30, share: null },
    })
    expect(set({ retryQuota: { name: 'all', window: '1m', share: 0.1 } })).toEqual({
      quota: { name: 'all', windowMs: 60_000, limit: null, share: 0.1 },
    })
  })

  test('what a loss means, the SLA and the pack', () => {
    expect(set({ onLost: 'hold', sla: '10m', pack: 'billing' })).toEqual({
      onLost: 'hold',
      slaMs: 600_000,
      pack: 'billing',
    })
  })
})

describe('reconcile', () => {
  const run = () => 1

  test('is carried along', () => {
    const reconcile = () => ({ outcome: 'done', result: 5 }) as const
    expect(defineAction({ name: 'charge', onLost: 'reconcile', run, reconcile }).reconcile).toBe(reconcile)
    const declared = defineAction<unknown, number>({ name: 'charge', onLost: 'reconcile' })
    expect(declared.reconcile).toBeNull()
    expect(implement(declared, run, reconcile)).toMatchObject({ run, reconcile })
  })

  test('has to be there where a loss is to be reconciled, as soon as there is a handler', () => {
    expect(() => defineAction({ name: 'charge', onLost: 'reconcile', run })).toThrow('has no reconcile function')
    expect(() => implement(defineAction({ name: 'charge', onLost: 'reconcile' }), run)).toThrow(
      'reconcile function as well',
    )
  })
})

describe('a backoff in durations', () => {
  const resolved = (backoff: NonNullable<ActionOptions<unknown, unknown, unknown>['retry']>['backoff'] & object) =>
    defineAction({ name: 'charge', retry: { backoff } }).settings.backoff

  test('C4: is the same as in milliseconds, and has the same defaults', () => {
    expect(resolved({ kind: 'exponential', base: '1s', max: '5m', multiplier: 2, jitter: 0.2 })).toEqual(
      DEFAULT_BACKOFF,
    )
    expect(resolved({ kind: 'exponential' })).toEqual(DEFAULT_BACKOFF)
    expect(resolved({ kind: 'fixed', delay: '5s', jitter: 0 })).toEqual({ kind: 'fixed', delayMs: 5_000, jitter: 0 })
    expect(resolved({ kind: 'linear', step: '2s' })).toEqual({
      kind: 'linear',
      stepMs: 2_000,
      maxMs: 300_000,
      jitter: 0.2,
    })
    expect(resolved({ kind: 'decorrelated', max: 900 })).toEqual({ kind: 'decorrelated', baseMs: 1_000, maxMs: 900 })
    expect(resolved({ kind: 'schedule', delays: ['1s', '1m', 5] })).toEqual({
      kind: 'schedule',
      delaysMs: [1_000, 60_000, 5],
      jitter: 0.2,
    })
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

test.each([['yes'], [1], [[]]])('C9: a breaker that is %j is refused', (breaker) => {
  expect(() => defineAction({ name: 'charge', breaker: breaker as never })).toThrow(
    /breaker is true, false, or its settings/,
  )
})
