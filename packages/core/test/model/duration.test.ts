// Durations as people write and read them.

import { DURATION_MS_MAX, durationMs, formatDuration, InvalidError } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

describe('durationMs', () => {
  test.each<[number | string, number]>([
    [500, 500],
    [0, 0],
    [1.4, 1],
    [1.5, 2],
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['1h30m', 5_400_000],
    ['1d1h1m1s1ms', 90_061_001],
    ['0.25s', 250],
    [' 30s ', 30_000],
    [DURATION_MS_MAX, DURATION_MS_MAX],
  ])('%j is %i ms', (value, ms) => {
    expect(durationMs(value)).toBe(ms)
  })

  test.each<number | string>([
    '',
    ' ',
    '5',
    's',
    '-5s',
    '+5s',
    '5 s',
    '5S',
    '5w',
    '5s!',
    'x5s',
    '.5s',
    '5.s',
    '1.5.5s',
    '1e3s',
    '1h30',
    'Infinity',
    '٣s',
    '999999999999d',
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    DURATION_MS_MAX + 1,
  ])('refuses %j', (value) => {
    expect(() => durationMs(value)).toThrow(InvalidError)
  })

  test('an error names the setting and does not repeat a long text', () => {
    expect(() => durationMs('soon', 'queueTtl')).toThrow("The queueTtl 'soon' is not understood")
    expect(() => durationMs('x'.repeat(10_000))).toThrow(/^.{1,200}$/)
  })

  test('parts add up in any order', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (hours, minutes, seconds) => {
        const ms = hours * 3_600_000 + minutes * 60_000 + seconds * 1_000
        expect(durationMs(`${hours}h${minutes}m${seconds}s`)).toBe(ms)
        expect(durationMs(`${seconds}s${minutes}m${hours}h`)).toBe(ms)
      }),
    )
  })
})

describe('formatDuration', () => {
  test.each([
    [0, '0ms'],
    [340, '340ms'],
    [999, '999ms'],
    [999.7, '1s'],
    [1_000, '1s'],
    [2_500, '2.5s'],
    [59_900, '59.9s'],
    [59_999, '1m'],
    [60_000, '1m'],
    [61_000, '1m 1s'],
    [90_000, '1m 30s'],
    [3_599_999, '1h'],
    [3_600_000, '1h'],
    [5_400_000, '1h 30m'],
    [5_459_000, '1h 30m'],
    [3_601_000, '1h'],
    [86_400_000, '1d'],
    [90_000_000, '1d 1h'],
    [86_460_000, '1d'],
  ])('%d ms reads %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  test('what it says is a duration again, near the true one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * 86_400_000 }), (ms) => {
        const said = durationMs(formatDuration(ms).replace(' ', ''))
        // Never off by more than one of its second unit, which is at most a sixtieth below hours, a twenty-fourth above.
        expect(Math.abs(said - ms)).toBeLessThanOrEqual(Math.max(50, ms / 24))
      }),
    )
  })
})
