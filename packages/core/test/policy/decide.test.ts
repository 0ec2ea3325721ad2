// What happens after a failure: retry at which time, or dead for which reason. Pure, and never beyond the budget.

import {
  DEFAULT_BACKOFF,
  DEFAULT_SETTINGS,
  type Decision,
  decideFailed,
  RETRY_AFTER_MS_MAX,
  type TaskSettings,
} from '@reprise/core'
import { decideLost } from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DecisionInput } from '../../src/policy/decide.ts'
import { failureWith, NOW } from '../fixture.ts'

const settings: TaskSettings = { ...DEFAULT_SETTINGS, maxRetries: 3 }
const unknown = failureWith({ code: 'unknown', reason: 'unknown', retriable: false, rule: 'unknown' })
const permission = failureWith({ code: 'EACCES', reason: 'permission', retriable: false, rule: 'code:EACCES' })

const input = (over: Partial<DecisionInput> = {}): DecisionInput => ({
  settings,
  spent: { failures: 0, losses: 0 },
  deadlineAt: null,
  failure: failureWith(),
  now: NOW,
  roll: 0.5,
  ...over,
})

describe('a failed attempt', () => {
  test('C4: is retried after the backoff, which grows with the failures', () => {
    expect(decideFailed(input())).toEqual({
      kind: 'retry',
      delayMs: 1_000,
      reason: 'connection',
      rule: 'code:ECONNRESET',
      sentence: 'Retry 1 of 3 in 1s, by the backoff.',
    })
    expect(decideFailed(input({ spent: { failures: 2, losses: 0 } }))).toMatchObject({ kind: 'retry', delayMs: 4_000 })
  })

  test('is dead when every retry is used', () => {
    expect(decideFailed(input({ spent: { failures: 3, losses: 0 } }))).toEqual({
      kind: 'dead',
      reason: 'retries_exhausted',
      rule: 'code:ECONNRESET',
      sentence: 'All 3 automatic retries are used up.',
    })
  })

  test('C2: is dead at once when the action asks for no retries', () => {
    for (const maxRetries of [null, 0]) {
      expect(decideFailed(input({ settings: { ...settings, maxRetries } }))).toMatchObject({
        kind: 'dead',
        reason: 'retries_exhausted',
        sentence: 'No automatic retry is allowed.',
      })
    }
  })

  test('C3: is dead at once when it does not go away by itself, whatever is left', () => {
    expect(decideFailed(input({ failure: permission }))).toEqual({
      kind: 'dead',
      reason: 'not_retriable',
      rule: 'code:EACCES',
      sentence: 'A failure of this kind (permission, by rule code:EACCES) does not go away by itself.',
    })
  })

  test('C3: an unknown failure is retried only if the action says so', () => {
    const eager = { ...settings, retryUnknown: true }
    expect(decideFailed(input({ failure: unknown }))).toMatchObject({ kind: 'dead', reason: 'not_retriable' })
    expect(decideFailed(input({ failure: unknown, settings: eager }))).toMatchObject({ kind: 'retry' })
    expect(decideFailed(input({ failure: permission, settings: eager }))).toMatchObject({ kind: 'dead' })
  })

  test.each([
    ['TypeError', "Cannot read properties of undefined (reading 'id')"],
    ['ReferenceError', 'order is not defined'],
    ['SyntaxError', 'Unexpected end of JSON input'],
    ['RangeError', 'Invalid array length'],
    ['AssertionError', 'Expected values to be strictly equal'],
    ['ZodError', 'Invalid input'],
    ['ValidationError', '"name" is required'],
  ])('C3: but never a %s, which comes again', (name, message) => {
    const plain = failureWith({ ...unknown, name, message })
    const decision = decideFailed(input({ failure: plain, settings: { ...settings, retryUnknown: true } }))
    expect(decision).toMatchObject({ kind: 'dead', reason: 'not_retriable' })
    expect(decision.sentence).toContain(name)
    expect(decision.sentence).toMatch(/^(?:A [^A]|An A)/)
  })

  test("C3: a TypeError of fetch is the network's", () => {
    const failed = failureWith({ ...unknown, name: 'TypeError', message: 'fetch failed: something odd' })
    const eager = { ...settings, retryUnknown: true }
    expect(decideFailed(input({ failure: failed, settings: eager }))).toMatchObject({ kind: 'retry' })
  })

  test('does not care about losses', () => {
    expect(decideFailed(input({ spent: { failures: 0, losses: 99 } }))).toMatchObject({ kind: 'retry', delayMs: 1_000 })
  })

  test('past its deadline is dead because of that', () => {
    const late = failureWith({ code: 'deadline', reason: 'deadline', retriable: false, rule: 'code:deadline' })
    expect(decideFailed(input({ failure: late }))).toMatchObject({ kind: 'dead', reason: 'deadline' })
  })
})

describe('Retry-After', () => {
  const asking = (retryAfterMs: number) => input({ failure: failureWith({ retryAfterMs }) })

  test('is honoured to the millisecond, without jitter', () => {
    expect(decideFailed({ ...asking(12_345), roll: 0.9 })).toMatchObject({
      kind: 'retry',
      delayMs: 12_345,
      sentence: 'Retry 1 of 3 in 12.3s, as the failing side asked.',
    })
    expect(decideFailed(asking(0))).toMatchObject({ kind: 'retry', delayMs: 0 })
  })

  test('is capped at a day', () => {
    expect(RETRY_AFTER_MS_MAX).toBe(86_400_000)
    expect(decideFailed(asking(86_400_001))).toMatchObject({ delayMs: 86_400_000 })
  })

  test('buys no extra retry', () => {
    expect(decideFailed({ ...asking(5), spent: { failures: 3, losses: 0 } })).toMatchObject({
      kind: 'dead',
      reason: 'retries_exhausted',
    })
  })
})

