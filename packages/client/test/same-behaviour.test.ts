// One suite for both ways: whatever a client does straight on an engine, it does over HTTP, with the same results and the same
// errors. The worker's part is played on the engine.

import {
  type Client,
  createClient,
  defineAction,
  type ExportedTask,
  isRepriseError,
  type LiveEvent,
} from '@reprise/client'
import { type Engine, type ErrorCode, publishActions, type TaskId } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { claimAll, endAll, failAll } from './fixture.ts'
import { serve } from './served.ts'

interface Both {
  readonly engine: Engine
  readonly client: Client
}

const ways: readonly { readonly name: string; readonly open: () => Promise<Both> }[] = [
  {
    name: 'on an engine',
    async open() {
      const engine = await openSqliteEngine({ path: ':memory:' })
      const client = await createClient({ engine })
      onTestFinished(async () => {
        await client.close()
        await engine.close()
      })
      return { engine, client }
    },
  },
  { name: 'over HTTP', open: serve },
]

const codeOf = async (promise: Promise<unknown>): Promise<ErrorCode | 'none' | 'not ours'> =>
  promise.then(
    () => 'none' as const,
    (error: unknown) => (isRepriseError(error) ? error.code : ('not ours' as const)),
  )

const send = defineAction({
  name: 'invoice.send',
  pool: 'mail',
  maxRetries: 3,
  timeout: '2m',
  queueTtl: '1h',
  dependsOn: ['stripe'],
  sla: '1d',
  run: (input: { readonly id: string }) => input.id,
})

