// Stores of layouts before 4 keep dedupe keys by tenant alone. Opening one moves them to their actions, and the keys still hold.

import { actionName, seededRandom, systemClock } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Link, openLink } from '../src/link/link.ts'
import { asTexts } from '../src/partition.ts'
import { partitionPrefixes } from '../src/store.ts'
import { spec } from './partitions-fixture.ts'

const server = await startRedis()
let link: Link

beforeAll(async () => {
  link = await openLink({ url: server.url, clock: systemClock, random: seededRandom(1) })
})
afterAll(async () => {
  await link.close()
  await server.stop()
})

/** As an earlier version would have written it; where a key lies does not matter for moving it. */
async function makeOlder(prefix: string, partitions: number): Promise<void> {
  for (const part of partitionPrefixes(prefix, partitions)) {
    const texts = asTexts(await link.command(null, ['HGETALL', `${part}/dedupe`]))
    for (let at = 0; at < texts.length; at += 2) {
      const [tenant, , key] = (texts[at] ?? '').split('\n')
      await link.command(null, ['HSET', `${part}/keys`, `${tenant}\n${key}`, texts[at + 1] ?? ''])
    }
    await link.command(null, ['DEL', `${part}/dedupe`])
  }
  await link.command(null, ['HSET', `${prefix}/store`, 'layout', '3'])
}

test.each([1, 3])(
  'a store of layout 3 with %i partitions keeps its dedupe keys when it is opened',
  async (partitions) => {
    const prefix = `older-${partitions}`
    const open = () => openRedisEngine({ url: server.url, prefix, partitions })
    const keys = Array.from({ length: 1_200 }, (_, index) => `key ${index}`)
    const older = await open()
    for (const half of [keys.slice(0, 600), keys.slice(600)]) {
      await older.submit(half.map((dedupeKey) => spec(`first ${dedupeKey}`, { dedupeKey })))
    }
    await older.close()
    await makeOlder(prefix, partitions)
    // Two at once, as processes of a new version start.
    const [engine, other] = await Promise.all([open(), open()])
    const results = await engine.submit(
      keys.slice(300, 1_200).map((dedupeKey) => spec(`then ${dedupeKey}`, { dedupeKey })),
    )
    expect(results).toEqual(keys.slice(300, 1_200).map((key) => ({ outcome: 'duplicate', id: `first ${key}` })))
    const elsewhere = spec('elsewhere', { dedupeKey: 'key 0', action: actionName('other') })
    expect(await other.submit([elsewhere])).toEqual([{ outcome: 'accepted', id: 'elsewhere' }])
    for (const part of partitionPrefixes(prefix, partitions)) {
      expect(await link.command(null, ['EXISTS', `${part}/keys`])).toBe(0)
    }
    expect(await link.command(null, ['HGET', `${prefix}/store`, 'layout'])).toBe('4')
    await Promise.all([engine.close(), other.close()])
  },
)
