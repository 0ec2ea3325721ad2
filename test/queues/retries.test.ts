// The operator's retry of a task that came by a queue (A8, A10), over HTTP: published once, through crashes, by any number of
// orchestrators; and the queue's own dead letters and kept messages, looked at and moved by an operator.

import { type Engine, messageBytes, type OutsideQueue, openFlags, type TaskId, VERSION } from '@reprise/core'
import { askRetry, createQueueOutbox, type OutboxPoint } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Platform } from './platform.ts'
import { aMeter, ENGINES, isIn, message, openStore, orchestrating, startQueue, taskOf, until } from './setting.ts'

async function serving(engine: Engine, queue: OutsideQueue) {
  const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
  const server = await createServer({
    engine,
    policies,
    flags,
    queue,
    version: VERSION,
    maxRetries: 1,
    port: 0,
    access: { env: 'local' },
  })
  onTestFinished(() => server.stop())
  await server.start()
  return async (method: string, path: string, body?: object) => {
    const answer = await fetch(server.url() + path, {
      method,
      headers: { 'x-dev-user': 'ann', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as never }
  }
}

/** A task that came by the queue and failed. */
async function failed(kind: (typeof ENGINES)[number], more: object = {}, queueOptions = {}) {
  const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue(queueOptions), new Platform()]
  platform.behaviour = ({ attempt }) =>
    attempt === 1 ? { ok: false, thrown: new Error('the repository is gone') } : { ok: true, result: null }
  const orchestrator = await orchestrating(engine, sqs.queue, platform)
  sqs.send(message('t1', more), 'group-7')
  await until(async () => (await isIn(engine, 't1', 'dead')()) && sqs.left() === 0)
  const api = await serving(engine, sqs.queue)
  return { engine, sqs, platform, orchestrator, api, retry: () => api('POST', '/dashboard/executions/t1/retry') }
}

describe.each(ENGINES)('on %s', (kind) => {
  test('A10: a retry publishes the captured snapshot with the next attempt, and the message runs it', async () => {
    const { engine, sqs, platform, orchestrator, api, retry } = await failed(kind, { labels: { team: 'blue' } })
    await orchestrator.stop()
    expect(await retry()).toEqual({ status: 202, body: { taskId: 't1', attempt: 2, status: 'queued' } })
    // Again, before the message is taken: it is on its way.
    expect(await retry()).toMatchObject({ status: 409, body: { error: "cannot retry execution in status 'queued'" } })
    const onItsWay = async () => {
      const [{ body: explained }, { body: shown }] = [
        await api('GET', '/api/v1/tasks/t1/explain'),
        await api('GET', '/api/v1/queue'),
      ]
      return { ...(explained as object), ...(shown as object) }
    }
    expect(await onItsWay()).toMatchObject({
      queueRetry: { queue: 'work', attempt: 2, state: 'waiting', failures: 0, nextTryAt: null },
      outbox: { unsent: 1, refused: 0 },
    })
    const meter = aMeter()
    const outbox = createQueueOutbox({ engine, queue: sqs.queue, intervalMs: 10, meter })
    onTestFinished(() => outbox.stop())
    await outbox.start()
    await until(() => sqs.left() === 1)
    await outbox.stop()
    expect(meter.told).toEqual({ 'reprise_queue_published_total work sent': 1 })
    expect(await onItsWay()).toMatchObject({ queueRetry: { state: 'published' }, outbox: { unsent: 0 } })
    const [published] = sqs.messages()
    expect(published?.messageAttributes.taskType?.StringValue).toBe('worker.run')
    expect(JSON.parse(published?.body ?? '')).toMatchObject({
      id: 't1',
      action: 'worker.run',
      pool: 'ecs',
      payload: { of: 't1' },
      labels: { team: 'blue' },
      attempt: 2,
    })
    await orchestrating(engine, sqs.queue, platform)
    await until(async () => (await isIn(engine, 't1', 'succeeded')()) && sqs.left() === 0)
    expect(platform.ran).toEqual(['t1:1', 't1:2'])
    const { entries } = await engine.journal.read({ taskId: 't1' as TaskId })
    expect(entries.filter(({ type }) => type === 'task.retried')).toMatchObject([
      { actor: 'dev:ann', data: { attempt: 2, queue: 'work' } },
    ])
    // A8: what ran cannot be retried again, in the words of the source.
    expect(await retry()).toMatchObject({
      status: 409,
      body: { error: "cannot retry execution in status 'succeeded'" },
    })
  })

  test('A10: a crash of the publisher at any step loses no retry, and no attempt runs twice', async () => {
    const { engine, sqs, platform, orchestrator, retry } = await failed(kind)
    await orchestrator.stop()
    expect((await retry()).status).toBe(202)
    // Each dies at its point; what it held is over when the next one looks.
    let skewMs = 0
    const later: Engine = { ...engine, now: async () => (await engine.now()) + skewMs }
    for (const point of ['claimed', 'sent', 'noted'] satisfies OutboxPoint[]) {
      const died = Promise.withResolvers<void>()
      const outbox = createQueueOutbox({
        engine: later,
        queue: sqs.queue,
        intervalMs: 10,
        onError: () => undefined,
        at(reached) {
          if (reached !== point) return
          died.resolve()
          throw new Error(`died when it was ${point}`)
        },
      })
      await outbox.start()
      await died.promise
      await outbox.stop()
      skewMs += 31_000
    }
    await orchestrating(engine, sqs.queue, platform)
    await until(async () => (await isIn(engine, 't1', 'succeeded')()) && sqs.left() === 0)
    expect(platform.ran).toEqual(['t1:1', 't1:2'])
  })
})

test('A10: a server that dies between asking for a retry and its entry in the journal loses neither', async () => {
  const { engine, sqs, platform, orchestrator } = await failed('sqlite')
  await orchestrator.stop()
  const dying: Engine = {
    ...engine,
    journal: { ...engine.journal, append: () => Promise.reject(new Error('The server was killed.')) },
  }
  const asked = { queue: sqs.name, taskId: 't1' as TaskId, attempt: 2, by: { actor: 'operator:ann', reason: 'mended' } }
  await expect(askRetry(dying, asked)).rejects.toThrow('killed')
  // Whoever asks again hears that it is on its way.
  expect(await askRetry(engine, asked)).toBe(false)
  const later: Engine = { ...engine, now: async () => (await engine.now()) + 61_000 }
  const outbox = createQueueOutbox({ engine: later, queue: sqs.queue, intervalMs: 10 })
  onTestFinished(() => outbox.stop())
  await outbox.start()
  await orchestrating(engine, sqs.queue, platform)
  await until(async () => (await isIn(engine, 't1', 'succeeded')()) && sqs.left() === 0)
  expect(platform.ran).toEqual(['t1:1', 't1:2'])
  const { entries } = await engine.journal.read({ taskId: 't1' as TaskId })
  expect(entries.filter(({ type }) => type === 'task.retried')).toMatchObject([{ actor: 'operator:ann' }])
})

test('A10: of many publishers and many clicks, one message goes out for one retry', async () => {
  const { engine, sqs, platform, orchestrator, retry } = await failed('sqlite')
  await orchestrator.stop()
  let sent = 0
  const queue: OutsideQueue = {
    name: sqs.queue.name,
    facts: () => sqs.queue.facts(),
    receive: (options, signal) => sqs.queue.receive(options, signal),
    remove: (receipts) => sqs.queue.remove(receipts),
    hide: (entries) => sqs.queue.hide(entries),
    send: (messages) => {
      sent += messages.length
      return sqs.queue.send(messages)
    },
    deadLetters: () => sqs.queue.deadLetters(),
    close: () => undefined,
  }
  const outboxes = Array.from({ length: 4 }, () => createQueueOutbox({ engine, queue, intervalMs: 5 }))
  onTestFinished(async () => void (await Promise.all(outboxes.map((one) => one.stop()))))
  await Promise.all(outboxes.map((one) => one.start()))
  const answers = await Promise.all(Array.from({ length: 8 }, retry))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array<number>(7).fill(409)])
  await orchestrating(engine, sqs.queue, platform)
  await until(async () => (await isIn(engine, 't1', 'succeeded')()) && sqs.left() === 0)
  expect(sent).toBe(1)
  expect(platform.ran).toEqual(['t1:1', 't1:2'])
})

