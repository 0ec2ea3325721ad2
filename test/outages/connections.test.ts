// The connections to Redis break: cut again and again under load, or half-open, which shows only by silence (fault 11).
// Nothing acknowledged is lost, nothing is settled twice, and work goes on soon after the network does.

import { expect, test } from 'vitest'
import {
  expectOneSuccessEach,
  expectToCarryOn,
  ownProxy,
  ownServer,
  startHeld,
  startProduct,
  submitAllTheTime,
  until,
} from './product/product.ts'

test('fault 11: cut again and again under load: everything acknowledged ends once', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const product = await startProduct(proxy.url)
  const heldTasks = await startHeld(product, 5)
  const load = submitAllTheTime(product.client)
  for (let cut = 0; cut < 8; cut++) {
    const before = load.count()
    await until(() => load.count() > before + 20)
    proxy.cut()
  }
  const loaded = await load.stop()
  const last = await expectToCarryOn(product.client)
  product.letGo()
  await Promise.all([...loaded, ...heldTasks].map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...loaded, ...heldTasks, last])
  expect(product.errors).toEqual([])
})

test.each(['both', 'replies'] as const)(
  'fault 11: half-open, %s vanish: it is noticed, and everything acknowledged ends once',
  async (direction) => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    const product = await startProduct(proxy.url, { commandTimeoutMs: 300, patienceMs: 1_000 })
    const heldTasks = await startHeld(product, 5)
    const load = submitAllTheTime(product.client)
    await until(() => load.count() > 100)
    proxy.swallow(direction)
    const stuckAt = load.count()
    product.letGo()
    // Far past the deadline of a command, and past patience: submitters and the worker were told.
    await until(() => product.errors.length > 1)
    expect(load.count()).toBeLessThanOrEqual(stuckAt + 1)
    expect(new Set(product.errors)).toEqual(new Set(['REPRISE_STORE_BUSY']))
    proxy.swallow(null)
    const last = await expectToCarryOn(product.client)
    const loaded = await load.stop()
    await Promise.all([...loaded, ...heldTasks].map((task) => task.result()))
    await expectOneSuccessEach(product.engine, [...loaded, ...heldTasks, last])
  },
)

test('half-open with the usual deadlines: one connection falls silent, and work goes on over another', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const product = await startProduct(proxy.url)
  const heldTasks = await startHeld(product, 5)
  proxy.swallow('both')
  product.letGo()
  // All connections that were open are given up; those that try to take their place get no answer either.
  const before = proxy.connections
  await until(() => proxy.connections > before)
  proxy.swallow(null)
  const last = await expectToCarryOn(product.client)
  await Promise.all(heldTasks.map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...heldTasks, last])
  expect(product.worker.stats()).toMatchObject({ state: 'running', unsettled: 0 })
})
