// A task that is submitted straight on an engine, by the SDK over HTTP or by a bare request is one and the same record.

import { createClient, defineAction } from '@reprise/client'
import { publishActions, type Task, type TaskId } from '@reprise/core'
import { expect, test } from 'vitest'
import { serve } from './served.ts'

const send = defineAction({ name: 'invoice.send', pool: 'mail', retry: { max: 3 }, queueTtl: '10m' })

const full = {
  tenant: 'acme',
  labels: { region: 'eu' },
  delay: '30s',
  deadline: '1h',
  priority: 9,
  dedupeKey: 'order',
  pool: 'slow',
  preferredWorker: 'w1',
  affinityKey: 'customer-7',
}

async function threeWays() {
  const { engine, client: overHttp, url, token } = await serve()
  await publishActions(engine, [send])
  const onEngine = await createClient({ engine })
  const bare = async (options: object): Promise<string> => {
    const answer = await fetch(`${url}/api/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ action: 'invoice.send', payload: { id: 'in_1' }, ...options }),
    })
    const { id } = (await answer.json()) as { readonly id: string }
    return id
  }
  const taskOf = async (id: string): Promise<Task> => {
    const task = await engine.task(id as TaskId)
    if (task === null) throw new Error(`There is no task ${id}.`)
    return task
  }
  const record = async (id: string) => {
    const { acceptedAt, state, deadlineAt, ...task } = await taskOf(id)
    return {
      ...task,
      deadlineMs: deadlineAt === null ? null : deadlineAt - acceptedAt,
      waitMs: state.status === 'waiting' ? state.dueAt - acceptedAt : 0,
    }
  }
  const ways: readonly ((options: object) => Promise<string>)[] = [
    async (options) => (await onEngine.submit('invoice.send', { id: 'in_1' }, options)).id,
    async (options) => (await overHttp.submit('invoice.send', { id: 'in_1' }, options)).id,
    bare,
  ]
  return {
    submit: async (options: object) =>
      Promise.all(ways.map(async (way, index) => record(await way({ ...options, ...ownNames(options, index) })))),
  }
}

/** One store takes an id and a dedupe key once. */
const ownNames = (options: object, way: number): object => ({
  ...('id' in options ? { id: `${options.id}-${way}` } : {}),
  ...('dedupeKey' in options ? { dedupeKey: `${options.dedupeKey}-${way}` } : {}),
})

test.each<[string, object]>([
  ['nothing beside its action and payload', {}],
  ['every option', full],
])('a task submitted with %s is the same record by every way', async (_, options) => {
  const { submit } = await threeWays()
  const [onEngine, ...others] = await submit(options)
  const drawn = { id: onEngine?.id, retryToken: onEngine?.retryToken, dedupeKey: onEngine?.dedupeKey }
  expect(onEngine).toMatchObject({ action: 'invoice.send', payload: '{"id":"in_1"}', settings: send.settings })
  for (const other of others) expect({ ...other, ...drawn }).toEqual(onEngine)
})

test('by every way a drawn id is the retry token, and a given id never is', async () => {
  const { submit } = await threeWays()
  for (const { id, retryToken } of await submit({})) expect(retryToken).toBe(id)
  for (const { id, retryToken } of await submit({ id: 'given' })) {
    expect(retryToken).not.toBe(id)
    expect(retryToken).toHaveLength(36)
  }
  for (const { retryToken } of await submit({ retryToken: 'mine' })) expect(retryToken).toBe('mine')
})
