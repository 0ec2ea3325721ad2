// Handlers that wait for tasks of their own worker: at full concurrency somebody is told.

import { type Client, createClient } from '@reprise/client'
import { silentLogger } from '@reprise/core'
import { defineAction } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp } from './fixture.ts'

async function family(concurrency: number) {
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const child = defineAction({ name: 'child', run: (n: number) => n * 2 })
  const clients: Client[] = []
  const parent = defineAction({
    name: 'parent',
    timeout: '10s',
    async run(n: number) {
      const [client] = clients
      return (await client?.submit(child, n))?.result()
    },
  })
  const setup = await setUp({ actions: [parent, child], concurrency, log })
  clients.push(await createClient({ engine: setup.engine, clock: setup.clock }))
  const told = () => warnings.filter((text) => text.includes('waits for the result of another task')).length
  return { ...setup, parent, told }
}

test('parents that have every slot and wait for children are warned about, once', async () => {
  const { client, clock, parent, told } = await family(2)
  await client.submitMany(parent, [1, 2])
  await clock.advance(1_000)
  expect(told()).toBe(1)
  await clock.advance(5_000)
  expect(told()).toBe(1)
})

test('with a slot left for the children nobody is warned, and who waits outside of handlers does not count', async () => {
  const { client, clock, parent, told } = await family(2)
  for (const n of [1, 2, 3]) {
    const task = await client.submit(parent, n)
    const result = task.result()
    await clock.advance(1_000)
    expect(await result).toBe(n * 2)
  }
  expect(told()).toBe(0)
})
