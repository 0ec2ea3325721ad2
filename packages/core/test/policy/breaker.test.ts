// The circuit breaker (C9): each event on each state, the window at its exact edges, and that it always finds its way back.

import { actionName, type Breaker, type BreakerSettings, DEFAULT_BREAKER, tenantId } from '@reprise/core'
import {
  afterFailure,
  afterSuccess,
  afterSuccessesWhileClosed,
  afterTime,
  isForgotten,
  isOutage,
} from '@reprise/core/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { breakerName, checkedBreaker, newBreaker } from '../../src/policy/breaker.ts'
import { NOW, RENDER } from '../fixture.ts'

const settings: BreakerSettings = { ...DEFAULT_BREAKER, windowMs: 10_000, minFailures: 3, probes: 2, maxRamp: 10 }
const tenant = tenantId('acme')
const key = { name: 'dependency:stripe', tenant }

const fail = (breaker: Breaker | null, at: number, startedAt = at, action = RENDER): Breaker =>
  afterFailure(breaker, key, settings, { action, tenant, startedAt }, at)
const succeed = (breaker: Breaker, startedAt: number, at: number): Breaker =>
  afterSuccess(breaker, { tenant, startedAt }, at)
const times = (count: number, breaker: Breaker, step: (breaker: Breaker) => Breaker): Breaker =>
  count === 0 ? breaker : times(count - 1, step(breaker), step)

const opened = times(2, fail(null, NOW), (breaker) => fail(breaker, NOW))
const halfOpen = afterTime(opened, NOW + 5_000)
const ramping = times(2, halfOpen, (breaker) => succeed(breaker, NOW + 5_000, NOW + 5_100))

describe('C9: closed', () => {
  test('the first failure makes it, and failures below the least open nothing', () => {
    const twice = fail(fail(null, NOW), NOW + 1)
    expect(twice).toMatchObject({ name: 'dependency:stripe', actions: [RENDER], state: { status: 'closed' } })
    expect(isOutage(twice, NOW)).toBe(false)
  })

  test('enough failures open it', () => {
    expect(opened.state).toEqual({ status: 'open', since: NOW, until: NOW + 5_000, opens: 1 })
    expect(isOutage(opened, NOW)).toBe(true)
  })

  test.each([
    [3, 'open'],
    [4, 'closed'],
  ])('3 failures beside %i successes: %s', (successes, status) => {
    const mixed = times(successes, fail(fail(null, NOW), NOW), (breaker) => succeed(breaker, NOW, NOW))
    expect(fail(mixed, NOW).state.status).toBe(status)
  })

  test('successes counted together are successes counted one by one, for a tenant and for all', () => {
    const tenants = ['acme', ...Array.from({ length: 21 }, (_, index) => `tenant-${index}`)].map(tenantId)
    const event = fc.record({
      who: fc.constantFrom(...tenants),
      ok: fc.nat({ max: 5 }),
      failed: fc.boolean(),
      ms: fc.nat(4_000),
    })
    const lenient = { ...settings, minFailures: 1_000 }
    fc.assert(
      fc.property(fc.constantFrom(tenant, null), fc.array(event, { maxLength: 40 }), (whose, events) => {
        let at = NOW
        let together = afterFailure(
          null,
          { ...key, tenant: whose },
          lenient,
          { action: RENDER, tenant, startedAt: at },
          at,
        )
        let singly = together
        for (const { who, ok, failed, ms } of events) {
          at += ms
          if (ok > 0) together = afterSuccessesWhileClosed(together, who, ok, at)
          singly = times(ok, singly, (breaker) => afterSuccess(breaker, { tenant: who, startedAt: at }, at))
          if (!failed) continue
          const attempt = { action: RENDER, tenant: who, startedAt: at }
          together = afterFailure(together, { ...key, tenant: whose }, lenient, attempt, at)
          singly = afterFailure(singly, { ...key, tenant: whose }, lenient, attempt, at)
        }
        expect(together).toEqual(singly)
      }),
    )
  })

  test('failures count for one window, to the millisecond', () => {
    const twice = fail(fail(null, NOW), NOW)
    expect(fail(twice, NOW + 9_999).state.status).toBe('open')
    expect(fail(twice, NOW + 10_000).state.status).toBe('closed')
  })

  test('it is forgotten when its window is clean, and then begins anew', () => {
    const twice = fail(fail(null, NOW), NOW, NOW, actionName('send'))
    expect(isForgotten(twice, NOW + 9_999)).toBe(false)
    expect(isForgotten(twice, NOW + 10_000)).toBe(true)
    expect(isForgotten(opened, NOW + 1_000_000)).toBe(false)
    expect(fail(twice, NOW + 10_000)).toMatchObject({ actions: [RENDER], buckets: [{ failed: 1 }] })
  })

  test('the settings of the latest failure hold', () => {
    const once = fail(null, NOW)
    const strict = { ...settings, minFailures: 2 }
    const attempt = { action: RENDER, tenant, startedAt: NOW }
    expect(afterFailure(once, key, strict, attempt, NOW).state.status).toBe('open')
  })
})

