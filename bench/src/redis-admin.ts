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

/** How long the longest call of a function and the longest single command held the server; 0 if all were short. */
export interface LongestCalls {
  readonly functionMs: number
  /** Such a command has little to do: it took that long because the machine had something else to do. */
  readonly commandMs: number
}

/** Of the calls since `forgetSlowCalls`. */
export async function longestCalls(url: string): Promise<LongestCalls> {
  await using admin = await connected(url)
  const calls = (await admin.sendFor('SLOWLOG', 'GET', '-1')) as readonly SlowCall[]
  const longest = (isOfFunction: boolean): number =>
    Math.max(0, ...calls.filter(([, , , [name]]) => /^fcall/i.test(name ?? '') === isOfFunction).map(([, , us]) => us))
  return { functionMs: longest(true) / 1_000, commandMs: longest(false) / 1_000 }
}

/** An entry of SLOWLOG: its number, when it was, how long it took in microseconds, and its words. */
type SlowCall = readonly [number: number, at: number, us: number, words: readonly string[]]

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
