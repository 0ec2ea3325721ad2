// Sets of chunks as text: what is written is read again.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countIn, mergedPlaces, placesIn, rangesOf } from '../../src/index.ts'

const places = fc
  .uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 })
  .map((list) => list.toSorted((a, b) => a - b))

test('neighbours are one range', () => {
  expect(rangesOf([0, 1, 2, 7, 9, 10])).toBe('0-2 7 9-10')
  expect([rangesOf([]), placesIn(''), countIn('')]).toEqual(['', [], 0])
})

test('what is written is read again, counted and merged', () => {
  fc.assert(
    fc.property(places, places, (some, others) => {
      expect(placesIn(rangesOf(some))).toEqual(some)
      expect(countIn(rangesOf(some))).toBe(some.length)
      expect(mergedPlaces(some, others)).toEqual([...new Set([...some, ...others])].toSorted((a, b) => a - b))
    }),
  )
})
