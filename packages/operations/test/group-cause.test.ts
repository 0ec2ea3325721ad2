// The cause of a failure group: contrasts against successes of the same time, what changed before, the diff with the last good
// attempt; and what a caller limited to tenants is told.

import {
  createRedactor,
  decideFailed,
  describeFailure,
  type Engine,
  encodeJson,
  failed,
  succeeded,
  type TaskSpec,
  taskId,
  tenantId,
  workerId,
} from '@reprise/core'
import { afterAll, describe, expect, test } from 'vitest'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS } from '../src/table.ts'
import { contextOn, STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

interface Order {
  readonly region: string
  readonly tenant?: string
  readonly payload?: object
}

const orderSpec = (id: string, { region, tenant = 'default', payload = {} }: Order): TaskSpec =>
  spec(id, {
    labels: { region },
    tenant: tenantId(tenant),
    payload: encodeJson({ region, ...payload }, 'payload'),
  })

/** Everything that is queued runs in a worker of this version: what `isBad` says fails for good. */
async function runAll(engine: Engine, version: string, isBad: (region: string) => boolean): Promise<void> {
  const worker = workerId(`worker-${version}`)
  const pools = [spec('x').pool]
  const around = { host: `host-${version}`, version, runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  for (;;) {
    const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 1_000, leaseMs: 60_000 })
    if (claimed.length === 0) return
    await engine.settle(
      claimed.map((one) => {
        const { action, labels, settings } = one.snapshot
        if (!isBad(labels.region ?? '')) return succeeded(one, null)
        const failure = describeFailure(new TypeError('Cannot read currency'), action)
        return failed(one, failure, decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 }))
      }),
    )
  }
}

async function incident(engine: Engine, payload: (at: number) => object = () => ({})): Promise<string> {
  const at = Array.from({ length: 30 }, (_, index) => index)
  const tenantOf = (index: number): string => (index % 3 === 0 ? 'acme' : 'default')
  const order = (region: string, index: number): Order => ({ region, tenant: tenantOf(index), payload: payload(index) })
  for (const index of at) await engine.submit([orderSpec(`eu-${index}`, order('eu', index))])
  await runAll(engine, '2', (region) => region === 'eu')
  for (const index of at) await engine.submit([orderSpec(`us-${index}`, order('us', index))])
  await runAll(engine, '1', (region) => region === 'eu')
  // The newest dead letter marks the place among the successes.
  await engine.submit([orderSpec('eu-last', { region: 'eu', tenant: 'acme' })])
  await runAll(engine, '2', (region) => region === 'eu')
  const [group] = (await engine.failureGroups()).items
  return group?.fingerprint ?? ''
}

interface Cause {
  readonly summary: string
  readonly sample: { readonly failures: number; readonly successes: number; readonly deadLetters: number | null }
  readonly contrasts: readonly { readonly feature: string; readonly sentence: string }[]
  readonly changes: readonly { readonly kind: string; readonly sentence: string }[]
}

