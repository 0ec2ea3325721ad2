// Failures that others report, for tasks of ours and of theirs, once, twice, at once and out of order (B5).

import {
  actionName,
  type Claimed,
  DEFAULT_BREAKER,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  type Engine,
  publishActions,
  RequestError,
  taskId,
  tenantId,
  type WorkerId,
} from '@reprise/core'
import { openLeaseCredentials } from '@reprise/orchestrator'
import { afterAll, describe, expect, test } from 'vitest'
import { contextOn, openStore, STORES, spec, stopRedis } from '../../../operations/test/events/fixture.ts'
import { WorkClock } from '../../../operations/test/work-clock.ts'
import { type CloudEvent, readCloudEvents } from '../../src/events/cloud-events.ts'
import type { FailuresIn, Reporter } from '../../src/events/failures-in.ts'
import { createEvents } from '../../src/events/index.ts'

afterAll(stopRedis)

const BY: Reporter = { actor: 'token:plugins', tenants: null }

const event = (data: Readonly<Record<string, unknown>>, change: Partial<CloudEvent> = {}): CloudEvent => ({
  id: 'e1',
  source: '/plugins/pdf',
  type: 'task.execution.failed',
  data: { errorCode: 'ECONNRESET', retryable: true, idempotencyKey: 'k1', ...data },
  ...change,
})

async function claimOne(engine: Engine): Promise<Claimed> {
  const worker = 'w1' as WorkerId
  const { epoch } = await engine.register({
    worker,
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
  })
  const { claimed } = await engine.claim({
    worker,
    epoch,
    pools: [DEFAULT_POOL],
    actions: null,
    limit: 1,
    leaseMs: 60_000,
  })
  const [first] = claimed
  if (first === undefined) throw new Error('nothing to claim')
  return first
}

const credentialOf = async (engine: Engine, lease: Claimed): Promise<string> =>
  (await openLeaseCredentials(engine)).issue(lease)

const failuresInOn = async (...given: Parameters<typeof contextOn>) =>
  createEvents(await contextOn(...given), () => undefined)

const one = async (failuresIn: FailuresIn, given: CloudEvent, by: Reporter = BY) =>
  (await failuresIn.receive([given], by))[0]

