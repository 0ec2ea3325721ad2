// What alerts must outlive: a clock that is set back, alerts that come back again and again, one that can not be told, many silences and
// quiet hours; and who gets to see the secrets of a channel.

import {
  type Alert,
  alertId,
  alertsIn,
  channelsIn,
  type Engine,
  openWorkOrder,
  type Severity,
  silencesIn,
  type TaskId,
  tenantId,
  VirtualClock,
  workOrdersIn,
} from '@reprise/core'
import { alertRound, openWorkOrders } from '@reprise/orchestrator'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { spec, stopRedis } from './events/fixture.ts'
import { ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const HOUR = 3_600_000
const DAY = 24 * HOUR

const resolved = (name: string, at: number): Alert => {
  const group = { workOrder: name }
  return {
    id: alertId('dead_letters', group),
    rule: 'dead_letters',
    group,
    state: { status: 'resolved', since: at, because: 'recovered' },
    severity: 'normal',
    says: '',
    value: 0,
    runbook: null,
    episode: 1,
    firedAt: at,
    tasks: [],
    told: {},
    past: [],
    untold: [],
  }
}

const aChannel = (engine: Engine, name: string) =>
  channelsIn(engine).insert({
    id: `ch-${name}`,
    name,
    kind: 'pagerduty',
    enabled: true,
    rules: [],
    minSeverity: 'low',
    afterMs: 0,
    remindMs: null,
    quiet: null,
    settings: {},
    disabledBecause: null,
    createdBy: 'ann',
  })

async function toldIn(engine: Engine): Promise<number> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.filter(({ type }) => type === 'alert.told').length
}

describe('rounds of alerts', () => {
  test('a clock that was set back does not stop the rules', async () => {
    const { engine } = await storeWithCaller()
    const lookedAt = new Map<string, number>()
    const now = await engine.now()
    await alertRound({ engine }, { now: now + DAY, lookedAt })
    await died(engine, [spec('a')], 'CODE_A')
    while (await openWorkOrders({ engine }));
    await alertRound({ engine }, { now, lookedAt })
    expect((await alertsIn(engine).find({ index: 'status', value: 'firing' })).items).toHaveLength(1)
  })

  test('old alerts are removed though older ones come back again and again', async () => {
    const clock = new VirtualClock(1_900_000_000_000)
    const { engine } = await storeWithCaller('sqlite', clock, { clock })
    const alerts = alertsIn(engine)
    for (let at = 0; at < 60; at++) await alerts.insert(resolved(`back${at}`, clock.now()))
    for (let at = 0; at < 10; at++) await alerts.insert(resolved(`gone${at}`, clock.now()))
    await clock.advance(31 * DAY)
    for (let at = 0; at < 60; at++) await alerts.update(resolved(`back${at}`, clock.now()), 1)
    const places = new Map<string, string>()
    for (let round = 0; round < 3; round++) await alertRound({ engine }, { now: clock.now(), places })
    expect((await alerts.list({ limit: 100 })).items).toHaveLength(60)
  })

  test('an alert that can not be written down holds up no other', async () => {
    const { engine } = await storeWithCaller()
    await aChannel(engine, 'pager')
    await died(engine, [spec('a')], 'CODE_A')
    await died(engine, [spec('b')], 'CODE_B')
    while (await openWorkOrders({ engine }));
    const now = await engine.now()
    const errors: unknown[] = []
    // What is told by a step is refused for the first of the two.
    let refused: string | null = null
    const failing = Object.create(engine, {
      collection: {
        value: (definition: never) => {
          const collection = engine.collection<Alert>(definition)
          if ((definition as { readonly name: string }).name !== 'alerts') return collection
          return {
            ...collection,
            update: async (document: Alert, version: number) => {
              if (Object.keys(document.told).length > 0) refused ??= document.id
              if (document.id === refused) throw new Error('It has no room.')
              return collection.update(document, version)
            },
          }
        },
      },
    }) as Engine
    await alertRound({ engine: failing }, { now, onError: (error) => errors.push(error) })
    expect([await toldIn(engine), errors.length]).toEqual([1, 1])
    await alertRound({ engine }, { now: now + 1_000 })
    expect(await toldIn(engine)).toBe(2)
  })

  test('a page of alerts under many silences is made in turns', async () => {
    const { engine, call, context } = await storeWithCaller()
    for (let at = 0; at < 50; at++) await alertsIn(engine).insert(resolved(`a${at}`, 0))
    const now = await engine.now()
    for (let at = 0; at < 100; at++) {
      const matches = { rule: `x*${at}*`, workOrder: 'a*' }
      await silencesIn(engine).insert({ id: `s${at}`, matches, from: now, until: now + HOUR, by: 'ann', reason: 'x' })
    }
    const asked = vi.spyOn(context.clock, 'monotonic')
    const { items }: { readonly items: readonly unknown[] } = await call(ANN, 'listAlerts', { status: 'all' })
    expect(items).toHaveLength(50)
    // Between any two of them it looks whether its turn is over.
    expect(asked.mock.calls.length).toBeGreaterThanOrEqual(50)
  })
})

