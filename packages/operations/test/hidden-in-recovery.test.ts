// What recovery shows is redacted like what it is about: work orders, alerts, questions of runbooks, tickets. And a caller limited to
// tenants meets nothing of the cases that only the whole store has.

import {
  type Alert,
  alertsIn,
  chunkId,
  createRedactor,
  encodeJson,
  jobDefinition,
  newAlert,
  READY_RULES,
  stepDocument,
  succeeded,
  tenantId,
  workerId,
} from '@reprise/core'
import { openWorkOrders } from '@reprise/orchestrator'
import { startFakeTickets } from '@reprise/test-servers'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { soon } from './events/webhook-fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const SECRET = 'sk-3f9a7c1e5b2d8046'
const WORDS = `set api_key=${SECRET} again`
const redaction = createRedactor()

test('the result of a work order hides secrets, in its own view and beside others', async () => {
  const { engine, call } = await storeWithCaller('sqlite', undefined, { redaction })
  await died(engine, [spec('a')], 'CODE_A')
  await died(engine, [spec('b')], 'CODE_B')
  await openWorkOrders({ engine })
  const { items } = (await call(ANN, 'listWorkOrders', {})) as { items: { id: string }[] }
  const [one, other] = items
  const closed = await call(ANN, 'closeWorkOrder', { id: one?.id ?? '', result: WORDS })
  const shown = [
    closed,
    await call(ANN, 'getWorkOrder', { id: one?.id ?? '' }),
    await call(ANN, 'getWorkOrder', { id: other?.id ?? '' }),
    await call(ANN, 'listWorkOrders', { status: 'all' }),
  ]
  expect(JSON.stringify(shown)).toContain('api_key=[redacted]')
  for (const view of shown) expect(JSON.stringify(view)).not.toContain(SECRET)
})

test('why somebody acknowledged an alert hides secrets', async () => {
  const { engine, call } = await storeWithCaller('sqlite', undefined, { redaction })
  const [rule] = READY_RULES
  if (rule === undefined) throw new Error('There are no ready-made rules.')
  const firing: Alert = { ...newAlert(rule, {}, 0), state: { status: 'firing', since: 1 }, episode: 1, firedAt: 1 }
  await alertsIn(engine).insert(firing)
  const acknowledged = await call(ANN, 'acknowledgeAlert', { id: firing.id, reason: WORDS })
  expect(acknowledged).toMatchObject({ state: { status: 'acknowledged', reason: 'set api_key=[redacted] again' } })
})

test('what a run of a runbook asks hides secrets', async () => {
  const { call } = await storeWithCaller('sqlite', undefined, { redaction })
  const steps = 'steps:\n  - { name: sure, ask: Go on? }\n'
  await call(ANN, 'publishRunbook', { name: 'mine', text: `name: mine\ntitle: Mine\napproval: true\n${steps}` })
  const run: { question: { text: string } } = await call(ANN, 'startRunbook', { name: 'mine', reason: WORDS })
  expect(run).toMatchObject({ question: { text: `operator:ann wants to run 'Mine': set api_key=[redacted] again` } })
})

test('a ticket hides secrets in the code of the failure, and its lines are ours alone', async () => {
  const { engine, context, call } = await storeWithCaller('sqlite', undefined, {
    redaction,
    webhookAllow: ['127.0.0.0/8'],
  })
  const system = await startFakeTickets()
  onTestFinished(() => system.close())
  await context.events.telling.start()
  onTestFinished(() => context.events.telling.stop())
  const settings = { url: system.url, template: { title: '{{title}}', code: '{{code}}', text: '{{context}}' } }
  await call(ANN, 'createChannel', { name: 'tickets', kind: 'work_orders', settings })
  await died(engine, [spec('a')], `api_key=${SECRET}\nBreaker all is closed`)
  await openWorkOrders({ engine })
  await soon(() => expect(system.tickets).toHaveLength(1))
  const text = JSON.stringify(system.tickets[0]?.asked)
  expect(text).toContain('api_key=[redacted]')
  expect(text).not.toContain(SECRET)
  expect(String(system.tickets[0]?.asked.text).split('\n')).not.toContain('Breaker all is closed')
})

describe.each(STORES)('cases of the whole store (%s)', (kind) => {
  test('a caller limited to tenants finds nothing merged: causes and redrives are of the fingerprint alone', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, [spec('a', { tenant: tenantId('acme') })], 'CODE_A')
    await died(engine, [spec('b'), spec('c', { tenant: tenantId('acme') })], 'CODE_B')
    const { items } = await engine.failureGroups({ limit: 10 })
    const [own, into] = ['CODE_A', 'CODE_B'].map(
      (code) => items.find(({ sample }) => sample.code === code)?.fingerprint,
    )
    await call(ANN, 'mergeFailureGroups', { fingerprint: into, from: [own], reason: 'the same' })
    expect(await call(ACME, 'explainFailureGroup', { fingerprint: own ?? '' })).toMatchObject({
      fingerprint: own,
      sample: { failures: 1 },
    })
    expect(await call(ACME, 'createRedrive', { fingerprint: own, reason: 'mended' })).toMatchObject({ total: 1 })
    const bulk = { fingerprint: own, dryRun: true }
    expect(await call(ACME, 'redriveTasks', bulk)).toMatchObject({ matched: 1 })
    expect(await call(ANN, 'redriveTasks', bulk)).toMatchObject({ matched: 3 })
  })
})

describe.each(STORES)('an id that another tenant has by now (%s)', (kind) => {
  const OTHERS = { tenant: tenantId('globex'), payload: '{"plan":"theirs"}' as never }

  test('shows nothing of that task beside a redrive', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, [spec('a', { tenant: tenantId('acme') })], 'CODE_A')
    const patch = [{ op: 'add', path: '/plan', value: 'ours' }]
    const { id }: { id: string } = await call(ACME, 'createRedrive', { all: true, patch, reason: 'mended' })
    await call(ACME, 'discardTasks', { ids: ['a'], reason: 'not needed' })
    await engine.retain({ discardedMs: 0 })
    await engine.submit([spec('a', OTHERS)])
    const items = await call(ACME, 'listRedriveItems', { id })
    expect(items).toMatchObject({ items: [{ taskId: 'a', changes: null, problem: 'It is gone.' }] })
    expect(JSON.stringify(items)).not.toContain('theirs')
  })

  test('is no chunk of a job', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await call(ANN, 'startJob', { id: 'j', action: 'render', tenant: 'acme', range: { to: 1 } })
    await engine.submit([spec(chunkId('j', 0), OTHERS)])
    const worker = workerId('w')
    const around = { actions: null, host: 'h', version: '1', runtimes: [], endpoint: null }
    const { epoch } = await engine.register({ worker, pools: [spec('x').pool], ...around })
    const claim = { worker, epoch, pools: [spec('x').pool], actions: null, limit: 1, leaseMs: 60_000 }
    const { claimed } = await engine.claim(claim)
    await engine.settle(claimed.map((one) => succeeded(one, encodeJson('theirs', 'result'))))
    await stepDocument(engine.collection(jobDefinition), 'j', (job) => ({ ...job, fed: 1 }))
    const chunks = await call(ACME, 'listJobChunks', { id: 'j' })
    expect(chunks).toMatchObject({ items: [{ place: 0, status: 'gone' }] })
    expect(JSON.stringify(chunks)).not.toContain('theirs')
  })
})
