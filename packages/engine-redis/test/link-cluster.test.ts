import { StoreBusyError } from '@reprise/core'
import { type RedisCluster, type RedisServer, startCluster, startRedis } from '@reprise/test-servers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { slotOf } from '../src/link/slot.ts'
import { countOnce, observedLink, openTestLink, until } from './link-fixture.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster(3)
})
afterAll(() => cluster.stop())

/** A key for each server, by its place in the cluster: the slots are shared out in thirds. */
function keyOn(place: number, tag = 'key'): string {
  for (let i = 0; ; i++) {
    const key = `{${tag}-${i}}`
    if (Math.floor((slotOf(key) * 3) / 16_384) === place) return key
  }
}

function node(place: number): RedisServer {
  const found = cluster.nodes[place]
  if (found === undefined) throw new Error('There is no such server.')
  return found
}

describe('slots', () => {
  it('are those of the server', async () => {
    const keys = ['', 'a', 'foo', '{user}:1', 'a{b}c', '{}x', 'a{}{b}', '{a', '}a{b}', 'é{ü}', '{{a}}', '123456789']
    for (const key of keys) expect(slotOf(key)).toBe(await node(0).command('CLUSTER', 'KEYSLOT', key))
  })
})

describe('a link to a cluster', () => {
  it('is recognised by one address, and sends each command where its key lives', async () => {
    const link = await openTestLink({ url: node(0).url })
    expect(link.isCluster).toBe(true)
    for (const place of [0, 1, 2]) {
      const key = keyOn(place, 'routed')
      expect(await link.run(countOnce, key, ['a'])).toBe(1)
      expect(await link.pipeline(key, [['GET', key]])).toEqual(['1'])
      expect(await node(place).command('GET', key)).toBe('1')
    }
    expect(await link.command(null, ['PING'])).toBe('PONG')
  })

  it('opens with any server that is there', async () => {
    const gone = await startRedis()
    await gone.stop()
    const link = await openTestLink({ url: [gone.url, ...cluster.urls] })
    expect(await link.run(countOnce, keyOn(1, 'any'), ['a'])).toBe(1)
  })

  it('says so if the servers are no cluster', async () => {
    const single = await startRedis()
    onTestFinished(() => single.stop())
    const opened = openTestLink({ url: [single.url, single.url] })
    await expect(opened).rejects.toThrow(/cluster support disabled/)
  })

  it('loads a script on every server that does not know it', async () => {
    const link = await openTestLink({ url: cluster.urls })
    const keys = [0, 1, 2].map((place) => keyOn(place, 'script'))
    for (const server of cluster.nodes) await server.command('FUNCTION', 'FLUSH')
    expect(await Promise.all(keys.map((key) => link.run(countOnce, key, ['a'])))).toEqual([1, 1, 1])
  })

  it('follows a slot that has moved', async () => {
    const link = await openTestLink({ url: cluster.urls })
    const key = keyOn(0, 'moving')
    const slot = String(slotOf(key))
    expect(await link.run(countOnce, key, ['a'])).toBe(1)
    await moveSlot(slot, 0, 1)
    onTestFinished(() => moveSlot(slot, 1, 0))
    expect(await link.run(countOnce, key, ['b'])).toBe(1)
    expect(await node(1).command('GET', key)).toBe('1')
  })

  it('waits while a slot is on its way', async () => {
    const link = await openTestLink({ url: cluster.urls })
    const key = keyOn(0, 'asked')
    const slot = String(slotOf(key))
    const ids = await Promise.all(cluster.nodes.map((server) => server.command('CLUSTER', 'MYID')))
    await node(1).command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(ids[0]))
    await node(0).command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(ids[1]))
    const call = link.run(countOnce, key, ['a'])
    await until(async () => /errorstat_ASK:count=[2-9]/.test(String(await node(0).command('INFO', 'errorstats'))))
    await node(0).command('CLUSTER', 'SETSLOT', slot, 'STABLE')
    await node(1).command('CLUSTER', 'SETSLOT', slot, 'STABLE')
    expect(await call).toBe(1)
  })

  it('repeats what was under way on a server that stood still, and serves the others meanwhile', async () => {
    const { link, heard } = await observedLink({ url: cluster.urls })
    const [here, there] = [keyOn(0, 'paused'), keyOn(2, 'paused')]
    await link.run(countOnce, here, ['before'])
    node(0).pause()
    const call = link.run(countOnce, here, ['a'])
    expect(await link.run(countOnce, there, ['a'])).toBe(1)
    await heard('did not answer')
    node(0).resume()
    expect(await call).toBe(2)
  })

  it('waits for a server that was killed, and says so when patience ends', async () => {
    const { link, heard } = await observedLink({ url: cluster.urls })
    const impatient = await openTestLink({ url: cluster.urls, patienceMs: 150 })
    const key = keyOn(2, 'killed')
    await node(2).kill()
    await heard('ECONNREFUSED')
    const call = link.run(countOnce, key, ['a'])
    await expect(impatient.run(countOnce, key, ['b'])).rejects.toThrow(StoreBusyError)
    await node(2).restart()
    expect(await call).toBe(1)
  })

  it('listens where the channel lives, and follows it', async () => {
    const { link } = await observedLink({ url: cluster.urls, checkMs: 20 })
    const messages: string[] = []
    let gaps = 0
    const channel = keyOn(1, 'channel')
    const slot = String(slotOf(channel))
    await link.subscribe(
      channel,
      (message) => messages.push(message),
      () => gaps++,
    )
    await node(1).command('SPUBLISH', channel, 'a')
    await until(() => messages.includes('a'))
    await moveSlot(slot, 1, 2)
    onTestFinished(() => moveSlot(slot, 2, 1))
    await until(() => gaps > 0)
    await node(2).command('SPUBLISH', channel, 'b')
    await until(() => messages.includes('b'))
    expect(messages).toEqual(['a', 'b'])
  })
})

