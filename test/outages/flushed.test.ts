// Somebody flushes the functions or the scripts of the server (fault 14), or it answers with a refusal for a while: it
// is busy with a script that does not end, or reads its data. Nobody notices but by the wait.

import { expect, test } from 'vitest'
import {
  expectOneSuccessEach,
  expectToCarryOn,
  ownServer,
  startHeld,
  startProduct,
  submitAllTheTime,
  until,
} from './product/product.ts'

test.each([
  ['FUNCTION', 'FLUSH'],
  ['SCRIPT', 'FLUSH'],
])('fault 14: %s %s under load: everything ends once', async (...command) => {
  const server = await ownServer()
  const product = await startProduct(server.url)
  const heldTasks = await startHeld(product, 5)
  const load = submitAllTheTime(product.client)
  for (let flush = 0; flush < 5; flush++) {
    const before = load.count()
    await until(() => load.count() > before + 50)
    await server.command(...command)
  }
  const loaded = await load.stop()
  const last = await expectToCarryOn(product.client)
  product.letGo()
  await Promise.all([...loaded, ...heldTasks].map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...loaded, ...heldTasks, last])
  expect(product.errors).toEqual([])
})

test('fault 14: BUSY with a script that does not end: everything waits for its end', async () => {
  const server = await ownServer()
  const product = await startProduct(server.url)
  const heldTasks = await startHeld(product, 5)
  await server.command('CONFIG', 'SET', 'busy-reply-threshold', '1')
  const endless = server.command('EVAL', 'while true do end', '0').catch((error: unknown) => String(error))
  await until(async () => (await server.command('PING').catch(String)) !== 'PONG')
  const submitted = product.client.submit(product.held, null)
  product.letGo()
  await until(() => product.worker.stats().unsettled > 0 || product.worker.stats().inFlight === 0)
  await server.command('SCRIPT', 'KILL')
  expect(await endless).toContain('killed')
  const last = await expectToCarryOn(product.client)
  const tasks = [...heldTasks, await submitted]
  await Promise.all(tasks.map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...tasks, last])
})

test('fault 14: LOADING its data after a restart: everything waits for that', async () => {
  // A millisecond for each key.
  const extra = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024']
  const server = await ownServer({ appendonly: true, appendfsync: 'always', extra })
  await server.command('EVAL', `for i = 1, 1500 do redis.call('SET', 'filler' .. i, i) end`, '0')
  const product = await startProduct(server.url)
  const heldTasks = await startHeld(product, 5)
  await server.command('BGREWRITEAOF')
  await until(async () => /aof_rewrite_in_progress:0/.test(String(await server.command('INFO', 'persistence'))))
  await server.kill()
  const restarted = server.restart()
  product.letGo()
  const submitted = product.client.submit(product.held, null)
  await restarted
  const last = await expectToCarryOn(product.client)
  expect(await server.command('INFO', 'errorstats')).toContain('errorstat_LOADING')
  const tasks = [...heldTasks, await submitted]
  await Promise.all(tasks.map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...tasks, last])
})
