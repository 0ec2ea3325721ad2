// Retry quotas (C9): how much room a window has, which window a retry goes to, and that no window ever gets too many.

import type { RetryQuota } from '@reprise/core'
import { quotaPlace, quotaRoom } from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkedQuota, QUOTA_WINDOWS_MAX } from '../../src/policy/quota.ts'
import { NOW } from '../fixture.ts'

const quota: RetryQuota = { name: 'mail', windowMs: 60_000, limit: 10, share: null }

describe('C9: the room of a window', () => {
  test.each<[string, Partial<RetryQuota>, number, number]>([
    ['the limit', {}, 0, 10],
    ['a share of the traffic', { limit: null, share: 0.2 }, 99, 19],
    ['at least one', { limit: null, share: 0.2 }, 0, 1],
    ['the smaller of the two', { share: 0.2 }, 40, 8],
    ['the smaller of the two, the other way round', { share: 0.2 }, 500, 10],
  ])('%s', (_, change, started, room) => {
    expect(quotaRoom({ ...quota, ...change }, started)).toBe(room)
  })
})

describe('C9: the place of a retry', () => {
  const first = NOW / 60_000

  test('its own time, while the window has room', () => {
    expect(quotaPlace(NOW + 5_000, 60_000, 10, () => 9)).toEqual({ window: first, dueAt: NOW + 5_000 })
  })

  test('the start of the first window with room', () => {
    const taken = (window: number): number => (window < first + 3 ? 10 : 2)
    expect(quotaPlace(NOW + 5_000, 60_000, 10, taken)).toEqual({ window: first + 3, dueAt: NOW + 180_000 })
  })

  test('it is never put off for ever', () => {
    const { window } = quotaPlace(NOW, 60_000, 10, () => 10)
    expect(window).toBe(first + QUOTA_WINDOWS_MAX - 1)
  })

  test('of several places each has windows of its own, and no window gets too many', () => {
    const wish = fc.record({
      wantedAt: fc.integer({ min: NOW, max: NOW + 20_000 }),
      place: fc.integer({ min: 0, max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 200 }), (wishes) => {
        const counts = new Map<number, number>()
        const owners = new Map<number, number>()
        for (const { wantedAt, place } of wishes) {
          const taken = (window: number): number => counts.get(window) ?? 0
          const { window, dueAt } = quotaPlace(wantedAt, 1_000, 3, taken, place, 3)
          counts.set(window, taken(window) + 1)
          expect(owners.get(window) ?? place).toBe(place)
          owners.set(window, place)
          expect(dueAt).toBeGreaterThanOrEqual(wantedAt)
          expect(Math.floor(dueAt / 1_000)).toBe(window)
        }
        for (const count of counts.values()) expect(count).toBeLessThanOrEqual(3)
      }),
    )
  })
})

test('C9: quotas that make no sense are refused', () => {
  expect(checkedQuota(quota)).toBe(quota)
  for (const change of [{ windowMs: 999 }, { limit: 0 }, { limit: 1.5 }, { share: 0 }, { share: 2 }, { limit: null }])
    expect(() => checkedQuota({ ...quota, ...change })).toThrow(/retry quota/)
})
