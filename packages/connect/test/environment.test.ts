// MAX_RETRIES of the environment: what counts, and what is refused with words that help.

import { expect, test } from 'vitest'
import { maxRetriesFromEnvironment } from '../src/environment.ts'

test.each([
  [undefined, 1],
  ['', 1],
  ['  ', 1],
  ['0', 0],
  ['7', 7],
  [' 12 ', 12],
  ['1000', 1_000],
])('A14: MAX_RETRIES=%j means %d', (text, retries) => {
  expect(maxRetriesFromEnvironment({ MAX_RETRIES: text })).toBe(retries)
})

test.each(['-1', '1.5', 'many', '1e3', '1001', '0x10'])('A14: MAX_RETRIES=%j is refused', (text) => {
  expect(() => maxRetriesFromEnvironment({ MAX_RETRIES: text })).toThrow(
    `MAX_RETRIES must be a whole number from 0 to 1000, not '${text}'`,
  )
})
