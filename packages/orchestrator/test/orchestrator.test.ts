// All services together: started and stopped in order, told apart by pool, and options that make no sense are refused.

import { DEFAULT_POOL, type Engine, type PoolName, StoreBusyError, seededRandom } from '@reprise/core'
import { createOrchestrator, type OrchestratorOptions } from '@reprise/orchestrator'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FakeLauncher } from './fake-launcher.ts'
import { collected, joined, openStore, type Store, submitted, taskOf } from './fixture.ts'

async function started({ engine, clock }: Store, over: Partial<OrchestratorOptions> = {}) {
  const launcher = new FakeLauncher(clock)
  const orchestrator = createOrchestrator({
    engine,
    clock,
    random: seededRandom(1),
    directedPools: ['default'],
    launchPools: [{ pool: 'ephemeral', launcher, slots: 4 }],
    launch: { systemMonotonic: () => clock.monotonic() },
    probes: { ask: async () => true },
    ...over,
  })
  await orchestrator.start()
  onTestFinished(() => orchestrator.stop())
  return { orchestrator, launcher }
}

test('each task goes its way: pulled, directed, launched', async () => {
  const store = await openStore()
  const { engine, clock } = store
  const { orchestrator, launcher } = await started(store)
  const epoch = await joined(engine, 'w1')
  await submitted(engine, 'directed')
  const launched = await submitted(engine, 'launched', { pool: 'ephemeral' as PoolName })
  const pulled = await submitted(engine, 'pulled', { pool: 'pulled' as PoolName })
  await clock.advance(1_000)
  expect(await collected(engine, 'w1', epoch)).toMatchObject([{ taskId: 'directed' }])
  expect(launcher.orders).toMatchObject([{ key: 'launched:1' }])
  expect((await taskOf(engine, pulled)).state.status).toBe('queued')
  expect(orchestrator.status()).toEqual({
    state: 'running',
    services: [
      'setback watch',
      'sweep',
      'cases',
      'work-orders',
      'alerts',
      'ledger',
      'audit',
      'redrives',
      'reminders',
      'retention-notice',
      'clock watch',
      'health watch',
      'reconcile',
      'probe',
      'dispatch',
      'launch',
      'jobs',
    ],
    launchPools: [{ pool: 'ephemeral', slots: 4, taken: 1 }],
  })
  await orchestrator.stop()
  expect(orchestrator.status().state).toBe('stopped')
  // What was launched lives on, and its lease is nobody's concern but the next orchestrator's.
  expect((await taskOf(engine, launched)).state).toMatchObject({ status: 'running', stage: 'launch' })
  expect(clock.nextAt()).toBeNull()
})

test('a start and a stop at once leave all services as the last call says', async () => {
  const store = await openStore()
  const { engine, clock } = store
  const { orchestrator, launcher } = await started(store)
  await Promise.all([orchestrator.stop(), orchestrator.start(), orchestrator.stop()])
  expect(clock.nextAt()).toBeNull()
  await Promise.all([orchestrator.start(), orchestrator.stop(), orchestrator.start()])
  const epoch = await joined(engine, 'w1')
  await submitted(engine, 'directed')
  await submitted(engine, 'launched', { pool: 'ephemeral' as PoolName })
  await clock.advance(1_000)
  expect(await collected(engine, 'w1', epoch)).toHaveLength(1)
  expect(launcher.orders).toHaveLength(1)
})

test('A15: after a restart everything goes on where it was', async () => {
  const store = await openStore()
  const { engine, clock } = store
  const { orchestrator, launcher } = await started(store)
  const id = await submitted(engine, 't1', { pool: 'ephemeral' as PoolName })
  await clock.advance(1_000)
  await orchestrator.stop()
  await clock.advance(60_000)
  await orchestrator.start()
  await clock.advance(2_000)
  launcher.finish('t1:1', { ok: true, result: null })
  await clock.advance(10)
  expect((await taskOf(engine, id)).state.status).toBe('succeeded')
  expect(launcher.orders).toHaveLength(1)
})

test('a message goes to the launch pool of its task', async () => {
  const store = await openStore()
  const { orchestrator, launcher } = await started(store)
  await submitted(store.engine, 'sample', { pool: 'elsewhere' as PoolName })
  const sample = await taskOf(store.engine, 'sample' as never)
  const task = { ...sample, delayMs: 0, dueAt: null, deadlineMs: null }
  await expect(orchestrator.receive({ task, attempt: 1 })).rejects.toThrow("'elsewhere' is no launch pool here")
  const launched = { ...task, id: 'm1' as never, pool: 'ephemeral' as PoolName }
  expect(await orchestrator.receive({ task: launched, attempt: 1 })).toBe('launched')
  expect(launcher.orders).toMatchObject([{ key: 'm1:1' }])
})

test('A6, A14: the orchestrator has the ceiling of messages, 1 retry unless it is told another', async () => {
  const store = await openStore()
  const { orchestrator: usual } = await started(store)
  const { orchestrator: generous } = await started(store, { maxRetries: 3 })
  await submitted(store.engine, 'sample', { pool: 'ephemeral' as PoolName })
  const sample = await taskOf(store.engine, 'sample' as never)
  const task = { ...sample, id: 'm1' as never, delayMs: 0, dueAt: null, deadlineMs: null }
  expect(await usual.receive({ task, attempt: 4 })).toBe('dropped')
  expect(await generous.receive({ task, attempt: 5 })).toBe('dropped')
  expect(await generous.receive({ task, attempt: 4 })).toBe('launched')
})

test('a store that is away ends no service', async () => {
  const store = await openStore()
  const { engine, clock } = store
  let isDown = false
  const down = new Proxy(engine, {
    get(target, name: keyof Engine) {
      const member = target[name]
      if (typeof member !== 'function' || name === 'mark' || name === 'close' || name === 'collection') return member
      return (...input: never[]) =>
        isDown
          ? Promise.reject(new StoreBusyError('down'))
          : (member as (...input: never[]) => unknown).apply(target, input)
    },
  })
  const errors: unknown[] = []
  const { launcher } = await started({ engine: down, clock }, { onError: (error) => errors.push(error) })
  await clock.advance(2_000)
  isDown = true
  await clock.advance(60_000)
  expect(errors.length).toBeGreaterThan(10)
  isDown = false
  const epoch = await joined(engine, 'w1')
  await submitted(engine, 'directed', { pool: DEFAULT_POOL })
  await submitted(engine, 'launched', { pool: 'ephemeral' as PoolName })
  await clock.advance(10_000)
  expect(await collected(engine, 'w1', epoch)).toHaveLength(1)
  expect(launcher.orders).toHaveLength(1)
})

describe('options', () => {
  test('nothing but the sweep and jobs, or not even that', async () => {
    const { engine } = await openStore()
    expect(createOrchestrator({ engine }).status().services).toEqual([
      'setback watch',
      'sweep',
      'cases',
      'work-orders',
      'alerts',
      'ledger',
      'audit',
      'redrives',
      'reminders',
      'retention-notice',
      'clock watch',
      'health watch',
      'jobs',
    ])
    expect(createOrchestrator({ engine, sweep: false, jobs: false }).status().services).toEqual(['setback watch'])
  })
})
