// Opening a store on a server that can't be trusted with tasks is refused, and the refusal says how to mend it
// (fault 13): one that evicts, is too old, keeps nothing though it must, or holds a newer store.

import { createServer } from 'node:net'
import { createClient } from '@reprise/client'
import { silentLogger, workerId } from '@reprise/core'
import { createWorker } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { quick } from './product/actions.ts'
import { expectToCarryOn, ownEngine, ownServer } from './product/product.ts'

/** Both ways in are refused alike. */
async function expectRefusal(address: string, code: string, message: RegExp): Promise<void> {
  const refusal = { code, message: expect.stringMatching(message) as unknown }
  await expect(createClient({ engine: address })).rejects.toMatchObject(refusal)
  await expect(createWorker({ engine: address, actions: [quick], log: silentLogger })).rejects.toMatchObject(refusal)
}

test.each(['allkeys-lru', 'volatile-ttl'])(
  'fault 13: a server with the eviction policy %s is refused',
  async (policy) => {
    const server = await ownServer({ maxmemoryPolicy: policy })
    await expectRefusal(server.url, 'REPRISE_STORE_FAILED', /CONFIG SET maxmemory-policy noeviction/)
    // As the message says.
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    const client = await createClient({ engine: await ownEngine(server.url) })
    expect(await client.counts()).toMatchObject({ accepted: 0 })
  },
)

test('fault 13: what must be durable is refused by a server without an append-only file', async () => {
  const server = await ownServer()
  const address = `${server.url}?durability=durable`
  await expectRefusal(address, 'REPRISE_STORE_FAILED', /CONFIG SET appendonly yes/)
  expect((await ownEngine(server.url)).info.durability).toContain('in memory only')
  await server.command('CONFIG', 'SET', 'appendonly', 'yes')
  const engine = await ownEngine(server.url, { durability: 'durable' })
  expect(engine.info.durability).toContain('append-only file, synced every second')
  const worker = await createWorker({ engine, actions: [quick], log: silentLogger })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await expectToCarryOn(await createClient({ engine }))
})

test('a server without any persistence that allows no CONFIG is not said to take snapshots', async () => {
  const server = await ownServer({ extra: ['--save', '', '--rename-command', 'CONFIG', ''] })
  const { info } = await ownEngine(server.url)
  expect(info.durability).toContain('CONFIG is not allowed here')
  expect(info.durability).not.toContain('snapshots only')
  expect(info.risk).toContain('a restart of the server may lose everything')
})

test('21: a server with snapshots alone is warned about, in a sentence', async () => {
  const server = await ownServer({ extra: ['--save', '3600 1'] })
  expect((await ownEngine(server.url)).info.risk).toMatch(/keeps accepted tasks in snapshots only: a crash/)
})

test('a server that is too old is refused', async () => {
  const port = await startOldServer()
  const address = `redis://127.0.0.1:${port}`
  await expectRefusal(address, 'REPRISE_STORE_FAILED', /Redis 6\.2\.14.*needs version 7.*Upgrade/)
  await expect(ownEngine(address)).rejects.toThrow(/Upgrade/)
})

test('a store that a newer version wrote is refused, and left as it is', async () => {
  const server = await ownServer()
  const engine = await ownEngine(server.url)
  await engine.counts()
  await server.command('HSET', 'reprise/store', 'layout', '1000')
  await expectRefusal(server.url, 'REPRISE_SCHEMA_TOO_NEW', /1000/)
  expect(await server.command('HGET', 'reprise/store', 'layout')).toBe('1000')
})

test('a store of layout 1 is raised to the present one, and its workers register again', async () => {
  const server = await ownServer()
  await (await ownEngine(server.url)).counts()
  await server.command('HSET', 'reprise/store', 'layout', '1')
  await server.command(
    'HSET',
    'reprise/worker:w1',
    'epoch',
    '1',
    'pools',
    '["default"]',
    'lastBeatAt',
    '1',
    'host',
    'h',
  )
  await server.command('ZADD', 'reprise/workers', '0', 'w1')
  const engine = await ownEngine(server.url)
  const beat = {
    inFlight: 0,
    queueDepth: 0,
    loopLagMs: 0,
    memoryBytes: 0,
    draining: false,
    maxQuietMs: 0,
    outlook: null,
  }
  expect(await engine.beat({ worker: workerId('w1'), epoch: 1, ...beat })).toEqual({ outcome: 'unknown' })
  expect((await engine.workers()).items).toEqual([])
  expect(await server.command('HGET', 'reprise/store', 'layout')).toBe('4')
})

/** Enough of an old server to be asked who it is. */
function startOldServer(): Promise<number> {
  const info = '# Server\r\nredis_version:6.2.14\r\ncluster_enabled:0\r\nmaxmemory_policy:noeviction\r\n'
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      for (const [name] of String(chunk).matchAll(/\b(PING|INFO|SELECT)\b/g)) {
        socket.write(name === 'INFO' ? `$${info.length}\r\n${info}\r\n` : '+PONG\r\n')
      }
    })
  })
  onTestFinished(() => void server.close())
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
}

test.each([
  ['a password for a server that has none', (url: string) => url.replace('//', '//:secret@'), /ERR AUTH/],
  ['a database that the server does not have', (url: string) => `${url}/99`, /ERR DB index/],
])('%s is refused at once: waiting does not mend it', async (_, wrong, reason) => {
  const server = await ownServer()
  await expectRefusal(wrong(server.url), 'REPRISE_STORE_FAILED', reason)
  await expect(createClient({ engine: wrong(server.url) })).rejects.not.toThrow('secret')
})

test.each([
  ['0', '1'],
  ['abc', 'xyz'],
  ['1', '-3'],
])('a store has a layout and partitions, and layout %s with partitions %s is none', async (layout, partitions) => {
  const server = await ownServer()
  await server.command('HSET', 'reprise/store', 'layout', layout, 'partitions', partitions)
  await expectRefusal(server.url, 'REPRISE_STORE_FAILED', /does not describe a store.*another prefix/)
  expect(await server.command('HGET', 'reprise/store', 'layout')).toBe(layout)
})