describe.each(STORES)('on %s', (kind) => {
  test('a reported failure counts for no breaker, no retry quota and no worker', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    const settings = {
      ...DEFAULT_SETTINGS,
      maxRetries: 3,
      breakers: [{ name: 'dependency:x', settings: { ...DEFAULT_BREAKER, minFailures: 1 } }],
      quota: { name: 'q', windowMs: 60_000, limit: 1, share: null, allTenants: true },
    }
    await publishActions(engine, [{ name: actionName('render'), pool: DEFAULT_POOL, settings }])
    for (const key of ['k1', 'k2', 'k3']) {
      await one(failuresIn, event({ action: 'render', payload: {}, idempotencyKey: key }, { id: key }))
    }
    await engine.submit([{ ...spec('t1'), settings }])
    const lease = await claimOne(engine)
    const { taskId: id, attempt } = lease
    await one(failuresIn, event({ taskId: id, attempt, token: await credentialOf(engine, lease) }))
    const { items } = await engine.tasks({})
    expect(items.map(({ state }) => state)).toMatchObject(items.map(() => ({ status: 'waiting', quota: null })))
    expect(items).toHaveLength(4)
    expect((await engine.breakers()).items).toEqual([])
    expect((await engine.workers()).items).toMatchObject([{ consecutiveFailures: 0, recentOutcomes: 0 }])
  })

  test('B5: with attempt and token it ends the attempt; the same event again is answered the same', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    await engine.submit([spec('t1')])
    const lease = await claimOne(engine)
    const { taskId: id, attempt } = lease
    const report = event({ taskId: id, attempt, token: await credentialOf(engine, lease) })
    const first = await one(failuresIn, report)
    expect(first).toEqual({ outcome: 'settled', taskId: id, attempt: 1, status: 'waiting' })
    expect(await one(failuresIn, report)).toEqual(first)
    const task = await engine.task(id)
    expect(task).toMatchObject({ failures: 1, state: { status: 'waiting' } })
    expect((await engine.journal.read({ taskId: id })).entries.map(({ type }) => type)).toEqual(['execution.failed'])
  })

  test('B5: without the token, or with a wrong one, a running attempt is not touched; it is noted once', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    await engine.submit([spec('t1')])
    const lease = await claimOne(engine)
    const { taskId: id, attempt } = lease
    const token = await credentialOf(engine, lease)
    const first = await one(failuresIn, event({ taskId: id, attempt }))
    expect(first).toMatchObject({ outcome: 'noted', taskId: id })
    expect(await one(failuresIn, event({ taskId: id, attempt }))).toEqual(first)
    expect(await one(failuresIn, event({ taskId: id, attempt, token: `${token}0` }))).toMatchObject({
      outcome: 'superseded',
    })
    expect(await one(failuresIn, event({ taskId: id, attempt: 2, token }))).toMatchObject({ outcome: 'superseded' })
    // What the store itself knows the lease by can be guessed, and is worth nothing from outside.
    expect(await one(failuresIn, event({ taskId: id, attempt, token: lease.token }))).toMatchObject({
      outcome: 'superseded',
    })
    expect((await engine.task(id))?.state).toMatchObject({ status: 'running', attempt: 1 })
    const { entries } = await engine.journal.read({ taskId: id })
    expect(entries.filter(({ type }) => type === 'note')).toHaveLength(1)
  })

  test('B5: a retryable failure of a task of others enters the delay queue, and our workers run it', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    const report = event({ action: 'pdf.render', payload: { page: 1 }, errorMessage: 'reset by peer' })
    const first = await one(failuresIn, report)
    expect(first).toMatchObject({ outcome: 'retrying' })
    expect(await one(failuresIn, report)).toEqual(first)
    const id = first !== undefined && 'taskId' in first ? first.taskId : taskId('none')
    const task = await engine.task(id)
    expect(task).toMatchObject({
      action: 'pdf.render',
      payload: '{"page":1}',
      retryToken: 'k1',
      dedupeKey: 'event:/plugins/pdf:k1',
      failures: 1,
      attempt: 1,
      labels: { event_source: '/plugins/pdf', event_id: 'e1' },
    })
    expect(task?.state).toMatchObject({ status: 'waiting', reason: 'connection' })
    expect(await engine.execution(id, 1)).toMatchObject({
      status: 'failed',
      errorCode: 'ECONNRESET',
      errorMessage: 'reset by peer',
    })
    await engine.change({ kind: 'promote', select: { ids: [id] }, by: { actor: 'operator:ann', reason: 'now' } })
    expect(await claimOne(engine)).toMatchObject({ taskId: id, attempt: 2, retryReason: 'connection' })
    expect(await one(failuresIn, report)).toEqual(first)
    expect(await engine.counts()).toMatchObject({ accepted: 1 })
  })

  test('B5: one that is not retryable is a dead letter with its failure, and runs nowhere', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    const report = event({ action: 'pdf.render', retryable: false, errorCode: 'BAD_TEMPLATE' })
    const first = await one(failuresIn, report)
    expect(first).toMatchObject({ outcome: 'dead' })
    expect(await one(failuresIn, report)).toEqual(first)
    const { items } = await engine.tasks({ status: 'dead' })
    expect(items.map(({ state }) => state)).toMatchObject([
      { status: 'dead', failure: { code: 'BAD_TEMPLATE', retriable: false } },
    ])
  })

  test('B5: the same event many times at once is one task and one transition', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    const reports = Array.from({ length: 20 }, () => one(failuresIn, event({ action: 'pdf.render' })))
    const outcomes = await Promise.all(reports)
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
    expect(outcomes[0]).toMatchObject({ outcome: 'retrying' })
    const { items } = await engine.tasks({})
    expect(items).toMatchObject([{ failures: 1, attempt: 1 }])
    const { entries } = await engine.journal.read()
    expect(entries.map(({ type }) => type)).toContain('execution.failed')
    expect(entries.filter(({ type }) => type === 'execution.failed')).toHaveLength(1)
  })

  test('B5: another event with the same key, in whatever order, is noted on the task that there is', async () => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    const outcomes = await failuresIn.receive(
      [
        event({ action: 'pdf.render', attempt: 2, retryable: false }, { id: 'e2' }),
        event({ action: 'pdf.render', attempt: 1 }, { id: 'e1' }),
        event({ action: 'pdf.render', idempotencyKey: 'k2' }, { id: 'e1' }),
        event({ action: 'pdf.render' }, { id: 'e1', source: '/plugins/other' }),
      ],
      BY,
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['dead', 'noted', 'retrying', 'retrying'])
    expect(await engine.counts()).toMatchObject({ accepted: 3, dead: 1, waiting: 2 })
  })

  test('B5: cut off between reserving and settling, the event completes it when it comes again', async () => {
    const engine = await openStore(kind)
    const cut = new Proxy(engine, {
      get: (target, name) =>
        name === 'settle' ? () => Promise.reject(new Error('killed')) : (Reflect.get(target, name) as unknown),
    })
    const report = event({ action: 'pdf.render', retryable: false })
    await expect((await failuresInOn(cut)).failuresIn.receive([report], BY)).rejects.toThrow('killed')
    const [running] = (await engine.tasks({})).items
    expect(running?.state).toMatchObject({ status: 'running', worker: 'events' })
    // Nobody sends it again: what must not run again is left to a person.
    expect(running?.settings.onLost).toBe('hold')
    expect(await one((await failuresInOn(engine)).failuresIn, report)).toMatchObject({ outcome: 'dead' })
    expect(await engine.counts()).toMatchObject({ accepted: 1, dead: 1, running: 0 })
  })
})

