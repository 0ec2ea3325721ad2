// A dry run of policies: decision after decision, and what can't be made in time.

import { DEFAULT_SETTINGS, defineAction } from '@reprise/core'
import { parsePolicies, policyNotes, type Simulation, simulate } from '@reprise/policies'
import { describe, expect, test } from 'vitest'

const bookOf = (text: string) => parsePolicies(text, { file: 'retry-policies.yaml', version: 2 })
const book = bookOf(`
policies:
  - name: payments
    match: { actions: charge }
    retries: 3
    backoff: { kind: exponential, base: 10s, max: 1m, jitter: 0 }
    sla: 5m
`)

describe('simulate', () => {
  test('lists the decisions one after the other, with their times', () => {
    const { attempts, notes } = simulate(book, { action: 'charge', failure: { status: 503 }, attemptTime: '2s' })
    expect(
      attempts.map(({ attempt, startsAtMs, endsAtMs, decision }) => [attempt, startsAtMs, endsAtMs, decision.sentence]),
    ).toEqual([
      [1, 0, 2_000, 'Retry 1 of 3 in 10s, by the backoff.'],
      [2, 12_000, 14_000, 'Retry 2 of 3 in 20s, by the backoff.'],
      [3, 34_000, 36_000, 'Retry 3 of 3 in 40s, by the backoff.'],
      [4, 76_000, 78_000, 'All 3 automatic retries are used up.'],
    ])
    expect(attempts[0]).toMatchObject({
      failure: { code: 'HTTP_503', reason: 'worker_unavailable', rule: 'code:HTTP_503' },
      decision: { policy: { name: 'payments', version: 2 } },
    })
    expect(notes).toEqual([])
  })

  test('finds out once what a failure is, however many attempts there are', () => {
    const rule = "  - { when: { message: '(a?a?){200}Z' }, then: { reason: permanent } }\n"
    const greedy = bookOf(
      `policies:\n  - { name: p, retries: 999, backoff: { kind: fixed, delay: 1s } }\nrules:\n${rule.repeat(200)}`,
    )
    const failure = { code: 'ECONNRESET', message: 'a'.repeat(10_000) }
    const { attempts } = simulate(greedy, { action: 'charge', failure, attempts: 1_000 })
    expect(attempts).toHaveLength(1_000)
    expect(new Set(attempts.map((one) => one.failure)).size).toBe(1)
    expect(attempts[0]?.decision.sentence).toContain('took too many steps for rule:1')
  })

  test('ends at once what is not retried', () => {
    const { attempts } = simulate(book, { action: 'charge', failure: { message: 'odd', name: 'TypeError' } })
    expect(attempts).toHaveLength(1)
    expect(attempts[0]).toMatchObject({
      failure: { name: 'TypeError', reason: 'unknown' },
      decision: { kind: 'dead', reason: 'not_retriable' },
    })
  })

  test('goes by the action’s own settings where no policy matches, and by losses', () => {
    const settings = { ...DEFAULT_SETTINGS, maxRetries: 1, maxLosses: 2 }
    const ended = (failure: 'lost' | { code: string }) =>
      simulate(book, { action: 'other', tenant: 'acme', settings, failure }).attempts.map(
        ({ decision }) => decision.reason,
      )
    expect(ended({ code: 'ECONNRESET' })).toEqual(['connection', 'retries_exhausted'])
    expect(ended('lost')).toEqual(['worker_lost', 'worker_lost', 'crash_loop'])
  })

  test('stops after as many attempts as were asked for', () => {
    expect(simulate(book, { action: 'charge', failure: 'lost', attempts: 2 }).attempts).toHaveLength(2)
  })

  test('B14: points out that the SLA ends it before its retries do', () => {
    const { attempts, notes } = simulate(book, { action: 'charge', failure: { status: 503 }, attemptTime: '2m' })
    expect(attempts.at(-1)?.decision).toMatchObject({ kind: 'dead', reason: 'deadline' })
    expect(notes).toEqual(['With attempts of this length the SLA ends it after 3 of 4 attempts.'])
  })
})

describe('B14: notes on a book', () => {
  test('a policy that can’t make its SLA, however quickly it fails', () => {
    const tight = bookOf(
      'policies: [{ name: tight, template: patient, sla: 10m }, { name: fine, template: default, sla: 10m }]',
    )
    expect(
      policyNotes({ ...tight, policies: tight.policies.map((policy) => ({ ...policy, match: { actions: ['x'] } })) }),
    ).toEqual(["Policy 'tight' can't make its SLA of 10m: of its 20 retries at most 7 can start in time."])
    expect(simulate(tight, { action: 'x', failure: { code: 'ECONNRESET' } }).notes).toHaveLength(1)
  })

  test('a policy that is never reached', () => {
    const hidden = bookOf('policies: [{ name: all, retries: 1 }, { name: hidden, match: { actions: x }, retries: 5 }]')
    expect(policyNotes(hidden)).toEqual(["Policy 'hidden' is never reached: 'all' before it matches everything."])
  })
})

describe('B7: what the templates come to', () => {
  const { settings } = defineAction({ name: 'x', uses: ['stripe'] })
  const under = (template: string, failure: Simulation['failure']) => {
    const { attempts } = simulate(bookOf(`policies: [{ name: p, template: ${template} }]`), {
      action: 'x',
      settings,
      failure,
    })
    const last = attempts.at(-1)
    return {
      attempts: attempts.length,
      lastsMs: last?.startsAtMs ?? 0,
      reason: last?.decision.reason,
      guards: last?.guards,
    }
  }
  const reset = { code: 'ECONNRESET' }

  test('default gives up after about 7 s, urgent after about 6 s, patient after about 20 hours', () => {
    expect(under('default', reset)).toMatchObject({ attempts: 4, lastsMs: 7_000, reason: 'retries_exhausted' })
    expect(under('urgent', reset)).toMatchObject({ attempts: 6, lastsMs: 6_200, reason: 'retries_exhausted' })
    const patient = under('patient', reset)
    expect(patient).toMatchObject({ attempts: 21, reason: 'retries_exhausted' })
    expect(patient.lastsMs / 3_600_000).toBeCloseTo(20.8, 1)
    expect(patient.guards?.outage?.breakers[0]?.name).toBe('dependency:stripe')
  })

  test('never does nothing twice by itself: neither a failure, nor an outage, nor a loss', () => {
    expect(under('never', reset)).toEqual({ attempts: 1, lastsMs: 0, reason: 'retries_exhausted', guards: {} })
    expect(under('never', 'lost')).toEqual({ attempts: 1, lastsMs: 0, reason: 'outcome_unknown', guards: {} })
  })
})
