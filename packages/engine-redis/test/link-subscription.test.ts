import { StoreBusyError, StoreClosedError, StoreFailedError } from '@reprise/core'
import { type RedisServer, startProxy, startRedis, type TcpProxy } from '@reprise/test-servers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Link } from '../src/link/link.ts'
import { observedLink, openTestLink, until } from './link-fixture.ts'

let server: RedisServer
let channels = 0

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

async function ownProxy(): Promise<TcpProxy> {
  const proxy = await startProxy(server)
  onTestFinished(() => proxy.stop())
  return proxy
}

async function listen(link: Link, channel = `channel-${channels++}`) {
  const heard: string[] = []
  let gaps = 0
  await link.subscribe(
    channel,
    (message) => heard.push(message),
    () => gaps++,
  )
  return {
    channel,
    heard,
    gaps: () => gaps,
    /** Resolves when it has heard this message. */
    async hears(message: string): Promise<void> {
      await server.command('SPUBLISH', channel, message)
      await until(() => heard.includes(message))
    },
  }
}

describe('a subscription', () => {
  it('hears what is published from then on, in order', async () => {
    const link = await openTestLink({ url: server.url })
    const listener = await listen(link)
    for (const message of ['a', 'b', 'é']) await server.command('SPUBLISH', listener.channel, message)
    await listener.hears('end')
    expect(listener.heard).toEqual(['a', 'b', 'é', 'end'])
    expect(listener.gaps()).toBe(0)
  })

  it('shares one connection with the others of its link', async () => {
    const link = await openTestLink({ url: server.url })
    const listeners = [await listen(link), await listen(link), await listen(link)]
    for (const listener of listeners) await listener.hears(listener.channel)
    for (const listener of listeners) expect(listener.heard).toEqual([listener.channel])
    const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub'))
    expect(clients.trim().split('\n')).toHaveLength(1)
    await expect(listen(link, listeners[0]?.channel)).rejects.toThrow(/already/)
  })

  it('is made again after a cut, and says that something may be missing', async () => {
    const proxy = await ownProxy()
    const link = await openTestLink({ url: proxy.url })
    const listener = await listen(link)
    await listener.hears('before')
    for (let cuts = 1; cuts <= 3; cuts++) {
      proxy.cut()
      await until(() => listener.gaps() === cuts)
      await listener.hears(`after ${cuts}`)
    }
    expect(listener.heard).toEqual(['before', 'after 1', 'after 2', 'after 3'])
  })

  it('notices a half-open connection though nobody sends anything', async () => {
    const proxy = await ownProxy()
    const { link, heard } = await observedLink({ url: proxy.url })
    const listener = await listen(link)
    proxy.swallow('replies')
    await heard('did not answer')
    await server.command('SPUBLISH', listener.channel, 'missed')
    proxy.swallow(null)
    await until(() => listener.gaps() === 1)
    await listener.hears('after')
    expect(listener.heard).toEqual(['after'])
  })

  it('is left alone while it is quiet', async () => {
    const { link, troubles } = await observedLink({ url: server.url, checkMs: 5, commandTimeoutMs: 5_000 })
    const listener = await listen(link)
    const asked = async () =>
      Number(/cmdstat_pubsub\|shardnumsub:calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats')))?.[1])
    await until(async () => (await asked()) > 0)
    const before = await asked()
    await until(async () => (await asked()) > before + 10)
    expect(troubles).toEqual([])
    expect(listener.gaps()).toBe(0)
    await listener.hears('still there')
  })

  it('survives a restart of the server', async () => {
    const own = await startRedis()
    onTestFinished(() => own.stop())
    const link = await openTestLink({ url: own.url })
    let gaps = 0
    const messages: string[] = []
    await link.subscribe(
      'c',
      (message) => messages.push(message),
      () => gaps++,
    )
    await own.restart()
    await until(() => gaps >= 1)
    await own.command('SPUBLISH', 'c', 'hello')
    await until(() => messages.length > 0)
    expect(messages).toEqual(['hello'])
  })

  it('goes on when a listener throws', async () => {
    const proxy = await ownProxy()
    const link = await openTestLink({ url: proxy.url })
    const channel = `channel-${channels++}`
    let calls = 0
    const throws = () => {
      calls++
      throw new Error('the listener broke')
    }
    await link.subscribe(channel, throws, throws)
    await server.command('SPUBLISH', channel, 'a')
    await server.command('SPUBLISH', channel, 'b')
    await until(() => calls === 2)
    proxy.cut()
    await until(() => calls === 3)
    expect(await link.command(channel, ['PING'])).toBe('PONG')
  })

  it('is refused when it can not be had', async () => {
    const user = ['reader', 'on', '>right', '~*', 'resetchannels', '&allowed', '+@all']
    await server.command('ACL', 'SETUSER', ...user)
    const link = await openTestLink({ url: server.url.replace('redis://', 'redis://reader:right@') })
    await expect(listen(link, 'forbidden')).rejects.toThrow(StoreFailedError)
    await listen(link, 'allowed')

    const proxy = await ownProxy()
    const patient = await openTestLink({ url: proxy.url, patienceMs: 100 })
    await proxy.refuse(true)
    await expect(listen(patient)).rejects.toThrow(StoreBusyError)
    const waiting = listen(patient).catch((error: unknown) => error)
    await patient.close()
    expect(await waiting).toBeInstanceOf(StoreClosedError)
  })
})
