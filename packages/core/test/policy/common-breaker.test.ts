// The breaker of all tenants: it opens only on what several tenants say, one tenant's probe does not open it again, and it
// always finds its way back. What a tenant's own does is in breaker.test.ts.

import { type Breaker, type BreakerSettings, DEFAULT_BREAKER, type TenantId, tenantId } from '@reprise/core'
import {
  afterFailure,
  afterSuccess,
  afterTime,
  isForgotten,
  isListed,
  isOutage,
  VOICES_MAX,
} from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newBreaker } from '../../src/policy/breaker.ts'
import { NOW, RENDER } from '../fixture.ts'

const settings: BreakerSettings = { ...DEFAULT_BREAKER, windowMs: 10_000, minFailures: 5, probes: 2, maxRamp: 10 }
const key = { name: 'dependency:stripe', tenant: null }
const [acme, globex, initech] = [tenantId('acme'), tenantId('globex'), tenantId('initech')]

const fail = (breaker: Breaker | null, tenant: TenantId, at = NOW, change: Partial<BreakerSettings> = {}): Breaker =>
  afterFailure(breaker, key, { ...settings, ...change }, { action: RENDER, tenant, startedAt: at }, at)
const succeed = (breaker: Breaker, tenant: TenantId, at = NOW): Breaker =>
  afterSuccess(breaker, { tenant, startedAt: at }, at)

/** Outcomes in order: a tenant's name for a failure, with '+' before it for a success. */
function after(breaker: Breaker | null, outcomes: readonly string[], at = NOW): Breaker {
  let next = breaker ?? newBreaker(key, settings)
  for (const outcome of outcomes) {
    const tenant = tenantId(outcome.replace('+', ''))
    next = outcome.startsWith('+') ? succeed(next, tenant, at) : fail(next, tenant, at)
  }
  return next
}
const many = (outcome: string, count: number): string[] => Array.from({ length: count }, () => outcome)
const statusAfter = (...outcomes: readonly string[]): string => after(null, outcomes).state.status

const opened = after(null, ['acme', 'acme', 'acme', 'globex', 'globex'])
const halfOpen = afterTime(opened, NOW + 5_000)

describe('closed', () => {
  test('one tenant never opens it, however much fails', () => {
    expect(statusAfter(...many('acme', 1_000))).toBe('closed')
    expect(fail(fail(null, acme, NOW, { minFailures: 1 }), acme, NOW, { minFailures: 1 }).state.status).toBe('closed')
  })

  test('a tenant counts for half of the least at the most: two have to fail', () => {
    expect(statusAfter(...many('acme', 100), 'globex')).toBe('closed')
    expect(statusAfter(...many('acme', 100), 'globex', 'globex')).toBe('open')
    expect(opened.state).toEqual({ status: 'open', since: NOW, until: NOW + 5_000, opens: 1 })
    expect(isOutage(opened, NOW)).toBe(true)
  })

  test('a tenant that mostly succeeds does not speak against it', () => {
    const noise = [...many('+globex', 10), 'globex', 'globex', 'globex']
    expect(statusAfter(...many('acme', 100), ...noise)).toBe('closed')
  })

  test('the successes of one tenant hide no outage of the others; those of many tenants count', () => {
    // Successes are heard from the first failure on.
    const failing = [...many('acme', 2), ...many('globex', 3)]
    expect(statusAfter('acme', ...many('+initech', 1_000), ...failing)).toBe('open')
    const fine = ['a', 'b', 'c'].flatMap((tenant) => many(`+${tenant}`, 10))
    expect(statusAfter('acme', ...fine, ...failing)).toBe('closed')
  })

  test('what a tenant said counts for one window, to the millisecond', () => {
    const before = after(null, many('acme', 3))
    expect(after(before, many('globex', 2), NOW + 9_999).state.status).toBe('open')
    expect(after(before, many('globex', 2), NOW + 10_000).state.status).toBe('closed')
    expect(isForgotten(before, NOW + 9_999)).toBe(false)
    expect(isForgotten(before, NOW + 10_000)).toBe(true)
  })

  test('it is not listed while it only listens', () => {
    expect(isListed(after(null, ['acme']), NOW)).toBe(false)
    expect(isListed(opened, NOW)).toBe(true)
  })

  test('it listens to so many tenants; one that fails takes the place of one that does not', () => {
    const fine = Array.from({ length: 50 }, (_, number) => `+t${number}`)
    const full = after(fail(null, acme), fine)
    expect(full.voices).toHaveLength(VOICES_MAX)
    expect(full.voices.some(({ tenant }) => tenant === 't40')).toBe(false)
    const failing = after(full, ['globex'])
    expect(failing.voices).toHaveLength(VOICES_MAX)
    expect(failing.voices.at(-1)).toEqual({ tenant: 'globex', since: NOW, ok: 0, failed: 1 })
    const all = Array.from({ length: 50 }, (_, number) => `f${number}`)
    const strict = { minFailures: 1_000 }
    const crowded = all.reduce(
      (breaker, name) => fail(breaker, tenantId(name), NOW, strict),
      fail(null, acme, NOW, strict),
    )
    expect(crowded.voices).toHaveLength(VOICES_MAX)
  })
})