describe.each(ways)('$name', ({ open }) => {
  test('a task is submitted, found, run and its result awaited', async () => {
    const { client, engine } = await open()
    const task = await client.submit<number>('sum', [1, 2], { labels: { team: 'x' }, priority: 7, tenant: 'acme' })
    expect(task.accepted).toBe(true)
    expect(await task.get()).toMatchObject({
      id: task.id,
      action: 'sum',
      payload: '[1,2]',
      labels: { team: 'x' },
      priority: 7,
      tenant: 'acme',
      pool: 'default',
      attempt: 0,
      state: { status: 'queued' },
    })
    const result = task.result({ timeout: '20s' })
    await endAll(engine, 3)
    expect(await result).toBe(3)
    expect((await task.get())?.state).toMatchObject({ status: 'succeeded', result: '3' })
    expect((await client.executions(task.id)).items).toMatchObject([
      { attempt: 1, status: 'succeeded', worker: 'w1', taskSnapshot: { payload: '[1,2]' } },
    ])
    expect(await client.get('nobody')).toBeNull()
    expect(await client.explain('nobody')).toBeNull()
    expect(await client.executions('nobody')).toEqual({ items: [], next: null })
  })

  test('a second task of one id or dedupe key is not accepted, and its handle is about the first', async () => {
    const { client } = await open()
    const first = await client.submit('sum', 1, { id: 'one', dedupeKey: 'k' })
    const again = await client.submit('sum', 2, { id: 'one' })
    const keyed = await client.submit('sum', 3, { dedupeKey: 'k' })
    expect([first, again, keyed].map(({ id, accepted }) => [id, accepted])).toEqual([
      ['one', true],
      ['one', false],
      ['one', false],
    ])
    const many = await client.submitMany('sum', [1, 2, 3], (_, index) => ({ id: ['two', 'one', 'three'][index] ?? '' }))
    expect(many.map(({ id, accepted }) => [id, accepted])).toEqual([
      ['two', true],
      ['one', false],
      ['three', true],
    ])
    expect((await client.counts()).accepted).toBe(3)
  })

  test('an action submitted by name has the settings that a worker published', async () => {
    const { client, engine } = await open()
    await publishActions(engine, [send])
    const byName = await client.submit('invoice.send', { id: 'in_1' })
    const declared = await client.submit(send, { id: 'in_2' })
    const elsewhere = await client.submit('invoice.send', { id: 'in_3' }, { pool: 'default' })
    expect((await byName.get())?.settings).toEqual(send.settings)
    expect((await byName.get())?.pool).toBe('mail')
    expect((await declared.get())?.settings).toEqual(send.settings)
    expect((await elsewhere.get())?.pool).toBe('default')
  })

  test('a declared action brings its settings along, whether anybody has published it or not', async () => {
    const { client } = await open()
    const task = await client.submit(send, { id: 'in_1' })
    const [other] = await client.submitMany(send, [{ id: 'in_2' }])
    expect((await task.get())?.settings).toEqual(send.settings)
    expect((await task.get())?.pool).toBe('mail')
    expect((await other?.get())?.settings).toEqual(send.settings)
  })

  test('A8: a failure is told with its code, and what operators do about it', async () => {
    const { client, engine } = await open()
    const task = await client.submit('sum', 1, { id: 'bad' })
    const { id } = task
    await failAll(engine, Object.assign(new Error('no such account'), { code: 'E_ACCOUNT', details: { account: 7 } }))
    const failed = await task.result({ timeout: '20s' }).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      code: 'REPRISE_TASK_FAILED',
      taskStatus: 'dead',
      failure: { code: 'E_ACCOUNT', message: 'no such account' },
    })
    const [execution] = (await client.executions(id)).items
    expect(execution).toMatchObject({ status: 'failed', decision: { kind: 'dead' }, failure: { code: 'E_ACCOUNT' } })
    const [group] = (await client.failureGroups()).items
    expect(group).toMatchObject({ action: 'sum', count: 1, lastTask: 'bad', sample: { code: 'E_ACCOUNT' } })

    expect(await client.retry(id, { reason: 'fixed' })).toEqual({ outcome: 'queued', attempt: 2 })
    expect(await client.retry('nobody')).toEqual({ outcome: 'not_found' })
    const [claimed] = await claimAll(engine)
    expect(claimed?.attempt).toBe(2)
    expect(await client.retry(id)).toEqual({ outcome: 'wrong_status', status: 'running' })
    expect((await client.cancel(id)).changed).toEqual([id])
    expect(await task.cancel()).toBe(false)
    expect(await codeOf(task.result({ timeout: '20s' }))).toBe('REPRISE_TASK_FAILED')
  })

  test('A9: the budget of an operator is told when it is used up, and a redrive opens another', async () => {
    const { client, engine } = await open()
    const { id } = await client.submit(defineAction({ name: 'once', maxRetries: 1, run: () => 1 }), null, { id: 'o' })
    await failAll(engine, new Error('x'))
    expect(await client.retry(id)).toMatchObject({ outcome: 'queued' })
    await failAll(engine, new Error('x'))
    expect(await client.retry(id)).toEqual({ outcome: 'exhausted', budget: 1 })
    expect((await client.redrive({ action: 'once' }, { reason: 'again' })).changed).toEqual([id])
    await failAll(engine, new Error('x'))
    expect((await client.discard(id)).changed).toEqual([id])
    expect((await client.get(id))?.state.status).toBe('discarded')
  })

  test('B12: lists, searches, counts, series and exports agree', async () => {
    const { client, engine } = await open()
    await client.submitMany('invoice.send', ['a', 'b', 'c'], (id) => ({ id: String(id), tenant: 'acme' }))
    await endAll(engine, null)
    await client.submit('odd "name*', 'd', { id: 'd', delay: '1h' })
    const first = await client.list({ tenant: 'acme', limit: 2 })
    const rest = await client.list({ tenant: 'acme', limit: 2, cursor: first.next ?? '' })
    expect([...first.items, ...rest.items].map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
    expect((await client.list({ action: 'odd "name*' })).items.map(({ id }) => id)).toEqual(['d'])
    expect((await client.list({ action: 'odd*' })).items).toEqual([])
    expect((await client.search('status:waiting')).items.map(({ id }) => id)).toEqual(['d'])
    expect((await client.search('action:invoice.* status:succeeded', { limit: 10 })).items).toHaveLength(3)
    expect(await codeOf(client.search('status:nonsense'))).toBe('REPRISE_INVALID')
    expect(await client.counts({ tenant: 'acme' })).toMatchObject({ accepted: 3, succeeded: 3 })
    expect((await client.series({ tenant: 'acme' })).reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(3)
    const exported: ExportedTask[] = []
    for await (const task of client.exportTasks('tenant:acme')) exported.push(task)
    expect(exported.map(({ snapshot }) => snapshot.id).sort()).toEqual(['a', 'b', 'c'])
    expect(exported[0]).toMatchObject({ attempts: [{ attempt: 1, status: 'succeeded' }] })
    expect((await client.promote('d')).changed).toEqual(['d'])
  })

  test('lanes are paused, explained, limited and resumed; the journal tells it', async () => {
    const { client } = await open()
    const task = await client.submit('sum', 1, { tenant: 'acme' })
    await client.pause({ tenant: 'acme' }, { reason: 'they asked' })
    expect((await client.explain(task.id))?.gates).toMatchObject([
      { kind: 'paused', scope: { tenant: 'acme' }, by: { reason: 'they asked' } },
      { kind: 'no_worker' },
    ])
    expect((await client.lanes({ tenant: 'acme' })).items).toMatchObject([
      { action: 'sum', gates: [{ kind: 'paused' }] },
    ])
    expect([await client.resume({ tenant: 'acme' }), await client.resume({ tenant: 'acme' })]).toEqual([true, false])
    await client.limit({}, 3)
    await client.limit({}, null)
    const { entries, cursor } = await client.journal()
    const told = entries.filter(({ type }) => type.startsWith('lanes.'))
    expect(told.map(({ type }) => type)).toEqual(['lanes.paused', 'lanes.resumed', 'lanes.limited', 'lanes.limited'])
    expect(told[0]).toMatchObject({ reason: 'they asked', data: { tenant: 'acme' } })
    expect((await client.journal({ cursor })).entries).toEqual([])
  })

  test('workers, breakers, an inspection, flags and what is talked to', async () => {
    const { client, engine } = await open()
    await claimAll(engine)
    expect((await client.workers()).items).toMatchObject([{ worker: 'w1', health: { status: 'healthy' } }])
    expect(await client.worker('w1')).toMatchObject({ worker: 'w1', draining: false })
    expect(await client.worker('w9')).toBeNull()
    expect([await client.drain('w1'), await client.drain('w1')]).toEqual([true, false])
    expect(await codeOf(client.drain('w9'))).toBe('REPRISE_NOT_FOUND')
    expect(await client.breakers()).toEqual({ items: [], next: null })
    expect(await client.resetBreaker('dependency:stripe')).toBe(false)
    expect(await client.inspect()).toMatchObject({ findings: [] })
    expect(await client.flags.list()).toContainEqual(expect.objectContaining({ name: 'dlq-inspector', on: true }))
    expect(await client.flags.set('dlq-inspector', false)).toMatchObject({ on: false })
    expect(await codeOf(client.flags.set('nonsense', true))).toBe('REPRISE_NOT_FOUND')
    expect((await client.info()).engine.kind).toBe(engine.info.kind)
  })

  test('wrong input is refused with one code, before or after it is sent', async () => {
    const { client } = await open()
    const refused = [
      client.submit('sum', 1, { id: 'a\nb' }),
      client.submit('sum', 10n),
      client.submit('', 1),
      client.list({ limit: 100_000 }),
      client.list({ cursor: 'nonsense' }),
      client.executions('x', { limit: 0 }),
      client.cancel({ tenant: undefined as never }),
      client.limit({}, -1),
      client.resetBreaker('stripe'),
      client.series({ minutes: 0 }),
    ]
    expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => 'REPRISE_INVALID'))
    expect(await codeOf(client.submit('sum', 'x'.repeat(1_100_000)))).toBe('REPRISE_TOO_LARGE')
    expect(await codeOf(client.task('nobody').result({ timeout: '5s' }))).toBe('REPRISE_NOT_FOUND')
  })

  test('waiting for a result ends by its time-out, by a signal, and when the client is closed', async () => {
    const { client } = await open()
    const task = await client.submit('sum', 1)
    expect(await codeOf(task.result({ timeout: 30 }))).toBe('REPRISE_TIMED_OUT')
    const abort = new AbortController()
    const aborted = task.result({ signal: abort.signal }).catch((error: unknown) => error)
    abort.abort(new Error('enough'))
    expect(await aborted).toMatchObject({ message: 'enough' })
    const waiting = codeOf(task.result())
    await client.close()
    expect(await waiting).toBe('REPRISE_STORE_CLOSED')
  })

  test('events are followed as they are written, by type and task, and from a cursor', async () => {
    const { client } = await open()
    const { id } = await client.submit('sum', 1, { id: 'watched' })
    await client.submit('sum', 1, { id: 'other' })
    await client.pause({ tenant: 'before' })
    const end = new AbortController()
    const seen: LiveEvent[] = []
    const { cursor: start } = await client.journal()
    const following = (async () => {
      for await (const event of client.watch({ types: ['task.*'], taskId: id, cursor: start, signal: end.signal })) {
        seen.push(event)
        break
      }
    })()
    await client.cancel('other')
    await client.cancel(id, { reason: 'not needed' })
    await client.pause({ tenant: 'after' })
    const later = client.watch({ cursor: start, signal: end.signal })
    expect((await later.next()).value).toMatchObject({ type: 'task.cancelled', taskId: 'other' })
    const second = (await later.next()).value as LiveEvent
    expect(second).toMatchObject({ type: 'task.cancelled', taskId: id, reason: 'not needed' })
    const after = client.watch({ cursor: second.cursor, types: ['lanes.paused'], signal: end.signal })
    expect((await after.next()).value).toMatchObject({ type: 'lanes.paused', data: { tenant: 'after' } })
    await following
    end.abort()
    expect(seen.map(({ taskId }) => taskId)).toEqual([id])
    expect((await later.next()).done).toBe(true)
  })

  test('without a cursor, events are followed from now on', async () => {
    const { client } = await open()
    await client.pause({ tenant: 'before' })
    const events = client.watch()
    let first: LiveEvent | null = null
    const following = events.next().then(({ value }) => {
      first = value as LiveEvent
    })
    while (first === null) await client.pause({ tenant: 'after' })
    await following
    expect(first).toMatchObject({ type: 'lanes.paused', data: { tenant: 'after' } })
    await events.return(undefined)
  })

  test('many tasks are submitted in bounded parts, and many results awaited at once', async () => {
    const { client, engine } = await open()
    const inputs = Array.from({ length: 1_200 }, (_, index) => index)
    const tasks = await client.submitMany<string>('sum', inputs)
    expect(tasks.filter(({ accepted }) => accepted)).toHaveLength(1_200)
    const some = tasks.slice(0, 80).map((task) => task.result({ timeout: '20s' }))
    await endAll(engine, 'done')
    await endAll(engine, 'done')
    expect(new Set(await Promise.all(some))).toEqual(new Set(['done']))
    expect(await client.counts()).toMatchObject({ accepted: 1_200, succeeded: 1_200 })
  })
})

