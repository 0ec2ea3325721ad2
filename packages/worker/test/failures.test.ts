// Whatever a handler throws is a failure that is stored safely, and retried only where that can help.

import { defineAction, PermanentError, RetryAfterError, TransientError } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp, taskOf } from './fixture.ts'

const throwing = (thrown: unknown) =>
  defineAction({
    name: 'throwing',
    async run() {
      throw thrown
    },
  })

const circular: Record<string, unknown> = { kind: 'loop' }
circular.self = circular

const revoked = Proxy.revocable({}, {})
revoked.revoke()

class Treacherous extends Error {
  override get message(): string {
    throw new Error('no message for you')
  }
  override get stack(): string {
    throw new Error('no stack for you')
  }
}

test.each<[string, unknown, string]>([
  ['undefined', undefined, 'The handler threw undefined.'],
  ['null', null, 'The handler threw null.'],
  ['a string', 'just text', 'just text'],
  ['a circular object', circular, '[seen above]'],
  ['a BigInt', 12n, 'The handler threw 12.'],
  ['a symbol', Symbol('odd'), 'Symbol(odd)'],
  ['an Error with throwing getters', new Treacherous(), ''],
  ['a revoked proxy, which answers no question at all', revoked.proxy, ''],
  ['an Error with a stack of 10 MB', Object.assign(new Error('long'), { stack: 's'.repeat(10_000_000) }), 'long'],
  ['an Error with half a surrogate pair', new Error('half \ud800 pair'), 'half \ufffd pair'],
])('thrown: %s', async (_, thrown, message) => {
  const action = throwing(thrown)
  const { client, errors } = await setUp({ actions: [action] })
  const task = await client.submit(action, null)
  await expect(task.result()).rejects.toThrow(message)
  const { state } = await taskOf(client, task.id)
  expect(state).toMatchObject({ status: 'dead', failure: { retriable: false } })
  const stack = state.status === 'dead' ? (state.failure.stack ?? '') : ''
  expect(stack.length).toBeLessThan(20_000)
  expect(errors).toEqual([])
})

test('thrown synchronously is thrown', async () => {
  const action = defineAction({
    name: 'sync',
    run(): number {
      throw new TypeError('at once')
    },
  })
  const { client } = await setUp({ actions: [action] })
  await expect((await client.submit(action, null)).result()).rejects.toThrow('at once')
})

test('B1: a passing fault is retried with backoff, with the same retry token, until it succeeds', async () => {
  const attempts: [number, string][] = []
  const flaky = defineAction({
    name: 'flaky',
    retry: { max: 3, backoff: { kind: 'fixed', delayMs: 10_000, jitter: 0 } },
    async run(_, { attempt, retryToken }) {
      attempts.push([attempt, retryToken])
      if (attempt < 3) throw Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' })
      return attempt
    },
  })
  const { client, clock } = await setUp({ actions: [flaky] })
  const task = await client.submit(flaky, null)
  await clock.advance(9_999)
  expect(attempts).toHaveLength(1)
  await clock.advance(1)
  expect(attempts).toHaveLength(2)
  await clock.advance(10_000)
  expect(await task.result()).toBe(3)
  expect(attempts).toEqual([1, 2, 3].map((attempt) => [attempt, task.id]))
  expect((await client.listExecutions({ id: task.id })).items.map(({ status }) => status)).toEqual([
    'failed',
    'failed',
    'succeeded',
  ])
})

test('PermanentError ends it at once, whatever the budget; TransientError retries what no rule knows', async () => {
  const final = defineAction({
    name: 'final',
    retry: { max: 5 },
    async run() {
      throw new PermanentError('the card was declined')
    },
  })
  const passing = defineAction({
    name: 'passing',
    retry: { max: 1 },
    async run(_, { attempt }) {
      if (attempt === 1) throw new TransientError('odd but passing')
      return 'fine'
    },
  })
  const { client, clock } = await setUp({ actions: [final, passing] })
  const [dead, fine] = [await client.submit(final, null), await client.submit(passing, null)]
  await expect(dead.result()).rejects.toThrow('declined')
  expect((await taskOf(client, dead.id)).state).toMatchObject({ reason: 'not_retriable', failure: { rule: 'handler' } })
  await clock.advance(2_000)
  expect(await fine.result()).toBe('fine')
})

test('RetryAfterError says when', async () => {
  const asked = defineAction({
    name: 'asked',
    retry: { max: 1 },
    async run(_, { attempt }) {
      if (attempt === 1) throw new RetryAfterError('5m', 'slow down')
      return attempt
    },
  })
  const { client, clock } = await setUp({ actions: [asked] })
  const task = await client.submit(asked, null)
  await clock.advance(0)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'waiting', dueAt: clock.now() + 300_000 })
  await clock.advance(299_000)
  expect((await taskOf(client, task.id)).attempt).toBe(1)
  await clock.advance(1_000)
  expect(await task.result()).toBe(2)
})

test('a retry that could not make the deadline is not tried; after a redrive the deadline is void', async () => {
  const late = defineAction({
    name: 'late',
    retry: { max: 5, backoff: { kind: 'fixed', delayMs: 60_000, jitter: 0 } },
    async run() {
      throw new TransientError('again')
    },
  })
  const { client, clock } = await setUp({ actions: [late] })
  const task = await client.submit(late, null, { deadline: '30s' })
  await clock.advance(0)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'dead', reason: 'deadline' })
  await clock.advance(60_000)
  await client.redriveTasks({ ids: [task.id] })
  await clock.advance(1_000)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'waiting', reason: 'transient' })
})

test('a logger that throws costs no task', async () => {
  const fail = (): never => {
    throw new Error('disk full')
  }
  const action = defineAction({
    name: 'talking',
    async run(_: null, { log }) {
      log.info('hello')
      return 'done'
    },
  })
  const { client, worker } = await setUp({
    actions: [action],
    log: { debug: fail, info: fail, warn: fail, error: fail },
  })
  expect(await (await client.submit(action, null)).result()).toBe('done')
  expect(worker.state).toBe('running')
})

test('hooks hear of every end, and may throw', async () => {
  const heard: unknown[] = []
  const action = defineAction({
    name: 'either',
    async run(input: string) {
      if (input === 'bad') throw new PermanentError('no')
    },
  })
  const { client } = await setUp({
    actions: [action],
    onSettled: ({ kind, status }) => {
      heard.push([kind, status])
      throw new Error('a hook that throws')
    },
    // An async hook that rejects must not end the process either.
    onFailed: async ({ failure, decision }) => {
      heard.push([failure.message, decision.kind])
      throw new Error('an async hook that rejects')
    },
  })
  await (await client.submit(action, 'good')).result()
  await expect((await client.submit(action, 'bad')).result()).rejects.toThrow('no')
  expect(heard).toEqual([
    ['succeeded', 'succeeded'],
    ['failed', 'dead'],
    ['no', 'dead'],
  ])
})
