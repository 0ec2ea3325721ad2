// Redis is killed and restarted with its append-only file (faults 8 and 9): nothing acknowledged is lost, nothing is
// settled twice, workers finish what they hold and carry on by themselves, and no process ends.

import { isRepriseError } from '@reprise/core'
import { expect, test } from 'vitest'
import { quick } from './product/actions.ts'
import {
  expectOneSuccessEach,
  expectToCarryOn,
  ownServer,
  startHeld,
  startProduct,
  submitAllTheTime,
  until,
} from './product/product.ts'
import { startWorkerChild } from './product/worker-child.ts'

// With 'everysec' Redis acknowledges before it writes, for up to two seconds, while the disk is behind with a sync.
const DURABLE = { appendonly: true, appendfsync: 'always' } as const

test('fault 8: killed under load and restarted: everything acknowledged ends once, soon after it answers', async () => {
  const server = await ownServer(DURABLE)
  const child = await startWorkerChild(server.url)
  const product = await startProduct(server.url)
  const { client, engine, held, begun } = product
  const heldTasks = await client.submitMany(held, Array<null>(20).fill(null))
  await until(() => heldTasks.every(({ id }) => begun.has(id) || child.begun.has(id)))

  const load = submitAllTheTime(client)
  const ended: { readonly id: string }[] = []
  for (let kill = 1; kill <= 3; kill++) {
    const before = load.count()
    await until(() => load.count() > before + 100)
    await server.kill()
    await server.restart()
    ended.push(await expectToCarryOn(client))
  }
  const loaded = await load.stop()
  child.letGo()
  product.letGo()
  await Promise.all([...loaded, ...heldTasks].map((task) => task.result()))
  await expectOneSuccessEach(engine, [...loaded, ...heldTasks, ...ended])
  // Nobody had to be told of it: what was asked meanwhile was answered late.
  expect([...product.errors, ...child.errors]).toEqual([])
  await child.expectToEndWell()
})

test('fault 9: gone for a while: submitters are told to come back, workers finish what they hold', async () => {
  const server = await ownServer(DURABLE)
  const product = await startProduct(server.url, { patienceMs: 300 })
  const { client, engine, worker, letGo, errors } = product
  const tasks = await startHeld(product, 10)
  await server.kill()
  const refusal = await client.submit(quick, 1).catch((error: unknown) => error)
  expect(isRepriseError(refusal, 'REPRISE_STORE_BUSY') && refusal.status).toBe(503)
  letGo()
  await until(() => worker.stats().unsettled === tasks.length)
  await until(() => errors.length > 5)
  expect(new Set(errors)).toEqual(new Set(['REPRISE_STORE_BUSY']))
  await server.restart()
  const last = await expectToCarryOn(client)
  await Promise.all(tasks.map((task) => task.result()))
  await expectOneSuccessEach(engine, [...tasks, last])
  expect(worker.state).toBe('running')
})

test('gone while somebody waits for a result: the wait outlasts it', async () => {
  const server = await ownServer(DURABLE)
  const product = await startProduct(server.url, { patienceMs: 200 })
  const [task] = await startHeld(product, 1)
  const result = task?.result()
  await server.kill()
  await until(() => product.errors.length > 0)
  product.letGo()
  await server.restart()
  expect(await result).toEqual({ held: true })
})
