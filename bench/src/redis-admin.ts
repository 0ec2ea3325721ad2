// What the benchmark does to its Redis server besides measuring: empty it, and ask how much memory its data takes.

import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'

const LOOK_MS = 10

/** Empties it, and its append-only file too: what was measured before must not be rewritten while something else is. */
export async function clearRedis(url: string): Promise<void> {
  await using admin = await connected(url)
  await admin.send('FLUSHALL', 'SYNC')
  await admin.send('BGREWRITEAOF')
  while (fieldOf(await admin.send('INFO', 'persistence'), 'aof_rewrite_in_progress') !== 0) await sleep(LOOK_MS)
}

/** In bytes. Nobody else may be connected: buffers of connections count as well. */
export async function usedMemory(url: string): Promise<number> {
  await using admin = await connected(url)
  return fieldOf(await admin.send('INFO', 'memory'), 'used_memory')
}

/** Of the calls from now on, those that are slow are noted. */
export async function forgetSlowCalls(url: string): Promise<void> {
  await using admin = await connected(url)
  await admin.send('CONFIG', 'SET', 'slowlog-log-slower-than', '500', 'slowlog-max-len', '100000')
  await admin.send('SLOWLOG', 'RESET')
}

/** How long the longest call held the server, of those since `forgetSlowCalls`; 0 if all were short. */
export async function longestCallMs(url: string): Promise<number> {
  await using admin = await connected(url)
  const calls = (await admin.sendFor('SLOWLOG', 'GET', '-1')) as readonly (readonly unknown[])[]
  return Math.max(0, ...calls.map((call) => Number(call[2]))) / 1_000
}

async function connected(url: string) {
  const client = createClient({ url })
  await client.connect()
  return {
    send: (...words: string[]): Promise<string> => client.sendCommand<string>(words),
    sendFor: (...words: string[]): Promise<unknown> => client.sendCommand<unknown>(words),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function fieldOf(info: string, name: string): number {
  const line = info.split('\r\n').find((one) => one.startsWith(`${name}:`))
  if (line === undefined) throw new Error(`The server's INFO has no ${name}.`)
  return Number(line.slice(name.length + 1))
}