test('straight on an engine, what needs a server says so', async () => {
  const engine = await openSqliteEngine({ path: ':memory:' })
  const client = await createClient({ engine })
  onTestFinished(() => engine.close())
  for (const call of [client.policies.current(), client.tokens.list(), client.figures.scaling()]) {
    await expect(call).rejects.toMatchObject({
      code: 'REPRISE_INVALID',
      message: expect.stringContaining('server') as unknown,
    })
  }
})

test('over HTTP records are the very ones of the engine, without the tokens of leases', async () => {
  const { client, engine } = await serve()
  await client.submit('sum', { a: [1, null, 'é'] }, { id: 'ended', labels: { team: 'x' }, deadline: '1h' })
  await endAll(engine, { sum: 3 })
  await client.submit('sum', 1, { id: 'dead' })
  await failAll(engine, Object.assign(new Error('no'), { code: 'E_NO', details: { account: 7 } }))
  await client.submit('sum', 1, { id: 'running' })
  await claimAll(engine)
  await client.submit('sum', 1, { id: 'waiting', delay: '1h', dedupeKey: 'k' })
  await client.pause({ tenant: 'default' })

  for (const id of ['ended', 'dead', 'running', 'waiting'] as TaskId[]) {
    const { state, ...task } = (await engine.task(id)) ?? raise(id)
    const { token: _own, ...shown } = { token: null, ...state }
    expect(await client.get(id)).toEqual({ ...task, state: shown })
    const executions = (await engine.executions(id)).items.map(({ token: _its, ...execution }) => execution)
    expect((await client.executions(id)).items).toEqual(executions)
    // The sentence says how long ago: not the same a moment later.
    const { task: _again, summary: _sentence, ...explanation } = (await engine.explain(id)) ?? raise(id)
    expect(await client.explain(id)).toMatchObject(explanation)
  }
  expect((await client.list()).items.map(({ id }) => id)).toEqual((await engine.tasks({})).items.map(({ id }) => id))
  expect(await client.failureGroups()).toEqual(await engine.failureGroups())
  expect(await client.lanes()).toEqual(await engine.lanes())
  expect(await client.workers()).toEqual(await engine.workers())
  expect(await client.counts()).toEqual(await engine.counts())
  const { entries, cursor } = await engine.journal.read()
  const page = await client.journal()
  // What is noted about a token is redacted.
  expect(page.entries.filter(({ type }) => type !== 'note')).toEqual(entries.filter(({ type }) => type !== 'note'))
  expect(page.cursor).toBe(cursor)
})

function raise(id: string): never {
  throw new Error(`There is no task ${id}.`)
}