describe('the deadline', () => {
  test('must lie after the start of the next attempt', () => {
    expect(decideFailed(input({ deadlineAt: NOW + 1_001 }))).toMatchObject({ kind: 'retry' })
    expect(decideFailed(input({ deadlineAt: NOW + 1_000 }))).toMatchObject({ kind: 'dead', reason: 'deadline' })
  })

  test('is explained by how late the next attempt would be', () => {
    expect(decideFailed(input({ deadlineAt: NOW - 59_000 }))).toMatchObject({
      sentence: 'The next attempt would start 1m after the deadline.',
    })
  })

  test('binds lost attempts too', () => {
    expect(decideLost(input({ deadlineAt: NOW }))).toMatchObject({ kind: 'dead', reason: 'deadline' })
    expect(decideLost(input({ deadlineAt: NOW + 1, roll: 0 }))).toMatchObject({ kind: 'retry', delayMs: 0 })
    expect(decideLost(input({ deadlineAt: NOW + 1_000, roll: 0.5 }))).toMatchObject({ kind: 'dead' })
  })
})

describe('fault 19: a lost attempt', () => {
  const lostBefore = (losses: number, over: Partial<DecisionInput> = {}) =>
    decideLost(input({ spent: { failures: 0, losses }, ...over }))

  test('runs again anywhere up to twice the backoff: those lost together part', () => {
    expect(lostBefore(0, { roll: 0.5 })).toEqual({
      kind: 'retry',
      delayMs: 1_000,
      reason: 'connection',
      rule: 'code:ECONNRESET',
      sentence: 'Lost attempt 1 of 3 allowed; it runs again in 1s.',
    })
    expect(lostBefore(0, { roll: 0 })).toMatchObject({ delayMs: 0 })
    expect(lostBefore(1, { roll: 0.5 })).toMatchObject({ delayMs: 2_000 })
    expect(lostBefore(2, { roll: 0.25 })).toMatchObject({ delayMs: 2_000 })
  })

  test('is a crash loop after as many losses as are allowed', () => {
    expect(lostBefore(3)).toMatchObject({ kind: 'dead', reason: 'crash_loop' })
    expect(lostBefore(0, { settings: { ...settings, maxLosses: 0 } })).toMatchObject({ reason: 'crash_loop' })
  })

  test('needs no ordinary retries, and uses none', () => {
    expect(lostBefore(0, { settings: { ...settings, maxRetries: 0 } })).toMatchObject({ kind: 'retry' })
    expect(decideLost(input({ spent: { failures: 99, losses: 0 } }))).toMatchObject({ kind: 'retry' })
  })
})

describe('whatever comes', () => {
  const anyInput: fc.Arbitrary<DecisionInput> = fc.record({
    settings: fc.record({
      timeoutMs: fc.constant(1_000),
      maxRetries: fc.option(fc.nat(20)),
      maxLosses: fc.nat(20),
      queueTtlMs: fc.constant(null),
      backoff: fc.constant(DEFAULT_BACKOFF),
      retryUnknown: fc.boolean(),
    }),
    spent: fc.record({ failures: fc.nat(25), losses: fc.nat(25) }),
    deadlineAt: fc.option(fc.integer({ min: NOW - 100_000, max: NOW + 1_000_000 })),
    failure: fc.oneof(
      fc.constantFrom(unknown, permission),
      fc.option(fc.nat()).map((retryAfterMs) => failureWith({ retryAfterMs })),
    ),
    now: fc.constant(NOW),
    roll: fc.double({ min: 0, max: 0.999, noNaN: true }),
  })

  test('it never retries beyond the budget, nor into the deadline', () => {
    fc.assert(
      fc.property(anyInput, (any) => {
        const latest = any.deadlineAt ?? Number.POSITIVE_INFINITY
        const allowed = (decision: Decision, left: number): boolean =>
          decision.kind === 'dead' ||
          (decision.kind === 'retry' && left > 0 && decision.delayMs >= 0 && NOW + decision.delayMs < latest)
        expect(allowed(decideFailed(any), (any.settings.maxRetries ?? 0) - any.spent.failures)).toBe(true)
        expect(allowed(decideLost(any), any.settings.maxLosses - any.spent.losses)).toBe(true)
      }),
    )
  })

  test('it is pure: same question, same answer, and the question stays as it was', () => {
    fc.assert(
      fc.property(anyInput, (any) => {
        const before = structuredClone(any)
        expect(decideFailed(any)).toEqual(decideFailed(structuredClone(any)))
        expect(decideLost(any)).toEqual(decideLost(structuredClone(any)))
        expect(any).toEqual(before)
      }),
    )
  })

  test('a task that always fails ends after exactly its retries', () => {
    fc.assert(
      fc.property(fc.nat(30), (maxRetries) => {
        let failures = 0
        while (
          decideFailed(input({ settings: { ...settings, maxRetries }, spent: { failures, losses: 0 } })).kind ===
          'retry'
        )
          failures++
        expect(failures).toBe(maxRetries)
      }),
    )
  })
})
