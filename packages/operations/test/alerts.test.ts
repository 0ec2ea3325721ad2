// Alerts over a store: figures are read, alerts open and close, once however many processes look, and people act on them.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { actionName, alertsIn, channelsIn, type Engine, type JournalEntry, succeeded, workerId } from '@reprise/core'
import { alertRound, closeRecovered, openWorkOrders } from '@reprise/orchestrator'
import { afterAll, describe, expect, test } from 'vitest'
import { SkippingClock, STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

interface Shown {
  readonly id: string
  readonly rule: string
  readonly group: Readonly<Record<string, string>>
  readonly state: { readonly status: string; readonly by?: string }
  readonly severity: string
  readonly says: string
  readonly silenced: boolean
}
type Call = Awaited<ReturnType<typeof storeWithCaller>>['call']

const listed = async (call: Call, input: object = {}): Promise<readonly Shown[]> =>
  ((await call(ANN, 'listAlerts', input)) as { items: Shown[] }).items

/** Two orchestrators at the same moment. */
async function look(engine: Engine): Promise<void> {
  while (await openWorkOrders({ engine }));
  await closeRecovered(engine)
  const now = await engine.now()
  await Promise.all([alertRound({ engine }, { now }), alertRound({ engine }, { now })])
}

async function entriesOf(engine: Engine, type: string): Promise<readonly JournalEntry[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.filter((entry) => entry.type === type)
}

/** What is queued is claimed, and succeeds. */
async function succeedAll(engine: Engine): Promise<void> {
  const worker = workerId('w2')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '2', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 1_000, leaseMs: 60_000 })
  await engine.settle(claimed.map((one) => succeeded(one, null)))
}

const aChannel = (engine: Engine, name = 'pager') =>
  channelsIn(engine).insert({
    id: `ch-${name}`,
    name,
    kind: 'pagerduty',
    enabled: true,
    rules: [],
    minSeverity: 'normal',
    afterMs: 0,
    remindMs: null,
    quiet: null,
    settings: {},
    disabledBecause: null,
    createdBy: 'ann',
  })

describe.each(STORES)('alerts (%s)', (kind) => {
  test('B3: dead letters of one cause are one alert, told once, and it closes when they have recovered (B2)', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await aChannel(engine)
    const tasks = Array.from({ length: 30 }, (_, at) => spec(`a${at}`))
    await died(engine, tasks, 'CODE_A')
    await look(engine)
    await look(engine)
    const [alert, ...others] = (await listed(call)).filter(({ rule }) => rule === 'dead_letters')
    expect(others).toEqual([])
    expect(alert).toMatchObject({ state: { status: 'firing' }, severity: 'normal', group: { action: 'render' } })
    expect(alert?.says).toMatch(/^render: 30 tasks died of CODE_A: /)
    expect((await entriesOf(engine, 'alert.told')).map(({ data }) => [data.channel, data.what])).toEqual([
      ['ch-pager', 'firing'],
    ])
    const by = { actor: 'operator:ann', reason: 'it is fixed' }
    await engine.change({ kind: 'redrive', select: { action: actionName(spec('x').action) }, by })
    await succeedAll(engine)
    await look(engine)
    expect((await listed(call)).filter(({ rule }) => rule === 'dead_letters')).toEqual([])
    const told = await entriesOf(engine, 'alert.told')
    expect(told.map(({ data }) => data.what)).toEqual(['firing', 'resolved'])
    expect(told.at(-1)?.reason).toMatch(/^Told pager that it is over: render: 30 tasks died/)
    expect(await call(ANN, 'getAlert', { id: alert?.id ?? '' })).toMatchObject({
      state: { status: 'resolved', because: 'recovered' },
      told: [{ channel: 'ch-pager', what: 'resolved', count: 2 }],
    })
  })

  test('is acknowledged, silenced, and silenced no more', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, [spec('a')], 'CODE_A')
    await look(engine)
    const [alert] = await listed(call, { rule: 'dead_letters' })
    const id = alert?.id ?? ''
    expect(await call(ANN, 'acknowledgeAlert', { id, reason: 'mine' })).toMatchObject({
      state: { status: 'acknowledged', by: 'operator:ann', reason: 'mine' },
    })
    const silence: { id: string } = await call(ANN, 'createSilence', {
      matches: { rule: 'dead_*', action: 'render' },
      for: '2h',
      reason: 'we know',
    })
    expect(await listed(call, { rule: 'dead_letters' })).toMatchObject([{ silenced: true }])
    expect(await call(ANN, 'endSilence', { id: silence.id })).toMatchObject({ active: false })
    expect(await listed(call, { rule: 'dead_letters' })).toMatchObject([{ silenced: false }])
    expect(await entriesOf(engine, 'alert.silenced')).toHaveLength(2)
    await expect(call(ANN, 'acknowledgeAlert', { id: 'al-none' })).rejects.toThrow(/There is no alert/)
    await expect(call(ANN, 'createSilence', { matches: {}, for: '1h', reason: 'x' })).rejects.toThrow(/what to silence/)
    await expect(call(ACME, 'listAlerts', {})).rejects.toMatchObject({ code: 'REPRISE_FORBIDDEN' })
  })

  test('rates are not told right after their causes, but later if they go on', async () => {
    const clock = new SkippingClock()
    const { engine } = await storeWithCaller(kind, clock)
    await aChannel(engine)
    await died(
      engine,
      Array.from({ length: 200 }, (_, at) => spec(`a${at}`)),
      'CODE_A',
    )
    await look(engine)
    clock.skip(70_000)
    await look(engine)
    const told = async () => (await entriesOf(engine, 'alert.told')).map(({ data }) => `${data.rule} ${data.what}`)
    const unwell = ['unhealthy_workers firing', 'unhealthy_workers resolved']
    const news = async () => (await told()).filter((one) => !unwell.includes(one))
    expect(await news()).toEqual(['dead_letters firing'])
    const fired = await entriesOf(engine, 'alert.fired')
    expect(fired.map(({ data }) => data.rule)).toContain('dead_letter_rate')
    clock.skip(21 * 60_000)
    await died(
      engine,
      Array.from({ length: 200 }, (_, at) => spec(`b${at}`)),
      'CODE_A',
    )
    await look(engine)
    clock.skip(70_000)
    await look(engine)
    expect(await news()).toEqual(['dead_letters firing', 'dead_letter_rate firing'])
  })

  test('own rules: absence of success, counts by action, new causes; and switching a ready-made one off', async () => {
    const { engine, call } = await storeWithCaller(kind)
    const other = { action: actionName('mail') }
    await engine.submit([spec('q1', other), spec('q2', other)])
    await died(engine, [spec('a')], 'CODE_A').catch(() => undefined)
    await call(ANN, 'putAlertRule', { name: 'quiet', metric: 'no_success', action: 'nightly', window: '1h' })
    await call(ANN, 'putAlertRule', { name: 'queue', metric: 'dead', by: 'action', above: 0, for: 0 })
    await call(ANN, 'putAlertRule', { name: 'cause', metric: 'new_cause' })
    await call(ANN, 'putAlertRule', { name: 'dead_letters', metric: 'dead_letters', enabled: false })
    await look(engine)
    const found = await listed(call)
    const named = (rule: string) => found.filter((alert) => alert.rule === rule)
    expect(named('quiet')).toMatchObject([{ group: { action: 'nightly' }, state: { status: 'firing' } }])
    expect(named('queue').length).toBeGreaterThan(0)
    expect(named('cause').length).toBeGreaterThan(0)
    expect(named('dead_letters')).toEqual([])
    await call(ANN, 'removeAlertRule', { name: 'quiet' })
    await look(engine)
    expect(await listed(call, { rule: 'quiet' })).toEqual([])
    await expect(call(ANN, 'removeAlertRule', { name: 'quiet' })).rejects.toThrow(/There is no rule/)
    await expect(call(ANN, 'putAlertRule', { name: 'x', metric: 'breaker_open', by: 'pool' })).rejects.toThrow(
      /leave these/,
    )
  })

  test('B10: that no work orders are made is an alert', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await openWorkOrders({ engine })
    await died(engine, [spec('a')], 'CODE_A')
    const later = (await engine.now()) + 120_000
    const at = async (now: number): Promise<void> => {
      await alertRound({ engine }, { now })
    }
    await at(later)
    // An orchestrator that has just started may still catch up.
    expect(await listed(call, { rule: 'work_orders_late' })).toMatchObject([{ state: { status: 'pending' } }])
    await at(later + 16_000)
    expect(await listed(call, { rule: 'work_orders_late' })).toMatchObject([
      { severity: 'high', state: { status: 'firing' } },
    ])
    await look(engine)
    expect(await listed(call, { rule: 'work_orders_late' })).toEqual([])
  })
})

