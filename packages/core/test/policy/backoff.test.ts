// How long a retry waits: each kind of backoff by numbers worked out by hand, and the bounds of every kind.

import { type Backoff, backoffMs, checkedBackoff, DEFAULT_BACKOFF, InvalidError } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const MIDDLE = 0.5
const ALMOST_ONE = 1 - 2 ** -53
const delays = (backoff: Backoff, retries: number, roll = MIDDLE): number[] =>
  Array.from({ length: retries }, (_, retry) => backoffMs(backoff, retry, roll))

describe('C4: the default doubles from 1 s to 300 s, ± 20 %', () => {
  test('without luck either way', () => {
    expect(delays(DEFAULT_BACKOFF, 11)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000,
    ])
  })

  test.each([
    { retry: 0, from: 800, to: 1_200 },
    { retry: 1, from: 1_600, to: 2_400 },
    { retry: 2, from: 3_200, to: 4_800 },
    { retry: 8, from: 204_800, to: 307_200 },
    { retry: 9, from: 240_000, to: 360_000 },
    { retry: 1_000, from: 240_000, to: 360_000 },
  ])('retry $retry waits from $from to $to ms', ({ retry, from, to }) => {
    expect(backoffMs(DEFAULT_BACKOFF, retry, 0)).toBe(from)
    expect(backoffMs(DEFAULT_BACKOFF, retry, ALMOST_ONE)).toBe(to)
  })
})

describe('each kind', () => {
  test('fixed waits the same each time, give or take the jitter', () => {
    const backoff: Backoff = { kind: 'fixed', delayMs: 500, jitter: 0.1 }
    expect(delays(backoff, 3)).toEqual([500, 500, 500])
    expect(delays(backoff, 1, 0)).toEqual([450])
    expect(delays(backoff, 1, 0.75)).toEqual([525])
  })

  test('linear adds one step each time, up to its most', () => {
    expect(delays({ kind: 'linear', stepMs: 100, maxMs: 250, jitter: 0 }, 4)).toEqual([100, 200, 250, 250])
  })

  test('exponential without jitter takes no notice of the roll', () => {
    const backoff: Backoff = { kind: 'exponential', baseMs: 10, multiplier: 3, maxMs: 200, jitter: 0 }
    expect(delays(backoff, 4, 0)).toEqual([10, 30, 90, 200])
    expect(delays(backoff, 4, 0.9)).toEqual([10, 30, 90, 200])
  })

  test('decorrelated draws between the base and a bound that triples', () => {
    const backoff: Backoff = { kind: 'decorrelated', baseMs: 100, maxMs: 1_000 }
    expect(delays(backoff, 3, 0)).toEqual([100, 100, 100])
    expect(delays(backoff, 3, MIDDLE)).toEqual([200, 500, 550])
    expect(delays(backoff, 3, ALMOST_ONE)).toEqual([300, 900, 1_000])
  })

  test('decorrelated stays below its most also when the base is above it', () => {
    expect(delays({ kind: 'decorrelated', baseMs: 1_000, maxMs: 100 }, 2)).toEqual([100, 100])
  })

  test('a schedule is followed, and its last delay repeats', () => {
    expect(delays({ kind: 'schedule', delaysMs: [10, 60, 30], jitter: 0 }, 5)).toEqual([10, 60, 30, 30, 30])
  })
})

