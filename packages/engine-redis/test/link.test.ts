import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RepriseError, StoreBusyError, StoreClosedError, StoreFailedError, StoreFullError } from '@reprise/core'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ScriptRefusal } from '../src/link/link.ts'
import { countOnce, observedLink, openTestLink, script } from './link-fixture.ts'

let server: RedisServer
let keys = 0
const newKey = () => `key-${keys++}`

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

describe('a link to a server', () => {
  it('runs scripts, and passes replies on as they are', async () => {
    const link = await openTestLink({ url: server.url })
    const echo = script(`return {KEYS[1], ARGV[1], false, 7, {'é', {}}}`)
    expect(await link.run(echo, 'k', ['a'])).toEqual(['k', 'a', null, 7, ['é', []]])
    expect(link.isCluster).toBe(false)
  })

  it('asks plain questions, and several in order', async () => {
    const link = await openTestLink({ url: server.url })
    const key = newKey()
    await server.command('HSET', key, 'a', '1', 'b', '2')
    expect(await link.command(key, ['HGETALL', key])).toEqual(['a', '1', 'b', '2'])
    expect(
      await link.pipeline(key, [
        ['HGET', key, 'b'],
        ['HGET', key, 'x'],
        ['HLEN', key],
      ]),
    ).toEqual(['2', null, 2])
    expect(await link.pipeline(key, [])).toEqual([])
  })

  it('sends what is asked in one turn in one go', async () => {
    const link = await openTestLink({ url: server.url })
    const reads = async () =>
      Number(/total_reads_processed:(\d+)/.exec(String(await link.command(null, ['INFO', 'stats'])))?.[1])
    const before = await reads()
    await Promise.all(Array.from({ length: 100 }, () => link.command('k', ['GET', 'k'])))
    // The question itself, and a little for what arrived in two pieces.
    expect((await reads()) - before).toBeLessThan(5)
  })

  it('loads a script the server does not know, once for all who ask together', async () => {
    const link = await openTestLink({ url: server.url })
    const key = newKey()
    await link.run(countOnce, key, ['first'])
    await server.command('FUNCTION', 'FLUSH')
    await server.command('CONFIG', 'RESETSTAT')
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => link.run(countOnce, key, [`r${i}`])))
    expect(replies).toHaveLength(50)
    expect(await server.command('GET', key)).toBe('51')
    expect(String(await server.command('INFO', 'commandstats'))).toMatch(/cmdstat_function\|load:calls=1,/)
  })

  it('says so if a library does not compile, or has another name', async () => {
    const link = await openTestLink({ url: server.url })
    await expect(link.run(script('this is no Lua'), 'k', [])).rejects.toThrow(StoreFailedError)
    const { library } = script('return 1')
    const wrong = { ...countOnce, name: 'missing', library: { ...library, name: 'another' } }
    await expect(link.run(wrong, 'k', [])).rejects.toThrow(/calls itself/)
  })

  it('runs a script that only looks where writing is not allowed', async () => {
    const link = await openTestLink({ url: server.url })
    const looks = script(`return redis.call('GET', KEYS[1])`, 'no-writes')
    expect(await link.run(looks, newKey(), [])).toBeNull()
    const writes = { ...script(`return redis.call('SET', KEYS[1], 'x')`), readOnly: true }
    await expect(link.run(writes, newKey(), [])).rejects.toThrow(StoreFailedError)
  })

  it('tells a refusal of a script from its failure', async () => {
    const link = await openTestLink({ url: server.url })
    const refusals = [
      script(`return redis.error_reply('REPRISE CONFLICT gone')`),
      script(`error({err = 'REPRISE CONFLICT gone'})`),
    ]
    for (const refuses of refusals) {
      const refusal = await link.run(refuses, 'k', []).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(ScriptRefusal)
      expect(refusal).toHaveProperty('message', 'CONFLICT gone')
    }
    const fails = link.run(script(`return nothing.at.all`), 'k', [])
    await expect(fails).rejects.toThrow(StoreFailedError)
    await expect(fails).rejects.toThrow(/nothing/)
    await expect(link.command('k', ['NOSUCHCOMMAND'])).rejects.toThrow(/unknown command/)
  })

  it('refuses at once when there is no room, and changes nothing', async () => {
    const link = await openTestLink({ url: server.url })
    const key = newKey()
    const settles = script(`return redis.call('SET', KEYS[1], 'settled')`, 'allow-oom')
    // A library can't be loaded any more when there is no room.
    await link.run(countOnce, newKey(), ['a'])
    await link.run(settles, newKey(), [])
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    try {
      await expect(link.run(countOnce, key, ['a'])).rejects.toThrow(StoreFullError)
      expect(await link.run(settles, `${key}:settled`, [])).toBe('OK')
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', '0')
    }
    expect(await link.run(countOnce, key, ['a'])).toBe(1)
  })

  it('refuses an argument that is no text, and goes on', async () => {
    const link = await openTestLink({ url: server.url })
    const wrong = ['GET', 7] as unknown as string[]
    await expect(link.command('k', wrong)).rejects.toThrow(StoreFailedError)
    expect(await link.command('k', ['PING'])).toBe('PONG')
  })

  it('takes a database from the address', async () => {
    const link = await openTestLink({ url: `${server.url}/3` })
    await link.command('only-in-3', ['SET', 'only-in-3', 'x'])
    expect(await server.command('EXISTS', 'only-in-3')).toBe(0)
  })
})