test('an alert that was stepped and not told, because its process died, is told by the next round, once', async () => {
  const { engine } = await storeWithCaller('sqlite')
  await aChannel(engine)
  await died(engine, [spec('a')], 'CODE_A')
  while (await openWorkOrders({ engine }));
  const deaf = { ...engine, journal: { ...engine.journal, append: () => Promise.reject(new Error('killed')) } }
  const now = await engine.now()
  // Each round dies at the next place at which it writes to the journal.
  for (let round = 0; round < 3; round++) {
    await alertRound({ engine: deaf }, { now, onError: () => undefined }).catch(() => undefined)
  }
  expect(await entriesOf(engine, 'alert.told')).toEqual([])
  const later = now + 60_000
  await alertRound({ engine }, { now: later })
  await alertRound({ engine }, { now: later + 60_000 })
  const told = (await entriesOf(engine, 'alert.told')).filter(({ data }) => data.rule === 'dead_letters')
  expect(new Set(told.map(({ data }) => data.notice)).size).toBe(1)
  expect(told.length).toBeGreaterThan(0)
  const { items } = await alertsIn(engine).list()
  expect(items.filter(({ document }) => document.rule === 'dead_letters')).toHaveLength(1)
  expect(items.every(({ document }) => document.untold.length === 0)).toBe(true)
})

test('the rules are a file that Prometheus takes', async (context) => {
  const { call } = await storeWithCaller('sqlite')
  await call(ANN, 'putAlertRule', { name: 'pool "x"', metric: 'failure_rate', pool: 'a"b' })
  await call(ANN, 'putAlertRule', { name: 'by pool', metric: 'queued', by: 'pool', above: 5 })
  await call(ANN, 'putAlertRule', { name: 'none', metric: 'no_success', window: '30m' })
  await call(ANN, 'putAlertRule', { name: 'mine', metric: 'failure_rate', action: 'mail' })
  const { text } = (await call(ANN, 'exportAlertRules', {})) as { text: string }
  expect(text).toContain('# mine: only Reprise itself sees this')
  expect(text).toContain('RepriseRetryRateCritical')
  const file = join(mkdtempSync(join(tmpdir(), 'rules-')), 'rules.yml')
  writeFileSync(file, text)
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
  } catch {
    context.skip('promtool is not installed')
  }
  expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toMatch(/SUCCESS: \d+ rules found/)
})
