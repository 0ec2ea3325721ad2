import { openRedisEngine } from '@reprise/engine-redis'
import { startCluster } from '@reprise/test-servers'
import { afterAll, expect, it } from 'vitest'
import { slotOf } from '../src/link/slot.ts'
import { partitionPrefixes } from '../src/store.ts'
import { idsIn, PARTITIONS, placeOf, registered, spec, specs } from './partitions-fixture.ts'

const cluster = await startCluster()
afterAll(() => cluster.stop())

it('spreads the partitions evenly over the slots, and so over servers', () => {
  for (const count of [2, 3, 8, 100]) {
    const slots = partitionPrefixes('any', count).map((prefix) => slotOf(`${prefix}/numbers`))
    expect(slots.map((slot) => Math.floor((slot * count) / 16_384))).toEqual([...Array(count).keys()])
  }
  expect(partitionPrefixes('any', 1)).toEqual(['any'])
})

it('goes on with the other partitions while one can’t be reached', async () => {
  for (const node of cluster.nodes) await node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
  const engine = await openRedisEngine({
    url: cluster.urls,
    prefix: 'store',
    partitions: PARTITIONS,
    patienceMs: 400,
    commandTimeoutMs: 200,
  })
  const request = await registered(engine, 'w')
  await engine.submit(specs(60))
  const frozen = cluster.nodes[2]
  frozen?.pause()
  const claimed = []
  let slow = 0
  for (let round = 0; round < 20; round++) {
    const startedAt = performance.now()
    claimed.push(...(await engine.claim(request(5))).claimed)
    if (performance.now() - startedAt > 300) slow++
  }
  // The first one finds out; the others don't wait for it.
  expect(slow).toBeLessThan(4)
  const expected = specs(60).filter(({ id }) => placeOf(id) !== 2)
  expect(claimed).toHaveLength(expected.length)
  const results = await engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
  expect(results).toHaveLength(expected.length)
  await expect(engine.submit([spec(idsIn(2, 1, 'new')[0] ?? '')])).rejects.toMatchObject({ code: 'REPRISE_STORE_BUSY' })
  frozen?.resume()
  let rest = 0
  for (let round = 0; round < 100 && rest < 60 - expected.length; round++) {
    rest += (await engine.claim(request(20)).catch(() => ({ claimed: [] }))).claimed.length
    await engine.wait({}, 50)
  }
  expect(rest).toBe(60 - expected.length)
  await engine.close()
})
