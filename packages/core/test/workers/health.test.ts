// A worker's health (C5): every threshold at its exact boundary, the words for it, and the way back.

import { blamesWorker, DEFAULT_HEALTH_THRESHOLDS, type HealthStatus, type TenantId, tenantId } from '@reprise/core'
import {
  assessHealth,
  FAILING_TENANTS_MAX,
  type HealthEvidence,
  NO_OUTCOMES,
  type Outcome,
  RECENT_OUTCOMES_MAX,
  SERVED_MS,
  withOutcomes,
} from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NOW } from '../fixture.ts'

const fresh: HealthEvidence = {
  lastBeatAt: NOW,
  queueDepth: 0,
  ...NO_OUTCOMES,
  inFlight: 0,
  loopLagMs: 0,
  maxQuietMs: 0,
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

  const stuck = { inFlight: 2, maxQuietMs: 60_000 }
  test.each<[string, Partial<HealthEvidence>, HealthStatus]>([
    ['nothing finished for just less than time-out and grace', { ...stuck, lastProgressAt: NOW - 69_999 }, 'healthy'],
    ['nothing finished for its time-out and grace', { ...stuck, lastProgressAt: NOW - 70_000 }, 'unhealthy'],
    ['as quiet, but it runs nothing', { inFlight: 0, maxQuietMs: 60_000, lastProgressAt: NOW - 70_000 }, 'healthy'],
    ['as quiet, but it told no time-out', { inFlight: 2, maxQuietMs: 0, lastProgressAt: NOW - 70_000 }, 'healthy'],
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
      minOutcomes: 10,
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
    [{ inFlight: 4, maxQuietMs: 1_000, lastProgressAt: NOW - 12_000 }, 'runs 4 and has finished none for 12 s'],
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

describe('one tenant’s failures', () => {
  const loud = tenantId('loud')
  const quiet = tenantId('quiet')
  const third = tenantId('third')
  const ends = (tenant: TenantId, ok: boolean, count: number): Outcome[] =>
    Array.from({ length: count }, () => ({ tenant, ok }))
  const after = (outcomes: readonly Outcome[], at = NOW): HealthEvidence => ({
    ...fresh,
    ...withOutcomes(NO_OUTCOMES, outcomes, at),
  })
  const status = (evidence: HealthEvidence, now = NOW): HealthStatus =>
    assessHealth({ ...evidence, lastBeatAt: now }, now).status

  test('don’t make a worker unhealthy that serves another tenant well', () => {
    expect(status(after([...ends(quiet, true, 1), ...ends(loud, false, 50)]))).toBe('healthy')
    const mixed = Array.from({ length: 20 }, () => [...ends(loud, false, 9), ...ends(quiet, true, 1)]).flat()
    expect(status(after(mixed))).not.toBe('unhealthy')
  })

  test('count in full while the worker serves nobody else', () => {
    expect(status(after(ends(loud, false, 10)))).toBe('unhealthy')
    expect(status(after([...ends(loud, true, 5), ...ends(loud, false, 10)]))).toBe('unhealthy')
  })

  test('of several tenants find a sick worker, also beside a noisy one', () => {
    expect(status(after([...ends(quiet, true, 1), ...ends(loud, false, 50), ...ends(quiet, false, 4)]))).toBe(
      'degraded',
    )
    expect(status(after([...ends(quiet, true, 1), ...ends(loud, false, 50), ...ends(quiet, false, 5)]))).toBe(
      'unhealthy',
    )
    const rest = [...ends(third, false, 3), ...ends(quiet, false, 2)]
    expect(status(after([...ends(quiet, true, 1), ...ends(loud, false, 5), ...rest]))).toBe('unhealthy')
  })

  test('count in full when the others were served too long ago', () => {
    const served = after(ends(quiet, true, 1), NOW - SERVED_MS)
    const failing = { ...served, ...withOutcomes(served, ends(loud, false, 10), NOW) }
    expect(status(failing)).toBe('unhealthy')
    const lately = after(ends(quiet, true, 1), NOW - SERVED_MS + 1)
    expect(status({ ...lately, ...withOutcomes(lately, ends(loud, false, 10), NOW) })).toBe('healthy')
  })

  test('are told apart for a few tenants, the rest together', () => {
    const many = Array.from({ length: 30 }, (_, number) => ends(tenantId(`t${number}`), false, 1)).flat()
    const { failuresBy } = after(many)
    expect(failuresBy).toHaveLength(FAILING_TENANTS_MAX + 1)
    expect(failuresBy.at(-1)).toEqual({ tenant: null, inRow: 22, recent: 22 })
    expect(status(after([...ends(quiet, true, 1), ...many]))).toBe('unhealthy')
  })
})

describe('withOutcomes', () => {
  const tenant = tenantId('acme')
  const good = { tenant, ok: true }
  const bad = { tenant, ok: false }

  test('counts in the order given', () => {
    expect(withOutcomes(NO_OUTCOMES, [good, bad, bad], NOW)).toEqual({
      consecutiveFailures: 2,
      recentOutcomes: 3,
      recentFailures: 2,
      lastFailureAt: NOW,
      failuresBy: [{ tenant, inRow: 2, recent: 2 }],
      servedWell: [{ tenant, at: NOW }],
    })
  })

  test('one success ends the row, and the time of the last failure stays', () => {
    const failed = withOutcomes(NO_OUTCOMES, Array(9).fill(bad), NOW - 5)
    expect(withOutcomes(failed, [good], NOW)).toMatchObject({
      consecutiveFailures: 0,
      recentOutcomes: 10,
      recentFailures: 9,
      lastFailureAt: NOW - 5,
      failuresBy: [{ tenant, inRow: 0, recent: 9 }],
    })
  })

  test('old outcomes fade by halves', () => {
    const failuresBy = [{ tenant, inRow: 0, recent: 41 }]
    const full = { ...NO_OUTCOMES, recentOutcomes: 100, recentFailures: 41, failuresBy }
    expect(withOutcomes(full, [good], NOW)).toMatchObject({
      recentOutcomes: 51,
      recentFailures: 20,
      failuresBy: [{ recent: 20 }],
    })
  })

  test('nothing ended, nothing changed', () => {
    expect(withOutcomes(NO_OUTCOMES, [], NOW)).toEqual(NO_OUTCOMES)
  })

  test('the counts stay within bounds, and in one go or one by one is the same', () => {
    const outcome = fc.record({ tenant: fc.nat(12).map((number) => tenantId(`t${number}`)), ok: fc.boolean() })
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 500 }), (outcomes) => {
        const together = withOutcomes(NO_OUTCOMES, outcomes, NOW)
        expect(together).toEqual(outcomes.reduce((evidence, one) => withOutcomes(evidence, [one], NOW), NO_OUTCOMES))
        expect(together.recentOutcomes).toBeLessThanOrEqual(RECENT_OUTCOMES_MAX)
        expect(together.recentFailures).toBeLessThanOrEqual(together.recentOutcomes)
        expect(together.consecutiveFailures).toBe(outcomes.length - 1 - outcomes.findLastIndex(({ ok }) => ok))
        expect(together.failuresBy.length).toBeLessThanOrEqual(FAILING_TENANTS_MAX + 1)
        expect(together.servedWell.length).toBeLessThanOrEqual(2)
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
