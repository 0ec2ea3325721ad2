// The proxy breaks connections as it says it does. The client is a bare socket, so that nothing reconnects by itself.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type RedisServer, startProxy, startRedis, type TcpProxy } from '../src/index.ts'
import { encodeCommand } from '../src/resp.ts'

let redis: RedisServer
let proxy: TcpProxy
const sockets: Socket[] = []

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.command('FLUSHALL')
  proxy = await startProxy(redis)
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await proxy.stop()
})

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  return socket
}

const send = (socket: Socket, ...args: string[]) => socket.write(encodeCommand(args))

/** Everything that arrives until so much of it is there. */
async function receive(socket: Socket, expected: string): Promise<string> {
  let received = ''
  while (received.length < expected.length) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    received += chunk.toString()
  }
  return received
}

function ask(socket: Socket, ...args: string[]): Promise<string> {
  const answer = receive(socket, '+OK\r\n')
  send(socket, ...args)
  return answer
}

/** What arrived before the connection ended. */
function untilClosed(socket: Socket): Promise<string> {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  return new Promise((resolve) => socket.on('close', () => resolve(received)))
}

test('passes everything on, large and in pieces', async () => {
  const socket = await open()
  const value = 'x'.repeat(3_000_000)
  expect(await ask(socket, 'SET', 'large', value)).toBe('+OK\r\n')
  const expected = `$3000000\r\n${value}\r\n`
  const answer = receive(socket, expected)
  for (const piece of ['*2\r\n$3\r\nG', 'ET\r\n$5\r\nlarge\r', '\n']) {
    await new Promise((resolve) => socket.write(piece, resolve))
  }
  expect((await answer) === expected).toBe(true)
  expect(proxy.connections).toBe(1)
})

test('cut ends all connections, and lets new ones in', async () => {
  const [first, second] = [await open(), await open()]
  await Promise.all([ask(first, 'SET', 'a', '1'), ask(second, 'SET', 'a', '1')])
  const ends = [untilClosed(first), untilClosed(second)]
  proxy.cut()
  await Promise.all(ends)
  expect(await ask(await open(), 'SET', 'a', '2')).toBe('+OK\r\n')
  expect(proxy.connections).toBe(1)
})

test('refuses new connections, keeps the old, and opens again', async () => {
  const old = await open()
  await proxy.refuse(true)
  await expect(open()).rejects.toThrow('ECONNREFUSED')
  expect(await ask(old, 'SET', 'a', '1')).toBe('+OK\r\n')
  await proxy.refuse(false)
  expect(await ask(await open(), 'SET', 'a', '2')).toBe('+OK\r\n')
})

test('swallowed requests never happen, and what follows them does', async () => {
  const socket = await open()
  await ask(socket, 'SET', 'a', '1')
  proxy.swallow('requests')
  await new Promise((resolve) => socket.write(encodeCommand(['SET', 'a', '2']), resolve))
  // The proxy, in this process, has read it by the time that another connection was made and answered.
  expect(await redis.command('GET', 'a')).toBe('1')
  proxy.swallow(null)
  expect(await ask(socket, 'SET', 'b', '3')).toBe('+OK\r\n')
  expect(await redis.command('GET', 'a')).toBe('1')
})

test('swallowed replies are lost although the command took effect', async () => {
  const socket = await open()
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  // PUBLISH tells us that the server is done with what came before it.
  const subscriber = connect(redis.port, '127.0.0.1')
  sockets.push(subscriber)
  send(subscriber, 'SUBSCRIBE', 'done')
  await once(subscriber, 'data')

  proxy.swallow('replies')
  send(socket, 'SET', 'a', '2')
  send(socket, 'PUBLISH', 'done', 'yes')
  await once(subscriber, 'data')
  expect(await redis.command('GET', 'a')).toBe('2')
  expect(received).toBe('')
})

test('while both directions are swallowed even the end of the server goes unnoticed', async () => {
  const doomed = await startRedis()
  proxy.retarget(doomed)
  const socket = await open()
  await ask(socket, 'SET', 'a', '1')
  proxy.swallow('both')
  await doomed.stop()
  expect(socket.closed).toBe(false)
  const end = untilClosed(socket)
  proxy.swallow(null)
  await end
})

test('drops one reply: its command has taken effect, those before it are answered, the connection is gone', async () => {
  const socket = await open()
  proxy.dropNextReply((request) => request.includes('INCR'))
  const end = untilClosed(socket)
  for (const args of [
    ['SET', 'a', '1'],
    ['GET', 'a'],
    ['INCR', 'n'],
    ['SET', 'a', '2'],
  ]) {
    send(socket, ...args)
  }
  expect(await end).toBe('+OK\r\n$1\r\n1\r\n')
  expect(await redis.command('GET', 'n')).toBe('1')
  expect(proxy.droppedReplies).toBe(1)
  const next = await open()
  const answer = receive(next, ':2\r\n')
  send(next, 'INCR', 'n')
  expect(await answer).toBe(':2\r\n')
})

test('delays, and keeps the order when that gets shorter', async () => {
  const socket = await open()
  proxy.delay(30)
  const expected = '+OK\r\n$1\r\n1\r\n'
  const answer = receive(socket, expected)
  const startedAt = performance.now()
  const isTaken = new Promise<void>((resolve) => {
    proxy.dropNextReply(() => {
      resolve()
      return false
    })
  })
  send(socket, 'SET', 'a', '1')
  await isTaken
  proxy.delay(0)
  send(socket, 'GET', 'a')
  expect(await answer).toBe(expected)
  expect(performance.now() - startedAt).toBeGreaterThan(29)
})

test('a server that is not there ends the connection', async () => {
  const gone = await startRedis()
  await gone.stop()
  proxy.retarget(gone)
  await untilClosed(await open())
  await expect.poll(() => proxy.connections).toBe(0)
})
