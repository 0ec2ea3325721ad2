// What an operator sees and does about lanes, groups, workers and the journal.

import { createClient, defineAction } from '@reprise/client'
import { expect, test } from 'vitest'
import { claimAll, failAll, setUp } from './fixture.ts'

const work = defineAction({ name: 'work' })

test('a paused lane gives nothing, says who paused it, and goes on when it is resumed', async () => {
  const { client, engine } = await setUp()
  const ann = await createClient({ engine, actor: 'operator:ann' })
  await ann.pauseLanes({ action: 'work', reason: 'the supplier is down' })
  const task = await client.submit(work, null)
  expect(await claimAll(engine)).toEqual([])
  expect((await client.explainTask({ id: task.id })).summary).toContain('operator:ann: the supplier is down')
  expect((await client.listLanes()).items).toMatchObject([{ action: 'work', gates: [{ kind: 'paused' }] }])
  expect(await client.resumeLanes({ action: 'work' })).toEqual({ changed: true })
  expect(await client.resumeLanes({ action: 'work' })).toEqual({ changed: false })
  expect(await claimAll(engine)).toHaveLength(1)
})

test('a limit holds for all lanes of its scope until it is lifted', async () => {
  const { client, engine } = await setUp()
  await client.limitLanes({ pool: 'default', concurrency: 1, reason: 'one licence' })
  await client.submitMany(work, [1, 2, 3], (_, index) => ({ tenant: `t${index}` }))
  expect(await claimAll(engine)).toHaveLength(1)
  await client.limitLanes({ pool: 'default', concurrency: null })
  expect(await claimAll(engine)).toHaveLength(2)
})

test('waiting tasks can be made due', async () => {
  const { client, engine } = await setUp()
  const task = await client.submit(work, null, { delay: '1h' })
  expect(await client.promoteTasks({ ids: [task.id] })).toEqual({ changed: [task.id], next: null })
  expect(await claimAll(engine)).toHaveLength(1)
})

test('dead letters show as groups, workers with their health, and the journal tells it all', async () => {
  const { client, engine } = await setUp()
  await client.submitMany(work, [1, 2])
  await failAll(engine, new Error('broken'))
  expect((await client.listFailureGroups()).items).toMatchObject([{ action: 'work', count: 2 }])
  expect((await client.listWorkers()).items).toMatchObject([{ worker: 'w1', health: { status: 'healthy' } }])
  const first = await client.listEvents({ limit: 1 })
  const second = await client.listEvents({ limit: 10, cursor: first.cursor })
  expect([...first.items, ...second.items].map(({ type }) => type)).toEqual([
    'reprise.worker.joined',
    'reprise.execution.failed',
    'reprise.execution.failed',
  ])
})

test('a scope with a slip is refused', async () => {
  const { client } = await setUp()
  const slip = { acton: 'work' } as { action?: string }
  await expect(client.pauseLanes(slip)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  await expect(client.limitLanes({ ...slip, concurrency: 1 })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})
