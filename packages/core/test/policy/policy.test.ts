// Which policy counts, what a task's settings come to under it, and what is refused.

import {
  actionName,
  checkedBook,
  checkedPolicy,
  DEFAULT_BREAKER,
  DEFAULT_SETTINGS,
  InvalidError,
  lossTerms,
  NO_POLICIES,
  type Policy,
  type PolicyBook,
  policyForFailure,
  policyForTask,
  settingsUnder,
  tenantId,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { deadlineUnder } from '../../src/policy/policy-match.ts'
import { NOW, snapshotWith } from '../fixture.ts'

const policy = (name: string, over: Partial<Policy> = {}): Policy => ({ name, match: {}, ...over })
const book = (...policies: Policy[]): PolicyBook => checkedBook({ version: 7, policies, rules: [] })
const task = (action: string, tenant = 'acme', pack?: string) =>
  snapshotWith({
    action: actionName(action),
    tenant: tenantId(tenant),
    settings: pack === undefined ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, pack },
  })
const found = (policies: PolicyBook, subject: ReturnType<typeof task>, ...codes: string[]) =>
  policyForFailure(policies, subject, codes)?.policy.name ?? null

describe('B7: the first policy that matches counts', () => {
  test('by action, with * for anything', () => {
    const policies = book(
      policy('exact', { match: { actions: ['send-invoice'] } }),
      policy('globs', { match: { actions: ['send-*', '*-report'] } }),
      policy('middle', { match: { actions: ['a*b*c'] } }),
    )
    expect(found(policies, task('send-invoice'), 'x')).toBe('exact')
    expect(found(policies, task('send-mail'), 'x')).toBe('globs')
    expect(found(policies, task('daily-report'), 'x')).toBe('globs')
    expect(found(policies, task('a1b2c'), 'x')).toBe('middle')
    expect(found(policies, task('abc'), 'x')).toBe('middle')
    expect(found(policies, task('acb'), 'x')).toBeNull()
    expect(found(policies, task('resend-invoice'), 'x')).toBeNull()
  })

  test('an asterisk matches no character twice', () => {
    expect(found(book(policy('p', { match: { actions: ['ab*ba'] } })), task('aba'), 'x')).toBeNull()
    expect(found(book(policy('p', { match: { actions: ['ab*ba'] } })), task('abba'), 'x')).toBe('p')
    expect(found(book(policy('p', { match: { actions: ['a*b*b'] } })), task('ab'), 'x')).toBeNull()
  })

  test('by tenant and pack; an action of no pack is in none', () => {
    const policies = book(
      policy('acme', { match: { tenants: ['acme'], packs: ['billing'] } }),
      policy('packed', { match: { packs: ['*'] } }),
    )
    expect(found(policies, task('x', 'acme', 'billing'), 'x')).toBe('acme')
    expect(found(policies, task('x', 'other', 'billing'), 'x')).toBe('packed')
    expect(found(policies, task('x', 'acme'), 'x')).toBeNull()
  })

  test('by code; a policy without one is for every code', () => {
    const policies = book(
      policy('limited', { match: { codes: ['HTTP_429', 'rate_*'] } }),
      policy('rest', { match: { actions: ['x'] } }),
      policy('never-reached', { match: { actions: ['x'], codes: ['ECONNRESET'] } }),
    )
    expect(found(policies, task('x'), 'HTTP_429')).toBe('limited')
    expect(found(policies, task('x'), 'E_OWN', 'HTTP_429')).toBe('limited')
    expect(found(policies, task('x'), 'rate_limited')).toBe('limited')
    expect(found(policies, task('x'), 'ECONNRESET')).toBe('rest')
    expect(found(policies, task('y'), 'ECONNRESET')).toBeNull()
  })

  test('asked again, the answer is the same for each task of its own', () => {
    const policies = book(policy('a', { match: { actions: ['a'] } }), policy('b', { match: { tenants: ['b'] } }))
    for (let round = 0; round < 3; round++) {
      expect(found(policies, task('a', 'x'), 'x')).toBe('a')
      expect(found(policies, task('x', 'b'), 'x')).toBe('b')
      expect(found(policies, task('x', 'x'), 'x')).toBeNull()
    }
  })

  test('more lanes than it keeps in mind are answered all the same', () => {
    const policies = book(policy('even', { match: { actions: ['*0', '*2', '*4', '*6', '*8'] } }))
    for (let index = 0; index < 20_100; index++) {
      expect(found(policies, task(`action-${index}`), 'x') === 'even').toBe(index % 2 === 0)
    }
  })
})

describe('a task as such has the first policy that asks for no code', () => {
  const policies = book(
    policy('limited', { match: { codes: ['HTTP_429'] } }),
    policy('rest', { match: { actions: ['x'] }, slaMs: 60_000 }),
    policy('hidden', { match: { actions: ['x'] }, slaMs: 1_000 }),
  )

  test('and none if there is no such one', () => {
    expect(policyForTask(policies, task('x'))?.policy.name).toBe('rest')
    expect(policyForTask(policies, task('y'))).toBeNull()
    expect(policyForTask(NO_POLICIES, task('x'))).toBeNull()
  })

  test('from which its deadline comes: the earlier of that and its own, in the first generation', () => {
    const attempt = { snapshot: task('x'), generation: 1, acceptedAt: NOW }
    expect(deadlineUnder(policies, attempt)).toBe(NOW + 60_000)
    const early = { ...attempt, snapshot: { ...attempt.snapshot, deadlineAt: NOW + 1_000 } }
    expect(deadlineUnder(policies, early)).toBe(NOW + 1_000)
    expect(deadlineUnder(NO_POLICIES, early)).toBe(NOW + 1_000)
    expect(deadlineUnder(policies, { ...early, generation: 2 })).toBeNull()
    expect(deadlineUnder(NO_POLICIES, attempt)).toBeNull()
  })

  test('the action’s own SLA counts where the policy sets none', () => {
    const own = { ...task('y'), settings: { ...DEFAULT_SETTINGS, slaMs: 5_000 } }
    expect(deadlineUnder(policies, { snapshot: own, generation: 1, acceptedAt: NOW })).toBe(NOW + 5_000)
  })
})

