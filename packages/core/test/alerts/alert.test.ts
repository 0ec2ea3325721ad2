// The state machine of alerts, and who is told when: pure, so every step is tried for itself.

import {
  type Alert,
  type AlertRule,
  acknowledgedAlert,
  alertId,
  alertOver,
  alertRule,
  type Channel,
  newAlert,
  notifiedAlert,
  observedAlert,
  type Reading,
  type Silence,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1, 12)

const rule = (change: Partial<AlertRule> = {}): AlertRule =>
  alertRule({ name: 'retries', metric: 'retry_rate', forMs: 0, ...change })
const reading = (change: Partial<Reading> = {}): Reading => ({
  group: { action: 'mail' },
  value: 0.3,
  says: 'much is retried',
  ...change,
})
const channel = (name: string, change: Partial<Channel> = {}): Channel => ({
  id: `ch-${name}`,
  name,
  kind: 'slack',
  enabled: true,
  rules: [],
  minSeverity: 'normal',
  afterMs: 0,
  remindMs: null,
  quiet: null,
  settings: {},
  disabledBecause: null,
  createdBy: 'ann',
  ...change,
})

/** An alert with a clock, for steps one after the other. */
class Story {
  alert: Alert
  now = START
  readonly rule: AlertRule
  silences: Silence[] = []
  isInhibited = false
  readonly channels: Channel[]
  /** `channel what` of everything that was ordered. */
  readonly told: string[] = []

  constructor(of: AlertRule, channels: Channel[]) {
    this.rule = of
    this.channels = channels
    this.alert = newAlert(of, reading().group, START)
  }

  see(value: number | null, change: Partial<Reading> = {}): this {
    const read = value === null ? null : reading({ value, ...change })
    this.alert = observedAlert(this.alert, this.rule, read, this.now) ?? this.alert
    return this.tell()
  }

  tell(): this {
    const { channels, silences, isInhibited, now } = this
    this.alert = notifiedAlert(this.alert, { channels, silences, isInhibited, now }) ?? this.alert
    for (const { type, data } of this.alert.untold) {
      if (type === 'alert.told') this.told.push(`${String(data.channel)} ${String(data.what)}`)
    }
    this.alert = { ...this.alert, untold: [] }
    return this
  }

  pass(ms: number): this {
    this.now += ms
    return this.tell()
  }

  get status(): string {
    return this.alert.state.status
  }
}

describe('states', () => {
  test('B10: pending until it has lasted, then firing, then resolved by itself; and it can come back', () => {
    const story = new Story(rule({ forMs: MINUTE }), [channel('a')])
    expect(story.see(0.3).status).toBe('pending')
    expect(story.pass(MINUTE - 1).see(0.3).status).toBe('pending')
    expect(story.told).toEqual([])
    expect(story.pass(1).see(0.3).status).toBe('firing')
    expect(story.pass(MINUTE).see(0.1).status).toBe('resolved')
    expect(story.told).toEqual(['ch-a firing', 'ch-a resolved'])
    expect(story.alert.past).toEqual([{ firedAt: START + MINUTE, resolvedAt: START + 2 * MINUTE }])
    story.see(0.3).pass(MINUTE).see(0.3)
    expect(story.alert.episode).toBe(2)
    expect(story.told).toEqual(['ch-a firing', 'ch-a resolved', 'ch-a firing'])
  })

  test('one that goes away before it has lasted is never told', () => {
    const story = new Story(rule({ forMs: MINUTE }), [channel('a')])
    story
      .see(0.3)
      .pass(MINUTE / 2)
      .see(null)
      .pass(MINUTE)
    expect(story.status).toBe('resolved')
    expect(story.alert.episode).toBe(0)
    expect(story.told).toEqual([])
  })

  test('a figure that is just at its threshold is no reason', () => {
    expect(new Story(rule({ above: 0.2 }), []).see(0.2).status).toBe('resolved')
    expect(new Story(rule({ above: 0.2 }), []).see(0.200_001).status).toBe('firing')
  })

  test('C10: above the second threshold it is critical, and the severity of an episode only goes up', () => {
    const story = new Story(rule({ above: 0.2, criticalAbove: 0.5 }), [])
    expect(story.see(0.3).alert.severity).toBe('normal')
    expect(story.see(0.6).alert.severity).toBe('critical')
    expect(story.see(0.3).alert.severity).toBe('critical')
    expect(story.see(null).see(0.3).alert.severity).toBe('normal')
  })

  test('acknowledging stops reminders and escalation; the end is still told', () => {
    const story = new Story(rule(), [channel('a', { remindMs: MINUTE }), channel('b', { afterMs: 5 * MINUTE })])
    story.see(0.3)
    story.alert = acknowledgedAlert(story.alert, { actor: 'ann', reason: 'mine' }, story.now) ?? story.alert
    expect(acknowledgedAlert(story.alert, { actor: 'bob', reason: 'mine' }, story.now)).toBeNull()
    story
      .pass(60 * MINUTE)
      .see(0.3)
      .see(null)
    expect(story.told).toEqual(['ch-a firing', 'ch-a acknowledged', 'ch-a resolved'])
    expect(() => acknowledgedAlert(story.alert, { actor: 'bob', reason: 'mine' }, story.now)).toThrow(/is resolved/)
  })

  test('whoever takes the work order has acknowledged the alert', () => {
    const story = new Story(rule(), [channel('a')])
    story.see(0.3).see(0.3, { takenBy: 'operator:ann' })
    expect(story.alert.state).toMatchObject({ status: 'acknowledged', by: 'operator:ann' })
  })

  test('a rule that is gone ends its alerts', () => {
    const story = new Story(rule(), [channel('a')]).see(0.3)
    story.alert = alertOver(story.alert, story.now, 'rule_gone') ?? story.alert
    expect(story.tell().told).toEqual(['ch-a firing', 'ch-a resolved'])
  })

  test('the same rule and group are the same alert, in whatever order its names come', () => {
    expect(alertId('r', { a: '1', b: '2' })).toBe(alertId('r', { b: '2', a: '1' }))
    expect(alertId('r', { a: '1' })).not.toBe(alertId('r', { a: '2' }))
    expect(alertId('r', { a: '1' })).not.toBe(alertId('q', { a: '1' }))
  })
})

