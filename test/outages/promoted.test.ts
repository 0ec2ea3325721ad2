// The server is replaced by its replica, behind the same address. Whatever had reached the replica goes on there: work, leases,
// tokens and functions. A server that has become a replica meanwhile answers READONLY, and is left.

import type { RedisReply, RedisServer } from '@reprise/test-servers'
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

const offset = (info: RedisReply): string | undefined => /master_repl_offset:(\d+)/.exec(String(info))?.[1]

async function hasCaughtUp(replica: RedisServer, master: RedisServer): Promise<boolean> {
  const [there, here] = await Promise.all([
    replica.command('INFO', 'replication'),
    master.command('INFO', 'replication'),
  ])
  return offset(there) === offset(here)
}

test('a replica is promoted after the master died: everything acknowledged ends once', async () => {
  const master = await ownServer()
  const replica = await ownServer({ replicaOf: master })
  const proxy = await ownProxy(master)
  const product = await startProduct(proxy.url)
  const heldTasks = await startHeld(product, 5)
  const load = submitAllTheTime(product.client)
  await until(() => load.count() > 200)

  // Replication is behind by a moment: what it has not got yet is lost, as everybody who uses it knows. Not here.
  await proxy.refuse(true)
  proxy.cut()
  await until(() => hasCaughtUp(replica, master))
  await master.kill()
  await replica.command('REPLICAOF', 'NO', 'ONE')
  proxy.retarget(replica)
  await proxy.refuse(false)

  const last = await expectToCarryOn(product.client)
  const loaded = await load.stop()
  product.letGo()
  await Promise.all([...loaded, ...heldTasks].map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...loaded, ...heldTasks, last])
  expect(product.errors).toEqual([])
})

test('fault 14: the roles are switched while both live: READONLY is answered by leaving for the new master', async () => {
  const old = await ownServer()
  const next = await ownServer({ replicaOf: old })
  const proxy = await ownProxy(old)
  const product = await startProduct(proxy.url)
  const heldTasks = await startHeld(product, 5)
  // No write is accepted from here on until the switch is done, as FAILOVER does it.
  await old.command('CLIENT', 'PAUSE', '60000', 'WRITE')
  await until(() => hasCaughtUp(next, old))
  await next.command('REPLICAOF', 'NO', 'ONE')
  await old.command('REPLICAOF', '127.0.0.1', String(next.port))
  await old.command('CLIENT', 'UNPAUSE')
  const submitted = product.client.submit(product.held, null)
  await until(async () => /errorstat_READONLY/.test(String(await old.command('INFO', 'errorstats'))))
  proxy.retarget(next)
  const last = await expectToCarryOn(product.client)
  product.letGo()
  const tasks = [...heldTasks, await submitted]
  await Promise.all(tasks.map((task) => task.result()))
  await expectOneSuccessEach(product.engine, [...tasks, last])
  expect(product.errors).toEqual([])
})