describe('settings under a policy', () => {
  const stripe = { name: 'dependency:stripe', settings: DEFAULT_BREAKER }
  const slow = { ...DEFAULT_BREAKER, openMs: 60_000 }

  test('are the action’s own, but for what the policy sets', () => {
    const quota = { name: 'q', windowMs: 1_000, limit: 5, share: null }
    const backoff = { kind: 'fixed', delayMs: 5, jitter: 0 } as const
    const set = { retries: 9, maxLosses: 1, backoff, retryUnknown: true, onLost: 'hold', quota } as const
    expect(settingsUnder(policy('p', set), task('x'))).toEqual({
      ...DEFAULT_SETTINGS,
      maxRetries: 9,
      maxLosses: 1,
      backoff,
      retryUnknown: true,
      onLost: 'hold',
      quota,
    })
    expect(settingsUnder(policy('p'), task('x'))).toEqual(DEFAULT_SETTINGS)
    expect(settingsUnder(null, task('x'))).toBe(DEFAULT_SETTINGS)
  })

  test('C9: a breaker’s settings are for those the action names, or for the action itself', () => {
    const named = { ...task('x'), settings: { ...DEFAULT_SETTINGS, breakers: [stripe] } }
    expect(settingsUnder(policy('p', { breaker: slow }), named).breakers).toEqual([
      { name: 'dependency:stripe', settings: slow },
    ])
    expect(settingsUnder(policy('p', { breaker: slow }), task('x')).breakers).toEqual([
      { name: 'action:x', settings: slow },
    ])
    expect(settingsUnder(policy('p', { breaker: 'off' }), named)).toEqual(DEFAULT_SETTINGS)
    expect(settingsUnder(policy('p'), named).breakers).toEqual([stripe])
  })
})

test('what a lost attempt means can be asked before a task runs again', () => {
  const policies = book(policy('p', { match: { codes: ['worker_lost'] }, onLost: 'reconcile' }))
  expect(lossTerms(policies, task('x'))).toEqual({ meaning: 'reconcile', maxLosses: 3 })
  expect(lossTerms(NO_POLICIES, task('x')).meaning).toBe('retry')
  expect(lossTerms(NO_POLICIES, { ...task('x'), settings: { ...DEFAULT_SETTINGS, onLost: 'hold' } }).meaning).toBe(
    'hold',
  )
})

describe('refused', () => {
  test.each<[string, Partial<Policy>, string]>([
    ['no name', { name: '' }, 'must not be empty'],
    ['the name of the rules', { name: 'rules' }, "No policy can be named 'rules'"],
    ['a match for nothing', { match: { actions: [] } }, 'An empty list matches nothing'],
    ['too many retries', { retries: 1_001 }, 'retries is a whole number from 0 to 1000'],
    ['negative losses', { maxLosses: -1 }, 'maxLosses is a whole number'],
    ['an SLA by code', { match: { codes: ['x'] }, slaMs: 1_000 }, 'matches by code can not set an SLA'],
    [
      'health by tenant',
      { match: { tenants: ['x'] }, healthAware: false },
      'by tenant or code can not switch health_aware',
    ],
    ['an SLA of nothing', { slaMs: 0 }, 'The SLA is at least 1 ms'],
    ['a backoff without sense', { backoff: { kind: 'fixed', delayMs: -1, jitter: 0 } }, 'Backoff delays'],
    ['a breaker without sense', { breaker: { ...DEFAULT_BREAKER, probes: 0 } }, 'probes'],
    [
      'a quota without a limit',
      { quota: { name: 'q', windowMs: 1_000, limit: null, share: null } },
      'a limit, a share',
    ],
    ['bounds the wrong way round', { retryAfter: { minMs: 2, maxMs: 1 } }, 'bounds of a Retry-After'],
    ['bounds beyond a day', { retryAfter: { minMs: 0, maxMs: 86_400_001 } }, 'bounds of a Retry-After'],
    ['a meaning nobody knows', { onLost: 'shrug' as 'hold' }, 'onLost is one of retry, hold, reconcile'],
    ['a severity nobody knows', { escalation: { severity: 'odd' as 'low' } }, 'The severity is one of'],
    ['a rule it can’t run', { rules: [{ when: {}, verdict: { reason: 'unknown' } }] }, "nothing under 'when'"],
  ])('%s', (_, over, message) => {
    expect(() => checkedPolicy(policy('p', over))).toThrow(InvalidError)
    expect(() => checkedPolicy(policy('p', over))).toThrow(message)
  })

  test('names the policy', () => {
    expect(() => checkedPolicy(policy('payments', { retries: -1 }))).toThrow("Policy 'payments': retries")
  })

  test('two of one name, and more than anybody can follow', () => {
    expect(() => book(policy('p'), policy('p'))).toThrow("Two policies are named 'p'")
    expect(() => book(...Array.from({ length: 1_001 }, (_, index) => policy(`p${index}`)))).toThrow('at most 1000')
  })
})