test('A10: on a FIFO queue a retry goes to the group that the task came in, and is known by its attempt', async () => {
  const { engine, sqs, platform, orchestrator, retry } = await failed('sqlite', {}, { fifo: true })
  await orchestrator.stop()
  expect((await retry()).status).toBe(202)
  const outbox = createQueueOutbox({ engine, queue: sqs.queue, intervalMs: 10 })
  onTestFinished(() => outbox.stop())
  await outbox.start()
  await until(() => sqs.left() === 1)
  const [published] = sqs.messages()
  expect(published).toMatchObject({ messageGroupId: 'group-7', messageDeduplicationId: 't1:2' })
  await orchestrating(engine, sqs.queue, platform)
  await until(isIn(engine, 't1', 'succeeded'))
})

test('a snapshot that is too large for the queue is refused before anything is stored', async () => {
  const { engine, sqs, retry } = await failed('sqlite', { payload: 'x'.repeat(2_000) })
  const { SetQueueAttributesCommand, SQSClient } = await import('@aws-sdk/client-sqs')
  const client = new SQSClient({
    endpoint: sqs.server.address,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  await client.send(new SetQueueAttributesCommand({ QueueUrl: sqs.url, Attributes: { MaximumMessageSize: '2048' } }))
  client.destroy()
  const answer = await retry()
  expect(answer).toMatchObject({ status: 413, body: { code: 'REPRISE_TOO_LARGE' } })
  expect((answer.body as { readonly detail: string }).detail).toMatch(
    /message for the queue takes \d+ bytes; at most 2048/,
  )
  expect(await taskOf(engine, 't1')).toMatchObject({ attempt: 1, state: { status: 'dead' } })
  const { entries } = await engine.journal.read({ taskId: 't1' as TaskId })
  expect(entries.some(({ type }) => type === 'task.retried')).toBe(false)
})

test('operators see the queue and its dead letters, and move those back: each runs once', async () => {
  const [{ engine }, sqs, platform] = [await openStore('redis'), await startQueue({ maxReceives: 1 }), new Platform()]
  platform.failure = new Error('no capacity')
  await orchestrating(engine, sqs.queue, platform)
  for (let n = 0; n < 12; n++) sqs.send(message(`t${n}`))
  // One without an id of its own: its message stands for it, also after the move.
  const body = JSON.stringify({ action: 'worker.run', pool: 'ecs', payload: { password: 'hunter2' } })
  const secret = { DataType: 'String', StringValue: 'hunter2' }
  const { messageId: id } = sqs.server.sendMessage('work', body, { messageAttributes: { password: secret } })
  const api = await serving(engine, sqs.queue)
  await until(() => sqs.dead().length === 13)
  expect(await api('GET', '/api/v1/queue')).toMatchObject({
    status: 200,
    body: { name: 'work', isFifo: false, visible: 0, maxReceives: 1, deadLetters: { name: 'dead', visible: 13 } },
  })
  const looked = await api('GET', '/api/v1/queue/dead-letters?limit=100')
  const { items } = looked.body as { readonly items: readonly { readonly taskId: string; readonly action: string }[] }
  expect(items).toHaveLength(13)
  expect(items).toContainEqual(expect.objectContaining({ taskId: 't3', action: 'worker.run' }))
  expect(JSON.stringify(items)).not.toContain('hunter2')
  platform.failure = null
  const first = await api('POST', '/api/v1/queue/redrive', { limit: 5 })
  expect(first).toMatchObject({ status: 200, body: { moved: 5, isDone: false } })
  expect(await api('POST', '/api/v1/queue/redrive', {})).toMatchObject({ body: { moved: 8, isDone: true } })
  await until(async () => (await engine.counts()).succeeded === 13 && sqs.left() === 0)
  expect(platform.ran).toHaveLength(13)
  expect(platform.ran).toContain(`message-${id}:1`)
  expect(sqs.dead()).toEqual([])
})

test('a dead letter that is as large as the queue takes is moved back as it is', async () => {
  const maxMessageBytes = 2_048
  const [{ engine }, sqs, platform] = [
    await openStore('sqlite'),
    await startQueue({ attributes: { MaximumMessageSize: String(maxMessageBytes) } }),
    new Platform(),
  ]
  const api = await serving(engine, sqs.queue)
  const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, 'x']))
  const bodyOf = (padding: number) => JSON.stringify(message('t1', { payload: 'x'.repeat(padding) }))
  const body = bodyOf(maxMessageBytes - messageBytes({ body: bodyOf(0), attributes }))
  const messageAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  )
  sqs.server.sendMessage(sqs.deadName, body, { messageAttributes })
  expect(await api('POST', '/api/v1/queue/redrive', {})).toMatchObject({ body: { moved: 1, isDone: true } })
  expect(sqs.messages()).toMatchObject([{ body, messageAttributes }])
  await orchestrating(engine, sqs.queue, platform)
  await until(async () => (await isIn(engine, 't1', 'succeeded')()) && sqs.left() === 0)
})

