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
    const sizes = [
      await server.command('HLEN', 'limit:tasks'),
      await server.command('HLEN', 'limit:ended'),
      await server.command('HLEN', 'limit:running'),
    ]
    expect(sizes.map(Number)).toEqual([1_234, 1_234, 0])
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
    const keys = ['tasks', 'queue', 'running', 'ended', 'tokens'].map((name) => `limit:${name}`)
    const trip = (...settling: string[]) =>
      server.command('EVAL', SETTLE_AND_CLAIM, '5', ...keys, '1000', '100', 'worker', ...settling)
    const ended = async () => Number(await server.command('HLEN', 'limit:ended'))
    await server.command('HSET', 'limit:tasks', 'a', '{}')
    await server.command('RPUSH', 'limit:queue', 'a')
    expect(await trip()).toEqual(['1 worker 1000', ['a'], ['{}']])
    await trip('a', '0 worker 1000')
    expect(await ended()).toBe(0)
    await trip('a', '1 worker 1000')
    expect(await ended()).toBe(1)
    await server.command('DEL', 'limit:ended')
    await trip('a', '1 worker 1000')
    expect(await ended()).toBe(0)
  } finally {
    await server.stop()
  }
})