describe('bounds', () => {
  const ms = fc.integer({ min: 0, max: 86_400_000 })
  const jitter = fc.double({ min: 0, max: 1, noNaN: true })
  const multiplier = fc.double({ min: 1, max: 1_000, noNaN: true })
  const bounded: fc.Arbitrary<{ backoff: Backoff; mostMs: number }> = fc.oneof(
    fc.record({ delayMs: ms, jitter }).map((of) => ({
      backoff: { kind: 'fixed' as const, ...of },
      mostMs: of.delayMs * (1 + of.jitter),
    })),
    fc.record({ stepMs: ms, maxMs: ms, jitter }).map((of) => ({
      backoff: { kind: 'linear' as const, ...of },
      mostMs: of.maxMs * (1 + of.jitter),
    })),
    fc.record({ baseMs: ms, multiplier, maxMs: ms, jitter }).map((of) => ({
      backoff: { kind: 'exponential' as const, ...of },
      mostMs: of.maxMs * (1 + of.jitter),
    })),
    fc.record({ baseMs: ms, maxMs: ms }).map((of) => ({
      backoff: { kind: 'decorrelated' as const, ...of },
      mostMs: of.maxMs,
    })),
    fc.record({ delaysMs: fc.array(ms, { minLength: 1 }), jitter }).map((of) => ({
      backoff: { kind: 'schedule' as const, ...of },
      mostMs: Math.max(...of.delaysMs) * (1 + of.jitter),
    })),
  )
  const roll = fc.double({ min: 0, max: ALMOST_ONE, noNaN: true })

  test('every delay is a whole number of milliseconds within the bound of its kind', () => {
    fc.assert(
      fc.property(bounded, fc.nat({ max: 5_000 }), roll, ({ backoff, mostMs }, retry, chance) => {
        const delayMs = backoffMs(checkedBackoff(backoff), retry, chance)
        expect(Number.isSafeInteger(delayMs)).toBe(true)
        expect(delayMs).toBeGreaterThanOrEqual(0)
        expect(delayMs).toBeLessThanOrEqual(Math.round(mostMs))
      }),
    )
  })

  test.each<Backoff>([
    { kind: 'exponential', baseMs: 0, multiplier: 10, maxMs: 1_000, jitter: 0 },
    { kind: 'decorrelated', baseMs: 0, maxMs: 1_000 },
  ])('a base of 0 waits 0 after a thousand retries too: $kind', (backoff) => {
    expect(backoffMs(backoff, 1_000, 0)).toBe(0)
  })
})

describe('checkedBackoff', () => {
  const exponential = { kind: 'exponential', baseMs: 1, multiplier: 2, maxMs: 9, jitter: 0 } as const

  test.each<[string, Backoff]>([
    ['a negative delay', { kind: 'fixed', delayMs: -1, jitter: 0 }],
    ['a delay that is no number', { kind: 'fixed', delayMs: Number.NaN, jitter: 0 }],
    ['an endless step', { kind: 'linear', stepMs: Number.POSITIVE_INFINITY, maxMs: 9, jitter: 0 }],
    ['a delay of longer than a store can count', { kind: 'fixed', delayMs: 1e300, jitter: 0 }],
    ['a negative maximum', { kind: 'decorrelated', baseMs: 1, maxMs: -1 }],
    ['a multiplier below 1', { ...exponential, multiplier: 0.9 }],
    ['a multiplier that is no number', { ...exponential, multiplier: Number.NaN }],
    ['a jitter above 1', { ...exponential, jitter: 1.1 }],
    ['a negative jitter', { ...exponential, jitter: -0.1 }],
    ['an empty schedule', { kind: 'schedule', delaysMs: [], jitter: 0 }],
    ['a schedule with a negative delay', { kind: 'schedule', delaysMs: [1, -1], jitter: 0 }],
    // From JavaScript or a configuration file, where no compiler looked.
    ['a missing field', { kind: 'fixed', delayMs: 5 } as unknown as Backoff],
    ['a missing maximum', { kind: 'linear', stepMs: 5, jitter: 0 } as unknown as Backoff],
    ['an unknown kind', { kind: 'fibonacci', baseMs: 5 } as unknown as Backoff],
  ])('refuses %s', (_, backoff) => {
    expect(() => checkedBackoff(backoff)).toThrow(InvalidError)
  })

  test('gives back what makes sense as it is', () => {
    expect(checkedBackoff(DEFAULT_BACKOFF)).toBe(DEFAULT_BACKOFF)
  })
})