test('B5: held lanes lose no report: what is retryable waits, the rest is to be sent again', async () => {
  const engine = await openStore()
  const { failuresIn } = await failuresInOn(engine)
  const by = { actor: 'operator:ann', reason: 'maintenance' }
  await engine.pause({}, by)
  const retryable = event({ action: 'pdf.render' })
  const first = await one(failuresIn, retryable)
  expect(first).toMatchObject({ outcome: 'retrying' })
  const [task] = (await engine.tasks({})).items
  expect(task?.state).toMatchObject({ status: 'waiting', reason: 'delayed' })
  const final = event({ action: 'pdf.render', retryable: false, idempotencyKey: 'k2' }, { id: 'e2' })
  expect(await one(failuresIn, final)).toMatchObject({ outcome: 'unavailable' })
  await engine.resume({}, by)
  expect(await one(failuresIn, retryable)).toEqual(first)
  expect(await one(failuresIn, final)).toMatchObject({ outcome: 'dead' })
  expect(await engine.counts()).toMatchObject({ accepted: 2 })
})

test('B5: what is declared of an action holds for a task of others', async () => {
  const engine = await openStore()
  const declared = {
    name: actionName('pdf.render'),
    pool: DEFAULT_POOL,
    settings: { ...DEFAULT_SETTINGS, maxRetries: 0 },
  }
  await publishActions(engine, [declared])
  const { failuresIn } = await failuresInOn(engine)
  expect(await one(failuresIn, event({ action: 'pdf.render' }))).toMatchObject({ outcome: 'dead' })
  const { items } = await engine.tasks({ action: actionName('pdf.render') })
  expect(items[0]?.state).toMatchObject({ status: 'dead', reason: 'retries_exhausted' })
})

test('intruder 7: another tenant\u2019s task is as unknown as one that does not exist', async () => {
  const engine = await openStore()
  const { failuresIn } = await failuresInOn(engine)
  await engine.submit([spec('t1', { tenant: tenantId('other') })])
  const token = await credentialOf(engine, await claimOne(engine))
  const acme: Reporter = { actor: 'token:acme', tenants: [tenantId('acme')] }
  const theirs = await one(failuresIn, event({ taskId: 't1', attempt: 1, token }), acme)
  const none = await one(failuresIn, event({ taskId: 't2', attempt: 1, token }), acme)
  expect(theirs).toMatchObject({ outcome: 'refused' })
  expect(JSON.stringify(theirs)).toBe(JSON.stringify(none).replace('t2', 't1'))
  expect((await engine.task(taskId('t1')))?.state.status).toBe('running')
  expect(await one(failuresIn, event({ action: 'a', tenant: 'other' }), acme)).toMatchObject({ outcome: 'refused' })
  expect(await one(failuresIn, event({ action: 'a' }), acme)).toMatchObject({ outcome: 'retrying' })
  expect((await engine.tasks({ tenant: tenantId('acme') })).items).toHaveLength(1)
})

const WRONG: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['no error code', { errorCode: undefined }],
  ['an error code of two lines', { errorCode: 'a\nb' }],
  ['retryable as a text', { retryable: 'yes' }],
  ['no key', { idempotencyKey: '' }],
  ['an attempt of 0', { attempt: 0 }],
  ['an action that climbs', { action: '../etc' }],
  ['half a surrogate pair', { idempotencyKey: '\ud800' }],
]

