// Chance that can be repeated.

import { type Random, seededRandom, systemRandom } from '@reprise/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const draw = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.next())

test('the same seed gives the same numbers', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(draw(seededRandom(seed), 20)).toEqual(draw(seededRandom(seed), 20))
    }),
  )
})

test('another seed gives others', () => {
  expect(draw(seededRandom(1), 5)).not.toEqual(draw(seededRandom(2), 5))
})

test('every number is at least 0 and below 1', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      for (const value of draw(seededRandom(seed), 100)) {
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThan(1)
      }
    }),
  )
})

test('they are spread evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (const value of draw(seededRandom(42), 10_000)) {
    const tenth = Math.floor(value * 10)
    tenths[tenth] = (tenths[tenth] ?? 0) + 1
  }
  // 1,000 expected in each; six standard deviations are 180.
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(180)
})

test('the real one is in range, too', () => {
  for (const value of draw(systemRandom, 100)) expect(value >= 0 && value < 1).toBe(true)
})
