// From an attempt that went wrong to its settlement: the policy that counts, the decision, its stamp and its guards.

import {
  type Circumstances,
  DEFAULT_BREAKER,
  DEFAULT_SETTINGS,
  type JudgedAttempt,
  judgeLost,
  judgeObserved,
  judgeOutcomeUnknown,
  judgeThrown,
  mayStart,
  NO_POLICIES,
  PermanentError,
  type Policy,
  type PolicyBook,
  RetryAfterError,
  type TaskSettings,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { PARKS_MAX } from '../../src/policy/judge.ts'
import { NOW, snapshotWith } from '../fixture.ts'
import { growth } from '../timing.ts'

const circumstances: Circumstances = { now: NOW, roll: 0.5 }
const stripe = { name: 'dependency:stripe', settings: DEFAULT_BREAKER }
const quota = { name: 'q', windowMs: 1_000, limit: 5, share: null }

const attemptWith = (settings: Partial<TaskSettings> = {}, over: Partial<JudgedAttempt> = {}): JudgedAttempt => ({
  snapshot: snapshotWith({ settings: { ...DEFAULT_SETTINGS, maxRetries: 3, ...settings } }),
  generation: 1,
  failures: 0,
  losses: 0,
  parks: 0,
  acceptedAt: NOW - 10_000,
  ...over,
})
const bookOf = (over: Partial<Policy>, rules: PolicyBook['rules'] = []): PolicyBook => ({
  version: 4,
  policies: [{ name: 'p', match: {}, ...over }],
  rules,
})
const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

describe('a time-out that the submission shortened', () => {
  const late = { reason: 'timeout', message: 'Too long.' } as const

  test('names no breaker, and excuses the worker', () => {
    const attempt = attemptWith({ breakers: [stripe], quota, ownTimeout: true })
    for (const judged of [
      judgeObserved(NO_POLICIES, attempt, late, circumstances),
      judgeThrown(NO_POLICIES, attempt, Object.assign(new Error('x'), { code: 'ETIMEDOUT' }), circumstances),
      judgeObserved(bookOf({ breaker: DEFAULT_BREAKER }), attempt, late, circumstances),
    ]) {
      expect(judged.failure.reason).toBe('timeout')
      expect(judged.guards).toEqual({ quota, excusesWorker: true })
    }
  })

  test('any other failure of such a task counts, and so does the action’s own time-out', () => {
    const shortened = attemptWith({ breakers: [stripe], ownTimeout: true })
    expect(judgeThrown(NO_POLICIES, shortened, reset, circumstances).guards).toMatchObject({ outage: {} })
    const plain = judgeObserved(NO_POLICIES, attemptWith({ breakers: [stripe] }), late, circumstances)
    expect(plain.guards).toMatchObject({ outage: {} })
    expect(plain.guards).not.toHaveProperty('excusesWorker')
  })
})

describe('B7: a policy', () => {
  test('decides instead of the action’s settings, and its stamp says so', () => {
    const { decision } = judgeThrown(
      bookOf({ retries: 8, backoff: { kind: 'fixed', delayMs: 7_000, jitter: 0 } }),
      attemptWith(),
      reset,
      circumstances,
    )
    expect(decision).toEqual({
      kind: 'retry',
      delayMs: 7_000,
      reason: 'connection',
      rule: 'code:ECONNRESET',
      sentence: 'Retry 1 of 8 in 7s, by the backoff.',
      policy: { name: 'p', version: 4 },
    })
  })

  test('leaves no stamp where none matched', () => {
    const elsewhere = bookOf({ match: { actions: ['other'] }, retries: 0 })
    for (const book of [NO_POLICIES, elsewhere]) {
      const { decision } = judgeThrown(book, attemptWith(), reset, circumstances)
      expect(decision).toMatchObject({ kind: 'retry', delayMs: 1_000 })
      expect(decision).not.toHaveProperty('policy')
    }
  })

  test('is found by the code that was thrown, by the status beside it, or by what the rules make of it', () => {
    const dead = (codes: string[], thrown: unknown) =>
      judgeThrown(bookOf({ match: { codes }, retries: 0 }), attemptWith(), thrown, circumstances).decision.kind
    expect(dead(['ECONN*'], reset)).toBe('dead')
    expect(dead(['HTTP_503'], Object.assign(new Error('x'), { code: 'ERR_OWN', status: 503 }))).toBe('dead')
    expect(dead(['timeout'], new Error('it timed out'))).toBe('dead')
    expect(dead(['HTTP_503'], reset)).toBe('retry')
  })

  test('has rules that come before the book’s, and the book’s before the built-in ones', () => {
    const book = bookOf(
      { rules: [{ name: 'mine', when: { code: ['ECONNRESET'] }, verdict: { reason: 'permanent' } }] },
      [{ name: 'ours', when: { code: ['ECONN*'] }, verdict: { reason: 'rate_limited' } }],
    )
    const judged = judgeThrown(book, attemptWith(), reset, circumstances)
    expect(judged.failure).toMatchObject({ reason: 'permanent', retriable: false, rule: 'policy:p:mine' })
    expect(judged.decision).toMatchObject({ kind: 'dead', reason: 'not_retriable', rule: 'policy:p:mine' })
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
    expect(judgeThrown(book, attemptWith(), refused, circumstances).decision).toMatchObject({
      reason: 'rate_limited',
      rule: 'rule:ours',
    })
  })

  test('the rules of the book stamp a decision where no policy matched', () => {
    const book = {
      ...NO_POLICIES,
      version: 9,
      rules: [{ when: { message: 'odd' }, verdict: { reason: 'transient' } }],
    } as const
    expect(judgeThrown(book, attemptWith(), new Error('odd'), circumstances).decision).toMatchObject({
      kind: 'retry',
      rule: 'rule:1',
      policy: { name: 'rules', version: 9 },
    })
  })

  test('C3: the handler’s own word wins over its rules', () => {
    const book = bookOf({ rules: [{ when: { message: 'x' }, verdict: { reason: 'transient' } }] })
    expect(judgeThrown(book, attemptWith(), new PermanentError('x'), circumstances).decision).toMatchObject({
      kind: 'dead',
      rule: 'handler',
    })
  })

  test('its escalation goes with dead letters, and only with them', () => {
    const escalation = { severity: 'high', owner: 'payments', runbook: 'refund' } as const
    const book = bookOf({ escalation })
    expect(judgeThrown(book, attemptWith(), new PermanentError('x'), circumstances).decision).toMatchObject({
      escalation,
    })
    expect(judgeThrown(book, attemptWith(), reset, circumstances).decision).not.toHaveProperty('escalation')
    expect(judgeLost(book, attemptWith({ maxLosses: 0 }), 'gone', circumstances).decision).toMatchObject({ escalation })
  })

  test('keeps a Retry-After within its bounds, and says what was asked for', () => {
    const book = bookOf({ retryAfter: { minMs: 1_000, maxMs: 60_000 } })
    const after = (delayMs: number) =>
      judgeThrown(book, attemptWith(), new RetryAfterError(delayMs), circumstances).decision
    expect(after(5_000)).toMatchObject({ delayMs: 5_000, sentence: 'Retry 1 of 3 in 5s, as the failing side asked.' })
    expect(after(3_600_000)).toMatchObject({
      delayMs: 60_000,
      sentence: 'Retry 1 of 3 in 1m, the longest that is allowed; the failing side asked for 1h.',
    })
    expect(after(10)).toMatchObject({
      delayMs: 1_000,
      sentence: 'Retry 1 of 3 in 1s, the shortest that is allowed; the failing side asked for 10ms.',
    })
  })
})

describe('C9: a failure that looks like an outage', () => {
  test('names its breakers, and what is decided if one of them holds', () => {
    const { guards, decision } = judgeThrown(NO_POLICIES, attemptWith({ breakers: [stripe] }), reset, circumstances)
    expect(guards.outage).toEqual({
      breakers: [stripe],
      park: {
        kind: 'park',
        reason: 'connection',
        rule: 'code:ECONNRESET',
        sentence:
          'This looks like an outage (connection): it waits until the breaker dependency:stripe lets work through, and uses up no retry.',
      },
    })
    expect(decision.kind).toBe('retry')
  })

  test.each(['connection', 'timeout', 'rate_limited', 'transient', 'worker_unavailable'] as const)(
    'is one of %s, also when every retry is used up',
    (reason) => {
      const spent = attemptWith({ breakers: [stripe] }, { failures: 3 })
      const { decision, guards } = judgeObserved(NO_POLICIES, spent, { reason, message: 'm' }, circumstances)
      expect(decision).toMatchObject({ kind: 'dead', reason: 'retries_exhausted' })
      expect(guards.outage?.park.reason).toBe(reason)
    },
  )

  test.each(['validation', 'permanent', 'unknown', 'queue_timeout', 'stale_worker', 'no_workers', 'deadline'] as const)(
    'is none of %s',
    (reason) => {
      const attempt = attemptWith({ breakers: [stripe] })
      expect(judgeObserved(NO_POLICIES, attempt, { reason, message: 'm' }, circumstances).guards).toEqual({})
    },
  )

  test('is none that a rule, or the handler, calls final', () => {
    const attempt = attemptWith({ breakers: [stripe] })
    const book = bookOf({
      rules: [{ when: { reason: ['connection'] }, verdict: { reason: 'connection', retriable: false } }],
    })
    expect(judgeThrown(book, attempt, reset, circumstances).guards).toEqual({})
    expect(judgeThrown(NO_POLICIES, attempt, new PermanentError('connection reset'), circumstances).guards).toEqual({})
  })

  test('is parked at most so often', () => {
    const parked = (parks: number) =>
      judgeThrown(NO_POLICIES, attemptWith({ breakers: [stripe] }, { parks }), reset, circumstances).guards.outage
    expect(parked(PARKS_MAX - 1)).toBeDefined()
    expect(parked(PARKS_MAX)).toBeUndefined()
    expect(PARKS_MAX).toBe(100)
  })

  test('is not parked past its deadline', () => {
    const late = attemptWith({ breakers: [stripe], slaMs: 10_000 })
    const { decision, guards } = judgeThrown(NO_POLICIES, late, reset, circumstances)
    expect(decision).toMatchObject({ kind: 'dead', reason: 'deadline' })
    expect(guards).toEqual({})
  })

  test('carries the policy’s stamp and settings; off is off', () => {
    const own = { ...DEFAULT_BREAKER, probes: 9 }
    const attempt = attemptWith({ breakers: [stripe] })
    expect(judgeThrown(bookOf({ breaker: own }), attempt, reset, circumstances).guards.outage).toMatchObject({
      breakers: [{ name: 'dependency:stripe', settings: own }],
      park: { policy: { name: 'p', version: 4 } },
    })
    expect(judgeThrown(bookOf({ breaker: 'off' }), attempt, reset, circumstances).guards).toEqual({})
  })
})

describe('C9: a retry quota', () => {
  test('goes with a retry, of a failure or a loss, and with nothing else', () => {
    const attempt = attemptWith({ quota })
    expect(judgeThrown(NO_POLICIES, attempt, reset, circumstances).guards).toEqual({ quota })
    expect(judgeLost(NO_POLICIES, attempt, 'gone', circumstances).guards).toEqual({ quota })
    expect(judgeThrown(NO_POLICIES, attempt, new PermanentError('x'), circumstances).guards).toEqual({})
  })

  test('of the policy counts before the action’s own', () => {
    const other = { ...quota, name: 'other' }
    expect(judgeThrown(bookOf({ quota: other }), attemptWith({ quota }), reset, circumstances).guards).toEqual({
      quota: other,
    })
  })
})

describe('B1: a lost attempt', () => {
  test('is held where nobody can ask a reconcile hook, whether the action or a policy wants it asked', () => {
    for (const [book, settings] of [
      [NO_POLICIES, { onLost: 'reconcile' }],
      [bookOf({ onLost: 'reconcile' }), {}],
    ] as const) {
      const attempt = attemptWith({ ...settings, quota })
      expect(judgeLost(book, attempt, 'gone', circumstances).decision.kind).toBe('retry')
      const { decision, guards } = judgeLost(book, attempt, 'gone', circumstances, { hook: 'none' })
      expect(decision).toMatchObject({ kind: 'dead', reason: 'outcome_unknown', rule: 'code:worker_lost' })
      expect(decision.sentence).toContain('a launched worker has no reconcile hook')
      expect(guards).toEqual({})
    }
    const plain = judgeLost(NO_POLICIES, attemptWith(), 'gone', circumstances, { hook: 'none' })
    expect(plain.decision.kind).toBe('retry')
  })

  test('runs again, unless the action or the policy wants a person to look', () => {
    expect(judgeLost(NO_POLICIES, attemptWith(), 'gone', circumstances).decision).toMatchObject({
      kind: 'retry',
      reason: 'worker_lost',
      sentence: 'Lost attempt 1 of 3 allowed; it runs again in 1s.',
    })
    const held = { kind: 'dead', reason: 'outcome_unknown', rule: 'code:worker_lost' }
    expect(judgeLost(NO_POLICIES, attemptWith({ onLost: 'hold' }), 'gone', circumstances).decision).toMatchObject(held)
    expect(judgeLost(bookOf({ onLost: 'hold' }), attemptWith(), 'gone', circumstances).decision).toMatchObject({
      ...held,
      policy: { name: 'p', version: 4 },
    })
    expect(
      judgeLost(bookOf({ onLost: 'retry' }), attemptWith({ onLost: 'hold' }), 'gone', circumstances).decision,
    ).toMatchObject({ kind: 'retry' })
  })

  test('is asked about where it can be reconciled', () => {
    const { decision } = judgeLost(NO_POLICIES, attemptWith({ onLost: 'reconcile' }), 'gone', circumstances)
    expect(decision).toMatchObject({
      kind: 'retry',
      sentence: 'Lost attempt 1 of 3 allowed; its reconcile hook is asked in 1s.',
    })
  })

  test('is lost whatever the rules say: that is a fact', () => {
    const book = bookOf({ rules: [{ when: { code: ['*'] }, verdict: { reason: 'permanent' } }] })
    expect(judgeLost(book, attemptWith(), 'gone', circumstances).failure).toMatchObject({ reason: 'worker_lost' })
  })

  test('of which nobody can tell is a dead letter for a person, and no fault of its worker', () => {
    const book = bookOf({ escalation: { severity: 'high' } })
    expect(judgeOutcomeUnknown(book, attemptWith(), 'The bank does not answer.')).toMatchObject({
      failure: { code: 'outcome_unknown', reason: 'permanent', retriable: false, message: 'The bank does not answer.' },
      decision: {
        kind: 'dead',
        reason: 'outcome_unknown',
        policy: { name: 'p', version: 4 },
        escalation: { severity: 'high' },
      },
      guards: expect.toSatisfy((guards: object) => Object.keys(guards).length === 0) as object,
    })
  })
})

describe('B14: the SLA', () => {
  const slaBook = bookOf({ slaMs: 20_000 })

  test('binds retries: what would start too late is dead at once', () => {
    const soon = judgeThrown(slaBook, attemptWith(), reset, circumstances).decision
    expect(soon).toMatchObject({ kind: 'retry' })
    const late = judgeThrown(slaBook, attemptWith({}, { acceptedAt: NOW - 19_500 }), reset, circumstances).decision
    expect(late).toMatchObject({ kind: 'dead', reason: 'deadline', policy: { name: 'p', version: 4 } })
  })

  test('an attempt that can’t make it is not started, and says so', () => {
    const attempt = attemptWith({}, { acceptedAt: NOW - 20_000 })
    expect(mayStart(slaBook, attempt, NOW - 1)).toBeNull()
    expect(mayStart(slaBook, attempt, NOW + 5_000)).toMatchObject({
      failure: {
        code: 'deadline',
        reason: 'deadline',
        message: 'It should have started within 20s of being accepted, which was 25s ago, so it was not started.',
      },
      decision: { kind: 'dead', reason: 'deadline', policy: { name: 'p', version: 4 } },
      guards: expect.toSatisfy((guards: object) => Object.keys(guards).length === 0) as object,
    })
    expect(mayStart(slaBook, { ...attempt, generation: 2 }, NOW + 5_000)).toBeNull()
    expect(mayStart(NO_POLICIES, attempt, NOW + 5_000)).toBeNull()
  })

  test('nor is one past its deadline, whatever the rules say', () => {
    const attempt = { ...attemptWith(), snapshot: snapshotWith({ deadlineAt: NOW - 3_000 }) }
    const book = bookOf({ retries: 5, rules: [{ when: { code: ['*'] }, verdict: { reason: 'transient' } }] })
    expect(mayStart(book, attempt, NOW)).toMatchObject({
      failure: { reason: 'deadline', message: 'Its deadline passed 3s ago, so it was not started.' },
      decision: { kind: 'dead', reason: 'deadline' },
    })
  })
})

test('it is pure: same question, same answer, and the question stays as it was', () => {
  const book = bookOf({ retries: 2, quota, breaker: DEFAULT_BREAKER, slaMs: 60_000 })
  const attempt = attemptWith()
  const before = structuredClone({ book, attempt })
  const first = judgeThrown(book, attempt, reset, circumstances)
  expect(judgeThrown(structuredClone(book), structuredClone(attempt), reset, circumstances)).toEqual(first)
  expect({ book, attempt }).toEqual(before)
})

describe('what judging costs', () => {
  const many = (count: number): PolicyBook => ({
    version: 1,
    policies: Array.from({ length: count }, (_, index) => ({
      name: `p${index}`,
      match: { actions: [`action-${index}-*`], tenants: ['acme*'] },
      retries: 3,
    })),
    rules: [{ when: { code: ['E_OWN*'] }, verdict: { reason: 'transient' } }],
  })
  const judgeOften = (book: PolicyBook) => {
    for (let round = 0; round < 50; round++) {
      judgeObserved(book, attemptWith(), { reason: 'timeout', message: 'The attempt ran too long.' }, circumstances)
    }
  }

  test('does not grow with the number of policies', () => {
    const books = new Map([10, 1_000].map((count) => [count, many(count)]))
    const times = growth((count) => judgeOften(books.get(count) ?? NO_POLICIES), { small: 10, large: 1_000, below: 3 })
    // A hundred times the policies: about 1 when they are looked up once, far more when all are tried each time.
    expect(times).toBeLessThan(3)
  })

  test('is at most that of a bare loop over 20,000 characters: about 20 µs', () => {
    const book = many(1_000)
    const text = 'timed out '.repeat(2_000)
    const bareLoop = () => {
      let mixed = 7
      for (let round = 0; round < 50; round++) {
        for (let index = 0; index < text.length; index++) mixed = Math.imul(mixed ^ text.charCodeAt(index), 31)
      }
      return mixed
    }
    const share = growth((which) => (which === 1 ? judgeOften(book) : void bareLoop()), {
      small: 0,
      large: 1,
      below: 1,
    })
    expect(share).toBeLessThan(1)
  })
})
