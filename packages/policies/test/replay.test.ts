// The evidence of a replay: what an attempt at another time is taken to meet.

import { expect, test } from 'vitest'
import { Evidence } from '../src/replay.ts'

test('the latest evidence before a moment counts; after the last failure nobody knows', () => {
  const evidence = new Evidence()
  for (const [at, ok] of [
    [10, false],
    [30, true],
    [20, false],
    [40, false],
  ] as const)
    evidence.add('a', at, ok)
  evidence.sort()
  expect([5, 10, 25, 30, 39, 40, 1_000].map((at) => evidence.at('a', at))).toEqual([
    false,
    false,
    false,
    true,
    true,
    null,
    null,
  ])
  expect(evidence.at('unheard of', 10)).toBe(false)
})
