// The switches of B12 on real engines: kept in the store, followed by everybody, journalled; and what turning retries off and on
// again does to the tasks of a running worker.

import { createClient } from '@reprise/client'
import {
  ALL_FLAGS_ON,
  defineAction,
  type Engine,
  exportTasks,
  implement,
  openFlags,
  parseQuery,
  StoreBusyError,
  seededRandom,
  silentLogger,
  VirtualClock,
} from '@reprise/core'
import { openPolicies } from '@reprise/policies'
import { createWorker } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES, type ScenarioStore } from '../virtual-time/scenario-store.ts'

const ANN = { actor: 'operator:ann', reason: 'the pipeline moves' }

async function setUp(store: ScenarioStore) {
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  onTestFinished(() => engine.close())
  return { clock, engine }
}

describe.each(SCENARIO_STORES)('on $name', (store) => {
  test('B12: a change counts for everybody who looks, and is journalled once', async () => {
    const { clock, engine } = await setUp(store)
    const flags = await openFlags({ engine, clock })
    const other = await openFlags({ engine, clock })
    expect(flags.current()).toEqual(ALL_FLAGS_ON)
    expect(flags.list()[0]).toMatchObject({ name: 'task-retry-queue', on: true, by: null, changedAt: null })
    const at = clock.now()
    expect(await flags.set('dlq-inspector', false, ANN)).toMatchObject({ on: false, by: ANN, changedAt: at })
    await flags.set('dlq-inspector', false, ANN)
    expect(flags.current()).toEqual({ ...ALL_FLAGS_ON, 'dlq-inspector': false })
    expect(other.current()).toEqual(ALL_FLAGS_ON)
    await other.look()
    expect(other.current()).toEqual(flags.current())
    await other.set('dlq-inspector', true, ANN)
    const { entries } = await engine.journal.read()
    expect(entries).toMatchObject([
      { type: 'note', actor: 'operator:ann', data: { flag: 'dlq-inspector', on: false } },
      { type: 'note', actor: 'operator:ann', data: { flag: 'dlq-inspector', on: true } },
    ])
    expect(entries[0]?.reason).toBe('The flag dlq-inspector is off from now on: the pipeline moves')
    await expect(flags.set('dlq', false, ANN)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  })

  test('B12: of several who make the same change at once one does, and it is journalled once', async () => {
    const { clock, engine } = await setUp(store)
    const all = await Promise.all(Array.from({ length: 4 }, () => openFlags({ engine, clock })))
    await Promise.all(all.map((flags) => flags.set('audit-streaming', false, ANN)))
    expect((await engine.journal.read()).entries).toHaveLength(1)
    for (const flags of all) expect(flags.current()['audit-streaming']).toBe(false)
  })

  test('B12: turning retries off is safe: nothing is lost, what waits is left alone, and all of it runs once they are on', async () => {
    const { clock, engine } = await setUp(store)
    let isDown = true
    const action = defineAction({
      name: 'send',
      retry: { max: 5, backoff: { kind: 'fixed', delay: '10m', jitter: 0 } },
    })
    const send = implement(action, () => {
      if (isDown) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    })
    const policies = await openPolicies({ engine, clock, log: silentLogger })
    await policies.start()
    onTestFinished(() => policies.stop())
    const flags = await openFlags({ engine, clock })
    const options = { engine, clock, random: seededRandom(1), log: silentLogger, policies }
    const worker = await createWorker({ ...options, actions: [send] })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const client = await createClient({ engine })
    const reaches = (id: string, status: string) =>
      runUntil(engine, clock, 3_600_000, async () => (await engine.task(id as never))?.state.status === status)

    const before = await client.submit(action, {})
    await reaches(before.id, 'waiting')
    await flags.set('task-retry-queue', false, ANN)
    await runUntil(engine, clock, 60_000, () => policies.current().retriesOff === true)
    const during = await client.submit(action, {})
    await reaches(during.id, 'dead')
    expect((await engine.task(during.id))?.state).toMatchObject({ reason: 'retries_off' })
    expect((await engine.task(before.id))?.state).toMatchObject({ status: 'waiting', reason: 'connection' })
    const waiting: unknown[] = []
    for await (const record of exportTasks(engine, parseQuery('status:waiting'), { now: clock.now() })) {
      waiting.push(record)
    }
    expect(waiting).toMatchObject([{ snapshot: { id: before.id }, attempts: [{ attempt: 1, status: 'failed' }] }])

    await flags.set('task-retry-queue', true, ANN)
    await runUntil(engine, clock, 60_000, () => policies.current().retriesOff !== true)
    isDown = false
    const { changed } = await engine.change({ kind: 'redrive', select: { ids: [during.id] }, by: ANN })
    expect(changed).toEqual([during.id])
    await reaches(during.id, 'succeeded')
    await reaches(before.id, 'succeeded')
  })
})

test('B12: while the store does not answer, the flags stay as they are', async () => {
  const [store] = SCENARIO_STORES
  if (store === undefined) throw new Error('There is no store to try it on.')
  const { clock, engine } = await setUp(store)
  const setter = await openFlags({ engine, clock })
  let isBusy = false
  const collection: Engine['collection'] = (definition) => {
    const real = engine.collection(definition)
    const list: typeof real.list = async (page) => {
      if (isBusy) throw new StoreBusyError('Busy.')
      return real.list(page)
    }
    return { ...real, get: (id) => real.get(id), insert: (one) => real.insert(one), list }
  }
  const errors: unknown[] = []
  const flags = await openFlags({
    engine: { collection, journal: engine.journal },
    clock,
    poll: '1s',
    onError: (error) => errors.push(error),
  })
  await flags.start()
  onTestFinished(() => flags.stop())
  isBusy = true
  await setter.set('audit-streaming', false, ANN)
  await runUntil(engine, clock, 10_000, () => errors.length >= 2)
  expect(flags.current()['audit-streaming']).toBe(true)
  isBusy = false
  await runUntil(engine, clock, 10_000, () => !flags.current()['audit-streaming'])
  expect(errors.length).toBeGreaterThanOrEqual(2)
})
