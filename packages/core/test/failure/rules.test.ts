// Own rules of classification: what each condition asks, their order, and who has the last word.

import { InvalidError, normalise, RULES_MAX, statusRange } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { classify } from '../../src/failure/classify.ts'
import { compileRules, type Rule } from '../../src/failure/rules.ts'

const thrown = (message: string, fields: object = {}) => normalise(Object.assign(new Error(message), fields))
const verdictOf = (failure: ReturnType<typeof thrown>, ...rules: Rule[]) =>
  classify(failure, [compileRules(rules, 'rule')])

const declined: Rule = {
  name: 'declined',
  when: { code: ['card_*'] },
  verdict: { reason: 'permanent' },
}

describe('C3: a rule', () => {
  test('goes by code, with * for anything', () => {
    expect(verdictOf(thrown('no', { code: 'card_declined' }), declined)).toEqual({
      reason: 'permanent',
      retriable: false,
      rule: 'rule:declined',
    })
    expect(verdictOf(thrown('no', { code: 'discard_me' }), declined).rule).toBe('unknown')
    expect(verdictOf(thrown('no'), declined).rule).toBe('unknown')
  })

  test.each<[string, number, boolean]>([
    ['503', 503, true],
    ['503', 502, false],
    ['5xx', 500, true],
    ['5xx', 599, true],
    ['5xx', 499, false],
    ['520-524', 520, true],
    ['520-524', 524, true],
    ['520-524', 525, false],
  ])('goes by status: %s and %i', (status, found, holds) => {
    const rule: Rule = { when: { status: [status] }, verdict: { reason: 'rate_limited' } }
    const verdict = verdictOf(thrown('Request failed', { code: 'ERR_BAD_RESPONSE', status: found }), rule)
    expect(verdict.rule === 'rule:1').toBe(holds)
  })

  test('goes by the message, by a pattern', () => {
    const rule: Rule = { when: { message: '(?i)replica (is )?lagging' }, verdict: { reason: 'transient' } }
    expect(verdictOf(thrown('Replica is lagging by 3 s'), rule)).toMatchObject({ retriable: true, rule: 'rule:1' })
    expect(verdictOf(thrown('Replica is fine'), rule).rule).toBe('unknown')
  })

  test('goes by the class of what was thrown', () => {
    const rule: Rule = { when: { name: ['*TypeError', 'Range*'] }, verdict: { reason: 'permanent' } }
    expect(verdictOf(normalise(new TypeError('x')), rule).rule).toBe('rule:1')
    expect(verdictOf(normalise(new RangeError('x')), rule).rule).toBe('rule:1')
    expect(verdictOf(normalise(new SyntaxError('x')), rule).rule).toBe('unknown')
  })

  test('goes by what the built-in rules make of it, and can turn that round', () => {
    const rule: Rule = { when: { reason: ['timeout'] }, verdict: { reason: 'timeout', retriable: false } }
    expect(verdictOf(thrown('x', { code: 'ETIMEDOUT' }), rule)).toEqual({
      reason: 'timeout',
      retriable: false,
      rule: 'rule:1',
    })
    expect(verdictOf(thrown('x', { code: 'ECONNRESET' }), rule).rule).toBe('code:ECONNRESET')
  })

  test('holds only if all that it asks holds', () => {
    const rule: Rule = { when: { status: ['4xx'], message: 'locked' }, verdict: { reason: 'transient' } }
    expect(verdictOf(thrown('row locked', { status: 409 }), rule).rule).toBe('rule:1')
    expect(verdictOf(thrown('row gone', { status: 409 }), rule).rule).toBe('code:HTTP_409')
    expect(verdictOf(thrown('row locked', { status: 500 }), rule).rule).toBe('code:HTTP_500')
  })
})

describe('C3: the order', () => {
  const first: Rule = { name: 'first', when: { code: ['E_*'] }, verdict: { reason: 'transient' } }
  const second: Rule = { name: 'second', when: { code: ['E_OWN'] }, verdict: { reason: 'permanent' } }
  const own = thrown('x', { code: 'E_OWN' })

  test('of rules decides: the first that holds', () => {
    expect(verdictOf(own, first, second).rule).toBe('rule:first')
    expect(verdictOf(own, second, first).rule).toBe('rule:second')
  })

  test('of lists too, and both come before the built-in rules', () => {
    const lists = [compileRules([second], 'policy:p'), compileRules([first], 'rule')]
    expect(classify(own, lists).rule).toBe('policy:p:second')
    expect(classify(thrown('x', { code: 'E_OTHER' }), lists).rule).toBe('rule:first')
    const reset: Rule = { when: { code: ['ECONNRESET'] }, verdict: { reason: 'permanent' } }
    expect(verdictOf(thrown('x', { code: 'ECONNRESET' }), reset)).toMatchObject({ retriable: false, rule: 'rule:1' })
  })

  test('and the handler’s own word comes before all of them', () => {
    const says = { ...own, says: 'dead' as const }
    expect(verdictOf(says, first)).toEqual({ reason: 'permanent', retriable: false, rule: 'handler' })
    // The reason that a rule gives is kept where it agrees.
    expect(verdictOf({ ...own, says: 'retry' }, first).reason).toBe('transient')
  })
})

describe('refused', () => {
  test.each<[string, Rule, string]>([
    ['a rule for everything', { when: {}, verdict: { reason: 'transient' } }, "says nothing under 'when'"],
    ['a pattern it can’t run', { when: { message: '(a)\\1' }, verdict: { reason: 'transient' } }, 'refers back'],
    [
      'a status that is none',
      { when: { status: ['200'] }, verdict: { reason: 'transient' } },
      "'200' is no HTTP status",
    ],
    ['a reason nobody knows', { when: { code: ['x'] }, verdict: { reason: 'odd' as 'unknown' } }, 'does not exist'],
  ])('%s', (_, rule, message) => {
    expect(() => compileRules([rule], 'rule')).toThrow(InvalidError)
    expect(() => compileRules([rule], 'rule')).toThrow(message)
  })

  test('more rules than anybody can follow', () => {
    const many = Array.from({ length: RULES_MAX + 1 }, () => declined)
    expect(() => compileRules(many, 'rule')).toThrow('at most 200')
  })
})

test('statuses are read as ranges', () => {
  expect(statusRange('4xx')).toEqual([400, 499])
  expect(statusRange('429')).toEqual([429, 429])
  expect(statusRange('500-504')).toEqual([500, 504])
})
