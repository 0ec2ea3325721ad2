// Connections: one engine per store and process, closed by its last user, and errors that say what to do.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VirtualClock } from '@reprise/core'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { connectEngine, connectWith } from '../src/connect.ts'
import { installedModules } from '../src/open.ts'

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-connect-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'reprise.db')
}

const closed = { code: 'REPRISE_STORE_CLOSED' }

test('an engine that is given stays open', async () => {
  const owner = await connectEngine('sqlite::memory:')
  const guest = await connectEngine(owner.engine)
  expect(guest.owned).toBe(false)
  await guest.close()
  expect((await owner.engine.counts()).accepted).toBe(0)
  await owner.close()
  await expect(owner.engine.counts()).rejects.toMatchObject(closed)
})

test('connections to one file share one engine, which the last of them closes', async () => {
  const file = temporaryFile()
  const [first, second] = await Promise.all([connectEngine(`sqlite:${file}`), connectEngine(`sqlite:${file}`)])
  expect(first.owned).toBe(true)
  expect(second.engine).toBe(first.engine)
  await first.close()
  // Closing twice takes away one use, not two.
  await first.close()
  expect((await second.engine.counts()).accepted).toBe(0)
  await second.close()
  await expect(second.engine.counts()).rejects.toMatchObject(closed)
})

test('after the last close the store is opened anew', async () => {
  const file = temporaryFile()
  const first = await connectEngine(`sqlite:${file}`)
  await first.close()
  const again = await connectEngine(`sqlite:${file}`)
  onTestFinished(() => again.close())
  expect(again.engine).not.toBe(first.engine)
  expect((await again.engine.counts()).accepted).toBe(0)
})

test('another durability, or a clock of its own, is another engine', async () => {
  const file = temporaryFile()
  const plain = await connectEngine(`sqlite:${file}`)
  const fast = await connectEngine(`sqlite:${file}?durability=fast`)
  const clock = new VirtualClock()
  const steered = await connectEngine(`sqlite:${file}`, { clock })
  onTestFinished(async () => {
    for (const connection of [plain, fast, steered]) await connection.close()
  })
  expect(new Set([plain.engine, fast.engine, steered.engine]).size).toBe(3)
  expect((await steered.engine.expired(1)).now).toBe(clock.now())
})

test('a missing package is an error that says what to install', async () => {
  const missing = Object.assign(new Error("Cannot find package '@reprise/engine-sqlite' imported from here"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  const connecting = connectWith({ ...installedModules, sqlite: () => Promise.reject(missing) }, 'sqlite::memory:', {})
  await expect(connecting).rejects.toThrow('npm install @reprise/engine-sqlite')
  await expect(connecting).rejects.toMatchObject({ code: 'REPRISE_UNKNOWN_ENGINE' })
})

test('a package that is there but broken is not called missing, and a failed opening is not remembered', async () => {
  const broken = Object.assign(new Error("Cannot find package 'inner-thing'"), { code: 'ERR_MODULE_NOT_FOUND' })
  await expect(
    connectWith({ ...installedModules, sqlite: () => Promise.reject(broken) }, 'sqlite::memory:', {}),
  ).rejects.toBe(broken)
  const connection = await connectEngine('sqlite::memory:')
  onTestFinished(() => connection.close())
  expect((await connection.engine.counts()).accepted).toBe(0)
})

test('what is neither an address nor an engine is refused', async () => {
  const mistake: unknown = 5
  await expect(connectEngine(mistake as string)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

test('a redis address opens the store it names', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const connection = await connectEngine(`${server.url}?prefix=orders&partitions=1`)
  onTestFinished(() => connection.close())
  expect(connection.engine.info.kind).toBe('redis')
  expect(await server.command('HGET', 'orders/store', 'partitions')).toBe('1')
  await expect(connectEngine(`${server.url}?durability=durable`)).rejects.toThrow('appendonly yes')
})

test('A14: the key prefix may come from the environment, as operators know it', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  process.env.EXECUTIONS_REDIS_KEY_PREFIX = 'executions'
  onTestFinished(() => void delete process.env.EXECUTIONS_REDIS_KEY_PREFIX)
  const connection = await connectEngine(server.url)
  onTestFinished(() => connection.close())
  expect(await server.command('EXISTS', 'executions/store')).toBe(1)
})
