// Which build ran an attempt: version, host and runtimes of its worker, as it registered them. And the workers that came and
// went: their entries in the journal, and how long they can be looked up.

import { encodeJson, failed, succeeded, taskId, workerId } from '@reprise/core'
import { WORKER_SILENT_MS } from '@reprise/core/engine'
import { expect } from 'vitest'
import { dead, failure, LEASE_MS, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const BUILD = { version: '2.0', host: 'h1' }
const buildOf = async (store: Store, id: string, attempt = 1) =>
  (await store.engine.execution(taskId(id), attempt))?.build
const left = async (store: Store) => (await store.engine.departed()).items.map(({ worker }) => worker)
const entries = async (store: Store) => (await store.engine.journal.read()).entries

export const builds = subject('builds', (check) => {
  check('an attempt keeps the build of its worker: while it runs, and however it ends', async (store) => {
    await store.submit({ id: 'good' }, { id: 'bad' }, { id: 'ugly' })
    const worker = await store.worker('w1', BUILD)
    const { claimed } = await worker.claim(3)
    const expected = { ...BUILD, runtimes: [] }
    for (const id of ['good', 'bad', 'ugly']) expect(await buildOf(store, id)).toEqual(expected)
    const [good, bad, ugly] = claimed
    if (good === undefined || bad === undefined || ugly === undefined) throw new Error('Three were to be claimed.')
    await store.engine.settle([
      succeeded(good, null),
      failed(bad, failure(), dead()),
      failed(ugly, failure(), retryIn(1_000)),
    ])
    await store.engine.deregister(worker.id, worker.epoch)
    for (const id of ['good', 'bad', 'ugly']) {
      expect(await buildOf(store, id)).toEqual(expected)
      expect((await store.task(id)).lastWorker).toEqual({ worker: 'w1', ...BUILD })
    }
    expect((await store.engine.executions(taskId('good'))).items).toMatchObject([{ build: expected }])
  })

  check('a success with a result and a success later than its claim keep it as well', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' })
    const { claimed } = await (await store.worker('w1', BUILD)).claim(2)
    store.clock.jump(5)
    await store.engine.settle(
      claimed.map((ref, index) => succeeded(ref, index === 0 ? null : encodeJson({ n: 1 }, 'result'))),
    )
    for (const id of ['a', 'b']) expect((await store.task(id)).lastWorker).toEqual({ worker: 'w1', ...BUILD })
  })

  check('each attempt has its own: the last one is what the task shows', async (store) => {
    await store.submit({ id: 'a' })
    const old = await store.worker('w1', { version: '1', host: 'h1' })
    const lease = await old.claimOne()
    await store.engine.settle([failed(lease, failure(), retryIn(0))])
    await store.engine.deregister(old.id, old.epoch)
    expect((await store.task('a')).lastWorker).toEqual({ worker: 'w1', version: '1', host: 'h1' })
    await (await store.worker('w1', { version: '2', host: 'h2' })).claimOne()
    expect(await buildOf(store, 'a', 1)).toMatchObject({ version: '1', host: 'h1' })
    expect(await buildOf(store, 'a', 2)).toMatchObject({ version: '2', host: 'h2' })
    expect((await store.task('a')).lastWorker).toEqual({ worker: 'w1', version: '2', host: 'h2' })
  })

  check('what was lost by an older epoch is told of that epoch', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(LEASE_MS)
    await store.worker('w1', { version: '9', host: 'elsewhere' })
    expect(await buildOf(store, 'a')).toMatchObject({ version: '1', host: 'here' })
    const [ref] = (await store.engine.expired(10)).overdue.map((one) => one.ref)
    if (ref === undefined || !('token' in ref)) throw new Error('The lease was to be found.')
    await store.engine.settle([{ kind: 'lost', ref, failure: failure('worker_lost'), decision: dead() }])
    expect(await buildOf(store, 'a', lease.attempt)).toMatchObject({ version: '1', host: 'here' })
    expect((await store.task('a')).lastWorker).toEqual({ worker: 'w1', version: '1', host: 'here' })
  })

  check('a dispatcher and a launcher have no build; the worker that gets the task has', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' })
    const other = await store.worker('other', { version: 'orchestrator' })
    const dispatched = await other.claimOne({ stage: 'dispatch' })
    await other.claimOne({ stage: 'launch' })
    for (const id of ['a', 'b']) {
      expect(await buildOf(store, id)).toBe(null)
      expect((await store.task(id)).lastWorker).toEqual({ worker: 'other', version: null, host: null })
    }
    const worker = await store.worker('w1', BUILD)
    await store.engine.assign([{ ...dispatched, worker: worker.id, ttlMs: 10_000 }])
    expect(await buildOf(store, 'a')).toMatchObject(BUILD)
    store.clock.jump(1)
    await worker.claimOne()
    expect(await buildOf(store, 'a')).toMatchObject(BUILD)
    expect((await store.task('a')).lastWorker).toEqual({ worker: 'w1', ...BUILD })
  })

  check('a task that was never tried, or whose attempt expired in the queue, has no last worker', async (store) => {
    await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
    expect((await store.task('a')).lastWorker).toBe(null)
    store.clock.jump(1_000)
    const ref = { taskId: taskId('a'), attempt: 1 }
    await store.engine.settle([{ kind: 'expired', ref, failure: failure('queue_timeout'), decision: dead() }])
    expect((await store.task('a')).lastWorker).toBe(null)
    expect(await buildOf(store, 'a')).toBe(null)
  })

  check('joining and leaving are entries in the journal, one each', async (store) => {
    const worker = await store.worker('w1', BUILD)
    await store.engine.deregister(worker.id, worker.epoch)
    await store.engine.deregister(worker.id, worker.epoch)
    const about = {
      taskId: null,
      attempt: null,
      actor: 'registry',
      data: { worker: 'w1', epoch: worker.epoch, ...BUILD },
    }
    expect(await entries(store)).toMatchObject([
      { type: 'worker.joined', reason: 'registered', ...about },
      { type: 'worker.left', reason: 'said goodbye', ...about },
    ])
  })

  check('a worker that registers again under its id was replaced, and did not join', async (store) => {
    await store.worker('w1', BUILD)
    await store.worker('w1', BUILD)
    expect((await entries(store)).map(({ type }) => type)).toEqual(['worker.joined', 'worker.replaced'])
  })

  check('a worker that left can be looked up for a day, the latest first; it is no worker any more', async (store) => {
    for (const name of ['w1', 'w2', 'w3']) {
      const worker = await store.worker(name, BUILD)
      store.clock.jump(1_000)
      await store.engine.deregister(worker.id, worker.epoch)
    }
    expect((await store.engine.workers()).items).toEqual([])
    expect(await store.engine.worker(workerId('w1'))).toBe(null)
    const first = await store.engine.departed({ limit: 2 })
    expect(first.items).toMatchObject([
      { worker: 'w3', ...BUILD, leftAt: START + 3_000, registeredAt: START + 2_000 },
      { worker: 'w2', ...BUILD, leftAt: START + 2_000 },
    ])
    const second = await store.engine.departed({ limit: 2, cursor: first.next ?? '' })
    expect(second).toMatchObject({ items: [{ worker: 'w1', pools: ['default'], actions: null }], next: null })
    store.clock.jump(WORKER_SILENT_MS - 2_000)
    expect(await left(store)).toEqual(['w3', 'w2'])
    await store.engine.retain({})
    expect(await left(store)).toEqual(['w3', 'w2'])
  })

  check('a worker that comes back has not left', async (store) => {
    const worker = await store.worker('w1')
    await store.engine.deregister(worker.id, worker.epoch)
    expect(await left(store)).toEqual(['w1'])
    await store.worker('w1')
    expect(await left(store)).toEqual([])
  })

  check('a worker that was silent for a day is forgotten, and the journal says so', async (store) => {
    const { epoch } = await store.worker('w1', BUILD)
    store.clock.jump(WORKER_SILENT_MS)
    await store.engine.retain({})
    await store.engine.retain({})
    expect((await store.engine.workers()).items).toEqual([])
    expect((await entries(store)).slice(1)).toMatchObject([
      { type: 'worker.left', reason: 'not heard of for a day', data: { worker: 'w1', epoch, ...BUILD } },
    ])
    expect(await left(store)).toEqual([])
  })
})
