// Retry quotas (C9): how much room a window has, which window a retry goes to, and that no window ever gets too many.

import type { RetryQuota } from '@reprise/core'
import { quotaKey, quotaPlace, quotaRoom } from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkedQuota } from '../../src/policy/quota.ts'
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
    expect(quotaRoom({ ...quota, ...change }, started, 7)).toBe(room)
  })
})

describe('C9: the place of a retry', () => {
  const first = NOW / 60_000

  test('its own time, while the window has room', () => {
    expect(quotaPlace(NOW + 5_000, 60_000, () => true)).toEqual({ window: first, dueAt: NOW + 5_000 })
  })

  test('the start of the next window, if that has room', () => {
    const place = quotaPlace(NOW + 5_000, 60_000, (window) => window > first)
    expect(place).toEqual({ window: first + 1, dueAt: NOW + 60_000 })
  })

  test('one window later, over the quota, if that is full too: no window is booked further ahead than it is long', () => {
    expect(quotaPlace(NOW + 5_000, 60_000, () => false)).toEqual({ window: first + 1, dueAt: NOW + 65_000 })
  })

  test('several places deal a limit out: in every window their parts add up to it', () => {
    const whole = fc.integer({ min: 1, max: 40 })
    fc.assert(
      fc.property(whole, whole, fc.nat(1_000), (limit, places, window) => {
        const parts = Array.from({ length: places }, (_, place) =>
          quotaRoom({ ...quota, limit }, 0, window, { place, places }),
        )
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(limit)
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1)
      }),
    )
  })
})

test('each tenant has a count of its own, unless the quota is for all tenants', () => {
  const keys = ['acme', 'other'].map((tenant) => quotaKey(quota, tenant))
  expect(new Set(keys).size).toBe(2)
  expect(quotaKey({ ...quota, allTenants: true }, 'acme')).toBe(quotaKey({ ...quota, allTenants: true }, 'other'))
})

test('C9: quotas that make no sense are refused', () => {
  expect(checkedQuota(quota)).toBe(quota)
  for (const change of [{ windowMs: 999 }, { limit: 0 }, { limit: 1.5 }, { share: 0 }, { share: 2 }, { limit: null }])
    expect(() => checkedQuota({ ...quota, ...change })).toThrow(/retry quota/)
})
