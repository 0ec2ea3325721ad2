// What judging a failure may cost: patterns that would take for ages are given up, and no failure is lost by it.

import { DEFAULT_SETTINGS, type JudgedAttempt, judgeThrown, type PolicyBook } from '@reprise/core'
import { expect, test } from 'vitest'
import { NOW, snapshotWith } from '../fixture.ts'

const attempt: JudgedAttempt = {
  snapshot: snapshotWith({ settings: { ...DEFAULT_SETTINGS, maxRetries: 3 } }),
  generation: 1,
  failures: 0,
  losses: 0,
  parks: 0,
  acceptedAt: NOW - 10_000,
}

test('rules whose patterns would take for ages count as not matching, and the decision says so', () => {
  const greedy = (index: number) => ({
    name: `r${index}`,
    when: { message: '(a?a?){200}Z' },
    verdict: { reason: 'permanent' as const },
  })
  const rules: PolicyBook['rules'] = [
    ...Array.from({ length: 199 }, (_, index) => greedy(index)),
    { name: 'last', when: { code: ['ECONNRESET'] }, verdict: { reason: 'timeout' } },
  ]
  const thrown = Object.assign(new Error('a'.repeat(4_000)), { code: 'ECONNRESET' })
  const { failure, decision } = judgeThrown({ version: 1, policies: [], rules }, attempt, thrown, {
    now: NOW,
    roll: 0.5,
  })
  // A rule without a pattern is tried all the same.
  expect(failure).toMatchObject({ reason: 'timeout', rule: 'rule:last' })
  expect(decision).toMatchObject({ kind: 'retry' })
  expect(decision.sentence).toContain('took too many steps for rule:r0: no pattern from there on was tried')
})
