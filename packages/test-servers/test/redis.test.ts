// A started server is really there, really dies, and comes back in the same place.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { type RedisOptions, type RedisServer, startCluster, startRedis } from '../src/index.ts'

const servers: RedisServer[] = []
const folders: string[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

async function start(options?: RedisOptions): Promise<RedisServer> {
  const server = await startRedis(options)
  servers.push(server)
  return server
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-test-servers-'))
  folders.push(folder)
  return folder
}

test('answers every kind of reply', async () => {
  const redis = await start()
  expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`)
  expect(await redis.command('SET', 'name', 'Zoë\r\n')).toBe('OK')
  expect(await redis.command('GET', 'name')).toBe('Zoë\r\n')
  expect(await redis.command('GET', 'none')).toBeNull()
  expect(await redis.command('INCR', 'count')).toBe(1)
  expect(await redis.command('EVAL', 'return {1, {"a"}, {}, false, {err = "ODD inside"}}', '0')).toEqual([
    1,
    ['a'],
    [],
    null,
    new Error('ODD inside'),
  ])
  await expect(redis.command('INCR', 'name')).rejects.toThrow('ERR value is not an integer')
})

test('sets what the options ask for', async () => {
  const redis = await start({ maxmemory: '20mb', extra: ['--maxclients', '50'] })
  expect(await redis.command('CONFIG', 'GET', 'max*')).toEqual(
    expect.arrayContaining(['maxmemory', '20971520', 'maxmemory-policy', 'noeviction', 'maxclients', '50']),
  )
  expect(await redis.command('CONFIG', 'GET', 'save')).toEqual(['save', ''])
})

test('what is in the append-only file is there after kill and restart, in the same place', async () => {
  const redis = await start({ appendonly: true, appendfsync: 'always' })
  const { port, pid, folder } = redis
  await redis.command('SET', 'kept', 'yes')
  await redis.kill()
  await expect(redis.command('PING')).rejects.toThrow('not running')
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  await redis.restart()
  expect(redis).toMatchObject({ port, folder })
  expect(redis.pid).not.toBe(pid)
  expect(await redis.command('GET', 'kept')).toBe('yes')
})

test('without it, a restart forgets everything', async () => {
  const redis = await start()
  await redis.command('SET', 'kept', 'no')
  await redis.restart()
  expect(await redis.command('GET', 'kept')).toBeNull()
})

test('says nothing while it is paused, and everything afterwards', async () => {
  const redis = await start()
  const other = await start()
  redis.pause()
  const late = redis.command('PING').then(() => 'paused')
  const first = await Promise.race([late, other.command('PING').then(() => 'other')])
  expect(first).toBe('other')
  redis.resume()
  expect(await late).toBe('paused')
})

test('a replica has caught up when it is there', async () => {
  const master = await start()
  await master.command('SET', 'a', '1')
  const replica = await start({ replicaOf: master })
  expect(await replica.command('GET', 'a')).toBe('1')
})

test('stop removes its own folder, and leaves the one it was given', async () => {
  const folder = newFolder()
  const [own, given] = [await start(), await start({ folder })]
  await Promise.all([own.stop(), given.stop()])
  expect(existsSync(own.folder)).toBe(false)
  expect(existsSync(join(folder, 'redis.log'))).toBe(true)
  await expect(own.restart()).rejects.toThrow('stopped for good')
})

test('a server that does not start says why', async () => {
  await expect(start({ extra: ['--no-such-option', '1'] })).rejects.toThrow('no-such-option')
  const first = await start()
  await first.command('SET', 'mine', 'yes')
  await expect(start({ port: first.port })).rejects.toThrow('Address already in use')
  expect(await first.command('GET', 'mine')).toBe('yes')
})

describe('without a redis-server that will do', () => {
  const source = `import { startRedis } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
    await startRedis().catch((error) => console.log(error.message))`

  const messageWith = async (path: string) => {
    const env = { ...process.env, PATH: path }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], { env })
    return stdout
  }

  test('says how to install a missing one', async () => {
    expect(await messageWith(newFolder())).toBe(
      'redis-server is missing: run `npm run setup:redis` or install it: apt-get install redis-server\n',
    )
  })

  test('refuses an old one', async () => {
    const folder = newFolder()
    const script = '#!/bin/sh\necho "Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64"\n'
    writeFileSync(join(folder, 'redis-server'), script, { mode: 0o755 })
    expect(await messageWith(folder)).toContain('version 7 or newer is needed, this is Redis server v=6.2.14')
  })
})

test.runIf(process.platform === 'linux')('dies with its parent, even one that was killed', async () => {
  const source = `import { startRedis } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
    const redis = await startRedis({ folder: ${JSON.stringify(newFolder())} })
    console.log(redis.pid)
    setInterval(() => undefined, 1_000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  await expect.poll(() => isAlive(pid)).toBe(false)
})

/** A zombie, which nobody has waited for yet, is dead. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test('a cluster forms, and each node serves its share', async () => {
  const cluster = await startCluster()
  servers.push(...cluster.nodes)
  expect(cluster.urls).toHaveLength(3)
  const slots = await Promise.all(cluster.nodes.map((node) => node.command('CLUSTER', 'KEYSLOT', 'a')))
  expect(new Set(slots).size).toBe(1)
  const answers = await Promise.allSettled(cluster.nodes.map((node) => node.command('SET', 'a', '1')))
  const served = answers.filter((answer) => answer.status === 'fulfilled')
  const moved = answers.filter((answer) => answer.status === 'rejected' && String(answer.reason).includes('MOVED'))
  expect([served.length, moved.length]).toEqual([1, 2])
  await cluster.stop()
  await expect(cluster.nodes[0]?.command('PING')).rejects.toThrow('not running')
})
