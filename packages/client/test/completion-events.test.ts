// Completion events through the client, on both of its ways: asked for by the action, by the submission, or by a webhook; and
// none for tasks that nobody asked about.

import { createClient, defineAction } from '@reprise/client'
import { publishActions, WISHES_FRESH_MS } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ways } from './both-ways.ts'
import { endAll, failAll, setUp } from './fixture.ts'

const asking = defineAction({ name: 'report.make', notify: true })

describe.each(ways)('$name', ({ open }) => {
  test('the end of a task is an event if its action or its submission asks, and else it is none', async () => {
    const { client, engine } = await open()
    await publishActions(engine, [asking])
    const { cursor } = await client.listEvents()
    await client.submit('sum', 1, { id: 'quiet' })
    await client.submit('sum', 1, { id: 'asked', notify: true })
    await client.submit('sum', 1, { id: 'not asked', notify: false })
    await client.submit(asking, null, { id: 'declared' })
    await client.submit('report.make', null, { id: 'by name' })
    await client.submitMany(asking, [1, 2], (input) => ({ id: `many ${input}` }))
    await endAll(engine, 3)
    await client.submit('sum', 1, { id: 'doomed', notify: true })
    await failAll(engine, new TypeError('There is no sum.'))
    const ends: [string, string | undefined][] = []
    for await (const { type, subject } of client.watch({ cursor, types: ['task.succeeded', 'task.dead'] })) {
      ends.push([type, subject])
      if (ends.length === 6) break
    }
    expect(ends.slice(0, 5).map(([type]) => type)).toEqual(Array(5).fill('reprise.task.succeeded'))
    expect(ends.slice(0, 5).map(([, id]) => id)).toEqual(
      expect.arrayContaining(['asked', 'declared', 'by name', 'many 1', 'many 2']),
    )
    expect(ends.at(-1)).toEqual(['reprise.task.dead', 'doomed'])
    const { items } = await client.listEvents({ type: 'task.succeeded', task: 'asked' })
    expect(items).toMatchObject([{ data: { attempt: 1, details: { action: 'sum' } } }])
    expect((await client.listEvents({ task: 'quiet' })).items).toEqual([])
  })

  test('a notify that is no flag is refused', async () => {
    const { client } = await open()
    const wrong = { notify: 'yes' as unknown as boolean }
    await expect(client.submit('sum', 1, wrong)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    expect(() => defineAction({ name: 'a', ...wrong })).toThrow('notify must be true or false')
  })
})

const webhook = (id: string, more: object = {}) => ({
  id,
  url: 'https://hooks.example.com/',
  types: ['reprise.task.succeeded'],
  actions: ['sum'],
  tenant: 'acme',
  enabled: true,
  ...more,
})

test('what a webhook asks for counts for the first submission, and a change of it within five seconds', async () => {
  const { client, engine, clock } = await setUp()
  const webhooks = engine.collection<ReturnType<typeof webhook>>({ name: 'webhooks', indexes: {} })
  const { version } = await webhooks.insert(webhook('sums of acme'))
  // Those that take all events, or a family, ask for nothing by it.
  await webhooks.insert(webhook('all', { types: [], tenant: null }))
  await webhooks.insert(webhook('family', { types: ['reprise.task.*'], tenant: null }))
  await webhooks.insert(webhook('off', { enabled: false, tenant: null }))
  const asks = async (action: string, tenant: string): Promise<boolean> => {
    const { id } = await client.submit(action, 1, { tenant })
    return (await client.getTask({ id })).settings.notify === true
  }
  expect(await asks('sum', 'acme')).toBe(true)
  expect(await asks('sum', 'other')).toBe(false)
  expect(await asks('product', 'acme')).toBe(false)
  await webhooks.update(webhook('sums of acme', { actions: [] }), version)
  expect(await asks('product', 'acme')).toBe(false)
  clock.jump(WISHES_FRESH_MS)
  // This one starts the look and does not wait for it.
  await asks('product', 'acme')
  await expect.poll(() => asks('product', 'acme')).toBe(true)
  expect(await asks('product', 'other')).toBe(false)
})

test('those who submit look at the webhooks once at first, and then at most every five seconds', async () => {
  let looks = 0
  const { client, clock } = await setUp((engine) =>
    Object.assign(Object.create(engine) as typeof engine, {
      collection: (...given: Parameters<typeof engine.collection>) => {
        if (given[0].name === 'webhooks') looks++
        return engine.collection(...given)
      },
    }),
  )
  for (let index = 0; index < 100; index++) await client.submit('sum', index)
  expect(looks).toBe(1)
  clock.jump(WISHES_FRESH_MS)
  for (let index = 0; index < 100; index++) await client.submit('sum', index)
  expect(looks).toBe(2)
})

test('a client whose store can not say what webhooks ask for submits all the same', async () => {
  const engine = await openSqliteEngine({ path: ':memory:' })
  const client = await createClient({
    engine: Object.assign(Object.create(engine) as typeof engine, {
      submit: engine.submit.bind(engine),
      collection: () => {
        throw new Error('not now')
      },
    }),
  })
  onTestFinished(async () => {
    await client.close()
    await engine.close()
  })
  const action = defineAction({ name: 'sum' })
  expect((await client.submit(action, 1)).accepted).toBe(true)
})