const causeDied = (engine: Engine, name: string, at: number, more: { severity?: Severity; tenant?: string } = {}) =>
  openWorkOrder(engine, { kind: 'group', fingerprint: name }, 'work', {
    firstAt: at,
    lastAt: at,
    tasks: [`${name} of ${more.tenant ?? ''}` as TaskId],
    tenants: more.tenant === undefined ? [] : [more.tenant],
    escalation: { severity: more.severity ?? 'normal' },
    dueAt: null,
  })

const firing = async (engine: Engine): Promise<readonly (string | undefined)[]> => {
  const { items } = await alertsIn(engine).find({ index: 'status', value: 'firing', limit: 1_000 })
  return items.map(({ document }) => document.group.fingerprint)
}

describe('very many causes', () => {
  test('B3: of 502 the worst and the newest are told of first, the others within the hour, and each later one at once', async () => {
    const { engine } = await storeWithCaller()
    const now = await engine.now()
    await causeDied(engine, 'worst', now - 1_000, { severity: 'critical' })
    for (let at = 0; at < 501; at++) await causeDied(engine, `cause${at}`, now + at)
    await alertRound({ engine }, { now })
    await alertRound({ engine }, { now: now + 1_000 })
    const first = await firing(engine)
    expect([first.length, first.includes('worst')]).toEqual([500, true])
    expect(['cause0', 'cause1', 'cause2'].filter((name) => first.includes(name))).toEqual(['cause2'])
    await alertRound({ engine }, { now: now + HOUR })
    expect(await firing(engine)).toHaveLength(502)
    await causeDied(engine, 'new', now + HOUR)
    await alertRound({ engine }, { now: now + HOUR })
    expect(await firing(engine)).toContain('new')
  })

  test('one tenant whose tasks die of very many causes keeps nobody from hearing of those of another', async () => {
    const { engine } = await storeWithCaller()
    const now = await engine.now()
    for (let at = 0; at < 520; at++) await causeDied(engine, `cause${at}`, now + at, { tenant: 'flood' })
    await alertRound({ engine }, { now })
    expect(await firing(engine)).toHaveLength(500)
    expect(await firing(engine)).not.toContain('cause0')
    await died(engine, [spec('theirs', { tenant: tenantId('acme') })], 'THEIRS')
    while (await openWorkOrders({ engine }));
    const fingerprint = (await engine.failureGroups({ limit: 1 })).items[0]?.fingerprint
    // A cause is theirs as soon as a task of theirs dies of it.
    await causeDied(engine, 'cause0', now + 600, { tenant: 'acme' })
    await alertRound({ engine }, { now: now + 1_000 })
    const told = await firing(engine)
    expect([told.length, told.includes(fingerprint), told.includes('cause0')]).toEqual([502, true, true])
    await alertRound({ engine }, { now: now + 2_000 })
    expect(await firing(engine)).toHaveLength(502)
  })

  test('B3: a policy that wants a work order for each task calls somebody once for each cause, and names its runbook', async () => {
    const { engine } = await storeWithCaller()
    await aChannel(engine, 'pager')
    const escalation = { severity: 'high', runbook: 'ask-the-bank', workOrder: 'task' } as const
    const tasks = Array.from({ length: 40 }, (_, at) => spec(`t${at}`))
    await died(engine, tasks, 'CODE_A', escalation)
    const book = { version: 1, rules: [], policies: [{ name: 'bank', match: {}, escalation }] }
    while (await openWorkOrders({ engine, policies: { current: () => book } }));
    expect((await workOrdersIn(engine).list({ limit: 100 })).items).toHaveLength(40)
    await alertRound({ engine }, { now: await engine.now() })
    const { entries } = await engine.journal.read({ limit: 1_000 })
    expect(entries.filter(({ type }) => type === 'alert.told').map(({ data }) => data)).toMatchObject([
      { rule: 'dead_letters', severity: 'high', runbook: 'ask-the-bank', action: 'render' },
    ])
    expect(entries.find(({ type }) => type === 'alert.told')?.data.says).toMatch(/^render: 40 tasks died of CODE_A/)
  })
})

describe('secrets of a channel', () => {
  const change = (settings: object) => ({ id: 'pager', settings })

  test.each([
    [
      'pagerduty',
      { routingKey: 'secret-1', url: 'http://127.0.0.1:9/v2/enqueue' },
      { url: 'http://127.0.0.2:9/' },
      { routingKey: 'secret-2' },
    ],
    [
      'webhook',
      { url: 'http://127.0.0.1:9/', headers: { authorization: 'secret-1' } },
      { url: 'http://127.0.0.2:9/' },
      { headers: { authorization: 'secret-2' } },
    ],
    [
      'email',
      { host: '127.0.0.1', from: 'a@b.example', to: ['c@d.example'], user: 'u', password: 'secret-1' },
      { host: '127.0.0.2' },
      { password: 'secret-2' },
    ],
  ] as const)('%s: who sends them elsewhere has to know them', async (kind, settings, elsewhere, again) => {
    const { call } = await storeWithCaller()
    await call(ANN, 'createChannel', { name: 'pager', kind, settings })
    await expect(call(ANN, 'updateChannel', change(elsewhere))).rejects.toThrow(/give .* again/)
    await call(ANN, 'updateChannel', change({ ...elsewhere, ...again }))
    await call(ANN, 'updateChannel', { id: 'pager', minSeverity: 'high' })
  })
})
