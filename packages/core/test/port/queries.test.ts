// Pages are bounded, and cursors are only what a store gave out.

import { InvalidError, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '@reprise/core'
import { pageCursor, pageLimit } from '@reprise/core/engine'
import { expect, test } from 'vitest'

test('a page has 100 items unless it says otherwise, and at most 1,000', () => {
  expect([PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX]).toEqual([100, 1_000])
  expect(pageLimit(undefined)).toBe(100)
  expect(pageLimit({})).toBe(100)
  expect(pageLimit({ limit: 1 })).toBe(1)
  expect(pageLimit({ limit: 1_000 })).toBe(1_000)
})

test.each([0, -1, 1.5, 1_001, Number.NaN, Number.POSITIVE_INFINITY])('refuses a page of %d', (limit) => {
  expect(() => pageLimit({ limit })).toThrow(InvalidError)
})

test('a cursor is a position', () => {
  expect(pageCursor(undefined)).toBeNull()
  expect(pageCursor({})).toBeNull()
  expect(pageCursor({ cursor: '0' })).toBe(0)
  expect(pageCursor({ cursor: '9007199254740991' })).toBe(Number.MAX_SAFE_INTEGER)
})

test.each(['', ' ', 'x', '-1', '1.5', '0x10', '1e3', ' 5 ', 'Infinity', '9007199254740992', '٣'])(
  'refuses the cursor %j',
  (cursor) => {
    expect(() => pageCursor({ cursor })).toThrow(InvalidError)
  },
)
