// What an operator finds with redis-cli: one hash per task, with the record of every attempt under its number (A1), the
// snapshot once, and no expiry: a record is kept until it is deleted on purpose.

import { createClient } from '@reprise/client'
import { defineAction, silentLogger, TransientError } from '@reprise/core'
import { createWorker } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { ownEngine, ownServer } from './product/product.ts'

test('A1: HGETALL of a task that failed once and then succeeded shows both attempts', async () => {
  const server = await ownServer()
  const action = defineAction({
    name: 'flaky',
    retry: { max: 2, backoff: { kind: 'fixed', delayMs: 10, jitter: 0 } },
    run(input: { readonly invoice: string }, { attempt }) {
      if (attempt === 1) throw new TransientError('The other side is away.')
      return { sent: input.invoice }
    },
  })
  const engine = await ownEngine(server.url, { prefix: 'tasks' })
  const worker = await createWorker({ engine, actions: [action], log: silentLogger })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const client = await createClient({ engine })
  const before = Date.now()
  const task = await client.submit(action, { invoice: 'in_1' }, { id: 'task-1', labels: { customer: 'c7' } })
  expect(await task.result()).toEqual({ sent: 'in_1' })

  const reply = await server.command('HGETALL', 'tasks:task-1')
  const texts = Array.isArray(reply) ? reply.map(String) : []
  const fields = new Map(texts.flatMap((name, at) => (at % 2 === 0 ? [[name, texts[at + 1] ?? '']] : [])))
  const read = (name: string): Record<string, unknown> =>
    JSON.parse(fields.get(name) ?? '{}') as Record<string, unknown>

  expect([...fields.keys()].sort()).toEqual(['1', '2', 'state', 'task'])
  const [first, second] = [read('1'), read('2')]
  expect(first).toMatchObject({
    status: 'failed',
    attempt: 1,
    errorCode: 'transient',
    errorMessage: 'The other side is away.',
    worker: worker.id,
  })
  expect(second).toMatchObject({
    status: 'succeeded',
    attempt: 2,
    errorCode: null,
    errorMessage: null,
    retryReason: 'transient',
    result: { sent: 'in_1' },
  })
  const times = [first.dispatchedAt, first.resolvedAt, second.dispatchedAt, second.resolvedAt].map(Number)
  expect([before, ...times, Date.now()]).toEqual([before, ...times, Date.now()].toSorted((a, b) => a - b))
  // What was asked stands there once, for all attempts.
  expect(read('task')).toMatchObject({ labels: { customer: 'c7' }, payload: { invoice: 'in_1' } })
  expect([...fields.values()].join('').split('"invoice"')).toHaveLength(2)

  expect(await server.command('TTL', 'tasks:task-1')).toBe(-1)
})
