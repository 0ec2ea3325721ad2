// Connections: one engine per store and process, closed by its last user, and errors that say what to do.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DEFAULT_TENANT,
  defineAction,
  encodeJson,
  readHealthThresholds,
  type TaskSpec,
  taskId,
  taskSpecOf,
  VirtualClock,
} from '@reprise/core'
import { startRedis } from '@reprise/test-servers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectEngine, connectWith } from '../src/connect.ts'
import { installedModules } from '../src/open.ts'
import { warnOfRisk } from '../src/risk.ts'

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

test.each([
  ["Cannot find package '@reprise/engine-sqlite' imported from here", 'ERR_MODULE_NOT_FOUND'],
  ["Cannot find module '@reprise/engine-sqlite'", 'MODULE_NOT_FOUND'],
])('a missing package is an error that says what to install: %s', async (message, code) => {
  const missing = Object.assign(new Error(message), { code })
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

const spec = (id: string): TaskSpec =>
  taskSpecOf({ id: taskId(id) }, encodeJson({}, 'payload'), {
    action: defineAction({ name: 'mail.send' }),
    tenant: DEFAULT_TENANT,
  })

describe('B8: the bound of the backlog', () => {
  const takesOne = async (address: string): Promise<void> => {
    const connection = await connectEngine(address)
    onTestFinished(() => connection.close())
    const { engine } = connection
    await engine.submit([spec('one')])
    const refused = { code: 'REPRISE_BACKLOG_FULL', message: expect.stringContaining('limit 1') as string }
    await expect(engine.submit([spec('two')])).rejects.toMatchObject(refused)
  }

  test('stands in the address', async () => {
    await takesOne(`sqlite:${temporaryFile()}?max_backlog=1`)
    const server = await startRedis()
    onTestFinished(() => server.stop())
    await takesOne(`${server.url}?max_backlog=1`)
    await takesOne(`${server.url}?prefix=several&partitions=3&max_backlog=1`)
    expect(await server.command('EXISTS', 'several/store')).toBe(1)
  })

  test('comes from the environment, unless the address has one', async () => {
    process.env.REPRISE_MAX_BACKLOG = '1'
    onTestFinished(() => void delete process.env.REPRISE_MAX_BACKLOG)
    await takesOne(`sqlite:${temporaryFile()}`)
    const roomy = await connectEngine(`sqlite:${temporaryFile()}?max_backlog=2`)
    onTestFinished(() => roomy.close())
    expect(await roomy.engine.submit([spec('one'), spec('two')])).toHaveLength(2)
  })
})

describe('C5, C11, D1: thresholds of health', () => {
  const ttl = 15_000

  test('are given with the address, and make another engine', async () => {
    const file = `sqlite:${temporaryFile()}`
    const healthThresholds = readHealthThresholds({ heartbeat_ttl: ttl })
    const usual = await connectEngine(file)
    const strict = await connectEngine(file, { healthThresholds })
    onTestFinished(async () => {
      for (const connection of [usual, strict]) await connection.close()
    })
    expect(usual.engine.healthThresholds.heartbeatStaleMs).toBe(30_000)
    expect(strict.engine.healthThresholds).toEqual(healthThresholds)
  })

  test('come from the environment', async () => {
    process.env.REPRISE_HEALTH_THRESHOLDS = '{"heartbeat_ttl":"15s"}'
    onTestFinished(() => void delete process.env.REPRISE_HEALTH_THRESHOLDS)
    const server = await startRedis()
    onTestFinished(() => server.stop())
    for (const address of [`sqlite:${temporaryFile()}`, server.url]) {
      const connection = await connectEngine(address)
      onTestFinished(() => connection.close())
      expect(connection.engine.healthThresholds.heartbeatStaleMs).toBe(ttl)
    }
    process.env.REPRISE_HEALTH_THRESHOLDS = '{"heartbeat":"15s"}'
    await expect(connectEngine(`sqlite:${temporaryFile()}`)).rejects.toThrow("REPRISE_HEALTH_THRESHOLDS can't be used")
  })
})

test('4: without the wish to create, a store that is not there is refused, and an opening beside it creates it', async () => {
  const file = temporaryFile()
  const looking = connectEngine(`sqlite:${file}`, { create: false })
  const working = connectEngine(`sqlite:${file}`)
  await expect(looking).rejects.toMatchObject({ code: 'REPRISE_STORE_MISSING' })
  const worker = await working
  const guest = await connectEngine(`sqlite:${file}`, { create: false })
  expect(guest.engine).toBe(worker.engine)
  await guest.close()
  await worker.close()
  await (await connectEngine(`sqlite:${file}`, { create: false })).close()
  await (await connectEngine('sqlite::memory:', { create: false })).close()
})

test('21: a Redis without an append-only file is a warning of the process, once', async () => {
  const [loose, safe] = await Promise.all([startRedis(), startRedis({ appendonly: true })])
  onTestFinished(async () => {
    await Promise.all([loose.stop(), safe.stop()])
  })
  const warnings: unknown[] = []
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(text))
  onTestFinished(() => spy.mockRestore())
  for (const { url } of [safe, loose, loose]) {
    const connection = await connectEngine(url)
    warnOfRisk(connection.engine)
    await connection.close()
  }
  expect(warnings).toEqual([expect.stringMatching(/in memory only: .*appendonly yes/)])
})
