// An operator's calls: they reach the right tasks, name an actor and a reason, and a slip never means 'everything'.

import { createClient, defineAction } from '@reprise/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { failAll, setUp } from './fixture.ts'

const work = defineAction({ name: 'work' })
const other = defineAction({ name: 'other' })

test('redrive, discard and retry take dead letters where they are told to', async () => {
  const { client, engine } = await setUp()
  const tasks = await client.submitMany(work, [1, 2, 3])
  await failAll(engine, new Error('broken'))
  const [first, second, third] = tasks.map(({ id }) => id)
  if (first === undefined || second === undefined || third === undefined) throw new Error('three tasks')
  const ann = await createClient({ engine, actor: 'operator:ann' })
  expect(await ann.redriveTasks({ ids: [first], reason: 'fixed it' })).toEqual({ changed: [first], next: null })
  expect(await client.getTask({ id: first })).toMatchObject({ generation: 2, state: { status: 'queued' } })
  expect((await client.discardTasks({ ids: [second] })).changed).toEqual([second])
  expect(await client.retryExecution({ id: third })).toMatchObject({ attempt: 2 })
  const { entries } = await engine.journal.read()
  expect(entries).toContainEqual(
    expect.objectContaining({ type: 'task.redriven', actor: 'operator:ann', reason: 'fixed it' }),
  )
  expect((await client.listExecutions({ id: third })).items).toMatchObject([{ attempt: 1, status: 'failed' }])
})

test('a failure group is redriven by its fingerprint', async () => {
  const { client, engine } = await setUp()
  await client.submitMany(work, [1, 2])
  await client.submitMany(other, [3])
  await failAll(engine, new Error('broken'))
  const groups = (await engine.failureGroups()).items
  const fingerprint = groups.find(({ action }) => action === 'work')?.fingerprint ?? ''
  expect((await client.listTasks({ q: `fingerprint:${fingerprint} status:dead` })).items).toHaveLength(2)
  expect((await client.redriveTasks({ fingerprint })).changed).toHaveLength(2)
  expect(await client.counts()).toMatchObject({ queued: 2, dead: 1 })
})

test('bulk calls are bounded and go on where they stopped', async () => {
  const { client } = await setUp()
  await client.submitMany(work, [1, 2, 3])
  const first = await client.cancelTasks({ action: 'work', limit: 2 })
  expect(first.changed).toHaveLength(2)
  const second = await client.cancelTasks({ action: 'work', limit: 2, cursor: first.next ?? '' })
  expect(second.changed).toHaveLength(1)
  expect(await client.counts({ action: 'work' })).toMatchObject({ cancelled: 3 })
})

test('explain says why a task does not run', async () => {
  const { client } = await setUp()
  const task = await client.submit(work, null, { delay: '1h' })
  expect((await client.explainTask({ id: task.id })).summary).toContain('due in 1h')
  await expect(client.explainTask({ id: 'nowhere' })).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
})

test('a selector with a slip is refused, and changes nothing', async () => {
  const { client } = await setUp()
  await client.submit(work, null)
  const undefinedTenant: unknown = { tenant: undefined }
  const misspelt: unknown = { tennant: 'acme' }
  await expect(client.cancelTasks(undefinedTenant as { tenant: string })).rejects.toThrow("'tenant' is undefined")
  await expect(client.cancelTasks(misspelt as { tenant: string })).rejects.toThrow('Unrecognized key: "tennant"')
  await expect(client.cancelTasks({ ids: ['..'] })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  expect((await client.counts()).queued).toBe(1)
})

test('A9, A14: MAX_RETRIES of the environment bounds retries by operators, also where the call asks for more', async () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('MAX_RETRIES', '0')
  const { client, engine } = await setUp()
  const task = await client.submit(work, null)
  await failAll(engine, new Error('broken'))
  const { id } = task
  await expect(client.retryExecution({ id })).rejects.toMatchObject({ code: 'REPRISE_BUDGET_EXHAUSTED' })
  await expect(client.retryExecution({ id, maxRetries: 1 })).rejects.toMatchObject({ code: 'REPRISE_BUDGET_EXHAUSTED' })
  vi.stubEnv('MAX_RETRIES', 'plenty')
  await expect(createClient({ engine })).rejects.toThrow(
    "MAX_RETRIES must be a whole number from 0 to 1000, not 'plenty'",
  )
})
