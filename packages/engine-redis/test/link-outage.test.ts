import { rmSync } from 'node:fs'
import { type Clock, StoreBusyError, StoreClosedError, systemClock } from '@reprise/core'
import { type RedisOptions, type RedisServer, startProxy, startRedis, type TcpProxy } from '@reprise/test-servers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { COMMAND_TIMEOUT_MS, countOnce, errorCount, observedLink, script, until } from './link-fixture.ts'

const looks = script(`return redis.call('GET', KEYS[1])`, 'no-writes')

async function ownServer(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

async function ownProxy(server: RedisServer): Promise<TcpProxy> {
  const proxy = await startProxy(server)
  onTestFinished(() => proxy.stop())
  return proxy
}

describe('a connection that breaks', () => {
  it('is noticed within the deadline if it is half-open, and what was under way is repeated', async () => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    const { link, heard } = await observedLink({ url: proxy.url })
    expect(await link.run(countOnce, 'k', ['a'])).toBe(1)
    proxy.swallow('replies')
    const startedAt = performance.now()
    const calls = ['b', 'c', 'd'].map((request) => link.run(countOnce, 'k', [request]))
    await heard('did not answer')
    const noticedMs = performance.now() - startedAt
    expect(noticedMs).toBeGreaterThanOrEqual(COMMAND_TIMEOUT_MS)
    expect(noticedMs).toBeLessThan(COMMAND_TIMEOUT_MS * 10)
    proxy.swallow(null)
    expect(await Promise.all(calls)).toEqual([4, 4, 4])
    expect(await server.command('GET', 'k:runs')).toBe('7')
  })

  it('is given up if nothing gets through while it lasts, and then says that nobody knows', async () => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    const { link, heard } = await observedLink({ url: proxy.url, patienceMs: 500 })
    proxy.swallow('both')
    const call = link.run(countOnce, 'k', ['a'])
    await expect(call).rejects.toThrow(StoreBusyError)
    await expect(call).rejects.toThrow(/may have taken effect/)
    await heard('to connect')
    const later = link.command('k', ['GET', 'k'])
    await expect(later).rejects.toThrow(/Nothing was changed/)
    proxy.swallow(null)
    expect(await link.command('k', ['GET', 'k'])).toBeNull()
  })

  it('loses a reply, and the command is repeated', async () => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    const { link } = await observedLink({ url: proxy.url })
    await link.run(countOnce, 'k', ['a'])
    proxy.dropNextReply((request) => request.includes('FCALL'))
    expect(await link.run(countOnce, 'k', ['b'])).toBe(2)
    expect(proxy.droppedReplies).toBe(1)
    expect(await server.command('GET', 'k:runs')).toBe('3')
  })

  it('is cut again and again under load: every call is answered, and took effect once', async () => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    const { link } = await observedLink({ url: proxy.url })
    let under = 0
    const callers = Array.from({ length: 20 }, async (_, caller) => {
      for (let i = 0; i < 100; i++) {
        await link.run(countOnce, 'k', [`${caller}-${i}`])
        if (++under % 200 === 0) proxy.cut()
      }
    })
    await Promise.all(callers)
    expect(await server.command('GET', 'k')).toBe('2000')
  })

  it('is not taken for half-open while a slow server works through what came before', async () => {
    const server = await ownServer()
    const { link, troubles } = await observedLink({ url: server.url, commandTimeoutMs: 1_000 })
    const busy = script(`
      local start = redis.call('TIME')
      local now
      repeat now = redis.call('TIME') until (now[1] - start[1]) * 1000 + (now[2] - start[2]) / 1000 > 100
      return ARGV[1]
    `)
    await link.run(busy, 'k', ['warm'])
    // Large enough that the server reads, and answers, them one by one.
    const large = 'x'.repeat(65_536)
    const answers = await Promise.all(Array.from({ length: 15 }, (_, i) => link.run(busy, 'k', [`${i}`, large])))
    expect(answers).toHaveLength(15)
    expect(troubles).toEqual([])
  })
})

describe('a process that stood still itself', () => {
  it('reads the answers that are there before it blames the server', async () => {
    let looks = 0
    const clock: Clock = {
      ...systemClock,
      after(delayMs, callback, options) {
        if (delayMs === COMMAND_TIMEOUT_MS / 8) looks++
        return systemClock.after(delayMs, callback, options)
      },
    }
    const server = await ownServer()
    const { link, troubles } = await observedLink({ url: server.url, clock })
    server.pause()
    const call = link.run(countOnce, 'k', ['a'])
    const before = looks
    await until(() => looks > before + 1)
    server.resume()
    // From here, timers come before whatever there is to read.
    await new Promise((resolve) => setImmediate(resolve))
    const restsUntil = performance.now() + COMMAND_TIMEOUT_MS * 3
    while (performance.now() < restsUntil);
    expect(await call).toBe(1)
    expect(troubles).toEqual([])
  })
})