describe.each(STORES)('the cause (%s)', (kind) => {
  test('names region and version, states its samples, and tells what changed before', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await engine.pause({ action: spec('x').action }, { actor: 'operator:bob', reason: 'deploying' })
    await engine.resume({ action: spec('x').action }, { actor: 'operator:bob', reason: 'deployed' })
    const fingerprint = await incident(engine)
    const cause: Cause = await call(ANN, 'explainFailureGroup', { fingerprint })
    expect(cause.sample).toMatchObject({ failures: 31, successes: 30, deadLetters: 31 })
    expect(cause.contrasts.slice(0, 3).map(({ sentence }) => sentence)).toEqual([
      '"version=2": 100 % of the failures, 0 % of the successes',
      '"label.region=eu": 100 % of the failures, 0 % of the successes',
      '"payload.region=eu": 100 % of the failures, 0 % of the successes',
    ])
    expect(cause.summary).toBe(cause.contrasts[0]?.sentence)
    const told = cause.changes.map(({ sentence }) => sentence)
    expect(told).toContainEqual(expect.stringMatching(/workers? of version 2 joined/))
    expect(told).toContainEqual(`Lanes of action ${spec('x').action} were paused: deploying`)
  })

  test('a caller limited to a tenant compares the own tasks, and hears of no worker', async () => {
    const { engine, call } = await storeWithCaller(kind)
    const fingerprint = await incident(engine)
    const cause: Cause = await call(ACME, 'explainFailureGroup', { fingerprint })
    expect(cause.sample).toMatchObject({ failures: 11, successes: 10, deadLetters: null })
    const features = cause.contrasts.map(({ feature }) => feature).filter((feature) => feature !== 'duration')
    expect(features).toEqual(['label.region', 'payload.region'])
    expect(JSON.stringify(cause)).not.toMatch(/worker-|host-|version/)
    const OTHER = { ...ACME, tenants: [tenantId('nobody')] }
    await expect(call(OTHER, 'explainFailureGroup', { fingerprint })).rejects.toMatchObject({
      code: 'REPRISE_NOT_FOUND',
    })
  })

  test('the diff with the last good attempt', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await incident(engine, (at) => ({ items: [at] }))
    const found: {
      good: { task: string }
      differences: readonly { feature: string; failed: unknown; good: unknown }[]
    } = await call(ANN, 'diffAttempt', { id: 'eu-last' })
    expect(found.good.task).toMatch(/^us-/)
    expect(found.differences).toContainEqual({ feature: 'version', failed: '2', good: '1' })
    expect(found.differences).toContainEqual({ feature: 'label.region', failed: 'eu', good: 'us' })
    expect(found.differences).toContainEqual({ feature: 'payload.items:length', failed: null, good: 1 })
    await expect(call(ANN, 'diffAttempt', { id: 'us-0' })).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
    await expect(call({ ...ACME, tenants: [tenantId('x')] }, 'diffAttempt', { id: 'eu-last' })).rejects.toMatchObject({
      code: 'REPRISE_NOT_FOUND',
    })
  })
})

test('it says so where there is nothing to compare with, and where nothing stands out', async () => {
  const { engine, call } = await storeWithCaller()
  await engine.submit(Array.from({ length: 6 }, (_, at) => orderSpec(`a${at}`, { region: 'eu' })))
  await runAll(engine, '1', () => true)
  const [group] = (await engine.failureGroups()).items
  const asked = (): Promise<Cause> => call(ANN, 'explainFailureGroup', { fingerprint: group?.fingerprint })
  expect(await asked()).toMatchObject({ contrasts: [], summary: expect.stringContaining('0 successes') as string })
  await engine.submit(Array.from({ length: 20 }, (_, at) => orderSpec(`b${at}`, { region: 'eu' })))
  await runAll(engine, '1', () => false)
  await engine.submit([orderSpec('c', { region: 'eu' })])
  await runAll(engine, '1', () => true)
  const cause = await asked()
  expect(cause.contrasts.filter(({ feature }) => feature !== 'duration')).toEqual([])
})

test('what is redacted stays so: a secret is a field that is there, without its value', async () => {
  const { engine } = await storeWithCaller()
  const redaction = createRedactor()
  const context = await contextOn(engine, { redaction })
  for (let at = 0; at < 20; at++) {
    await engine.submit([orderSpec(`a${at}`, { region: 'eu', payload: { password: 'hunter2' } })])
  }
  await runAll(engine, '1', () => true)
  for (let at = 0; at < 20; at++) await engine.submit([orderSpec(`b${at}`, { region: 'eu' })])
  await runAll(engine, '1', () => false)
  await engine.submit([orderSpec('last', { region: 'eu', payload: { password: 'hunter2' } })])
  await runAll(engine, '1', () => true)
  const [group] = (await engine.failureGroups()).items
  const ask = (name: 'explainFailureGroup' | 'diffAttempt', input: object): Promise<unknown> =>
    perform(context, ANN, [name, ALL_OPERATIONS[name]], input, new AbortController().signal)
  const cause = await ask('explainFailureGroup', { fingerprint: group?.fingerprint })
  expect(JSON.stringify(cause)).toContain('payload.password is there')
  expect(JSON.stringify([cause, await ask('diffAttempt', { id: taskId('last') })])).not.toContain('hunter2')
})
