// Who writes retries in code wants them: a plain Error is retried then, on each engine. A pack and a policy that ask for retries
// mean the failures that a rule knows (C3).

import { createClient } from '@reprise/client'
import {
  type ActionOptions,
  defineAction,
  type Execution,
  seededRandom,
  silentLogger,
  VirtualClock,
} from '@reprise/core'
import { parsePolicies } from '@reprise/policies'
import { createWorker } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES, type ScenarioStore } from '../virtual-time/scenario-store.ts'

type Retry = NonNullable<ActionOptions<unknown, unknown, unknown>['retry']>

/** Every attempt of a task of an action with these retries, whose handler always throws this. */
async function attempts(
  store: ScenarioStore,
  retry: Retry,
  thrown: Error,
  policy = 'policies: []',
): Promise<readonly Execution[]> {
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  onTestFinished(() => engine.close())
  const action = defineAction({
    name: 'invoice.send',
    retry: { ...retry, backoff: { kind: 'fixed', delayMs: 1_000, jitter: 0 } },
    run: () => Promise.reject(thrown),
  })
  const book = parsePolicies(policy, { file: 'policies.yaml', version: 1 })
  const worker = await createWorker({
    engine,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    actions: [action],
    policies: { current: () => book },
  })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const client = await createClient({ engine })
  const { id } = await client.submit(action, null)
  await runUntil(engine, clock, 600_000, async () => (await engine.task(id))?.state.status === 'dead')
  return (await engine.executions(id)).items
}

describe.each(SCENARIO_STORES)('on $name', (store) => {
  test('C3: two retries in code are used for a plain Error', async () => {
    const executions = await attempts(store, { max: 2 }, new Error('The printer is in a mood.'))
    expect(executions.map(({ decision }) => decision)).toMatchObject([
      { kind: 'retry', reason: 'unknown' },
      { kind: 'retry', reason: 'unknown' },
      { kind: 'dead', reason: 'retries_exhausted' },
    ])
  })

  test.each<[string, Retry, Error]>([
    ['what is plainly a bug', { max: 2 }, new TypeError("Cannot read properties of undefined (reading 'id')")],
    ['what is not valid', { max: 2 }, new Error('Validation failed: name is missing')],
    ['where the action says so', { max: 2, unknown: false }, new Error('The printer is in a mood.')],
    ['where nobody asked for retries', {}, new Error('The printer is in a mood.')],
  ])('C3: no retry for %s', async (_, retry, thrown) => {
    const executions = await attempts(store, retry, thrown)
    expect(executions.map(({ decision }) => decision)).toMatchObject([{ kind: 'dead', reason: 'not_retriable' }])
  })

  test('C3: retries of a policy are for failures that a rule knows', async () => {
    const policy = 'policies: [{ name: all, match: {}, retries: 2 }]'
    expect(await attempts(store, {}, new Error('The printer is in a mood.'), policy)).toHaveLength(1)
    expect(await attempts(store, {}, Object.assign(new Error('away'), { code: 'ECONNRESET' }), policy)).toHaveLength(3)
  })
})
