// The line about an attempt that ended badly names action and cause before anything else.

import { actionName, badEndLine, type Decision, observedFailure } from '@reprise/core'
import { expect, test } from 'vitest'

const action = actionName('contact.import')
const invalid = observedFailure('validation', "'person36' is not an e-mail address.", action)
const dead: Decision = { kind: 'dead', reason: 'not_retriable', rule: 'handler', sentence: 'A retry does not help.' }
const retry: Decision = { kind: 'retry', delayMs: 1, reason: 'timeout', rule: 'x', sentence: 'Retry 1 of 3 in 1s.' }
const words = { subject: action, kind: 'failed', attempt: 1, failure: invalid, decision: dead, status: 'dead' } as const

test.each([
  [
    words,
    "contact.import failed for good: 'person36' is not an e-mail address (validation, attempt 1). A retry does not help.",
  ],
  [
    { ...words, decision: retry, status: 'waiting', attempt: 2 } as const,
    "contact.import failed: 'person36' is not an e-mail address (validation, attempt 2). Retry 1 of 3 in 1s.",
  ],
  [
    { ...words, decision: retry, status: 'queued' } as const,
    "contact.import failed in an outage: 'person36' is not an e-mail address (validation, attempt 1). It waits; no retry is used up.",
  ],
  [
    { ...words, kind: 'lost', failure: observedFailure('worker_lost', 'No word from it.', action) } as const,
    'contact.import was lost with its worker: No word from it (worker_lost, attempt 1). A retry does not help.',
  ],
])('says %#: action, cause, attempt, what comes next', (given, line) => {
  expect(badEndLine(given)).toBe(line)
})

test('a long cause is cut', () => {
  const failure = observedFailure('unknown', 'x'.repeat(5_000), action)
  expect(badEndLine({ ...words, failure }).length).toBeLessThan(450)
})
