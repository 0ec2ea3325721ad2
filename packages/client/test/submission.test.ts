// Submitting: what reaches the store for each option, and what is refused before it does.

import { defineAction } from '@reprise/client'
import { expect, test } from 'vitest'
import { invoiceSchema, setUp } from './fixture.ts'

const send = defineAction({
  name: 'invoice.send',
  input: invoiceSchema,
  pool: 'mail',
  retry: { max: 3 },
  queueTtl: '10m',
})
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

test('the snapshot holds what was asked, with defaults filled in', async () => {
  const { client } = await setUp()
  const task = await client.submit(send, { invoiceId: 'in_1' })
  expect(task.accepted).toBe(true)
  expect(task.id).toMatch(UUID)
  expect(await task.get()).toMatchObject({
    action: 'invoice.send',
    pool: 'mail',
    tenant: 'default',
    // As given: the default of the schema is filled in by the worker.
    payload: { invoiceId: 'in_1' },
    labels: {},
    priority: 5,
    settings: { maxRetries: 3, queueTtlMs: 600_000, timeoutMs: 300_000 },
    retryToken: task.id,
    dedupeKey: null,
    deadlineAt: null,
    state: { status: 'queued' },
  })
})

test('every option arrives', async () => {
  const { client, clock } = await setUp()
  const task = await client.submit(
    send,
    { invoiceId: 'in_1' },
    {
      id: 'order-1',
      tenant: 'acme',
      labels: { region: 'eu' },
      delay: '30s',
      deadline: '1h',
      priority: 9,
      dedupeKey: 'order-1',
      retryToken: 'mine',
      pool: 'slow',
    },
  )
  expect(await task.get()).toMatchObject({
    id: 'order-1',
    tenant: 'acme',
    labels: { region: 'eu' },
    priority: 9,
    dedupeKey: 'order-1',
    retryToken: 'mine',
    pool: 'slow',
    deadlineAt: clock.now() + 3_600_000,
    state: { status: 'waiting', dueAt: clock.now() + 30_000 },
  })
})

test('moments are taken as Dates', async () => {
  const { client, clock } = await setUp()
  const runAt = new Date(clock.now() + 5_000)
  const deadline = new Date(clock.now() + 9_000)
  const task = await client.submit(send, { invoiceId: 'in_1' }, { runAt, deadline })
  expect(await task.get()).toMatchObject({ deadlineAt: deadline.getTime(), state: { dueAt: runAt.getTime() } })
})

test('an id that is given gets a random retry token, not one that could come again', async () => {
  const { client } = await setUp()
  const task = await client.submit(send, { invoiceId: 'in_1' }, { id: 'order-1' })
  expect((await task.get())?.retryToken).not.toBe('order-1')
  expect((await task.get())?.retryToken).toHaveLength(36)
})

test('a duplicate is told apart, and its handle is about the first', async () => {
  const { client } = await setUp()
  const first = await client.submit(send, { invoiceId: 'in_1' }, { dedupeKey: 'k' })
  const second = await client.submit(send, { invoiceId: 'in_1' }, { dedupeKey: 'k' })
  const elsewhere = await client.submit(send, { invoiceId: 'in_3' }, { dedupeKey: 'k', tenant: 'other' })
  expect([first.accepted, second.accepted, elsewhere.accepted]).toEqual([true, false, true])
  expect(second.id).toBe(first.id)
  expect((await second.get())?.payload).toEqual({ invoiceId: 'in_1' })
})

test('the tenant of the client is the default', async () => {
  const { engine, clock } = await setUp()
  const { createClient } = await import('@reprise/client')
  const client = await createClient({ engine, clock, tenant: 'acme' })
  await client.submit(send, { invoiceId: 'in_1' })
  expect(await client.counts({ tenant: 'acme' })).toMatchObject({ accepted: 1 })
})

test('many are submitted in chunks, in order', async () => {
  const sizes: number[] = []
  const { client } = await setUp((engine) => ({
    ...engine,
    submit(tasks) {
      sizes.push(tasks.length)
      return engine.submit(tasks)
    },
  }))
  const inputs = Array.from({ length: 2_500 }, (_, index) => ({ invoiceId: `in_${index}` }))
  const handles = await client.submitMany(send, inputs, (_, index) => ({ id: `t${index}` }))
  expect(sizes).toEqual([1_000, 1_000, 500])
  expect(handles).toHaveLength(2_500)
  expect(handles[2_499]?.id).toBe('t2499')
  expect((await client.getTask({ id: 't1234' })).payload).toEqual({ invoiceId: 'in_1234' })
})