describe('C9: open', () => {
  test('whatever comes in tells nothing; another action that fails is covered too', () => {
    const send = actionName('send')
    expect(succeed(opened, NOW, NOW + 1)).toEqual(opened)
    expect(fail(opened, NOW + 1, NOW, send)).toEqual({ ...opened, actions: [RENDER, send] })
  })

  test('it lets probes through when its time has come, not before', () => {
    expect(afterTime(opened, NOW + 4_999)).toEqual(opened)
    expect(halfOpen.state).toEqual({ status: 'half_open', since: NOW + 5_000, opens: 1, succeeded: 0 })
    expect(isOutage(halfOpen, NOW)).toBe(true)
  })
})

describe('C9: half open', () => {
  test('a probe that fails opens it for twice as long, up to the maximum', () => {
    const again = fail(halfOpen, NOW + 5_100)
    expect(again.state).toEqual({ status: 'open', since: NOW + 5_100, until: NOW + 15_100, opens: 2 })
    let breaker = again
    for (let round = 0; round < 60; round++) {
      const at = breaker.state.status === 'open' ? breaker.state.until : 0
      breaker = fail(afterTime(breaker, at), at)
      expect(breaker.state).toMatchObject({ status: 'open' })
    }
    const { since, until } = { since: 0, until: 0, ...breaker.state }
    expect(breaker.state).toMatchObject({ opens: 62 })
    expect(until - since).toBe(300_000)
  })

  test('what started before it tells nothing, either way', () => {
    expect(fail(halfOpen, NOW + 5_100, NOW + 4_999)).toEqual(halfOpen)
    expect(succeed(halfOpen, NOW + 4_999, NOW + 5_100)).toEqual(halfOpen)
  })

  test('enough probes that succeed begin the ramp', () => {
    expect(succeed(halfOpen, NOW + 5_000, NOW + 5_100).state).toMatchObject({ status: 'half_open', succeeded: 1 })
    expect(ramping.state).toEqual({ status: 'ramping', since: NOW + 5_000, opens: 1, succeeded: 0, concurrency: 4 })
  })
})

describe('C9: ramping', () => {
  test('twice as many after each round of successes, until it is closed', () => {
    const second = times(4, ramping, (breaker) => succeed(breaker, NOW + 5_000, NOW + 5_200))
    expect(second.state).toMatchObject({ status: 'ramping', concurrency: 8, succeeded: 0 })
    const closed = times(8, second, (breaker) => succeed(breaker, NOW + 5_000, NOW + 5_300))
    expect(closed.state).toEqual({ status: 'closed' })
    expect(isForgotten(closed, NOW + 5_300)).toBe(true)
  })

  test('failures are charged again, unless they started before; enough of them open it', () => {
    const once = fail(ramping, NOW + 5_200)
    expect(once.state.status).toBe('ramping')
    expect(isOutage(once, NOW + 5_200)).toBe(false)
    expect(isOutage(once, NOW + 4_999)).toBe(true)
    expect(fail(ramping, NOW + 5_200, NOW + 4_999)).toEqual(ramping)
    const again = times(2, once, (breaker) => fail(breaker, NOW + 5_200))
    expect(again.state).toMatchObject({ status: 'open', opens: 2, until: NOW + 15_200 })
  })
})

test('C9: whatever happened, once all succeeds it is closed in the end', () => {
  const event = fc.record({ ok: fc.boolean(), afterMs: fc.integer({ min: 0, max: 4_000 }) })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      let at = NOW
      let breaker = newBreaker(key, settings)
      for (const { ok, afterMs } of events) {
        at += afterMs
        breaker = afterTime(breaker, at)
        breaker = ok ? succeed(breaker, at, at) : fail(breaker, at)
        expect(breaker.buckets.length).toBeLessThanOrEqual(11)
      }
      at += 300_000
      breaker = times(100, afterTime(breaker, at), (next) => succeed(next, at, at))
      expect(breaker.state.status).toBe('closed')
    }),
  )
})

test('C9: settings that make no sense are refused, by name', () => {
  expect(checkedBreaker(DEFAULT_BREAKER)).toBe(DEFAULT_BREAKER)
  const refused: Partial<BreakerSettings>[] = [
    { windowMs: 99 },
    { minFailures: 0 },
    { failureRate: 0 },
    { failureRate: 1.1 },
    { openMs: 0 },
    { maxOpenMs: DEFAULT_BREAKER.openMs - 1 },
    { probes: 0 },
    { probes: 1.5 },
    { maxRamp: Number.NaN },
  ]
  for (const change of refused) expect(() => checkedBreaker({ ...DEFAULT_BREAKER, ...change })).toThrow(/breaker's/)
  expect(breakerName('dependency', 'stripe')).toBe('dependency:stripe')
  expect(() => breakerName('action', '')).toThrow('must not be empty')
})