describe('half open', () => {
  const at = NOW + 5_100

  test('failed probes of one tenant don’t open it again; that of a second tenant does', () => {
    const doubted = fail(fail(halfOpen, acme, at), acme, at)
    expect(doubted.state).toMatchObject({ status: 'half_open', doubtedBy: acme })
    expect(isOutage(doubted, at)).toBe(true)
    expect(fail(doubted, globex, at).state).toMatchObject({ status: 'open', opens: 2 })
  })

  test('a tenant whose probe succeeds takes its doubt back', () => {
    const doubted = succeed(fail(halfOpen, acme, at), acme, at)
    expect(doubted.state).not.toHaveProperty('doubtedBy')
    expect(fail(doubted, globex, at).state).toMatchObject({ status: 'half_open', doubtedBy: globex })
    expect(succeed(fail(halfOpen, acme, at), globex, at).state).toMatchObject({ succeeded: 1, doubtedBy: acme })
  })

  test('what started before tells nothing', () => {
    const late = afterFailure(halfOpen, key, settings, { action: RENDER, tenant: acme, startedAt: NOW }, at)
    expect(late).toEqual(halfOpen)
  })
})

test('ramping: one tenant’s failures don’t open it again, those of several do', () => {
  const at = NOW + 5_100
  const ramping = after(halfOpen, many('+acme', 2), at)
  expect(ramping.state.status).toBe('ramping')
  expect(after(ramping, many('acme', 100), at).state.status).toBe('ramping')
  expect(after(ramping, [...many('globex', 3), ...many('initech', 2)], at).state).toMatchObject({
    status: 'open',
    opens: 2,
  })
})

test('whatever one tenant does, it is never open; whatever happened, once all succeeds it is closed in the end', () => {
  const event = fc.record({ ok: fc.boolean(), tenant: fc.nat(2), afterMs: fc.integer({ min: 0, max: 4_000 }) })
  const names = [acme, globex, initech]
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      let at = NOW
      let breaker = newBreaker(key, settings)
      const failing = new Set<TenantId>()
      for (const { ok, tenant: number, afterMs } of events) {
        const tenant = names[number] ?? acme
        at += afterMs
        breaker = afterTime(breaker, at)
        breaker = ok ? succeed(breaker, tenant, at) : fail(breaker, tenant, at)
        if (!ok) failing.add(tenant)
        expect(failing.size < 2 && breaker.state.status !== 'closed').toBe(false)
      }
      at += 300_000
      breaker = after(afterTime(breaker, at), many('+acme', 100), at)
      expect(breaker.state.status).toBe('closed')
    }),
  )
})
