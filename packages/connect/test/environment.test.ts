// MAX_RETRIES and REPRISE_MAX_BACKLOG of the environment: what counts, and what is refused with words that help.

import { expect, test } from 'vitest'
import { maxBacklogFromEnvironment, maxRetriesFromEnvironment } from '../src/environment.ts'

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

test.each([
  [{ REPRISE_MAX_RETRIES: '3' }, 3],
  [{ REPRISE_MAX_RETRIES: '3', MAX_RETRIES: '5' }, 3],
  [{ REPRISE_MAX_RETRIES: ' ', MAX_RETRIES: '5' }, 5],
])('A14: REPRISE_MAX_RETRIES counts before MAX_RETRIES: %j', (environment, retries) => {
  expect(maxRetriesFromEnvironment(environment)).toBe(retries)
})

test('A14: the variable that is refused is named', () => {
  const environment = { REPRISE_MAX_RETRIES: 'many', MAX_RETRIES: '5' }
  expect(() => maxRetriesFromEnvironment(environment)).toThrow('REPRISE_MAX_RETRIES must be a whole number')
})

test.each(['-1', '1.5', 'many', '1e3', '1001', '0x10'])('A14: MAX_RETRIES=%j is refused', (text) => {
  expect(() => maxRetriesFromEnvironment({ MAX_RETRIES: text })).toThrow(
    `MAX_RETRIES must be a whole number from 0 to 1000, not '${text}'`,
  )
})

test('B8: REPRISE_MAX_BACKLOG is a whole number, or not set', () => {
  expect(maxBacklogFromEnvironment({})).toBe(null)
  expect(maxBacklogFromEnvironment({ REPRISE_MAX_BACKLOG: ' 500000 ' })).toBe(500_000)
  for (const text of ['0', '-1', '1e6', '2000000000', 'many']) {
    expect(() => maxBacklogFromEnvironment({ REPRISE_MAX_BACKLOG: text })).toThrow(
      `REPRISE_MAX_BACKLOG must be a whole number from 1 to 1000000000, not '${text}'`,
    )
  }
})
