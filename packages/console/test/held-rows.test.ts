import { expect, test } from 'vitest'
import { holdRows } from '../src/parts/held-rows.ts'

const listOf = (keys: string): ReadonlyMap<string, string> => new Map(keys.split('').map((key) => [key, key]))

const held = (before: string, now: string): [string, number, string] => {
  const { rows, waiting, gone } = holdRows(listOf(before), listOf(now)).held
  return [rows.join(''), waiting, [...gone].join('')]
}

test('rows that came on top wait, and further pages are shown', () => {
  expect(held('abc', 'xyabc')).toEqual(['abc', 2, ''])
  expect(held('abc', 'abcde')).toEqual(['abcde', 0, ''])
  expect(held('abc', 'xabcde')).toEqual(['abcde', 1, ''])
})

test('a row that moved stays where it was', () => {
  expect(held('abc', 'cab')).toEqual(['abc', 0, ''])
  expect(holdRows(listOf('abc'), listOf('cab')).held.isHeld).toBe(true)
  expect(holdRows(listOf('abc'), listOf('abcd')).held.isHeld).toBe(false)
})

test('a row that is gone stays and looks like it, unless it may be on a page that was not read', () => {
  expect(held('abc', 'ac')).toEqual(['abc', 0, 'b'])
  expect(held('abc', 'xab')).toEqual(['abc', 1, ''])
})

test('a list of which nothing is left stays, though everything in it is new', () => {
  expect(held('abc', 'xyz')).toEqual(['abc', 3, ''])
})

test('what is known of a row is brought up to date in its place', () => {
  const { rows } = holdRows(new Map([['a', 'queued']]), new Map(Object.entries({ x: 'queued', a: 'running' }))).held
  expect(rows).toEqual(['running'])
})
