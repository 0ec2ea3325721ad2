// The limit: what one process can do on one Redis server at all. A bare loop around two scripts that does the least a
// durable queue with readable records must (A1): a hash per task with its payload and, per attempt, the record of it as
// JSON, written when it is claimed and again when it ends; each id taken in once; claims under a lease with a token;
// only what is still held under that token is settled. A trip settles one batch and claims the next in one call, and two
// trips are under way at a time, as in Reprise's worker. It is as fast as we can make it: whatever is not a task's own
// hash is one command for the whole batch, and no text is built per task. What it does not do: retries, delays,
// priorities, lanes, time-outs, limits, counters, more than one outcome, finding leases that have ended, results, removal
// of what has ended, listing. Not a queue to use.

import { randomUUIDv7 } from 'node:crypto'
import { createClient } from 'redis'
import type { Input } from './payload.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'
import type { Store } from './store.ts'

const PREFIX = 'limit:task:'
const [QUEUE, RUNNING, ENDED, TOKENS] = ['queue', 'running', 'ended', 'tokens'].map((name) => `limit:${name}`) as [
  string,
  string,
  string,
  string,
]

// KEYS: queue. ARGV: prefix, then id and payload in turn.
const SUBMIT = `
  local queue, prefix = KEYS[1], ARGV[1]
  local ids, count = {}, 0
  for i = 2, #ARGV, 2 do
    local id = ARGV[i]
    if redis.call('HSETNX', prefix .. id, 'task', ARGV[i + 1]) == 1 then
      count = count + 1
      ids[count] = id
    end
  end
  redis.call('RPUSH', queue, unpack(ids))
  return count`

// KEYS: queue, running, ended, tokens. ARGV: prefix, now, how many to claim, the worker; then id and lease in turn.
// A lease is the record of the running attempt: the same text for all that one claim takes.
export const SETTLE_AND_CLAIM = `
  local queue, running, ended, tokens = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
  local prefix, now, call = ARGV[1], ARGV[2], redis.call
  if #ARGV > 4 then
    local ids, count = {}, 0
    for i = 5, #ARGV, 2 do
      count = count + 1
      ids[count] = ARGV[i]
    end
    local held = call('HMGET', running, unpack(ids))
    local settled, settledCount = {}, 0
    local lease, record
    for i = 1, count do
      if held[i] == ARGV[2 * i + 4] then
        if held[i] ~= lease then
          lease = held[i]
          record = '{"status":"succeeded"' .. string.sub(lease, 20, -2) .. ',"errorCode":null,"errorMessage":null,"resolvedAt":' .. now .. '}'
        end
        settledCount = settledCount + 1
        settled[settledCount] = ids[i]
        call('HSET', prefix .. ids[i], '1', record)
      end
    end
    if settledCount > 0 then
      call('HDEL', running, unpack(settled))
      call('INCRBY', ended, settledCount)
    end
  end
  local ids = call('LPOP', queue, ARGV[3])
  if not ids then return {'', {}, {}} end
  local lease = '{"status":"running","attempt":1,"token":"' .. call('INCR', tokens) .. '","worker":"' .. ARGV[4] .. '","dispatchedAt":' .. now .. '}'
  local leases, payloads = {}, {}
  for i = 1, #ids do
    local key = prefix .. ids[i]
    payloads[i] = call('HGET', key, 'task')
    call('HSET', key, '1', lease)
    leases[2 * i - 1], leases[2 * i] = ids[i], lease
  end
  call('HSET', running, unpack(leases))
  return {lease, ids, payloads}`

const WORKER = 'bench-1'
const TRIPS = 2

type Claimed = readonly [lease: string, ids: readonly string[], payloads: readonly string[]]

export async function openLimitRedis(store: Store): Promise<QueueUnderTest> {
  const client = createClient({ url: store.at })
  await client.connect()
  const submit = await client.scriptLoad(SUBMIT)
  const settleAndClaim = await client.scriptLoad(SETTLE_AND_CLAIM)

  const trip = async ([lease, ids]: Claimed): Promise<Claimed> => {
    const words = ['EVALSHA', settleAndClaim, '4', QUEUE, RUNNING, ENDED, TOKENS]
    words.push(PREFIX, String(Date.now()), String(CONCURRENCY / TRIPS), WORKER)
    for (const id of ids) words.push(id, lease)
    return client.sendCommand<Claimed>(words)
  }

  const work = async (): Promise<void> => {
    let claimed = await trip(['', [], []])
    while (claimed[1].length > 0) {
      await Promise.all(claimed[2].map((payload) => handler(JSON.parse(payload) as Input)))
      claimed = await trip(claimed)
    }
  }

  return {
    async submit(inputs) {
      const words = ['EVALSHA', submit, '1', QUEUE, PREFIX]
      for (const input of inputs) words.push(randomUUIDv7(), JSON.stringify(input))
      await client.sendCommand(words)
    },
    async process() {
      const first = work()
      // The second one leaves a little later, or both would always come back together.
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.all([first, work()])
    },
    async counts() {
      return { succeeded: Number(await client.get(ENDED)), dead: 0 }
    },
    async close() {
      await client.close()
    },
  }
}

async function handler(_input: Input): Promise<void> {}
