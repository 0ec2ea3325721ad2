// The observed engine: what it counts and logs of the answers of an engine, and that whatever an engine has goes through.

import {
  type Engine,
  failed,
  InvalidError,
  type LeaseRef,
  lost,
  released,
  type Settlement,
  StoreBusyError,
  silentLogger,
  succeeded,
  systemClock,
  type TaskId,
} from '@reprise/core'
import { metricsText, observedEngine } from '@reprise/telemetry'
import { describe, expect, test } from 'vitest'
import {
  aCrew,
  aFailure,
  aRegistry,
  aTask,
  deadLetter,
  keepingLog,
  openStore,
  retryIn,
  seriesValue,
} from './fixture.ts'

async function observed(maxLeases?: number) {
  const store = await openStore()
  const metrics = aRegistry()
  const { log, lines } = keepingLog()
  const leases = maxLeases === undefined ? {} : { maxLeases }
  const engine = observedEngine(store.engine, { metrics, log, clock: store.clock, ...leases })
  const value = (name: string, labels?: Record<string, string>) => seriesValue(metrics, name, labels)
  return { ...store, inner: store.engine, engine, metrics, lines, value }
}

/** As a worker over HTTP would name it. */
const named = ({ taskId, attempt, token }: LeaseRef): LeaseRef => ({ taskId, attempt, token })
const by = { actor: 'operator:ann', reason: 'fixed' }
const pool = 'default'