describe('a server that is away', () => {
  it('was killed: what was asked meanwhile is answered soon after it is back', async () => {
    const server = await ownServer({ appendonly: true, appendfsync: 'always' })
    const { link, heard } = await observedLink({ url: server.url })
    await link.run(countOnce, 'k', ['before'])
    await server.kill()
    await heard('ECONNREFUSED')
    const calls = Array.from({ length: 100 }, (_, i) => link.run(countOnce, 'k', [`r${i}`]))
    await server.restart()
    const backAt = performance.now()
    await Promise.all(calls)
    expect(performance.now() - backAt).toBeLessThan(5_000)
    expect(await server.command('GET', 'k')).toBe('101')
  })

  it('stands still: calls past their deadline are answered once it goes on', async () => {
    const server = await ownServer()
    const { link, heard } = await observedLink({ url: server.url })
    await link.run(countOnce, 'k', ['before'])
    server.pause()
    const call = link.run(countOnce, 'k', ['a'])
    await heard('did not answer')
    await heard('to connect')
    server.resume()
    expect(await call).toBe(2)
    // The link's one, and that of whoever asks.
    const clients = async () =>
      String(await server.command('CLIENT', 'LIST'))
        .trim()
        .split('\n').length
    await until(async () => (await clients()) === 2)
  })

  it('refuses connections for a while', async () => {
    const server = await ownServer()
    const proxy = await ownProxy(server)
    const { link, heard } = await observedLink({ url: proxy.url })
    await proxy.refuse(true)
    proxy.cut()
    const call = link.command('k', ['GET', 'k'])
    await heard('ECONNREFUSED')
    await proxy.refuse(false)
    expect(await call).toBeNull()
  })

  it('stays away while the link is closed: who waits is told', async () => {
    const server = await ownServer()
    const { link, heard } = await observedLink({ url: server.url })
    await server.kill()
    await heard('ECONNREFUSED')
    const call = link.command('k', ['GET', 'k']).catch((error: unknown) => error)
    await link.close()
    expect(await call).toBeInstanceOf(StoreClosedError)
  })
})

describe('a server that answers with a refusal', () => {
  it('BUSY: a script runs on and on', async () => {
    const server = await ownServer()
    const { link, heard } = await observedLink({ url: server.url, commandTimeoutMs: 5_000 })
    await link.run(countOnce, 'k', ['before'])
    await server.command('CONFIG', 'SET', 'busy-reply-threshold', '1')
    const endless = server.command('EVAL', 'while true do end', '0').catch((error: unknown) => String(error))
    const ping = () => server.command('PING').catch((error: unknown) => String(error))
    await until(async () => String(await ping()).includes('BUSY'))
    const call = link.run(countOnce, 'k', ['a'])
    await heard('BUSY')
    await server.command('SCRIPT', 'KILL')
    expect(await call).toBe(2)
    expect(await endless).toContain('killed')
  })

  it('LOADING: it reads its data first', async () => {
    // Half a millisecond for each of 3,000 keys.
    const extra = ['--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024']
    const server = await ownServer({ appendonly: true, extra })
    const { link, heard } = await observedLink({ url: server.url })
    await server.command('EVAL', `for i = 1, 3000 do redis.call('SET', 'filler' .. i, i) end`, '0')
    await server.command('BGREWRITEAOF')
    await until(async () => /aof_rewrite_in_progress:0/.test(String(await server.command('INFO', 'persistence'))))
    const restarted = server.restart()
    await heard('LOADING')
    expect(await link.command('filler1', ['GET', 'filler1'])).toBe('1')
    await restarted
  })

  it('READONLY: the address leads to another server by now', async () => {
    const old = await ownServer()
    const next = await ownServer()
    const proxy = await ownProxy(old)
    const { link, heard } = await observedLink({ url: proxy.url })
    await link.run(countOnce, 'k', ['before'])
    await old.command('REPLICAOF', '127.0.0.1', String(next.port))
    const call = link.run(countOnce, 'k', ['a'])
    await heard('READONLY')
    proxy.retarget(next)
    expect(await call).toBe(1)
    expect(await next.command('GET', 'k')).toBe('1')
  })

  it('MISCONF: it can not save; whoever only looks is served meanwhile', async () => {
    const server = await ownServer({ extra: ['--save', '3600 1'] })
    const { link } = await observedLink({ url: server.url })
    await link.run(countOnce, 'k', ['before'])
    await link.run(looks, 'k', [])
    rmSync(server.folder, { recursive: true })
    await server.command('BGSAVE')
    await until(async () => /rdb_last_bgsave_status:err/.test(String(await server.command('INFO', 'persistence'))))
    const call = link.run(countOnce, 'k', ['a'])
    await until(async () => (await errorCount(server, 'MISCONF')) > 1)
    expect(await link.run(looks, 'k', [])).toBe('1')
    await server.command('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no')
    expect(await call).toBe(2)
  })

  it('MISCONF for too long: the refusal says why', async () => {
    const server = await ownServer({ extra: ['--save', '3600 1'] })
    const { link } = await observedLink({ url: server.url, patienceMs: 150 })
    await link.run(countOnce, 'k', ['before'])
    rmSync(server.folder, { recursive: true })
    await server.command('BGSAVE')
    await until(async () => /rdb_last_bgsave_status:err/.test(String(await server.command('INFO', 'persistence'))))
    const call = link.run(countOnce, 'k', ['a'])
    await expect(call).rejects.toThrow(StoreBusyError)
    await expect(call).rejects.toThrow(/MISCONF.*Nothing was changed/)
  })

  it('NOREPLICAS: it wants a replica before it accepts writes', async () => {
    const server = await ownServer()
    const { link } = await observedLink({ url: server.url })
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    const call = link.run(countOnce, 'k', ['a'])
    await until(async () => (await errorCount(server, 'NOREPLICAS')) > 1)
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    expect(await call).toBe(1)
  })

  it('NOAUTH: a password was set meanwhile', async () => {
    const server = await ownServer()
    const { link, heard } = await observedLink({ url: server.url })
    await server.command('CONFIG', 'SET', 'requirepass', 'new')
    await link.command('k', ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no']).catch(() => undefined)
    await heard('NOAUTH')
    await expect(link.command('k', ['GET', 'k'])).rejects.toThrow(/NOAUTH.*password/)
  })
})
