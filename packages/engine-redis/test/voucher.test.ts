// The program that a thread runs to vouch for workers, tried here in this thread: it does what the verb does, with no
// client but its own, on one server and on a cluster.

import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { DEFAULT_POOL, type Engine, type Voucher, type VouchRequest, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startCluster, startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { spec } from './specs.ts'

interface Vouching {
  vouch(request: VouchRequest): Promise<{ readonly renewed: number }>
  close(): void
}

type Program = (require: NodeJS.Require, data: unknown) => Vouching

const TASKS = 40
const worker = workerId('wörker')

function evaluated(engine: Engine): Vouching {
  const { program, data } = engine.voucher() as Voucher
  const run = compileFunction(program, ['require', 'data']) as Program
  const vouching = run(createRequire(import.meta.url), structuredClone(data))
  onTestFinished(() => vouching.close())
  return vouching
}

/** Registers the worker, and lets it claim all that it is given. */
async function working(engine: Engine): Promise<VouchRequest> {
  const registration = { worker, pools: [DEFAULT_POOL], actions: null, host: 'here', version: '1', runtimes: [] }
  const { epoch } = await engine.register({ ...registration, endpoint: null })
  await engine.submit(Array.from({ length: TASKS }, (_, index) => spec(`t${index}`)))
  let claimed = 0
  while (claimed < TASKS) {
    const claim = { worker, epoch, pools: [DEFAULT_POOL], actions: null, limit: TASKS, leaseMs: 10_000 }
    claimed += (await engine.claim(claim)).claimed.length
  }
  return { worker, epoch, leaseMs: 60_000, outlook: 'ist blockiert: größer ✓' }
}

async function expectRenewed(engine: Engine, since: number): Promise<void> {
  const { items } = await engine.tasks({ limit: TASKS })
  const ends = items.map(({ state }) => (state.status === 'running' ? state.leaseUntil : 0))
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(since + 60_000)
}

test('on one server, as a user with a password, in another database', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  await server.command('ACL', 'SETUSER', 'someone', 'on', '>p@ss word', '~*', '&*', '+@all')
  const url = `redis://someone:${encodeURIComponent('p@ss word')}@127.0.0.1:${server.port}/3`
  const engine = await openRedisEngine({ url })
  onTestFinished(() => engine.close())
  const request = await working(engine)
  const vouching = evaluated(engine)
  const since = await engine.now()
  expect(await vouching.vouch(request)).toEqual({ renewed: TASKS })
  await expectRenewed(engine, since)
  expect((await engine.worker(worker))?.outlook).toBe(request.outlook)
  expect(await vouching.vouch({ ...request, epoch: request.epoch + 1 })).toEqual({ renewed: 0 })
})

test('after the server was emptied of our functions, and after its connection was lost', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const engine = await openRedisEngine({ url: server.url })
  onTestFinished(() => engine.close())
  const request = await working(engine)
  const vouching = evaluated(engine)
  await server.command('FUNCTION', 'FLUSH')
  expect(await vouching.vouch(request)).toEqual({ renewed: TASKS })
  await server.command('CLIENT', 'KILL', 'TYPE', 'normal')
  await expect.poll(() => vouching.vouch(request).catch(() => null)).toEqual({ renewed: TASKS })
})

test('in every partition of a cluster, from the address of one of its nodes', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const engine = await openRedisEngine({ url: cluster.urls.slice(0, 1), partitions: 6 })
  onTestFinished(() => engine.close())
  const request = await working(engine)
  const since = await engine.now()
  expect(await evaluated(engine).vouch(request)).toEqual({ renewed: TASKS })
  await expectRenewed(engine, since)
})