test.each(WRONG)('intruder 8: %s is refused, and leaves nothing', async (_, data) => {
  const engine = await openStore()
  const { failuresIn } = await failuresInOn(engine)
  expect(await one(failuresIn, event({ action: 'a', ...data }))).toMatchObject({ outcome: 'refused' })
  expect(await engine.counts()).toMatchObject({ accepted: 0 })
})

describe('B5: CloudEvents are read', () => {
  const envelope = { specversion: '1.0', id: 'e1', source: '/s', type: 'task.execution.failed', data: { a: 1 } }
  const read = { id: 'e1', source: '/s', type: 'task.execution.failed', data: { a: 1 } }

  test('in structured mode, as a batch, and in binary mode', () => {
    expect(readCloudEvents({ 'content-type': 'application/cloudevents+json; charset=utf-8' }, envelope)).toEqual([read])
    expect(readCloudEvents({ 'content-type': 'application/json' }, envelope)).toEqual([read])
    expect(readCloudEvents({ 'content-type': 'application/cloudevents-batch+json' }, [envelope, envelope])).toEqual([
      read,
      read,
    ])
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'e%201', 'ce-source': '/s', 'ce-type': 'task.execution.failed' }
    expect(readCloudEvents({ 'content-type': 'application/json', ...headers }, { a: 1 })).toEqual([
      { ...read, id: 'e 1' },
    ])
  })

  test('and nothing else', () => {
    const structured = { 'content-type': 'application/cloudevents+json' }
    for (const body of [
      null,
      [],
      'x',
      { ...envelope, specversion: '0.3' },
      { ...envelope, id: '' },
      { ...envelope, source: 5 },
    ]) {
      expect(() => readCloudEvents(structured, body)).toThrow(expect.objectContaining({ code: 'REPRISE_INVALID' }))
    }
    const batch = { 'content-type': 'application/cloudevents-batch+json' }
    expect(() => readCloudEvents(batch, Array(101).fill(envelope))).toThrow('at most 100')
    expect(() => readCloudEvents({ 'content-type': 'text/plain' }, envelope)).toThrow(
      expect.objectContaining({ code: 'REPRISE_UNSUPPORTED_MEDIA' }),
    )
  })

  test('and other types are passed over', async () => {
    const { failuresIn } = await failuresInOn(await openStore())
    expect(await one(failuresIn, event({}, { type: 'com.example.other' }))).toMatchObject({ outcome: 'ignored' })
  })
})

describe('many reports about one task', () => {
  const many = (count: number, from = 0): CloudEvent[] =>
    Array.from({ length: count }, (_, index) => event({ taskId: 't1' }, { id: `e${from + index}` }))

  test('leave turns to others, however long its journal is', async () => {
    const clock = new WorkClock()
    const store = await openStore('sqlite')
    await store.submit([spec('t1')])
    const reading: Engine['journal']['read'] = async (query) => {
      const page = await store.journal.read(query)
      // An entry takes a hundredth of a millisecond.
      clock.work(page.entries.length / 100)
      return page
    }
    const engine = Object.assign(Object.create(store) as Engine, { journal: { ...store.journal, read: reading } })
    const { failuresIn } = await failuresInOn(engine, { clock })
    await failuresIn.receive(many(100), BY)
    await failuresIn.receive(many(100), BY)
    expect(clock.longestMs).toBeLessThanOrEqual(20)
  })

  test.each(STORES)('are noted up to a number, and the same ones are still known (%s)', async (kind) => {
    const engine = await openStore(kind)
    const { failuresIn } = await failuresInOn(engine)
    await engine.submit([spec('t1')])
    const outcomes = await failuresIn.receive(many(103), BY)
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      ...Array.from({ length: 100 }, () => 'noted'),
      ...Array.from({ length: 3 }, () => 'refused'),
    ])
    expect((await failuresIn.receive(many(1, 50), BY))[0]).toMatchObject({ outcome: 'noted' })
    expect((await engine.journal.read({ taskId: taskId('t1'), limit: 1_000 })).entries).toHaveLength(100)
  })

  test('take from the rate of its tenant, and can be sent again', async () => {
    const engine = await openStore('sqlite')
    const context = await contextOn(engine)
    await engine.submit([spec('t1')])
    let left = 2
    const intake = {
      check: async () => undefined,
      takeNote: () => {
        if (left-- === 0) throw new RequestError('REPRISE_RATE_LIMITED', 'Wait.', { retryAfterMs: 1 })
      },
    }
    const { failuresIn } = createEvents(context, () => undefined, intake)
    const outcomes = await failuresIn.receive(many(3), BY)
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['noted', 'noted', 'unavailable'])
  })
})
