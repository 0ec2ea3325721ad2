// The switches: what becomes of decisions while automatic retries are off. How they are kept and followed is tried on real
// engines, in test/operating/flags.test.ts.

import {
  ALL_FLAGS_ON,
  DEFAULT_BREAKER,
  DEFAULT_SETTINGS,
  FLAGS,
  InvalidError,
  type JudgedAttempt,
  judgeLost,
  judgeObserved,
  judgeThrown,
  NO_POLICIES,
  PermanentError,
  type PolicyBook,
  RetryAfterError,
  type TaskSettings,
  underFlags,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { FLAG_NAMES, flagName } from '../../src/policy/flags.ts'
import { NOW, snapshotWith } from '../fixture.ts'

const now = { now: NOW, roll: 0.5 }
const OFF = { ...ALL_FLAGS_ON, 'task-retry-queue': false }
const off = underFlags(NO_POLICIES, OFF)
const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
const attemptWith = (settings: Partial<TaskSettings> = {}): JudgedAttempt => ({
  snapshot: snapshotWith({ settings: { ...DEFAULT_SETTINGS, maxRetries: 3, ...settings } }),
  generation: 1,
  failures: 0,
  losses: 0,
  parks: 0,
  acceptedAt: NOW,
})

describe('B12: while automatic retries are switched off', () => {
  test('what would be retried becomes a dead letter that says how to bring it back', () => {
    const { decision, guards, failure } = judgeThrown(off, attemptWith(), reset, now)
    expect(decision).toMatchObject({ kind: 'dead', reason: 'retries_off', rule: 'code:ECONNRESET' })
    expect(decision.sentence).toMatch(/task-retry-queue.*Redrive/)
    expect(guards).toEqual({})
    expect(failure).toMatchObject({ reason: 'connection', retriable: true })
  })

  test.each([
    ['a wish to retry later', judgeThrown(off, attemptWith(), new RetryAfterError('30s'), now)],
    ['a lost attempt', judgeLost(off, attemptWith(), 'It went away.', now)],
    ['a time-out', judgeObserved(off, attemptWith(), { reason: 'timeout', message: 'too long' }, now)],
    ['too long in the queue', judgeObserved(off, attemptWith(), { reason: 'queue_timeout', message: 'ttl' }, now)],
  ])('so does %s', (_, { decision }) => {
    expect(decision).toMatchObject({ kind: 'dead', reason: 'retries_off' })
  })

  test('no quota is asked for room', () => {
    const quota = { name: 'q', windowMs: 1_000, limit: 5, share: null }
    expect(judgeThrown(off, attemptWith({ quota }), reset, now).guards).toEqual({})
  })

  test('a breaker still parks', () => {
    const breakers = [{ name: 'dependency:stripe', settings: DEFAULT_BREAKER }]
    const { decision, guards } = judgeThrown(off, attemptWith({ breakers }), reset, now)
    expect(decision).toMatchObject({ kind: 'dead', reason: 'retries_off' })
    expect(guards.outage).toMatchObject({ breakers, park: { kind: 'park' } })
  })

  test('what is dead anyway is dead for its own reason', () => {
    expect(judgeThrown(off, attemptWith(), new PermanentError('no'), now).decision).toMatchObject({
      reason: 'not_retriable',
    })
    expect(judgeThrown(off, attemptWith({ maxRetries: 0 }), reset, now).decision).toMatchObject({
      reason: 'retries_exhausted',
    })
    expect(judgeLost(off, attemptWith({ onLost: 'hold' }), 'gone', now).decision).toMatchObject({
      reason: 'outcome_unknown',
    })
  })

  test('the policy that counts is on record, with what it says about dead letters', () => {
    const escalation = { severity: 'high', owner: 'ann' } as const
    const book: PolicyBook = { version: 4, policies: [{ name: 'p', match: {}, escalation }], rules: [] }
    expect(judgeThrown(underFlags(book, OFF), attemptWith(), reset, now).decision).toMatchObject({
      reason: 'retries_off',
      policy: { name: 'p', version: 4 },
      escalation,
    })
  })
})

describe('B12: flags', () => {
  test('are three, all on, and a book under them is the same book', () => {
    expect(FLAG_NAMES).toEqual(['task-retry-queue', 'dlq-inspector', 'audit-streaming'])
    expect(Object.values(ALL_FLAGS_ON)).toEqual([true, true, true])
    expect(underFlags(NO_POLICIES, ALL_FLAGS_ON)).toBe(NO_POLICIES)
    for (const words of Object.values(FLAGS)) expect(words.length).toBeGreaterThan(20)
  })

  test('have names that are known', () => {
    expect(flagName('dlq-inspector')).toBe('dlq-inspector')
    expect(() => flagName('dlq-inspecter')).toThrow("Did you mean 'dlq-inspector'?")
    expect(() => flagName('toString')).toThrow(InvalidError)
  })
})
