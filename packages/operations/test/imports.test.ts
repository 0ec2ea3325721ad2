// What one store exports another takes in, with attempts, errors and stacks, whatever the engines (B12, B13).

import {
  createRedactor,
  type Engine,
  type Execution,
  type Task,
  type TaskId,
  tenantId,
  workOrdersIn,
} from '@reprise/core'
import { openWorkOrders } from '@reprise/orchestrator'
import { afterAll, expect, test } from 'vitest'
import type { OperationOutput } from '../src/caller-types.ts'
import type { Context } from '../src/context.ts'
import { ALL_OPERATIONS } from '../src/table.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { breaks, recoveryStore, specs } from './redrive-fixture.ts'
import { ANN, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

type Imported = OperationOutput<'importTasks'>

async function exported(context: Context, input: Record<string, unknown> = { raw: true }): Promise<readonly unknown[]> {
  const { exportTasks } = ALL_OPERATIONS
  if (!('lines' in exportTasks)) throw new Error('It is a stream.')
  const lines: unknown[] = []
  for await (const line of exportTasks.lines(context, ANN, input, new AbortController().signal)) {
    lines.push(JSON.parse(JSON.stringify(line)))
  }
  return lines
}

const outcomes = ({ lines }: Imported): readonly string[] => lines.map(({ outcome }) => outcome)

/** All of a task that can come along: it is accepted anew. */
async function found(engine: Engine, id: TaskId): Promise<Omit<Task, 'acceptedAt'>> {
  const task = await engine.task(id)
  if (task === null) throw new Error(`There is no ${id}.`)
  const { acceptedAt: _then, ...rest } = task
  return rest
}

/** All of an attempt that can come along: tokens are drawn anew. */
const kept = ({ token: _token, taskSnapshot: _snapshot, ...attempt }: Execution): object => attempt

test.each(STORES)(
  'B12: dead letters, waiting and queued tasks come over from SQLite as they were (%s)',
  async (kind) => {
    const from = await recoveryStore('sqlite')
    const backoff = { kind: 'fixed', delayMs: 3_600_000, jitter: 0 } as const
    const patient = { ...spec('x').settings, maxRetries: 1, backoff }
    await from.died([spec('late', { settings: patient, tenant: tenantId('acme') })], () => {
      throw Object.assign(new Error('not yet'), { code: 'ECONNREFUSED' })
    })
    await from.died(specs(3, { payload: '{"amount":7}' as never, labels: { region: 'eu' }, priority: 7 }), breaks)
    await from.engine.submit([spec('q', { dedupeKey: 'k' })])
    const lines = await exported(from.context)
    expect(lines).toHaveLength(5)

    const { engine, call } = await storeWithCaller(kind)
    const asked = { tasks: lines, reason: 'moved' }
    const dry = await call(ANN, 'importTasks', { ...asked, dryRun: true })
    expect(outcomes(dry)).toEqual(Array(5).fill('accepted'))
    expect(await engine.counts()).toMatchObject({ accepted: 0 })
    for (const expected of ['accepted', 'duplicate', 'duplicate']) {
      expect(outcomes(await call(ANN, 'importTasks', asked))).toEqual(Array(5).fill(expected))
    }
    expect(await engine.counts()).toMatchObject({ accepted: 5, dead: 3, queued: 1, waiting: 1 })
    for (const id of ['late', 't00000', 't00001', 't00002', 'q'] as TaskId[]) {
      const { state, ...task } = await found(engine, id)
      const { state: before, ...original } = await found(from.engine, id)
      expect(task).toEqual(original)
      expect(state.status).toBe(before.status)
      expect(state.status === 'dead' ? state : before).toEqual(before)
      const attempts = async (store: typeof engine) => (await store.executions(id)).items.map(kept)
      expect(await attempts(engine)).toEqual(await attempts(from.engine))
    }
    const groups = async (store: typeof engine) =>
      (await store.failureGroups()).items.map(({ fingerprint, count, lastAt }) => ({ fingerprint, count, lastAt }))
    expect(await groups(engine)).toEqual(await groups(from.engine))
    const { items }: OperationOutput<'getLedger'> = await call(ANN, 'getLedger', {})
    expect(items.map(({ accepted, difference }) => [accepted, difference]).toSorted()).toEqual([
      [1, 0],
      [4, 0],
    ])
    expect((await engine.inspect({ repair: false, by: { actor: 'ann', reason: 'look' } })).findings).toEqual([])
  },
)

test.each(STORES)(
  'B13: a few words about failures of another system make dead letters like our own (%s)',
  async (kind) => {
    const { engine, call } = await storeWithCaller(kind)
    const stack = 'TypeError: no size\n    at render (size.js:7:3)'
    const line = (id: string) => ({
      snapshot: { id, action: 'render', payload: { id } },
      state: { status: 'dead' },
      attempts: [
        { resolvedAt: 1_000, failure: { message: 'too busy', code: 'EBUSY' } },
        { dispatchedAt: 2_000, resolvedAt: 3_000, failure: { message: 'no size', name: 'TypeError', stack } },
      ],
    })
    expect(outcomes(await call(ANN, 'importTasks', { tasks: [line('a'), line('b')] }))).toEqual([
      'accepted',
      'accepted',
    ])
    const { items } = await engine.executions('a' as TaskId)
    expect(items).toMatchObject([
      { attempt: 1, status: 'failed', resolvedAt: 1_000, errorCode: 'EBUSY', errorMessage: 'too busy' },
      { attempt: 2, dispatchedAt: 2_000, resolvedAt: 3_000, errorMessage: 'no size', failure: { stack } },
    ])
    expect((await engine.failureGroups()).items).toMatchObject([
      { count: 2, firstAt: 3_000, sample: { name: 'TypeError' } },
    ])
    await openWorkOrders({ engine })
    expect((await workOrdersIn(engine).list()).items).toHaveLength(1)
    await engine.change({ kind: 'redrive', select: {}, by: { actor: 'ann', reason: 'fixed' } })
    expect(await engine.counts()).toMatchObject({ accepted: 2, queued: 2, dead: 0 })
  },
)

test('each line has its own answer: what is wrong with one holds up no other', async () => {
  const { engine, call } = await storeWithCaller()
  const snapshot = { id: 'fine', action: 'render', payload: 1 }
  const attempts = [{ failure: { message: 'x' } }]
  const tasks = [
    { snapshot, state: { status: 'dead' }, attempts },
    { snapshot: { ...snapshot, payload: 2 }, state: { status: 'dead' }, attempts },
    { snapshot: { ...snapshot, id: 'r' }, state: { status: 'running' } },
    { snapshot: { ...snapshot, id: 'e' }, state: { status: 'succeeded' } },
    { snapshot: { ...snapshot, id: 'd' }, state: { status: 'dead' } },
    { snapshot: { ...snapshot, id: 'h' }, state: { status: 'queued' }, redacted: true },
    { snapshot: { ...snapshot, id: 'p', priority: 77 }, state: { status: 'queued' } },
    'nothing',
    { snapshot: { ...snapshot, id: 'w' }, state: { status: 'waiting', dueAt: 4_000_000_000_000 } },
  ]
  const result: Imported = await call(ANN, 'importTasks', { tasks })
  expect(outcomes(result)).toEqual([
    'accepted',
    'conflict',
    'refused',
    'ended',
    'refused',
    'refused',
    'refused',
    'refused',
    'accepted',
  ])
  expect(result.lines.map(({ problem = '' }) => problem)).toMatchObject({
    2: expect.stringContaining('running') as string,
    4: expect.stringContaining('last attempt of a dead letter') as string,
    5: expect.stringContaining('--raw') as string,
    6: expect.stringContaining('snapshot.priority') as string,
  })
  expect(await engine.counts()).toMatchObject({ accepted: 2, dead: 1, waiting: 1 })
})

test('an export that hides secrets says so, and is not taken in', async () => {
  const { engine, context, call } = await storeWithCaller()
  await engine.submit([spec('a', { payload: '{"password":"hunter2"}' as never }), spec('b')])
  const lines = await exported({ ...context, redaction: createRedactor() }, {})
  expect(lines).toMatchObject([{ snapshot: { id: 'b' } }, { snapshot: { id: 'a' }, redacted: true }])
  expect(lines[0]).not.toHaveProperty('redacted')
  expect(outcomes(await call(ANN, 'importTasks', { tasks: lines, dryRun: true }))).toEqual(['duplicate', 'refused'])
})
