// The limit: what one process can do on one Redis server at all. A bare loop around two scripts that does the least a
// durable queue must: take each id in once; keep its payload; claim a hundred under a lease with a token and a running
// record for each attempt; settle only what is still held under that token, and write the record of its end. A trip
// settles one batch and claims the next in one call, as Reprise's worker does it: one trip at a time, of a hundred.
// It is as fast as we can make it: four keys in all, so that each step is one command for the whole batch, and no
// text is built per task. What it does not do: retries, delays, priorities, lanes, time-outs, limits, counters, more
// than one outcome, finding leases that have ended, results, removal of what has ended. Not a queue to use.

import { randomUUIDv7 } from 'node:crypto'
import { createClient } from 'redis'
import type { Input } from './payload.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'
import type { Store } from './store.ts'

const [TASKS, QUEUE, RUNNING, ENDED, TOKENS] = ['tasks', 'queue', 'running', 'ended', 'tokens'].map(
  (name) => `limit:${name}`,
) as [string, string, string, string, string]

// KEYS: tasks, queue. ARGV: id and payload in turn. Both go to a command at once, in steps that fit Lua's stack.
const SUBMIT = `
  local tasks, queue = KEYS[1], KEYS[2]
  for from = 1, #ARGV, 1000 do
    local to = math.min(from + 999, #ARGV)
    local ids, count = {}, 0
    for i = from, to, 2 do
      count = count + 1
      ids[count] = ARGV[i]
    end
    for _, known in ipairs(redis.call('HMGET', tasks, unpack(ids))) do
      if known then return redis.error_reply('An id comes twice.') end
    end
    redis.call('HSET', tasks, unpack(ARGV, from, to))
    redis.call('RPUSH', queue, unpack(ids))
  end
  return #ARGV / 2`

// KEYS: tasks, queue, running, ended, tokens. ARGV: now, how many to claim, the worker; then id and lease in turn.
// A lease is 'token worker start', and is the running record; an ended one is that with the end behind it.
export const SETTLE_AND_CLAIM = `
  local tasks, queue, running, ended, tokens = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
  local now = ARGV[1]
  if #ARGV > 3 then
    local ids, count = {}, 0
    for i = 4, #ARGV, 2 do
      count = count + 1
      ids[count] = ARGV[i]
    end
    local held = redis.call('HMGET', running, unpack(ids))
    local settled, records, settledCount = {}, {}, 0
    local lease, record
    for i = 1, count do
      if held[i] == ARGV[2 * i + 3] then
        if held[i] ~= lease then
          lease = held[i]
          record = lease .. ' ' .. now
        end
        settledCount = settledCount + 1
        settled[settledCount] = ids[i]
        records[2 * settledCount - 1], records[2 * settledCount] = ids[i], record
      end
    end
    if settledCount > 0 then
      redis.call('HDEL', running, unpack(settled))
      redis.call('HSET', ended, unpack(records))
    end
  end
  local ids = redis.call('LPOP', queue, ARGV[2])
  if not ids then return {'', {}, {}} end
  local payloads = redis.call('HMGET', tasks, unpack(ids))
  local lease = redis.call('INCR', tokens) .. ' ' .. ARGV[3] .. ' ' .. now
  local leases = {}
  for i = 1, #ids do leases[2 * i - 1], leases[2 * i] = ids[i], lease end
  redis.call('HSET', running, unpack(leases))
  return {lease, ids, payloads}`

const WORKER = 'bench-1'

type Claimed = readonly [lease: string, ids: readonly string[], payloads: readonly string[]]

export async function openLimitRedis(store: Store): Promise<QueueUnderTest> {
  const client = createClient({ url: store.at })
  await client.connect()
  const submit = await client.scriptLoad(SUBMIT)
  const settleAndClaim = await client.scriptLoad(SETTLE_AND_CLAIM)

  const trip = async ([lease, ids]: Claimed): Promise<Claimed> => {
    const words = ['EVALSHA', settleAndClaim, '5', TASKS, QUEUE, RUNNING, ENDED, TOKENS]
    words.push(String(Date.now()), String(CONCURRENCY), WORKER)
    for (const id of ids) words.push(id, lease)
    return client.sendCommand<Claimed>(words)
  }

  return {
    async submit(inputs) {
      const words = ['EVALSHA', submit, '2', TASKS, QUEUE]
      for (const input of inputs) words.push(randomUUIDv7(), JSON.stringify(input))
      await client.sendCommand(words)
    },
    async process() {
      let claimed = await trip(['', [], []])
      while (claimed[1].length > 0) {
        await Promise.all(claimed[2].map((payload) => handler(JSON.parse(payload) as Input)))
        claimed = await trip(claimed)
      }
    },
    async counts() {
      return { succeeded: await client.hLen(ENDED), dead: 0 }
    },
    async close() {
      await client.close()
    },
  }
}

async function handler(_input: Input): Promise<void> {}
