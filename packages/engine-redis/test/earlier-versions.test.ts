// What earlier versions left in a store of the present layout: records that lack what they did not know yet. They are read as if it
// were there, and the store goes on.

import { poolName, succeeded, tenantId } from '@reprise/core'
import { startRedis } from '@reprise/test-servers'
import { afterAll, expect, test } from 'vitest'
import { failing, NAME, openedOn } from './breakers-fixture.ts'
import { spec } from './partitions-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())

const opened = () => openedOn(server.url)

/** The figures of a worker without what they end with: failures by tenant, whom it served well, its version of the policies. */
const SHORTER =
  "local all = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'numbers')); redis.call('HSET', KEYS[1], 'numbers', cmsgpack.pack({ unpack(all, 1, #all - 3) }))"

test('a worker whose figures tell no tenants apart goes on, and its figures do so from then on', async () => {
  const { engine, request, raw } = await opened()
  await engine.submit([spec('a'), spec('b')])
  await raw.command('EVAL', SHORTER, '1', raw.key('worker:w1'))
  expect((await engine.workers()).items).toMatchObject([{ failuresBy: [], servedWell: [], policyVersion: null }])
  const [first, second] = (await engine.claim(request(2))).claimed
  if (first === undefined || second === undefined) throw new Error('Not all were claimed.')
  await engine.settle([succeeded(first, null), failing(second, { minFailures: 9 })])
  expect((await engine.workers()).items).toMatchObject([
    { recentOutcomes: 2, failuresBy: [{ tenant: 'default' }], servedWell: [{ tenant: 'default' }] },
  ])
})

test('in a store without a list of its pools a breaker holds the lanes of all, also after another one came', async () => {
  const { engine, request, raw } = await opened()
  await engine.submit([spec('a'), spec('b', { pool: poolName('gpu') })])
  await raw.command('DEL', raw.key('pools'))
  await engine.submit([spec('c', { pool: poolName('late') })])
  const active = () => raw.command('EXISTS', ...['gpu', 'late'].map((pool) => raw.key(`active:${pool}\nrender`)))
  expect(await active()).toBe(2)
  const { claimed } = await engine.claim(request(1))
  await engine.settle(claimed.map((lease) => failing(lease)))
  expect(await active()).toBe(0)
})

test('a breaker that knows no voices hears them from then on', async () => {
  const { clock, engine, request, raw } = await opened()
  await engine.submit([spec('a'), spec('b', { tenant: tenantId('acme') })])
  const { claimed } = await engine.claim(request(2))
  const [first, second] = claimed
  if (first === undefined || second === undefined) throw new Error('Not all were claimed.')
  await engine.settle([failing(first, { minFailures: 2 })])
  const text = String(await raw.command('HGET', raw.key('breakers'), NAME))
  const without = text.replace(/,"voices":\[.*\]/, '')
  expect(without).not.toBe(text)
  await raw.command('HSET', raw.key('breakers'), NAME, without)
  expect((await engine.breakers()).items.map(({ voices }) => voices)).toEqual([[]])
  await engine.settle([failing(second, { minFailures: 2 })])
  clock.jump(1)
  expect(String(await raw.command('HGET', raw.key('breakers'), NAME))).toContain('"voices":[{')
})