it('reaches a server through a socket in the file system', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-link-'))
  const path = join(folder, 'redis.sock')
  const own = await startRedis({ extra: ['--unixsocket', path] })
  const link = await openTestLink({ url: `unix://${path}?db=2` })
  await link.command('k', ['SET', 'k', 'x'])
  expect(String(await own.command('INFO', 'keyspace'))).toContain('db2:keys=1')
  await own.stop()
  rmSync(folder, { recursive: true })
})

describe('who may come in', () => {
  it('says what is wrong with the password, without showing it', async () => {
    await server.command('ACL', 'SETUSER', 'somebody', 'on', '>right', '~*', '&*', '+@all')
    const address = server.url.replace('redis://', 'redis://somebody:s3cret@')
    const error = await openTestLink({ url: address }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreFailedError)
    expect(String(error)).toMatch(/WRONGPASS/)
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + String(error)).not.toContain('s3cret')
    const link = await openTestLink({ url: server.url.replace('redis://', 'redis://somebody:right@') })
    expect(await link.command(null, ['ACL', 'WHOAMI'])).toBe('somebody')
  })

  it('refuses at once what the user may not do', async () => {
    await server.command('ACL', 'SETUSER', 'reader', 'on', '>right', '~*', '&*', '+@all', '-del')
    const link = await openTestLink({ url: server.url.replace('redis://', 'redis://reader:right@') })
    await expect(link.command('k', ['DEL', 'k'])).rejects.toThrow(/NOPERM.*permissions/)
  })

  it('does not show an address it does not understand', async () => {
    const addresses = ['redis//user:s3cret@host', 'http://user:s3cret@host', 'redis://user:s3cret@host/none', '']
    for (const url of addresses) {
      const error = await openTestLink({ url }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(RepriseError)
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + String(error)).not.toContain('s3cret')
    }
    await expect(openTestLink({ url: [] })).rejects.toThrow(/address/)
  })
})

describe('closing', () => {
  it('waits for what is under way, and refuses the rest', async () => {
    const link = await openTestLink({ url: server.url })
    const slow = script(`local n = 0; for i = 1, 3e5 do n = n + i end; return 'done'`)
    await link.run(countOnce, newKey(), ['a'])
    await server.command('FUNCTION', 'LOAD', 'REPLACE', slow.library.text)
    const underWay = link.run(slow, 'k', [])
    const closed = link.close()
    await expect(link.run(countOnce, 'k', ['a'])).rejects.toThrow(StoreClosedError)
    expect(await underWay).toBe('done')
    await closed
    await expect(link.command(null, ['PING'])).rejects.toThrow(StoreClosedError)
    await expect(link.subscribe('c', ignore, ignore)).rejects.toThrow(StoreClosedError)
    await link.close()
  })

  it('does not wait for long', async () => {
    const own = await startRedis()
    const link = await openTestLink({ url: own.url, closeMs: 50 })
    own.pause()
    const underWay = link.run(countOnce, 'k', ['a']).catch((error: unknown) => error)
    await link.close()
    expect(await underWay).toBeInstanceOf(StoreClosedError)
    own.resume()
    await own.stop()
  })

  it('leaves no connection behind', async () => {
    const link = await openTestLink({ url: server.url })
    await link.subscribe('c', ignore, ignore)
    await link.close()
    const clients = String(await server.command('CLIENT', 'LIST'))
    expect(clients.trim().split('\n')).toHaveLength(1)
  })
})

describe('a server that is not there', () => {
  it('is waited for as long as patience lasts', async () => {
    const own = await startRedis()
    await own.stop()
    const error = await openTestLink({ url: own.url, patienceMs: 100 }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreBusyError)
    expect(String(error)).toMatch(/ECONNREFUSED.*Nothing was changed/)
  })

  it('keeps only so many waiting', async () => {
    const own = await startRedis()
    const { link, heard } = await observedLink({ url: own.url, maxWaiting: 3 })
    await own.kill()
    await heard('ECONNREFUSED')
    const calls = Array.from({ length: 5 }, (_, i) => link.run(countOnce, 'k', [`r${i}`]))
    const settled = Promise.allSettled(calls)
    await expect(calls[4]).rejects.toThrow(StoreBusyError)
    await expect(calls[4]).rejects.toThrow(/3 commands wait.*ECONNREFUSED/)
    await own.restart()
    const outcomes = (await settled).map(({ status }) => status)
    expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'])
    await own.stop()
  })
})

function ignore(): void {}
