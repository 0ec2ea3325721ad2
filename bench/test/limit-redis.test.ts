// The limit on Redis is bare, but it must be right: a faster one that lost tasks would be no limit.

import { startRedis } from '@reprise/test-servers'
import { expect, test } from 'vitest'
import { SETTLE_AND_CLAIM } from '../src/limit-redis.ts'
import { clearRedis, usedMemory } from '../src/redis-admin.ts'
import { measureThroughput } from '../src/throughput.ts'

test('every task is taken in, claimed, settled and recorded once; then the store can be emptied', async () => {
  const server = await startRedis({ appendonly: true })
  try {
    const store = { engine: 'redis', at: server.url, mode: 'fast' } as const
    const before = await usedMemory(server.url)
    const found = await measureThroughput({ store, side: 'limit', tasks: 1_234, warmupTasks: 100, process: true })
    expect(found.submitPerS).toBeGreaterThan(0)
    expect(found.processPerS).toBeGreaterThan(0)
    expect(await server.command('GET', 'limit:ended')).toBe('1234')
    expect(await server.command('EXISTS', 'limit:running')).toBe(0)
    // A hash for each task, and the two counters.
    expect(Number(await server.command('DBSIZE'))).toBe(1_234 + 2)
    expect(await usedMemory(server.url)).toBeGreaterThan(before + 1_234 * 150)
    await clearRedis(server.url)
    expect(Number(await server.command('DBSIZE'))).toBe(0)
  } finally {
    await server.stop()
  }
})

test('only who holds the lease settles, and once', async () => {
  const server = await startRedis()
  try {
    const keys = ['queue', 'running', 'ended', 'tokens'].map((name) => `limit:${name}`)
    const trip = (...settling: string[]) =>
      server.command('EVAL', SETTLE_AND_CLAIM, '4', ...keys, 'limit:task:', '1000', '100', 'worker', ...settling)
    const status = async () =>
      JSON.parse(String(await server.command('HGET', 'limit:task:a', '1'))) as { status: string }
    await server.command('HSET', 'limit:task:a', 'task', '{}')
    await server.command('RPUSH', 'limit:queue', 'a')
    const lease = '{"status":"running","attempt":1,"token":"1","worker":"worker","dispatchedAt":1000}'
    expect(await trip()).toEqual([lease, ['a'], ['{}']])
    await trip('a', lease.replace('"1"', '"0"'))
    expect(await status()).toMatchObject({ status: 'running' })
    await trip('a', lease)
    expect(await status()).toMatchObject({ status: 'succeeded', token: '1', resolvedAt: 1000 })
    await trip('a', lease)
    expect(await server.command('GET', 'limit:ended')).toBe('1')
  } finally {
    await server.stop()
  }
})
