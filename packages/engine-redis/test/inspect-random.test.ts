// Whatever of a store leads to tasks is damaged at random (B11): an inspection sets it right, the next one finds nothing, and
// every task runs to its end. The tasks' own records are left alone: they are the truth.

import { failed, type Random, released, seededRandom, taskId } from '@reprise/core'
import { startRedis } from '@reprise/test-servers'
import { afterAll, expect, it } from 'vitest'
import { BY, brief, DamagedStore, failure, retry, runToEnd } from './inspect-fixture.ts'
import { spec } from './partitions-fixture.ts'

const SEEDS = 40
const DAMAGES_MAX = 4
const IDS = ['dead', 'running', 'assigned', 'launched', 'queued', 'waiting', 'keyed', 'brief', 'm0', 'm1', 'nobody']
const INDEXES =
  /\/(queue|returned|waiting|leases|inbox|inboxes|launches|launching|ttl|deadlines|active|stocked|busy|keys|dead|groups|slots|actions)(:|$)/
/** Sorted sets of task ids. */
const SETS_OF_IDS = /\/(inbox|launches|dead|ttl):|\/(dead|deadlines)$/
/** Places of a lane's numbers: ready, returned, queued, waiting, running, succeeded, dead, and claimable ones of two priorities. */
const NUMBERS = [5, 6, 8, 9, 10, 11, 12, 16, 21]

const server = await startRedis()
afterAll(() => server.stop())

const pick = <T>(random: Random, list: readonly T[]): T => {
  const item = list[Math.floor(random.next() * list.length)]
  if (item === undefined) throw new Error('There is nothing to pick from.')
  return item
}

const listOf = async (...command: readonly string[]): Promise<string[]> => {
  const reply = await server.command(...command)
  return Array.isArray(reply) ? reply.map(String) : []
}

/** Some that came back, failed, were cancelled, or stand under other priorities. */
async function someLife(store: DamagedStore): Promise<void> {
  const { engine } = store
  await engine.submit(
    [0, 9, 5, 5, 0, 9].map((priority, index) => spec(`m${index}`, { priority: priority as 0 | 5 | 9 })),
  )
  const [first, second] = (await engine.claim(await store.claimer('other', 2))).claimed
  if (first === undefined || second === undefined) throw new Error('Too little was claimed.')
  await engine.settle([released(first, 'stopping'), failed(second, failure, retry)])
  await engine.change({ kind: 'cancel', select: { ids: ['m4', 'm5'].map(taskId) }, by: BY })
}

async function damageList(random: Random, key: string, entries: readonly string[]): Promise<void> {
  const entry = pick(random, entries)
  const other = entry.replace(/[a-z]+\d?$/, pick(random, IDS))
  const [command = '', ...args] = pick(random, [
    ['LREM', '1', entry],
    ['LPUSH', entry],
    ['RPUSH', other],
  ])
  await server.command(command, key, ...args)
}

async function damageSortedSet(random: Random, key: string): Promise<void> {
  const member = pick(random, await listOf('ZRANGE', key, '0', '-1'))
  const id = pick(random, IDS)
  const extra = key.includes('/waiting:') ? `0000000000000003${id}` : SETS_OF_IDS.test(key) ? id : null
  if (extra === null || random.next() < 0.5) await server.command('ZREM', key, member)
  else await server.command('ZADD', key, '7', extra)
}

async function damageHash(random: Random, key: string): Promise<void> {
  const field = pick(random, await listOf('HKEYS', key))
  const id = pick(random, IDS)
  if (random.next() < 0.5) await server.command('HDEL', key, field)
  else if (key.endsWith('/slots')) await server.command('HINCRBY', key, field, '3')
  else if (key.endsWith('/dedupe')) await server.command('HSET', key, 'default\nrender\nother', id)
  else await server.command('HSET', key, id, String(await server.command('HGET', key, field)))
}

/** Answers what it did, for whoever reads that it failed. */
async function damage(random: Random, store: DamagedStore): Promise<string> {
  if (random.next() < 0.15) {
    const place = pick(random, NUMBERS)
    await store.damageNumber(place, 2)
    return `number ${place}`
  }
  const keys = (await listOf('KEYS', `${store.prefix}/*`)).filter((key) => INDEXES.test(key)).toSorted()
  const key = pick(random, keys)
  const type = String(await server.command('TYPE', key))
  if (random.next() < 0.2 || type === 'set') await server.command('DEL', key)
  else if (type === 'list') await damageList(random, key, await listOf('LRANGE', key, '0', '-1'))
  else if (type === 'zset') await damageSortedSet(random, key)
  else await damageHash(random, key)
  return key
}

it.each(Array.from({ length: SEEDS }, (_, seed) => seed))('B11: repairs random damage, seed %i', async (seed) => {
  const random = seededRandom(seed)
  const store = await DamagedStore.withTaskInEachPlace(server)
  await someLife(store)
  expect((await store.look()).findings).toEqual([])
  const done: string[] = []
  const count = 1 + Math.floor(random.next() * DAMAGES_MAX)
  for (let index = 0; index < count; index++) done.push(await damage(random, store))
  const { findings } = await store.repair()
  const unrepaired = findings.filter(({ repaired }) => !repaired).map(brief)
  const left = (await store.look()).findings.map(brief)
  expect({ done, unrepaired, left }).toEqual({ done, unrepaired: [], left: [] })
  await runToEnd(store)
})