describe('B9: the life of a task in metrics', () => {
  test.each([
    ['named by task and token', undefined, named],
    ['with the very object that was claimed', 0, (ref: LeaseRef) => ref],
  ])('B9: an attempt that fails, then succeeds, settled %s', async (_how, maxLeases, refOf) => {
    const { engine, clock, lines, value } = await observed(maxLeases)
    await engine.submit([aTask('a')])
    expect(await engine.submit([aTask('a')])).toMatchObject([{ outcome: 'duplicate' }])
    const crew = await aCrew(engine)
    clock.jump(2_000)
    const [first] = await crew.claim()
    clock.jump(500)
    if (first === undefined) throw new Error('nothing claimed')
    await engine.settle([failed(refOf(first), aFailure, retryIn(1_000))])
    clock.jump(1_000)
    const [second] = await crew.claim()
    if (second === undefined) throw new Error('nothing claimed')
    await engine.settle([succeeded(refOf(second), null)])

    expect(await value('reprise_tasks_submitted_total', { pool, outcome: 'accepted' })).toBe(1)
    expect(await value('reprise_tasks_submitted_total', { pool, outcome: 'duplicate' })).toBe(1)
    expect(await value('reprise_queue_wait_seconds_sum', { pool })).toBe(2)
    expect(await value('reprise_queue_wait_seconds_count', { pool })).toBe(1)
    expect(await value('reprise_executions_total', { pool, status: 'failed' })).toBe(1)
    expect(await value('reprise_executions_total', { pool, status: 'succeeded' })).toBe(1)
    expect(await value('reprise_execution_duration_seconds_sum', { pool, status: 'failed' })).toBe(0.5)
    expect(await value('reprise_execution_duration_seconds_bucket', { pool, status: 'failed', le: '0.1' })).toBe(0)
    expect(await value('reprise_execution_duration_seconds_bucket', { pool, status: 'failed', le: '0.5' })).toBe(1)
    expect(await value('reprise_execution_duration_seconds_bucket', { pool, status: 'failed', le: '+Inf' })).toBe(1)
    expect(await value('task_retry_scheduled_total', { pool, reason: 'connection' })).toBe(1)
    expect(await value('task_retry_success_total', { pool, reason: 'connection' })).toBe(1)
    expect(await value('task_retry_failure_total', { pool, reason: 'connection' })).toBeUndefined()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: 'info',
      fields: {
        event: 'task.retry.scheduled',
        task_id: 'a',
        retry_token: 'token of a',
        attempt: 1,
        reason: 'connection',
        next_retry_at: new Date(clock.now()).toISOString(),
        dlq_flag: false,
        workorder_id: null,
      },
    })
  })

  test('B9: a retry that fails becomes a dead letter, and is escalated if a policy says so', async () => {
    const { engine, clock, lines, value } = await observed()
    await engine.submit([aTask('a')])
    const crew = await aCrew(engine)
    const [first] = await crew.claim()
    if (first === undefined) throw new Error('nothing claimed')
    await engine.settle([failed(named(first), aFailure, retryIn(0))])
    clock.jump(3_000)
    const [second] = await crew.claim()
    if (second === undefined) throw new Error('nothing claimed')
    const escalation = { severity: 'high', owner: 'team-a', runbook: 'restart' }
    await engine.settle([failed(named(second), aFailure, deadLetter({ escalation }))])

    const reason = 'retries_exhausted'
    expect(await value('task_retry_failure_total', { pool, reason: 'connection' })).toBe(1)
    expect(await value('task_retry_dlq_total', { pool, reason })).toBe(1)
    expect(await value('task_retry_escalated_total', { pool, reason, severity: 'high' })).toBe(1)
    expect(lines.map(({ level, fields }) => [level, fields.event, fields.dlq_flag])).toEqual([
      ['info', 'task.retry.scheduled', false],
      ['warn', 'task.retry.dlq', true],
      ['warn', 'task.retry.escalated', true],
    ])
    expect(lines[1]?.fields).toMatchObject({ reason, next_retry_at: null, attempt: 2 })
    expect(lines[2]?.fields).toMatchObject({ severity: 'high', owner: 'team-a', runbook: 'restart' })

    await engine.change({ kind: 'redrive', select: { ids: ['a' as TaskId] }, by })
    expect(await value('task_retry_scheduled_total', { pool: 'unknown', reason: 'manual' })).toBe(1)
  })

  test('B9: what a sweep finds lost counts for its pool, with its retry token', async () => {
    const { engine, inner, clock, lines, value } = await observed()
    await engine.submit([aTask('a')])
    // Claimed by another process.
    await (await aCrew(inner)).claim()
    clock.jump(20_000)
    const [item] = (await engine.expired(10)).overdue
    if (item === undefined || !('token' in item.ref)) throw new Error('nothing overdue')
    await engine.settle([lost(item.ref, aFailure, retryIn(1_000))])
    expect(await value('reprise_executions_total', { pool, status: 'lost' })).toBe(1)
    expect(await value('reprise_execution_duration_seconds_sum', { pool, status: 'lost' })).toBe(20)
    expect(lines).toMatchObject([
      { level: 'warn', fields: { event: 'task.execution.lost', retry_token: 'token of a', dlq_flag: false } },
    ])
  })

  test('B9: a settlement that the store refuses counts as superseded and as nothing else', async () => {
    const { engine, inner, lines, metrics, value } = await observed()
    await engine.submit([aTask('a'), aTask('b')])
    const [a, b] = await (await aCrew(engine)).claim()
    if (a === undefined || b === undefined) throw new Error('nothing claimed')
    await inner.change({ kind: 'cancel', select: { ids: [a.taskId] }, by })
    await engine.settle([failed(named(a), aFailure, retryIn(0)), released(named(b), 'not now')])
    expect(await value('reprise_settlements_superseded_total', { because: 'cancelled' })).toBe(1)
    expect(await value('reprise_executions_total', { pool, status: 'released' })).toBe(1)
    expect(await value('reprise_executions_total', { pool, status: 'failed' })).toBeUndefined()
    expect(await metricsText(metrics)).not.toMatch(/task_retry_\w+\{/)
    expect(lines).toEqual([])
  })

  test('B9: a settlement that is sent twice counts once, and one whose first answer was lost counts too', async () => {
    const { engine, inner, value } = await observed()
    await engine.submit([aTask('a'), aTask('b')])
    const [a, b] = await (await aCrew(engine)).claim()
    if (a === undefined || b === undefined) throw new Error('nothing claimed')
    const done = (ref: LeaseRef): Settlement => succeeded(named(ref), null)
    await engine.settle([done(a)])
    await engine.settle([done(a)])
    await engine.settle([succeeded(a, null)])
    expect(await value('reprise_executions_total', { pool, status: 'succeeded' })).toBe(1)
    expect(await value('reprise_executions_total', { pool: 'unknown', status: 'succeeded' })).toBeUndefined()
    // It reached the store, but nobody here heard of it.
    await inner.settle([done(b)])
    expect(await engine.settle([done(b)])).toMatchObject([{ repeated: true }])
    expect(await value('reprise_executions_total', { pool, status: 'succeeded' })).toBe(2)
  })

  test('B9: no more attempts are kept in mind than allowed; the oldest count for an unknown pool', async () => {
    const { engine, value } = await observed(3_000)
    const tasks = Array.from({ length: 1_000 }, (_, index) => index)
    const crew = await aCrew(engine)
    const refs: LeaseRef[] = []
    for (let round = 0; round < 4; round++) {
      await engine.submit(tasks.map((index) => aTask(`${round}-${index}`)))
      refs.push(...(await crew.claim(1_000)).map(named))
    }
    for (let start = 0; start < refs.length; start += 1_000) {
      await engine.settle(refs.slice(start, start + 1_000).map((ref) => succeeded(ref, null)))
    }
    expect(await value('reprise_executions_total', { pool: 'unknown', status: 'succeeded' })).toBe(1_000)
    expect(await value('reprise_executions_total', { pool, status: 'succeeded' })).toBe(3_000)
  })
})

