// Thresholds of health as operators write them, and whether a worker is alive.

import { DEFAULT_HEALTH_THRESHOLDS, isAlive, readHealthThresholds } from '@reprise/core'
import { describe, expect, test } from 'vitest'

describe('C5, C11: thresholds', () => {
  test('keep the usual values for what is left out', () => {
    expect(readHealthThresholds({})).toEqual(DEFAULT_HEALTH_THRESHOLDS)
    expect(readHealthThresholds({ enabled: false })).toEqual({ ...DEFAULT_HEALTH_THRESHOLDS, enabled: false })
    const given = { heartbeat_ttl: '15s', failures_unhealthy: 5, failure_rate_degraded: 0.1, cooldown: 1_000 }
    expect(readHealthThresholds(given)).toEqual({
      ...DEFAULT_HEALTH_THRESHOLDS,
      heartbeatStaleMs: 15_000,
      failuresUnhealthy: 5,
      failureRateDegraded: 0.1,
      cooldownMs: 1_000,
    })
  })

  test.each<[Record<string, unknown>, string]>([
    [{ heartbeat_tll: '15s' }, "no threshold 'heartbeat_tll'"],
    [{ heartbeat_ttl: 'soon' }, 'heartbeat_ttl'],
    [{ heartbeat_ttl: 0 }, 'at least 1 ms'],
    [{ enabled: 'no' }, "'enabled' must be true or false"],
    [{ failures_degraded: 2.5 }, "'failures_degraded' must be a whole number from 1"],
    [{ failure_rate_unhealthy: 70 }, "'failure_rate_unhealthy' must be a share from 0 to 1"],
    [{ depth_degraded: 200 }, "'depth_degraded' must not be above 'depth_unhealthy'"],
  ])('refuse %j', (given, words) => {
    expect(() => readHealthThresholds(given)).toThrow(words)
  })
})

test('D1: a worker is alive until its time to live has passed, 30 s unless it is another', () => {
  const worker = { lastBeatAt: 1_000 }
  expect(isAlive(worker, 30_999)).toBe(true)
  expect(isAlive(worker, 31_000)).toBe(false)
  expect(isAlive(worker, 15_999, 15_000)).toBe(true)
  expect(isAlive(worker, 16_000, 15_000)).toBe(false)
})
