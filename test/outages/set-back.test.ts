// A store that comes back without writes that it had acknowledged: an older append-only file, a replica that lagged behind, a
// server that was emptied. Processes that saw higher numbers say so, once in the journal and until somebody accepts the loss.
// A server that starts again and has everything alarms nobody.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, Logger } from '@reprise/core'
import { monitoring } from '@reprise/telemetry'
import type { RedisServer } from '@reprise/test-servers'
import { expect, test } from 'vitest'
import {
  expectToCarryOn,
  ownEngine,
  ownProxy,
  ownServer,
  type Product,
  startProduct,
  submitAllTheTime,
  until,
} from './product/product.ts'

const AOF = 'appendonlydir'
const durable = { appendonly: true, appendfsync: 'always' } as const

/** Submits one task after the other until these many are accepted. */
async function work({ client }: Product, count: number): Promise<void> {
  const load = submitAllTheTime(client)
  await until(() => load.count() >= count)
  const tasks = await load.stop()
  await Promise.all(tasks.map((task) => task.result()))
}

const sequenceOf = async (server: RedisServer): Promise<number> =>
  Number(await server.command('HGET', 'reprise/numbers', 'sequence'))

/** As a disk that lost what came after a moment: what was written since is gone. */
async function restartAsOf(server: RedisServer, copy: string): Promise<void> {
  await server.kill()
  rmSync(join(server.folder, AOF), { recursive: true })
  cpSync(copy, join(server.folder, AOF), { recursive: true })
  await server.restart()
}

async function entriesOf(engine: Engine): Promise<readonly string[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.filter(({ type }) => type === 'store.set_back').map(({ reason }) => reason)
}

function listening(): { readonly log: Logger; readonly errors: string[] } {
  const errors: string[] = []
  const quiet = (): void => undefined
  return { errors, log: { debug: quiet, info: quiet, warn: quiet, error: (text) => void errors.push(text) } }
}

test('a server that lost the tail of its file: however fast the numbers come back, it is noticed, journalled once and shown', async () => {
  const server = await ownServer(durable)
  const { log, errors } = listening()
  const product = await startProduct(server.url, { worker: { heartbeat: '100ms', log } })
  await work(product, 20)
  const copy = join(server.folder, 'copy')
  cpSync(join(server.folder, AOF), copy, { recursive: true })
  const copied = await sequenceOf(server)
  const load = submitAllTheTime(product.client)
  await until(() => load.count() > 100)
  const before = await sequenceOf(server)
  await restartAsOf(server, copy)
  // The load goes on: soon the numbers are higher than ever.
  await until(async () => (await sequenceOf(server)) > before + 100)
  await load.stop()

  const [setback, ...others] = await product.engine.setbacks()
  expect(others).toEqual([])
  expect(setback?.seen).toBeGreaterThanOrEqual(copied + 100)
  // Workers that come back draw a few numbers of their own before the first task is accepted.
  expect(setback?.found).toBeGreaterThanOrEqual(copied)
  expect(setback?.found).toBeLessThan(copied + 20)
  expect(setback?.foundAt).toBeGreaterThanOrEqual(setback?.seenAt ?? Number.POSITIVE_INFINITY)

  await until(async () => (await entriesOf(product.engine)).length > 0)
  const lost =
    /^The store lost writes that it had acknowledged: it had come to number \d+ at \S+Z, and went on from \d+ at \S+Z\.$/
  expect(await entriesOf(product.engine)).toEqual([expect.stringMatching(lost)])
  expect(errors.filter((text) => lost.test(text))).toHaveLength(1)
  const { level, because } = await monitoring(product.engine)
  expect(level).toBe('critical')
  expect(because[0]).toMatchObject({ level: 'critical', about: 'set_back' })
})

test.each([
  ['starts again', (server: RedisServer) => server.restart()],
  ['loses our functions', (server: RedisServer) => server.command('FUNCTION', 'FLUSH')],
])('a server that %s under load, and has all its writes, alarms nobody', async (_, disturb) => {
  const server = await ownServer(durable)
  const product = await startProduct(server.url)
  await product.engine.setbacks()
  const load = submitAllTheTime(product.client)
  for (let time = 0; time < 3; time++) {
    const before = load.count()
    await until(() => load.count() > before + 30)
    await disturb(server)
  }
  await load.stop()
  await expectToCarryOn(product.client)
  expect(await product.engine.setbacks()).toEqual([])
  // One that opens it now has seen nothing.
  expect(await (await ownEngine(server.url)).setbacks()).toEqual([])
})

test('a server that was emptied went on from 0', async () => {
  const server = await ownServer()
  const product = await startProduct(server.url)
  await work(product, 20)
  await server.command('FLUSHALL')
  await expectToCarryOn(product.client)
  const [setback, ...others] = await product.engine.setbacks()
  expect(others).toEqual([])
  expect(setback?.found).toBeLessThan(20)
  expect(setback?.seen).toBeGreaterThanOrEqual(20)
})

test('a replica that lagged behind is promoted, fails back, and each lost tail is told', async () => {
  const master = await ownServer()
  const replica = await ownServer({ replicaOf: master })
  const proxy = await ownProxy(master)
  const product = await startProduct(proxy.url)
  await work(product, 20)
  const offset = async (server: RedisServer): Promise<string | undefined> =>
    /master_repl_offset:(\d+)/.exec(String(await server.command('INFO', 'replication')))?.[1]
  await until(async () => (await offset(replica)) === (await offset(master)))
  // From here on it gets nothing more.
  await replica.command('REPLICAOF', 'NO', 'ONE')
  const kept = await sequenceOf(replica)
  const tasks = await product.client.submitMany(product.held, Array<null>(50).fill(null))
  expect(tasks).toHaveLength(50)
  await proxy.refuse(true)
  proxy.cut()
  proxy.retarget(replica)
  await proxy.refuse(false)
  await expectToCarryOn(product.client)
  const [setback, ...others] = await product.engine.setbacks()
  expect(others).toEqual([])
  expect(setback?.found).toBeGreaterThanOrEqual(kept)
  expect(setback?.found).toBeLessThan(kept + 20)
  expect(setback?.seen).toBeGreaterThanOrEqual(kept + 50)

  // The old master takes over again with all that the other one has: nothing is lost by that.
  await master.command('REPLICAOF', '127.0.0.1', String(replica.port))
  await until(async () => (await offset(replica)) === (await offset(master)))
  await proxy.refuse(true)
  proxy.cut()
  await until(async () => (await sequenceOf(master)) === (await sequenceOf(replica)))
  await master.command('REPLICAOF', 'NO', 'ONE')
  proxy.retarget(master)
  await proxy.refuse(false)
  await expectToCarryOn(product.client)
  expect(await product.engine.setbacks()).toEqual([setback])
})

test('one partition of several that went back is named', async () => {
  const server = await ownServer()
  const product = await startProduct(server.url, { partitions: 4 })
  await work(product, 50)
  const keys = await server.command('KEYS', 'reprise:{1*}/numbers')
  const [key = ''] = Array.isArray(keys) ? keys.map(String) : []
  const before = Number(await server.command('HGET', key, 'sequence'))
  expect(before).toBeGreaterThan(5)
  await product.engine.setbacks()
  await server.command('HSET', key, 'sequence', '3')
  const [setback, ...others] = await product.engine.setbacks()
  expect(others).toEqual([])
  expect(setback).toMatchObject({ part: 1, seen: before, found: 3 })
})