it('goes to the replica that takes over for a master that died', async () => {
  const own = await startCluster(3)
  onTestFinished(() => own.stop())
  const [master] = own.nodes
  if (master === undefined) throw new Error('A cluster without servers.')
  const extra = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000']
  const replica = await startRedis({ extra })
  onTestFinished(() => replica.stop())
  const masterId = String(await master.command('CLUSTER', 'MYID'))
  await replica.command('CLUSTER', 'MEET', '127.0.0.1', String(master.port))
  await until(async () => (await replica.command('CLUSTER', 'REPLICATE', masterId)) === 'OK')
  await until(async () => String(await replica.command('INFO', 'replication')).includes('master_link_status:up'))
  // Everybody has to know of it before they can vote for it.
  for (const server of own.nodes)
    await until(async () => String(await server.command('CLUSTER', 'NODES')).includes(`slave ${masterId}`))

  const link = await openTestLink({ url: own.urls, patienceMs: 20_000 })
  const key = keyOn(0, 'failover')
  await link.run(countOnce, key, ['a'])
  await until(async () => (await replica.command('DBSIZE')) === 3)
  const messages: string[] = []
  let gaps = 0
  await link.subscribe(
    key,
    (message) => messages.push(message),
    () => gaps++,
  )
  await master.kill()
  expect(await link.run(countOnce, key, ['b'])).toBe(2)
  expect(await replica.command('GET', key)).toBe('2')
  await until(() => gaps >= 1)
  await replica.command('SPUBLISH', key, 'from the replica')
  await until(() => messages.length === 1)
})

/** Takes the slot away with all it holds: its data is not moved along. */
async function moveSlot(slot: string, from: number, to: number): Promise<void> {
  const id = String(await node(to).command('CLUSTER', 'MYID'))
  for (const key of (await node(from).command('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[])
    await node(from).command('DEL', key)
  await node(to).command('CLUSTER', 'SETSLOT', slot, 'NODE', id)
  await node(to).command('CLUSTER', 'BUMPEPOCH')
  for (const server of cluster.nodes) await server.command('CLUSTER', 'SETSLOT', slot, 'NODE', id)
}
