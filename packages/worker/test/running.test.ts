// Running one execution: what a handler gets, what becomes of its result, and of inputs nobody can run.

import { defineAction, type RunContext, type StandardSchema } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp, taskOf } from './fixture.ts'

const upper: StandardSchema<{ text: string }, string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const { text } = value as { text?: unknown }
      return typeof text === 'string' ? { value: text.toUpperCase() } : { issues: [{ message: 'no text' }] }
    },
  },
}

test('the handler gets the parsed input and its context, and its result is stored', async () => {
  const seen: Partial<RunContext>[] = []
  const lines: unknown[] = []
  const shout = defineAction({
    name: 'shout',
    input: upper,
    async run(input, context) {
      const { taskId, tenant, attempt, retryToken, labels, signal, log } = context
      // Taken off its context, as handlers do.
      const detachable: { readonly progress: (fraction: number) => void } = context
      const { progress } = detachable
      seen.push({ taskId, tenant, attempt, retryToken, labels, signal })
      log.info('shouting', { loud: true })
      progress(0.5)
      return { said: input }
    },
  })
  const { client } = await setUp({
    actions: [shout],
    log: { debug() {}, warn() {}, error() {}, info: (...line) => lines.push(line) },
  })
  const task = await client.submit(shout, { text: 'hello' }, { tenant: 'acme', labels: { a: 'b' }, retryToken: 'once' })
  expect(await task.result()).toEqual({ said: 'HELLO' })
  expect(seen).toEqual([
    {
      taskId: task.id,
      tenant: 'acme',
      attempt: 1,
      retryToken: 'once',
      labels: { a: 'b' },
      signal: seen[0]?.signal,
    },
  ])
  expect(seen[0]?.signal?.aborted).toBe(false)
  expect(lines).toContainEqual(['shouting', { task: task.id, attempt: 1, action: 'shout', loud: true }])
})

test('a handler may be synchronous, and nothing returned is null', async () => {
  const plain = defineAction({ name: 'plain', run: (input: number) => input + 1 })
  const nothing = defineAction({ name: 'nothing', run: async () => {} })
  const { client } = await setUp({ actions: [plain, nothing] })
  expect(await (await client.submit(plain, 1)).result()).toBe(2)
  const task = await client.submit(nothing, null)
  expect(await task.result()).toBeNull()
})

test('a stored payload that the schema refuses is a validation failure, and never retried', async () => {
  let runs = 0
  const shout = defineAction({ name: 'shout', input: upper, retry: { max: 5 }, run: () => void runs++ })
  const { client } = await setUp({ actions: [shout] })
  const task = await client.submit('shout', { text: 5 })
  await expect(task.result()).rejects.toThrow("payload of action 'shout' is not valid: no text")
  expect((await taskOf(client, task.id)).state).toMatchObject({
    status: 'dead',
    reason: 'not_retriable',
    failure: { reason: 'validation' },
  })
  expect(runs).toBe(0)
})

test.each<[string, () => unknown, string]>([
  ['a function', () => () => 1, 'a function has no JSON form'],
  ['a BigInt', () => 1n, "can't be written as JSON"],
  ['a circular object', circular, "can't be written as JSON"],
  ['more than a mebibyte', () => 'x'.repeat(1_048_577), 'at most 1048576 are allowed'],
])('a result that is %s is a validation failure', async (_, make, message) => {
  const make1 = defineAction({ name: 'make', retry: { max: 5, unknown: true }, run: make })
  const { client } = await setUp({ actions: [make1] })
  const task = await client.submit(make1, null)
  await expect(task.result()).rejects.toThrow(message)
  expect((await taskOf(client, task.id)).state).toMatchObject({ reason: 'not_retriable' })
})

function circular(): unknown {
  const list: unknown[] = []
  list.push(list)
  return list
}

test('an action that this worker does not have is left alone', async () => {
  const known = defineAction({ name: 'known', run: () => 1 })
  const { client, clock } = await setUp({ actions: [known] })
  const task = await client.submit('unknown', null)
  await clock.advance(5_000)
  expect((await taskOf(client, task.id)).state.status).toBe('queued')
})

test('should one arrive all the same, it fails with action_not_found', async () => {
  const known = defineAction({ name: 'known', run: () => 1 })
  const { client, engine } = await setUp({ actions: [known] })
  // A store that hands out what was not asked for.
  const claim = engine.claim.bind(engine)
  Object.assign(engine, { claim: (request: Parameters<typeof claim>[0]) => claim({ ...request, actions: null }) })
  const task = await client.submit('unknown', null)
  await expect(task.result()).rejects.toThrow("This worker has no action 'unknown'.")
  expect((await taskOf(client, task.id)).state).toMatchObject({ failure: { code: 'action_not_found' } })
})

test('progress is stored soon, once, and bounded; many reports share a renewal', async () => {
  const hold = Promise.withResolvers<void>()
  const slow = defineAction({
    name: 'slow',
    async run(_, context) {
      for (let report = 0; report < 100; report++) context.progress(report)
      context.progress(7, 'x'.repeat(2_000))
      await hold.promise
    },
  })
  const { client, clock, engine } = await setUp({ actions: [slow] })
  const task = await client.submit(slow, null)
  await clock.advance(1_000)
  expect(engine.calls.filter(({ verb }) => verb === 'renew')).toHaveLength(1)
  const { state } = await taskOf(client, task.id)
  expect(state).toMatchObject({ status: 'running', progress: { fraction: 1 } })
  expect(state.status === 'running' && state.progress?.note?.length).toBeLessThan(1_100)
  await clock.advance(5_000)
  const renewals = engine.calls.filter(({ verb }) => verb === 'renew')
  expect(renewals.at(-1)?.input[0]).toMatchObject([{ progress: null }])
  hold.resolve()
  expect(await task.result()).toBeNull()
})

test('a result that its output schema refuses is a validation failure, and one that it takes is stored as it is', async () => {
  const output: StandardSchema<{ readonly n: number }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        const { n } = value as { readonly n: number }
        return n > 0 ? { value: { n: n + 100 } } : { issues: [{ message: 'must be positive', path: ['n'] }] }
      },
    },
  }
  const counted = defineAction({ name: 'counted', output, retry: { max: 3 }, run: (n: number) => ({ n }) })
  const { client, clock } = await setUp({ actions: [counted] })
  const [good, bad] = await client.submitMany(counted, [1, -1])
  await clock.advance(10)
  expect(await good?.result()).toEqual({ n: 1 })
  expect((await taskOf(client, bad?.id ?? '')).state).toMatchObject({
    status: 'dead',
    failure: { reason: 'validation', message: "The result of action 'counted' is not valid: n: must be positive." },
  })
})
