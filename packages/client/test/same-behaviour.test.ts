// One suite for both ways: whatever a client does straight on an engine, it does over HTTP, with the same results and the same
// errors. The worker's part is played on the engine.

import { createClient, defineAction, type LiveEvent, pages } from '@reprise/client'
import { publishActions } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { codeOf, ways } from './both-ways.ts'
import { claimAll, endAll, failAll } from './fixture.ts'
import { serve } from './served.ts'

const send = defineAction({
  name: 'invoice.send',
  pool: 'mail',
  retry: { max: 3 },
  timeout: '2m',
  queueTtl: '1h',
  uses: ['stripe'],
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
      payload: [1, 2],
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
    expect((await task.get())?.state).toMatchObject({ status: 'succeeded', result: 3 })
    expect((await client.listExecutions({ id: task.id })).items).toMatchObject([
      { attempt: 1, status: 'succeeded', worker: 'w1', taskSnapshot: { payload: [1, 2] } },
    ])
    expect(await client.task('nobody').get()).toBeNull()
    const nobody = { id: 'nobody' }
    const calls = [client.getTask(nobody), client.explainTask(nobody), client.listExecutions(nobody)]
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'REPRISE_NOT_FOUND'))
  })

  test('the same again under one id or dedupe key is not accepted, and its handle is about the first', async () => {
    const { client } = await open()
    const first = await client.submit('sum', 1, { id: 'one', dedupeKey: 'k' })
    const again = await client.submit('sum', 1, { id: 'one' })
    const keyed = await client.submit('sum', 1, { dedupeKey: 'k' })
    expect([first, again, keyed].map(({ id, accepted }) => [id, accepted])).toEqual([
      ['one', true],
      ['one', false],
      ['one', false],
    ])
    const many = await client.submitMany('sum', [1, 1, 3], (_, index) => ({ id: ['two', 'one', 'three'][index] ?? '' }))
    expect(many.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['two', 'accepted'],
      ['one', 'duplicate'],
      ['three', 'accepted'],
    ])
    expect((await client.counts()).accepted).toBe(3)
  })

  test('another task under one id or dedupe key is a conflict that says in what they differ', async () => {
    const { client } = await open()
    await client.submit('sum', 1, { id: 'one', dedupeKey: 'k' })
    const refused = { code: 'REPRISE_CONFLICT', taskId: 'one' }
    await expect(client.submit('sum', 2, { id: 'one' })).rejects.toMatchObject({ ...refused, differs: ['payload'] })
    await expect(client.submit('add', 1, { id: 'one' })).rejects.toMatchObject({ ...refused, differs: ['action'] })
    await expect(client.submit('sum', 1, { id: 'one', tenant: 'acme' })).rejects.toMatchObject({
      ...refused,
      differs: ['tenant'],
    })
    await expect(client.submit('sum', 2, { dedupeKey: 'k' })).rejects.toMatchObject({
      ...refused,
      differs: ['payload'],
    })
    // A key belongs to its tenant and action.
    expect((await client.submit('add', 2, { dedupeKey: 'k' })).accepted).toBe(true)
    expect((await client.submit('sum', 2, { dedupeKey: 'k', tenant: 'acme' })).accepted).toBe(true)
  })

  test('of several tasks those in conflict are told, and no task of others is handed out', async () => {
    const { client } = await open()
    await client.submit('sum', 1, { id: 'one', tenant: 'acme' })
    for (const inputs of [[2], [2, 3]]) {
      const many = await client.submitMany('sum', inputs, (_, index) => ({ id: ['one', 'more'][index] ?? '' }))
      expect(many[0]).toMatchObject({ accepted: false, outcome: 'conflict', differs: ['payload', 'tenant'] })
      const calls = [many[0]?.get(), many[0]?.result(), many[0]?.cancel()]
      const codes = await Promise.all(calls.map((call) => codeOf(call ?? Promise.resolve())))
      expect(codes).toEqual(calls.map(() => 'REPRISE_CONFLICT'))
    }
    expect(await client.task('more').get()).not.toBeNull()
  })

  test('a dedupe key is held until its task has ended, or as long as was asked for', async () => {
    const { client, engine } = await open()
    const keys = { brief: 'ended', daily: '24h', once: 'forever' } as const
    const submitAll = () =>
      Promise.all(Object.entries(keys).map(([key, until]) => client.submit('sum', 1, { dedupe: { key, until } })))
    await submitAll()
    await endAll(engine, 1)
    expect((await submitAll()).map(({ outcome }) => outcome)).toEqual(['accepted', 'duplicate', 'duplicate'])
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
    // What it depends on is for its worker to say.
    const { breakers: _, ...own } = send.settings
    expect((await task.get())?.settings).toMatchObject(own)
    expect((await task.get())?.pool).toBe('mail')
    expect((await other?.get())?.settings).toMatchObject(own)
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
    const [execution] = (await client.listExecutions({ id: id })).items
    expect(execution).toMatchObject({ status: 'failed', decision: { kind: 'dead' }, failure: { code: 'E_ACCOUNT' } })
    const [group] = (await client.listFailureGroups()).items
    expect(group).toMatchObject({ action: 'sum', count: 1, lastTask: 'bad', sample: { code: 'E_ACCOUNT' } })

    expect(await client.retryExecution({ id, reason: 'fixed' })).toEqual({ taskId: id, attempt: 2, status: 'queued' })
    expect(await codeOf(client.retryExecution({ id: 'nobody' }))).toBe('REPRISE_NOT_FOUND')
    const [claimed] = await claimAll(engine)
    expect(claimed?.attempt).toBe(2)
    await expect(client.retryExecution({ id })).rejects.toMatchObject({
      code: 'REPRISE_NOT_RETRYABLE',
      message: expect.stringContaining('is running') as string,
    })
    expect((await client.cancelTasks({ ids: [id] })).changed).toEqual([id])
    expect(await task.cancel()).toBe(false)
    expect(await codeOf(task.result({ timeout: '20s' }))).toBe('REPRISE_TASK_FAILED')
  })

  test('A9: the budget of an operator is told when it is used up, and a redrive opens another', async () => {
    const { client, engine } = await open()
    const { id } = await client.submit(
      defineAction({ name: 'once', retry: { max: 1, unknown: false }, run: () => 1 }),
      null,
      { id: 'o' },
    )
    await failAll(engine, new Error('x'))
    expect(await client.retryExecution({ id })).toMatchObject({ status: 'queued' })
    await failAll(engine, new Error('x'))
    await expect(client.retryExecution({ id })).rejects.toMatchObject({
      code: 'REPRISE_BUDGET_EXHAUSTED',
      message: expect.stringContaining('its 1 retries') as string,
    })
    expect((await client.redriveTasks({ action: 'once', reason: 'again' })).changed).toEqual([id])
    await failAll(engine, new Error('x'))
    expect((await client.discardTasks({ ids: [id] })).changed).toEqual([id])
    expect((await client.getTask({ id })).state.status).toBe('discarded')
  })

  test('B12: lists, searches, counts, series and exports agree', async () => {
    const { client, engine } = await open()
    await client.submitMany('invoice.send', ['a', 'b', 'c'], (id) => ({ id: String(id), tenant: 'acme' }))
    await endAll(engine, null)
    await client.submit('odd', 'd', { id: 'd', delay: '1h' })
    const ids: string[] = []
    for await (const { items } of pages(client.listTasks, { q: 'tenant:acme', limit: 2 })) {
      ids.push(...items.map(({ id }) => id))
    }
    expect(ids.sort()).toEqual(['a', 'b', 'c'])
    expect((await client.listTasks({ q: 'status:waiting' })).items.map(({ id }) => id)).toEqual(['d'])
    expect((await client.listTasks({ q: 'action:invoice.* status:succeeded', limit: 10 })).items).toHaveLength(3)
    expect(await codeOf(client.listTasks({ q: 'status:nonsense' }))).toBe('REPRISE_INVALID')
    expect(await client.counts({ tenant: 'acme' })).toMatchObject({ accepted: 3, succeeded: 3 })
    const { items: points } = await client.series({ tenant: 'acme' })
    expect(points.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(3)
    const exported = []
    for await (const task of client.exportTasks({ q: 'tenant:acme' })) exported.push(task)
    expect(exported.map(({ snapshot }) => snapshot.id).sort()).toEqual(['a', 'b', 'c'])
    expect(exported[0]).toMatchObject({ attempts: [{ attempt: 1, status: 'succeeded' }] })
    expect((await client.promoteTasks({ ids: ['d'] })).changed).toEqual(['d'])
  })

  test('lanes are paused, explained, limited and resumed; the journal tells it', async () => {
    const { client } = await open()
    const task = await client.submit('sum', 1, { tenant: 'acme' })
    await client.pauseLanes({ tenant: 'acme', reason: 'they asked' })
    expect((await client.explainTask({ id: task.id })).gates).toMatchObject([
      { kind: 'paused', scope: { tenant: 'acme' }, by: { reason: 'they asked' } },
      { kind: 'no_worker' },
    ])
    expect((await client.listLanes({ tenant: 'acme' })).items).toMatchObject([
      { action: 'sum', gates: [{ kind: 'paused' }] },
    ])
    expect(await client.resumeLanes({ tenant: 'acme' })).toEqual({ changed: true })
    expect(await client.resumeLanes({ tenant: 'acme' })).toEqual({ changed: false })
    await client.limitLanes({ all: true, concurrency: 3 })
    await client.limitLanes({ all: true, concurrency: null })
    const { items, cursor } = await client.listEvents({ type: 'lanes.*' })
    expect(items.map(({ type }) => type.replace('reprise.lanes.', ''))).toEqual([
      'paused',
      'resumed',
      'limited',
      'limited',
    ])
    expect(items[0]?.data).toMatchObject({ reason: 'they asked', details: { tenant: 'acme' } })
    expect((await client.listEvents({ cursor })).items).toEqual([])
  })

  test('wrong input is refused with one code, before or after it is sent', async () => {
    const { client } = await open()
    const refused = [
      client.submit('sum', 1, { id: 'a\nb' }),
      client.submit('sum', 10n),
      client.submit('', 1),
      client.listTasks({ limit: 100_000 }),
      client.listTasks({ cursor: 'nonsense' }),
      client.listExecutions({ id: 'x', limit: 0 }),
      client.cancelTasks({}),
      client.cancelTasks({ tenant: 'acme', ids: ['x'] }),
      client.cancelTasks({ tennant: 'acme' } as never),
      client.limitLanes({ all: true, concurrency: -1 }),
      client.pauseLanes({}),
      client.resetBreaker({ name: 'stripe' }),
      client.series({ minutes: 0 }),
      client.getTask({ id: '..' }),
      client.getTask({} as never),
      client.revokeToken({ id: '..' }),
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
    await client.pauseLanes({ tenant: 'before' })
    const end = new AbortController()
    const seen: LiveEvent[] = []
    const { cursor: start } = await client.listEvents()
    const following = (async () => {
      for await (const event of client.watch({ types: ['task.*'], taskId: id, cursor: start, signal: end.signal })) {
        seen.push(event)
        break
      }
    })()
    await client.cancelTasks({ ids: ['other'] })
    await client.cancelTasks({ ids: [id], reason: 'not needed' })
    await client.pauseLanes({ tenant: 'after' })
    const later = client.watch({ cursor: start, types: ['task.*'], signal: end.signal })
    expect((await later.next()).value).toMatchObject({ type: 'reprise.task.cancelled', subject: 'other' })
    const second = (await later.next()).value as LiveEvent
    expect(second).toMatchObject({ type: 'reprise.task.cancelled', subject: id, data: { reason: 'not needed' } })
    const after = client.watch({ cursor: second.cursor, types: ['lanes.paused'], signal: end.signal })
    expect((await after.next()).value).toMatchObject({
      type: 'reprise.lanes.paused',
      data: { details: { tenant: 'after' } },
    })
    await following
    end.abort()
    expect(seen.map(({ data }) => data.taskId)).toEqual([id])
    expect((await later.next()).done).toBe(true)
  })

  test('without a cursor, events are followed from now on', async () => {
    const { client } = await open()
    await client.pauseLanes({ tenant: 'before' })
    const events = client.watch({ types: ['lanes.*'] })
    let first: LiveEvent | null = null
    const following = events.next().then(({ value }) => {
      first = value as LiveEvent
    })
    while (first === null) await client.pauseLanes({ tenant: 'after' })
    await following
    expect(first).toMatchObject({ type: 'reprise.lanes.paused', data: { details: { tenant: 'after' } } })
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

test('both ways show one record, without the tokens of leases', async () => {
  const { client, engine } = await serve()
  const local = await createClient({ engine })
  await client.submit('sum', { a: [1, null, 'é'] }, { id: 'ended', labels: { team: 'x' }, deadline: '1h' })
  await endAll(engine, { sum: 3 })
  await client.submit('sum', 1, { id: 'dead' })
  await failAll(engine, Object.assign(new Error('no'), { code: 'E_NO', details: { account: 7 } }))
  await client.submit('sum', 1, { id: 'running' })
  await claimAll(engine)
  await client.submit('sum', 1, { id: 'waiting', delay: '1h', dedupeKey: 'k' })
  await client.pauseLanes({ tenant: 'default' })

  for (const id of ['ended', 'dead', 'running', 'waiting']) {
    const task = await client.getTask({ id })
    expect(task).toEqual(await local.getTask({ id }))
    expect(Object.keys(task.state)).not.toContain('token')
    expect(await client.listExecutions({ id })).toEqual(await local.listExecutions({ id }))
    // The sentence says how long ago: not the same a moment later.
    const { summary: _sentence, ...explanation } = await local.explainTask({ id })
    expect(await client.explainTask({ id })).toMatchObject(explanation)
  }
  expect(await client.getTask({ id: 'ended' })).toMatchObject({
    payload: { a: [1, null, 'é'] },
    state: { status: 'succeeded', result: { sum: 3 } },
  })
  for (const call of [
    'listTasks',
    'listFailureGroups',
    'listLanes',
    'listHolds',
    'listWorkers',
    'counts',
    'listBreakers',
  ] as const) {
    expect([call, await client[call]()]).toEqual([call, await local[call]()])
  }
  const [page, own] = [await client.listEvents(), await local.listEvents()]
  // What is noted about a token is redacted by a server.
  const isToken = ({ type }: { readonly type: string }): boolean => type === 'reprise.note'
  expect(page.items.filter((event) => !isToken(event))).toEqual(own.items.filter((event) => !isToken(event)))
  expect(page.cursor).toBe(own.cursor)
})