describe('B9: the calls themselves', () => {
  const count = (verb: string, outcome: string) =>
    ['reprise_engine_call_duration_seconds_count', { verb, outcome }] as const

  test('B9: each verb is timed by its outcome, and its error comes through', async () => {
    const { inner, clock } = await observed()
    const metrics = aRegistry()
    let error: Error = new InvalidError('You asked for something that can not be.')
    const broken = { ...inner, counts: async () => Promise.reject(error) } as Engine
    const engine = observedEngine(broken, { metrics, log: silentLogger, clock })
    await expect(engine.counts()).rejects.toBe(error)
    error = new StoreBusyError('Busy.')
    await expect(engine.counts()).rejects.toBe(error)
    await engine.journal.read()
    expect(await seriesValue(metrics, ...count('counts', 'refused'))).toBe(1)
    expect(await seriesValue(metrics, ...count('counts', 'error'))).toBe(1)
    expect(await seriesValue(metrics, ...count('counts', 'ok'))).toBeUndefined()
    expect(await seriesValue(metrics, ...count('journal.read', 'ok'))).toBe(1)
  })

  test('everything that the engine has goes through: figures, journal, collections, marks and what is not known yet', async () => {
    const { inner, engine } = await observed()
    expect(engine.info).toBe(inner.info)
    expect(engine.healthThresholds).toBe(inner.healthThresholds)
    expect(Object.keys(engine)).toEqual(Object.keys(inner))
    expect('submit' in engine).toBe(true)
    expect('nothing' in engine).toBe(false)
    expect(Reflect.get(engine, 'nothing')).toBeUndefined()
    await engine.wait({ since: engine.mark() }, 1_000, AbortSignal.abort())
    const notes = engine.collection<{ id: string }>({ name: 'notes', indexes: {} })
    await notes.insert({ id: 'n' })
    expect(await notes.get('n')).toMatchObject({ document: { id: 'n' } })
  })

  test('an engine may be a class with private fields, frozen, and have verbs that nobody has heard of', async () => {
    class Secretive {
      readonly #answer = 42
      readonly info = { kind: 'secretive' }
      async ponder(): Promise<number> {
        return this.#answer
      }
    }
    const metrics = aRegistry()
    const bare = Object.freeze(new Secretive())
    const engine = observedEngine(bare as unknown as Engine, { metrics, log: silentLogger, clock: systemClock })
    const ponder: unknown = Reflect.get(engine, 'ponder')
    // Taken off, as code that hands verbs around does.
    expect(typeof ponder === 'function' ? await Reflect.apply(ponder, undefined, []) : null).toBe(42)
    expect(engine.info).toBe(bare.info)
    expect({ ...engine }.info).toBe(bare.info)
    expect(await seriesValue(metrics, ...count('ponder', 'ok'))).toBe(1)
  })

  test('a log that throws fails no call', async () => {
    const { inner, clock } = await observed()
    const log = { ...silentLogger, info: broken, warn: broken, error: broken }
    const engine = observedEngine(inner, { metrics: aRegistry(), log, clock })
    await engine.submit([aTask('a')])
    const [claimed] = await (await aCrew(engine)).claim()
    if (claimed === undefined) throw new Error('nothing claimed')
    expect(await engine.settle([failed(claimed, aFailure, deadLetter())])).toMatchObject([{ status: 'dead' }])
  })
})

function broken(): never {
  throw new Error('The disk is full.')
}
