// The conservation ledger: a task that something else deleted is found and named, on both engines, by the service as it runs in
// an orchestrator; told once, however many run; settled when the store is in order again; and retention is no difference.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Engine, type JournalEntry, silentMeter, succeeded, taskId, VirtualClock, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createLedger, LedgerWalker } from '@reprise/orchestrator'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS } from '../src/table.ts'
import { contextOn, spec } from './events/fixture.ts'
import { ACME, ANN } from './store-with-caller.ts'

let redis: Promise<RedisServer> | null = null
afterAll(async () => (await redis)?.stop())

interface Opened {
  readonly engine: Engine
  readonly clock: VirtualClock
  /** Deletes the record of a task, as somebody with a shell would. */
  readonly deleteTask: (id: string) => Promise<unknown>
}

const STORES = ['sqlite', 'redis'] as const
let prefixes = 0

async function opened(kind: (typeof STORES)[number]): Promise<Opened> {
  const clock = new VirtualClock(1_900_000_000_000)
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-ledger-'))
    const path = join(folder, 'store.db')
    const engine = await openSqliteEngine({ path, clock, durability: 'fast' })
    onTestFinished(async () => {
      await engine.close()
      rmSync(folder, { recursive: true })
    })
    return {
      engine,
      clock,
      deleteTask: async (id) => {
        const db = new DatabaseSync(path)
        db.prepare('DELETE FROM tasks WHERE id = ?').run(id)
        db.close()
      },
    }
  }
  redis ??= startRedis()
  const server = await redis
  const prefix = `ledger${prefixes++}`
  const engine = await openRedisEngine({ url: server.url, prefix, clock })
  onTestFinished(() => engine.close())
  const keys = async (id: string) => (await server.command('KEYS', `*${prefix}*${id}*`)) as string[]
  return {
    engine,
    clock,
    deleteTask: async (id) => server.command('DEL', ...(await keys(id))),
  }
}

async function filled(engine: Engine): Promise<void> {
  await engine.submit(Array.from({ length: 30 }, (_, at) => spec(`task-${at}`)))
  const worker = workerId('w1')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 10, leaseMs: 60_000 })
  await engine.settle(claimed.map((one) => succeeded(one, null)))
}

const told = async (engine: Engine): Promise<readonly JournalEntry[]> =>
  (await engine.journal.read({ limit: 1_000 })).entries.filter(({ type }) => type.startsWith('ledger.'))

async function walked(engine: Engine, owner = 'one'): Promise<void> {
  const walker = new LedgerWalker(engine, silentMeter, owner)
  expect(await walker.hold()).toBe(true)
  while (!(await walker.goOn()));
  await walker.release()
}

/** Virtual time passes, second by second, and the store answers what it was asked meanwhile. */
async function pass(engine: Engine, clock: VirtualClock, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at++) {
    await clock.advance(1_000)
    for (let trip = 0; trip < TRIPS; trip++) await engine.now()
  }
}

/** More than a round of the service takes. */
const TRIPS = 20

describe.each(STORES)('the ledger (%s)', (kind) => {
  test('a queued and a succeeded task that are deleted behind its back are named within a minute', async () => {
    const { engine, clock, deleteTask } = await opened(kind)
    await filled(engine)
    const services = [createLedger({ engine, clock }), createLedger({ engine, clock })]
    for (const service of services) await service.start()
    onTestFinished(async () => void (await Promise.all(services.map((service) => service.stop()))))
    await pass(engine, clock, 10)
    expect(await told(engine)).toEqual([])
    await deleteTask('task-3')
    await deleteTask('task-25')
    await pass(engine, clock, 60)
    const found = (await told(engine)).filter(({ taskId: id }) => id !== null)
    expect(new Set(found.map(({ taskId: id }) => id))).toEqual(new Set([taskId('task-3'), taskId('task-25')]))
    const gone = found.filter(({ data }) => data.kind === 'task_gone' || data.kind === 'order_entry_extra')
    expect(gone.map(({ type, taskId: id }) => `${type} ${id}`).toSorted()).toEqual([
      'ledger.difference task-25',
      'ledger.difference task-3',
    ])
    const context = await contextOn(engine, { clock })
    const ask = (caller: typeof ANN): Promise<unknown> =>
      perform(context, caller, ['getLedger', ALL_OPERATIONS.getLedger], {}, new AbortController().signal)
    expect(await ask(ANN)).toMatchObject({
      items: [{ tenant: 'default', accepted: 30, succeeded: 10, live: 20, difference: 0 }],
      isChecking: true,
      differences: expect.arrayContaining([expect.objectContaining({ task: 'task-3' })]) as unknown,
    })
    expect(await ask(ACME)).toMatchObject({ items: [], differences: [] })
  })

  test('is told once by any number of walks, and settled when the store is in order again', async () => {
    const { engine, deleteTask } = await opened(kind)
    await filled(engine)
    await deleteTask('task-25')
    await walked(engine)
    const first = await told(engine)
    expect(first.length).toBeGreaterThan(0)
    await walked(engine, 'two')
    expect(await told(engine)).toHaveLength(first.length)
    const by = { actor: 'operator:ann', reason: 'accepted the loss' }
    for (let next: string | null | undefined; next !== null; ) {
      const from: { readonly cursor?: string } = next === undefined ? {} : { cursor: next }
      next = (await engine.inspect({ repair: true, by, ...from })).next
    }
    await walked(engine)
    await walked(engine)
    const settled = (await told(engine)).filter(({ type }) => type === 'ledger.settled')
    expect(settled).toHaveLength(first.length)
  })

  test('what retention removes is no difference', async () => {
    const { engine, clock } = await opened(kind)
    await filled(engine)
    await clock.advance(10_000)
    const { tasksRemoved } = await engine.retain({ succeededMs: 1_000 })
    expect(tasksRemoved).toBe(10)
    await walked(engine)
    expect(await told(engine)).toEqual([])
  })

  test('one process walks at a time; another goes on when its lease is over', async () => {
    const { engine, clock } = await opened(kind)
    await filled(engine)
    const [one, other] = [new LedgerWalker(engine, silentMeter, 'a'), new LedgerWalker(engine, silentMeter, 'b')]
    expect(await one.hold()).toBe(true)
    expect(await other.hold()).toBe(false)
    await clock.advance(16_000)
    expect(await other.hold()).toBe(true)
    expect(await one.hold()).toBe(false)
  })
})
