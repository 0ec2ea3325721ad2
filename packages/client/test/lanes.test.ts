// What an operator sees and does about lanes, groups, workers and the journal.

import { defineAction } from '@reprise/client'
import { expect, test } from 'vitest'
import { claimAll, failAll, setUp } from './fixture.ts'

const work = defineAction({ name: 'work' })

test('a paused lane gives nothing, says who paused it, and goes on when it is resumed', async () => {
  const { client, engine } = await setUp()
  await client.pause({ action: 'work' }, { actor: 'operator:ann', reason: 'the supplier is down' })
  const task = await client.submit(work, null)
  expect(await claimAll(engine)).toEqual([])
  expect((await client.explain(task.id))?.summary).toContain('operator:ann: the supplier is down')
  expect((await client.lanes()).items).toMatchObject([{ action: 'work', gates: [{ kind: 'paused' }] }])
  expect(await client.resume({ action: 'work' })).toBe(true)
  expect(await client.resume({ action: 'work' })).toBe(false)
  expect(await claimAll(engine)).toHaveLength(1)
})

test('a limit holds for all lanes of its scope until it is lifted', async () => {
  const { client, engine } = await setUp()
  await client.limit({ pool: 'default' }, 1, { actor: 'operator:ann', reason: 'one licence' })
  await client.submitMany(work, [1, 2, 3], (_, index) => ({ tenant: `t${index}` }))
  expect(await claimAll(engine)).toHaveLength(1)
  await client.limit({ pool: 'default' }, null)
  expect(await claimAll(engine)).toHaveLength(2)
})

test('waiting tasks can be made due', async () => {
  const { client, engine } = await setUp()
  const task = await client.submit(work, null, { delay: '1h' })
  expect(await client.promote(task.id)).toEqual({ changed: [task.id], next: null })
  expect(await claimAll(engine)).toHaveLength(1)
})

test('dead letters show as groups, workers with their health, and the journal tells it all', async () => {
  const { client, engine } = await setUp()
  await client.submitMany(work, [1, 2])
  await failAll(engine, new Error('broken'))
  expect((await client.failureGroups()).items).toMatchObject([{ action: 'work', count: 2 }])
  expect((await client.workers()).items).toMatchObject([{ worker: 'w1', health: { status: 'healthy' } }])
  const first = await client.journal({ limit: 1 })
  const second = await client.journal({ limit: 10, cursor: first.cursor })
  expect([...first.entries, ...second.entries].map(({ type }) => type)).toEqual([
    'execution.failed',
    'execution.failed',
  ])
})

test('a scope with a slip is refused', async () => {
  const { client } = await setUp()
  const slip = { acton: 'work' } as { action?: string }
  await expect(client.pause(slip)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  await expect(client.limit(slip, 1)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})
