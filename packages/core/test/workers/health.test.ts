// A worker's health (C5): every threshold at its exact boundary, the words for it, and the way back.

import { blamesWorker, DEFAULT_HEALTH_THRESHOLDS, type HealthStatus } from '@reprise/core'
import { assessHealth, type HealthEvidence, RECENT_OUTCOMES_MAX, withOutcomes } from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NOW } from '../fixture.ts'

const fresh: HealthEvidence = {
  lastBeatAt: NOW,
  queueDepth: 0,
  consecutiveFailures: 0,
  recentOutcomes: 0,
  recentFailures: 0,
  lastFailureAt: null,
  inFlight: 0,
  loopLagMs: 0,
  quietMsMax: 0,
  outlook: null,
  lastProgressAt: NOW,
  probeFailures: 0,
}
const failing = { lastFailureAt: NOW }
const assess = (over: Partial<HealthEvidence>) => assessHealth({ ...fresh, ...over }, NOW)

describe('C5: the thresholds', () => {
  test.each<[string, Partial<HealthEvidence>, HealthStatus]>([
    ['nothing known', {}, 'healthy'],
    ['a heartbeat 29,999 ms ago', { lastBeatAt: NOW - 29_999 }, 'healthy'],
    ['a heartbeat 30,000 ms ago', { lastBeatAt: NOW - 30_000 }, 'unhealthy'],
    ['a heartbeat from the future', { lastBeatAt: NOW + 60_000 }, 'healthy'],
    ['2 failures in a row', { ...failing, consecutiveFailures: 2 }, 'healthy'],
    ['3 failures in a row', { ...failing, consecutiveFailures: 3 }, 'degraded'],
    ['9 failures in a row', { ...failing, consecutiveFailures: 9 }, 'degraded'],
    ['10 failures in a row', { ...failing, consecutiveFailures: 10 }, 'unhealthy'],
    ['49 waiting inside', { queueDepth: 49 }, 'healthy'],
    ['50 waiting inside', { queueDepth: 50 }, 'degraded'],
    ['99 waiting inside', { queueDepth: 99 }, 'degraded'],
    ['100 waiting inside', { queueDepth: 100 }, 'unhealthy'],
    ['29 % failed', { ...failing, recentOutcomes: 100, recentFailures: 29 }, 'healthy'],
    ['30 % failed', { ...failing, recentOutcomes: 100, recentFailures: 30 }, 'degraded'],
    ['69 % failed', { ...failing, recentOutcomes: 100, recentFailures: 69 }, 'degraded'],
    ['70 % failed', { ...failing, recentOutcomes: 100, recentFailures: 70 }, 'unhealthy'],
    ['19 of 19 failed: too few to tell', { ...failing, recentOutcomes: 19, recentFailures: 19 }, 'healthy'],
    ['14 of 20 failed', { ...failing, recentOutcomes: 20, recentFailures: 14 }, 'unhealthy'],
    ['6 of 20 failed', { ...failing, recentOutcomes: 20, recentFailures: 6 }, 'degraded'],
    ['an event loop 1,999 ms late', { loopLagMs: 1_999 }, 'healthy'],
    ['an event loop 2,000 ms late', { loopLagMs: 2_000 }, 'degraded'],
    ['an event loop 10,000 ms late', { loopLagMs: 10_000 }, 'unhealthy'],
    ['1 probe unanswered', { probeFailures: 1 }, 'healthy'],
    ['2 probes unanswered', { probeFailures: 2 }, 'degraded'],
    ['3 probes unanswered', { probeFailures: 3 }, 'unhealthy'],
    ['trouble ahead', { outlook: 'its event loop gets later and later' }, 'degraded'],
  ])('%s: %s', (_, evidence, status) => {
    expect(assess(evidence).status).toBe(status)
  })

  const stuck = { inFlight: 2, quietMsMax: 60_000 }
  test.each<[string, Partial<HealthEvidence>, HealthStatus]>([
    ['nothing finished for just less than time-out and grace', { ...stuck, lastProgressAt: NOW - 69_999 }, 'healthy'],
    ['nothing finished for its time-out and grace', { ...stuck, lastProgressAt: NOW - 70_000 }, 'unhealthy'],
    ['as quiet, but it runs nothing', { inFlight: 0, quietMsMax: 60_000, lastProgressAt: NOW - 70_000 }, 'healthy'],
    ['as quiet, but it told no time-out', { inFlight: 2, quietMsMax: 0, lastProgressAt: NOW - 70_000 }, 'healthy'],
  ])('%s: %s', (_, evidence, status) => {
    expect(assess(evidence).status).toBe(status)
  })

  test('all of them can be set', () => {
    const limits = {
      ...DEFAULT_HEALTH_THRESHOLDS,
      heartbeatStaleMs: 5,
      failuresDegraded: 1,
      failuresUnhealthy: 2,
      depthDegraded: 1,
      depthUnhealthy: 2,
      failureRateDegraded: 0.1,
      failureRateUnhealthy: 0.2,
      outcomesMin: 10,
      cooldownMs: 7,
    }
    const status = (over: Partial<HealthEvidence>) => assessHealth({ ...fresh, ...over }, NOW, limits).status
    expect(status({ lastBeatAt: NOW - 5 })).toBe('unhealthy')
    expect(status({ ...failing, consecutiveFailures: 1 })).toBe('degraded')
    expect(status({ ...failing, consecutiveFailures: 2 })).toBe('unhealthy')
    expect(status({ queueDepth: 1 })).toBe('degraded')
    expect(status({ queueDepth: 2 })).toBe('unhealthy')
    expect(status({ ...failing, recentOutcomes: 10, recentFailures: 1 })).toBe('degraded')
    expect(status({ ...failing, recentOutcomes: 10, recentFailures: 2 })).toBe('unhealthy')
    expect(status({ lastFailureAt: NOW - 7, consecutiveFailures: 2 })).toBe('degraded')
  })
})