describe('who is told', () => {
  test('each channel once; reminders and escalation when nobody acknowledges', () => {
    const story = new Story(rule(), [
      channel('a'),
      channel('b', { remindMs: 10 * MINUTE }),
      channel('boss', { afterMs: 15 * MINUTE }),
    ])
    story
      .see(0.3)
      .see(0.3)
      .pass(9 * MINUTE)
    expect(story.told).toEqual(['ch-a firing', 'ch-b firing'])
    story.pass(MINUTE)
    expect(story.told.slice(2)).toEqual(['ch-b firing'])
    story.pass(5 * MINUTE)
    expect(story.told.slice(3)).toEqual(['ch-boss firing'])
    story.see(null)
    expect(story.told.slice(4)).toEqual(['ch-a resolved', 'ch-b resolved', 'ch-boss resolved'])
  })

  test('by severity and rule; a channel that is off hears nothing', () => {
    const story = new Story(rule(), [
      channel('high', { minSeverity: 'high' }),
      channel('other', { rules: ['dead_*'] }),
      channel('mine', { rules: ['retr*'] }),
      channel('off', { enabled: false }),
    ])
    expect(story.see(0.3).told).toEqual(['ch-mine firing'])
    expect(story.see(0.9).told).toEqual(['ch-mine firing', 'ch-high firing'])
  })

  test('a silence holds what matches, and what is still there at its end is told then', () => {
    const story = new Story(rule(), [channel('a')])
    story.silences = [
      { id: 's', matches: { rule: 'ret*', action: 'mail' }, from: START, until: START + MINUTE, by: 'ann', reason: '' },
    ]
    expect(story.see(0.3).told).toEqual([])
    expect(story.pass(MINUTE).told).toEqual(['ch-a firing'])
    story.silences = [{ id: 's', matches: { rule: '*' }, from: START, until: START + 9e9, by: 'ann', reason: '' }]
    expect(story.see(null).told).toEqual(['ch-a firing', 'ch-a resolved'])
  })

  test('a silence of something else holds nothing', () => {
    const story = new Story(rule(), [channel('a')])
    story.silences = [{ id: 's', matches: { pool: '*' }, from: START, until: START + 9e9, by: 'ann', reason: '' }]
    expect(story.see(0.3).told).toEqual(['ch-a firing'])
  })

  test('quiet hours, over midnight and by the clocks of the zone: only what is critical is told', () => {
    // 12:00 UTC in January is 21:00 in Tokyo.
    const quiet = { from: '20:30', to: '06:00', zone: 'Asia/Tokyo', butFrom: 'critical' } as const
    const story = new Story(rule(), [channel('a', { quiet }), channel('b', { quiet: { ...quiet, zone: 'UTC' } })])
    expect(story.see(0.3).told).toEqual(['ch-b firing'])
    expect(story.see(0.9).told).toEqual(['ch-b firing', 'ch-a firing'])
    const other = new Story(rule(), [channel('a', { quiet })]).see(0.3)
    expect(other.pass(9 * 60 * MINUTE - 1).told).toEqual([])
    expect(other.pass(1).told).toEqual(['ch-a firing'])
  })

  test('what another rule tells already is not told', () => {
    const story = new Story(rule(), [channel('a')])
    story.isInhibited = true
    expect(story.see(0.3).told).toEqual([])
    story.isInhibited = false
    expect(story.pass(1).told).toEqual(['ch-a firing'])
  })

  test('each order has a name of its own, the same however often the step is tried', () => {
    const story = new Story(rule(), [channel('a', { remindMs: MINUTE })])
    const fired = observedAlert(story.alert, story.rule, reading(), START)
    if (fired === null) throw new Error('it must fire')
    const circumstances = { channels: story.channels, silences: [], isInhibited: false, now: START }
    const names = [1, 2].map(() => notifiedAlert(fired, circumstances)?.untold.at(-1)?.data.notice)
    expect(names).toEqual([`${fired.id}.1.1`, `${fired.id}.1.1`])
  })

  test('what is about a tenant does not become an event of that tenant', () => {
    const alert = newAlert(rule(), { tenant: 'acme' }, START)
    const [entry] = observedAlert(alert, rule(), reading({ group: { tenant: 'acme' } }), START)?.untold ?? []
    expect(entry?.data).toMatchObject({ ofTenant: 'acme' })
    expect(entry?.data).not.toHaveProperty('tenant')
  })
})

describe('rules', () => {
  test.each([
    [{ metric: 'retry_rat' as never }, /no metric 'retry_rat'.*retry_rate/],
    [{ metric: 'breaker_open', action: 'mail' }, /not about one pool, action or tenant/],
    [{ windowMs: 1 }, /The window is from/],
    [{ above: -1 }, /a number from 0/],
    [{ above: 0.5, criticalAbove: 0.2 }, /not below it/],
    [{ forMs: 1e10 }, /at most a day/],
  ] as const)('refuses %j', (change, words) => {
    expect(() => alertRule({ name: 'x', metric: 'retry_rate', ...change })).toThrow(words)
  })
})