test('FIFO: dead letters go back to their groups, and run in their order', async () => {
  const [{ engine }, sqs, platform] = [
    await openStore('sqlite'),
    await startQueue({ fifo: true, maxReceives: 1 }),
    new Platform(),
  ]
  platform.failure = new Error('no capacity')
  const orchestrator = await orchestrating(engine, sqs.queue, platform)
  for (let n = 0; n < 3; n++) for (const group of ['a', 'b']) sqs.send(message(`${group}${n}`), group)
  await until(() => sqs.dead().length === 6)
  await orchestrator.stop()
  platform.failure = null
  const api = await serving(engine, sqs.queue)
  // A group that is in somebody's hands shows no more of its messages: those come with the next call.
  await until(async () => {
    await api('POST', '/api/v1/queue/redrive', {})
    return sqs.dead().length === 0
  })
  const groups = sqs
    .messages()
    .map(({ messageGroupId, body }) => [messageGroupId, (JSON.parse(body) as { id: string }).id])
  expect(groups.toSorted()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2'].map((id) => [id.slice(0, 1), id]))
  await orchestrating(engine, sqs.queue, platform, { slots: 1 })
  await until(async () => (await engine.counts()).succeeded === 6 && sqs.left() === 0)
  for (const group of ['a', 'b']) {
    expect(platform.ran.filter((run) => run.startsWith(group))).toEqual([0, 1, 2].map((n) => `${group}${n}:1`))
  }
})

test('a kept message can be read, sent again, and given up', async () => {
  const [{ engine }, sqs, platform] = [await openStore('sqlite'), await startQueue(), new Platform()]
  await orchestrating(engine, sqs.queue, platform)
  const api = await serving(engine, sqs.queue)
  sqs.send(message('t1', { payload: 'one' }))
  await until(isIn(engine, 't1', 'succeeded'))
  const [other, broken] = [sqs.send(message('t1', { payload: 'two' })), sqs.send('no json, password=hunter2')]
  const kept = async () =>
    (await api('GET', '/api/v1/queue/kept')).body as { readonly items: readonly { readonly id: string }[] }
  await until(async () => (await kept()).items.length === 2)
  const shown = await api('GET', `/api/v1/queue/kept/${broken}`)
  expect((shown.body as { readonly text: string }).text).toMatch(/^no json/)
  expect(await api('DELETE', `/api/v1/queue/kept/${broken}`)).toMatchObject({ status: 204 })
  await engine.change({ kind: 'cancel', select: {}, by: { actor: 'x', reason: 'x' } })
  expect((await api('POST', `/api/v1/queue/kept/${other}/resend`, {})).status).toBe(200)
  // It still asks for another payload: kept again, under its new id.
  await until(async () => {
    const { items } = await kept()
    return items.length === 1 && items[0]?.id !== other
  })
  const { entries } = await engine.journal.read({ limit: 1_000 })
  const types = entries.map(({ type }) => type).filter((type) => type.startsWith('message.'))
  expect(types.toSorted()).toEqual([
    'message.discarded',
    'message.kept',
    'message.kept',
    'message.kept',
    'message.resent',
  ])
})
