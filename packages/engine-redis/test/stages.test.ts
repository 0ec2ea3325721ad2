// Leases that whoever claimed them does not run: what stands in the store for them, and what is left when they end. What the
// verbs mean is the conformance suite's part.

import {
  actionName,
  type Claimed,
  type ClaimRequest,
  DEFAULT_POOL,
  type Engine,
  failed,
  observedFailure,
  released,
  succeeded,
  systemClock,
  taskId,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { AVOID_MS } from '@reprise/core/engine'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { claim } from '../src/claim.ts'
import { assign } from '../src/handover.ts'
import { Partition } from '../src/partition.ts'
import { openTestLink } from './link-fixture.ts'
import { hookedLink, idsIn, PARTITIONS, spec } from './partitions-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())
let stores = 0

interface Store {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly prefix: string
}

async function open(partitions = 1): Promise<Store> {
  const clock = new VirtualClock(systemClock.now())
  const prefix = `stages-${stores++}`
  const engine = await openRedisEngine({ url: server.url, prefix, clock, partitions })
  onTestFinished(() => engine.close())
  return { engine, clock, prefix }
}

async function registered(engine: Engine, name: string, host = name): Promise<(limit: number) => ClaimRequest> {
  const worker = workerId(name)
  const registration = {
    worker,
    pools: [DEFAULT_POOL],
    actions: null,
    host,
    version: host,
    runtimes: [],
    endpoint: null,
  }
  const { epoch } = await engine.register(registration)
  return (limit) => ({ worker, epoch, pools: [DEFAULT_POOL], actions: null, limit, leaseMs: 30_000 })
}

/** Claims so many with a dispatcher, and hands them over to a worker. */
async function dispatch(engine: Engine, count: number, to: string): Promise<readonly Claimed[]> {
  const dispatcher = await registered(engine, 'dispatcher')
  const { claimed } = await engine.claim({ ...dispatcher(count), stage: 'dispatch' })
  expect(claimed).toHaveLength(count)
  const results = await engine.assign(claimed.map((lease) => ({ ...lease, worker: workerId(to), ttlMs: 10_000 })))
  expect(results).toEqual(claimed.map(() => ({ outcome: 'assigned' })))
  return claimed
}

const keysOf = async (name: string): Promise<unknown> => server.command('KEYS', name)

describe('inboxes', () => {
  it('D2: leave nothing behind, however what lay in them ends', async () => {
    const { engine, prefix } = await open()
    await engine.submit(['a', 'b', 'c', 'd'].map((id) => spec(id)))
    const worker = await registered(engine, 'w')
    await dispatch(engine, 4, 'w')
    expect(await server.command('ZRANGE', `${prefix}/inbox:w`, '0', '-1')).toEqual(['a', 'b', 'c', 'd'])
    await engine.claim(worker(1))
    await engine.change({ kind: 'cancel', select: { ids: [taskId('b')] }, by: { actor: 'ann', reason: 'a test' } })
    const running = await engine.task(taskId('c'))
    if (running?.state.status !== 'running') throw new Error('It lies in the inbox.')
    const { attempt, token } = running.state
    await engine.settle([released({ taskId: taskId('c'), attempt, token }, 'taken back')])
    expect(await server.command('ZRANGE', `${prefix}/inbox:w`, '0', '-1')).toEqual(['d'])
    expect((await engine.claim(worker(1))).claimed).toMatchObject([{ taskId: 'd' }])
    expect(await keysOf(`${prefix}/inbox*`)).toEqual([])
  })

  it('D2: a claim that repeats one that nobody heard of answers with what it had collected', async () => {
    const { engine, prefix } = await open()
    const link = await openTestLink({ url: server.url })
    await engine.submit([spec('a')])
    const worker = await registered(engine, 'w')
    await dispatch(engine, 1, 'w')
    // The first call is made, and its answer does not arrive.
    const lossy = hookedLink(link, (number, moment) => {
      if (number === 0 && moment === 'after') throw new Error('The answer was lost.')
    })
    const partition = new Partition(lossy, prefix, null)
    await expect(claim(partition, worker(1))).rejects.toThrow('lost')
    const { claimed } = await claim(partition, worker(1))
    expect(claimed).toMatchObject([{ taskId: 'a', attempt: 1 }])
    expect(await engine.settle(claimed.map((lease) => succeeded(lease, null)))).toMatchObject([{ status: 'succeeded' }])
  })

  it('D2: a repeated assignment is answered as the first time', async () => {
    const { engine, prefix } = await open()
    const link = await openTestLink({ url: server.url })
    await engine.submit([spec('a')])
    await registered(engine, 'w')
    const dispatcher = await registered(engine, 'dispatcher')
    const { claimed } = await engine.claim({ ...dispatcher(1), stage: 'dispatch' })
    const assignments = claimed.map((lease) => ({ ...lease, worker: workerId('w'), ttlMs: 10_000 }))
    const partition = new Partition(link, prefix, null, { drawRequestId: () => 'the same' })
    expect(await assign(partition, assignments)).toEqual([{ outcome: 'assigned' }])
    expect(await assign(partition, assignments)).toEqual([{ outcome: 'assigned' }])
    expect(await engine.assign(assignments)).toEqual([{ outcome: 'superseded', because: 'replaced' }])
  })

  it('A16: who assigns a lease to itself holds it under another token', async () => {
    const { engine } = await open()
    await engine.submit([spec('a')])
    const worker = await registered(engine, 'w')
    const { claimed } = await engine.claim({ ...worker(1), stage: 'dispatch' })
    await engine.assign(claimed.map((lease) => ({ ...lease, worker: workerId('w'), ttlMs: 10_000 })))
    expect(await engine.settle(claimed.map((lease) => released(lease, 'too late')))).toEqual([
      { outcome: 'superseded', because: 'replaced' },
    ])
  })
})

describe('launches', () => {
  it('A11: are unknown to the set of workers that the sweep looks at, and leave nothing behind', async () => {
    const { engine, clock, prefix } = await open()
    await engine.submit(['a', 'b', 'c'].map((id) => spec(id)))
    const launcher = await registered(engine, 'launcher')
    const { claimed } = await engine.claim({ ...launcher(3), stage: 'launch' })
    expect(await server.command('ZRANGE', `${prefix}/leases`, '0', '-1')).toEqual([])
    clock.jump(120_000)
    expect((await engine.expired(10)).overdue).toEqual([])
    await registered(engine, 'launcher')
    const [first, second, third] = claimed
    if (first === undefined || second === undefined || third === undefined) throw new Error('Three were claimed.')
    const cancelled = await engine.change({
      kind: 'cancel',
      select: { ids: [taskId('b')] },
      by: { actor: 'ann', reason: 'a test' },
    })
    expect(cancelled.changed).toEqual(['b'])
    expect(await engine.settle([succeeded(first, null), released(third, 'stopped')])).toMatchObject([
      { status: 'succeeded' },
      { status: 'queued' },
    ])
    expect(await keysOf(`${prefix}/launch*`)).toEqual([])
    expect((await engine.launches({ pool: DEFAULT_POOL })).items).toEqual([])
  })

  it('A15: those that a message reserved are kept like those that were claimed, in whichever partition', async () => {
    for (const partitions of [1, PARTITIONS]) {
      const { engine, clock, prefix } = await open(partitions)
      const ids = [0, 1, 2].flatMap((place) => idsIn(place, 1, 'message'))
      const leases = await Promise.all(
        ids.map((id) => {
          const worker = workerId('launcher')
          return engine.reserve({ task: spec(id), attempt: 1, maxRetries: 1, worker, leaseMs: 30_000, stage: 'launch' })
        }),
      )
      expect(await keysOf(`${prefix}*/leases`)).toEqual([])
      expect((await keysOf(`${prefix}*/launches:*`)) as unknown[]).toHaveLength(partitions)
      clock.jump(120_000)
      expect((await engine.expired(10)).overdue).toEqual([])
      const { items } = await engine.launches({ pool: DEFAULT_POOL })
      expect(items.map(({ taskId: id, token }) => [id, token])).toEqual(
        leases.map(({ taskId: id, token }) => [id, token]).toSorted(),
      )
      await engine.settle(leases.map((lease) => succeeded(lease, null)))
      expect(await keysOf(`${prefix}*/launch*`)).toEqual([])
    }
  })

  it('A15: the sweep leaves them alone, also those of a worker that ran something itself', async () => {
    const { engine, clock } = await open()
    await engine.submit(['a', 'b'].map((id) => spec(id)))
    const worker = await registered(engine, 'w')
    await engine.claim({ ...worker(1), stage: 'launch' })
    await engine.claim(worker(1))
    clock.jump(60_000)
    expect((await engine.expired(10)).overdue).toMatchObject([{ kind: 'lease', ref: { taskId: 'b' } }])
    expect((await engine.expired(10)).overdue).toHaveLength(1)
  })

  it('A11: are listed by task id over all partitions, page by page', async () => {
    const { engine } = await open(PARTITIONS)
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`)
    await engine.submit(ids.map((id) => spec(id)))
    const launcher = await registered(engine, 'launcher')
    const { claimed } = await engine.claim({ ...launcher(20), stage: 'launch' })
    const [one] = claimed
    if (one === undefined) throw new Error('Twenty were claimed.')
    await engine.renew([{ ...one, progress: null, handle: 'pod\nof one' }], 30_000)
    const listed: string[] = []
    let cursor: string | null = null
    do {
      const page = await engine.launches({ pool: DEFAULT_POOL, limit: 7, ...(cursor === null ? {} : { cursor }) })
      listed.push(...page.items.map((launch) => launch.taskId))
      for (const { taskId: id, token, handle } of page.items) {
        expect(claimed.find((lease) => lease.taskId === id)?.token).toBe(token)
        expect(handle).toBe(id === one.taskId ? 'pod\nof one' : null)
      }
      cursor = page.next
    } while (cursor !== null)
    expect(listed).toEqual(ids.toSorted())
  })
})

describe('a retry that its worker leaves to others', () => {
  it('C9: stands where it was, and is found there by the next', async () => {
    const { engine, clock, prefix } = await open()
    await engine.submit(['a', 'b'].map((id) => spec(id)))
    const [first, second] = [await registered(engine, 'w1'), await registered(engine, 'w2')]
    const { claimed } = await engine.claim(first(1))
    const failure = observedFailure('connection', 'Refused', actionName('render'))
    const decision = { kind: 'retry', delayMs: 0, reason: 'connection', rule: 'test', sentence: 'Again.' } as const
    await engine.settle(claimed.map((lease) => failed(lease, failure, decision)))
    await engine.submit([spec('c')])
    const passed = await engine.claim(first(5))
    expect(passed.claimed.map(({ taskId: id }) => id)).toEqual(['b', 'c'])
    expect(passed.nextDueAt).toBe(clock.now() + AVOID_MS)
    expect(await server.command('KEYS', `${prefix}/returned:*`)).toHaveLength(1)
    await engine.submit([spec('d')])
    expect((await engine.claim(second(1))).claimed).toMatchObject([{ taskId: 'a', attempt: 2 }])
    expect((await engine.claim(second(1))).claimed).toMatchObject([{ taskId: 'd' }])
    expect(await server.command('KEYS', `${prefix}/returned:*`)).toEqual([])
    expect(await server.command('KEYS', `${prefix}/queue:*`)).toEqual([])
  })
})

describe('several partitions', () => {
  it('D2: a claim collects from all of them before it takes anything else', async () => {
    const { engine } = await open(PARTITIONS)
    const assigned = [0, 1, 2].flatMap((place) => idsIn(place, 2, 'assigned'))
    await engine.submit(assigned.map((id) => spec(id)))
    const worker = await registered(engine, 'w')
    await dispatch(engine, 6, 'w')
    await engine.submit([0, 1, 2].flatMap((place) => idsIn(place, 5, 'queued')).map((id) => spec(id)))
    const first = await engine.claim(worker(4))
    const second = await engine.claim(worker(4))
    const collected = [...first.claimed, ...second.claimed.slice(0, 2)].map(({ taskId: id }) => id)
    expect(collected.toSorted()).toEqual(assigned.toSorted())
    expect(second.claimed).toHaveLength(4)
    const settled = await engine.settle([...first.claimed, ...second.claimed].map((lease) => succeeded(lease, null)))
    expect(settled.every(({ outcome }) => outcome === 'settled')).toBe(true)
  })

  it('C5: what the others saw of a worker decides whether it may have a lease', async () => {
    const { engine } = await open(PARTITIONS)
    const [elsewhere, here] = [idsIn(1, 10, 'failing'), idsIn(2, 1)]
    await engine.submit(elsewhere.map((id) => spec(id)))
    const worker = await registered(engine, 'w')
    const { claimed } = await engine.claim(worker(10))
    const failure = observedFailure('connection', 'Refused', actionName('render'))
    const decision = { kind: 'dead', reason: 'not_retriable', rule: 'test', sentence: 'No.' } as const
    await engine.submit(here.map((id) => spec(id)))
    const dispatcher = await registered(engine, 'dispatcher')
    const held = await engine.claim({ ...dispatcher(1), stage: 'dispatch' })
    const assignments = held.claimed.map((lease) => ({ ...lease, worker: workerId('w'), ttlMs: 10_000 }))
    await engine.settle(claimed.map((lease) => failed(lease, failure, decision)))
    expect(await engine.assign(assignments)).toEqual([{ outcome: 'stale' }])
  })
})