describe('C5: it says why', () => {
  test.each<[Partial<HealthEvidence>, string]>([
    [{ lastBeatAt: NOW - 45_000 }, 'no heartbeat for 45 s'],
    [{ queueDepth: 60 }, '60 tasks wait inside it'],
    [{ loopLagMs: 2_500 }, 'its event loop is 2500 ms late'],
    [{ probeFailures: 3 }, '3 probes in a row unanswered'],
    [{ outlook: 'its queue grows' }, 'its queue grows'],
    [{ inFlight: 4, quietMsMax: 1_000, lastProgressAt: NOW - 12_000 }, 'runs 4 and has finished none for 12 s'],
    [{ ...failing, consecutiveFailures: 4 }, '4 failures in a row'],
    [{ ...failing, recentOutcomes: 30, recentFailures: 10 }, '33 % of its last 30 attempts failed'],
  ])('%j', (evidence, words) => {
    expect(assess(evidence).reasons).toEqual([words])
  })

  test('a healthy worker needs no reasons', () => {
    expect(assess({})).toEqual({ status: 'healthy', reasons: [] })
  })

  test('the worst comes first', () => {
    expect(assess({ ...failing, queueDepth: 60, consecutiveFailures: 12 }).reasons).toEqual([
      '12 failures in a row',
      '60 tasks wait inside it',
    ])
  })
})

describe('the way back', () => {
  const shutOut = { consecutiveFailures: 10, recentOutcomes: 100, recentFailures: 90 }

  test('a worker that failed too much may try again after the cooldown', () => {
    expect(assess({ ...shutOut, lastFailureAt: NOW - 29_999 }).status).toBe('unhealthy')
    expect(assess({ ...shutOut, lastFailureAt: NOW - 30_000 })).toEqual({
      status: 'degraded',
      reasons: ['10 failures in a row', '90 % of its last 100 attempts failed'],
    })
  })

  test('but not one that is silent or overloaded', () => {
    expect(assess({ lastFailureAt: NOW - 99_000, lastBeatAt: NOW - 30_000 }).status).toBe('unhealthy')
    expect(assess({ lastFailureAt: NOW - 99_000, queueDepth: 100 }).status).toBe('unhealthy')
  })
})

describe('withOutcomes', () => {
  const none = { consecutiveFailures: 0, recentOutcomes: 0, recentFailures: 0, lastFailureAt: null }

  test('counts in the order given', () => {
    expect(withOutcomes(none, [true, false, false], NOW)).toEqual({
      consecutiveFailures: 2,
      recentOutcomes: 3,
      recentFailures: 2,
      lastFailureAt: NOW,
    })
  })

  test('one success ends the row, and the time of the last failure stays', () => {
    const failed = { consecutiveFailures: 9, recentOutcomes: 9, recentFailures: 9, lastFailureAt: NOW - 5 }
    expect(withOutcomes(failed, [true], NOW)).toEqual({
      consecutiveFailures: 0,
      recentOutcomes: 10,
      recentFailures: 9,
      lastFailureAt: NOW - 5,
    })
  })

  test('old outcomes fade by halves', () => {
    const full = { consecutiveFailures: 0, recentOutcomes: 100, recentFailures: 41, lastFailureAt: null }
    expect(withOutcomes(full, [true], NOW)).toMatchObject({ recentOutcomes: 51, recentFailures: 20 })
  })

  test('nothing ended, nothing changed', () => {
    expect(withOutcomes(none, [], NOW)).toEqual(none)
  })

  test('the counts stay within bounds, and in one go or one by one is the same', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (outcomes) => {
        const together = withOutcomes(none, outcomes, NOW)
        expect(together).toEqual(
          outcomes.reduce((evidence, ok) => withOutcomes(evidence, [ok], NOW), { ...none } as typeof together),
        )
        expect(together.recentOutcomes).toBeLessThanOrEqual(RECENT_OUTCOMES_MAX)
        expect(together.recentFailures).toBeLessThanOrEqual(together.recentOutcomes)
        expect(together.consecutiveFailures).toBe(outcomes.length - 1 - outcomes.lastIndexOf(true))
      }),
    )
  })
})

test('what the task itself got wrong does not count against its worker', () => {
  for (const reason of ['validation', 'invalid_parameters', 'permission', 'not_found', 'permanent'] as const)
    expect(blamesWorker({ reason })).toBe(false)
  for (const reason of ['rate_limited', 'deadline', 'queue_timeout'] as const)
    expect(blamesWorker({ reason })).toBe(false)
  for (const reason of ['timeout', 'connection', 'transient', 'unknown', 'action_not_found', 'worker_lost'] as const)
    expect(blamesWorker({ reason })).toBe(true)
})