test('nothing is submitted if one of many is not valid', async () => {
  const { client } = await setUp()
  const inputs: unknown[] = [{ invoiceId: 'in_1' }, {}]
  await expect(client.submitMany(send, inputs as { invoiceId: string }[])).rejects.toThrow('invoiceId: is missing')
  expect((await client.counts()).accepted).toBe(0)
})

const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`l${index}`, 'x']))

test.each<[string, Record<string, unknown>, string]>([
  [
    'an unknown option',
    { prioritty: 5 },
    "no submit option 'prioritty'. Did you mean 'priority'? Known are: id, tenant",
  ],
  ['a null', { tenant: null }, "'tenant' is null"],
  ['a priority out of range', { priority: 10 }, 'from 0 to 9'],
  ['a priority that is no whole number', { priority: 1.5 }, 'from 0 to 9'],
  ['too many labels', { labels: tooMany }, 'at most 32 labels, not 33'],
  ['a label that is no string', { labels: { count: 5 } }, "label 'count' must be a string"],
  ['a label that is too long', { labels: { note: 'x'.repeat(201) } }, 'at most 200'],
  ['a delay nobody understands', { delay: 'soon' }, "delay 'soon' is not understood"],
  ['a runAt that is no Date', { runAt: 5 }, 'runAt must be a Date'],
  ['an invalid Date', { deadline: new Date(Number.NaN) }, 'deadline is an invalid Date'],
  ['a path as an id', { id: '../etc' }, 'climbs'],
  ['an empty dedupe key', { dedupeKey: '' }, 'dedupeKey must not be empty'],
  ['two dedupe keys', { dedupeKey: 'a', dedupe: { key: 'b' } }, 'Give one of them'],
  ['a life of a key that is none', { dedupe: { key: 'k', until: 'tomorrow' } }, "'ended', 'forever' or a duration"],
  ['a life of a key of no length', { dedupe: { key: 'k', until: 0 } }, 'must be longer than nothing'],
])('refuses %s', async (_, options, message) => {
  const { client } = await setUp()
  const submitting = client.submit(send, { invoiceId: 'in_1' }, options)
  await expect(submitting).rejects.toThrow(message)
  await expect(submitting).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  expect((await client.counts()).accepted).toBe(0)
})

test.each<[string, unknown, string]>([
  ['a circular payload', Object.assign([], { 0: 1 }), ''],
  ['a BigInt', 5n, "can't be written as JSON"],
  ['a function', () => 1, 'has no JSON form'],
])('of payloads, refuses %s', async (_, payload, message) => {
  const { client } = await setUp()
  const circular: unknown[] = []
  circular.push(circular)
  const value = message === '' ? circular : payload
  await expect(client.submit('plain', value)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  await expect(client.submit('plain', value)).rejects.toThrow(message)
})

test('a payload of 10 MB is too large', async () => {
  const { client } = await setUp()
  const submitting = client.submit('plain', 'x'.repeat(10_000_000))
  await expect(submitting).rejects.toMatchObject({ code: 'REPRISE_TOO_LARGE', status: 413 })
})

test('C9, D2: wishes for a worker travel as labels', async () => {
  const { client } = await setUp()
  const wishes = { preferredWorker: 'w7', affinityKey: 'customer-12', labels: { region: 'eu' } }
  const task = await client.submit('work', null, wishes)
  expect((await task.get())?.labels).toEqual({ region: 'eu', preferred_worker_id: 'w7', affinity_key: 'customer-12' })
  const same = await client.submit('work', null, { affinityKey: 'k', labels: { affinity_key: 'k' } })
  expect((await same.get())?.labels).toEqual({ affinity_key: 'k' })
  const torn = { preferredWorker: 'w7', labels: { preferred_worker_id: 'w8' } }
  await expect(client.submit('work', null, torn)).rejects.toThrow("The label 'preferred_worker_id' and the option")
  await expect(client.submit('work', null, { preferredWorker: '../w' })).rejects.toThrow('climbs')
})
