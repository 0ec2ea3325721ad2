// How many attempts a task may have: by itself (C2), by an operator (A9), by a message from outside (A6).

import { DEFAULT_MAX_RETRIES, messageAttempt, operatorMayRetry } from '@reprise/core'
import { attemptCeiling, operatorRetries } from '@reprise/core/engine'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { automaticRetries, DEFAULT_LOSSES_MAX } from '../../src/policy/budget.ts'

const unsaid = { maxRetries: null }
const allows = (maxRetries: number) => ({ maxRetries })
const after = (failures: number) => ({ failures, losses: 0 })

test('A9, A14: the defaults are one retry for an operator, MAX_RETRIES, and three losses', () => {
  expect(DEFAULT_MAX_RETRIES).toBe(1)
  expect(DEFAULT_LOSSES_MAX).toBe(3)
})

test('C2: nothing is retried by itself unless the action asks for it', () => {
  expect(automaticRetries(unsaid)).toBe(0)
  expect(automaticRetries(allows(0))).toBe(0)
  expect(automaticRetries(allows(5))).toBe(5)
})

test.each([
  { settings: unsaid, maxRetries: undefined, budget: 1 },
  { settings: unsaid, maxRetries: 4, budget: 4 },
  { settings: unsaid, maxRetries: 0, budget: 0 },
  { settings: allows(0), maxRetries: undefined, budget: 1 },
  { settings: allows(5), maxRetries: 2, budget: 5 },
  { settings: allows(2), maxRetries: 5, budget: 5 },
])('A9: an operator has the larger of $settings.maxRetries and MAX_RETRIES $maxRetries: $budget', (row) => {
  expect(operatorRetries(row.settings, row.maxRetries)).toBe(row.budget)
})

test('A9: retryable while the failed attempts do not exceed the budget', () => {
  expect(operatorMayRetry(unsaid, after(1))).toBe(true)
  expect(operatorMayRetry(unsaid, after(2))).toBe(false)
  expect(operatorMayRetry(allows(3), after(3))).toBe(true)
  expect(operatorMayRetry(allows(3), after(4))).toBe(false)
  expect(operatorMayRetry(unsaid, after(1), 0)).toBe(false)
})

test('A9: losses are not charged to the operator', () => {
  expect(operatorMayRetry(unsaid, { failures: 1, losses: 3 })).toBe(true)
})

test('A6: the ceiling is maxRetries + 1', () => {
  expect(attemptCeiling(unsaid)).toBe(2)
  expect(attemptCeiling(unsaid, 3)).toBe(4)
  expect(attemptCeiling(allows(6), 3)).toBe(7)
})

test.each<[unknown, number]>([
  [1, 1],
  [7, 7],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [0, 1],
  [-3, 1],
  [1.5, 1],
  [Number.NaN, 1],
  [Number.POSITIVE_INFINITY, 1],
  [2 ** 53, 1],
  ['2', 1],
  [2n, 1],
  [null, 1],
  [undefined, 1],
  [{}, 1],
])('A6: the attempt of a message, %s, counts as %i', (value, attempt) => {
  expect(messageAttempt(value)).toBe(attempt)
})

test('A6: whatever a message says, its attempt is a positive integer', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const attempt = messageAttempt(value)
      expect(Number.isSafeInteger(attempt) && attempt > 0).toBe(true)
    }),
  )
})
