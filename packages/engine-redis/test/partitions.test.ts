import {
  actionName,
  DEFAULT_POOL,
  type Engine,
  observedFailure,
  poolName,
  type TaskStatus,
  taskId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { type RedisServer, startCluster, startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { BY, idsIn, PARTITIONS, placeOf, registered, runAll, spec, specs } from './partitions-fixture.ts'

const server = await startRedis()
const cluster = await startCluster()
afterAll(() => Promise.all([server.stop(), cluster.stop()]))
let stores = 0

const kinds: readonly { name: string; url: string | readonly string[]; nodes: readonly RedisServer[] }[] = [
  { name: 'one server', url: server.url, nodes: [server] },
  { name: 'a cluster of three', url: cluster.urls, nodes: cluster.nodes },
]

describe.each(kinds)('several partitions on $name', ({ url, nodes }) => {
  const open = async (prefix: string): Promise<Engine> => {
    const engine = await openRedisEngine({ url, prefix, partitions: PARTITIONS })
    onTestFinished(() => engine.close())
    return engine
  }

  it('runs every task exactly once with several workers, and counts right', async () => {
    const prefix = `store-${stores++}`
    const engines = await Promise.all([1, 2, 3].map(() => open(prefix)))
    const [engine] = engines
    if (engine === undefined) throw new Error('unreachable')
    const tasks = specs(300)
    const working = runAll({ engines, total: tasks.length, concurrency: 7, runMs: () => Math.random() * 4 })
    for (let at = 0; at < tasks.length; at += 50) await engine.submit(tasks.slice(at, at + 50))
    const { done } = await working
    expect(done.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
    expect(new Set(tasks.map(({ id }) => placeOf(id))).size).toBe(PARTITIONS)
    await expectTrueCounters(engine)
    expect((await engine.counts()).succeeded).toBe(tasks.length)
  })

  it('settles and claims in one trip, all over the store', async () => {
    const engine = await open(`store-${stores++}`)
    await engine.submit(specs(200))
    const request = await registered(engine, 'w')
    const done: string[] = []
    let { claimed } = await engine.claim(request(10))
    while (claimed.length > 0) {
      done.push(...claimed.map((lease) => lease.taskId))
      const settlements = claimed.map((ref) => ({ kind: 'succeeded', ref, result: null }) as const)
      const next = await engine.settleAndClaim(settlements, request(10))
      expect(next.settled.every(({ outcome }) => outcome === 'settled')).toBe(true)
      claimed = [...next.claimed]
    }
    expect(new Set(done).size).toBe(200)
    await expectTrueCounters(engine)
  })

  it('leaves no partition behind while others have plenty', async () => {
    const engine = await open(`store-${stores++}`)
    const [first, second] = [idsIn(0, 400), idsIn(1, 3)]
    await engine.submit(first.map((id) => spec(id)))
    const request = await registered(engine, 'w')
    let { claimed } = await engine.claim(request(4))
    await engine.submit(second.map((id) => spec(id)))
    const found = new Set<string>()
    for (let trip = 0; trip < 40 && found.size < second.length; trip++) {
      const settlements = claimed.map((ref) => ({ kind: 'succeeded', ref, result: null }) as const)
      claimed = (await engine.settleAndClaim(settlements, request(4))).claimed
      for (const { taskId: id } of claimed) if (placeOf(id) === 1) found.add(id)
    }
    expect(found.size).toBe(second.length)
  })

  it('runs no script in partitions that have nothing', async () => {
    const engine = await open(`store-${stores++}`)
    const request = await registered(engine, 'w')
    await engine.claim(request())
    const before = await scriptCalls(nodes)
    for (let times = 0; times < 10; times++) await engine.claim(request(5))
    expect(await scriptCalls(nodes)).toBe(before)
    await engine.submit(idsIn(1, 20).map((id) => spec(id)))
    const between = await scriptCalls(nodes)
    for (let times = 0; times < 10; times++) expect((await engine.claim(request())).claimed).toHaveLength(1)
    expect((await scriptCalls(nodes)) - between).toBe(10)
  })

  it('takes no more trips to settle and claim than there are partitions to settle in', async () => {
    const engine = await open(`store-${stores++}`)
    await engine.submit(idsIn(1, 60).map((id) => spec(id)))
    const request = await registered(engine, 'w')
    let { claimed } = await engine.claim(request(2))
    const before = await scriptCalls(nodes)
    for (let trip = 0; trip < 20; trip++) {
      const settlements = claimed.map((ref) => ({ kind: 'succeeded', ref, result: null }) as const)
      claimed = (await engine.settleAndClaim(settlements, request(2))).claimed
      expect(claimed).toHaveLength(2)
    }
    expect((await scriptCalls(nodes)) - before).toBe(20)
  })

  it('wakes whoever waits for work in any partition, and for the end of any task', async () => {
    const engine = await open(`store-${stores++}`)
    const request = await registered(engine, 'w')
    for (let place = 0; place < PARTITIONS; place++) {
      const [id = ''] = idsIn(place, 1, `wake${place}-`)
      const since = engine.mark()
      expect((await engine.claim(request())).claimed).toEqual([])
      const startedAt = performance.now()
      const woken = engine.wait({ pools: [DEFAULT_POOL], since }, 20_000)
      await engine.submit([spec(id)])
      await woken
      const [lease] = (await engine.claim(request())).claimed
      expect(lease?.taskId).toBe(id)
      if (lease === undefined) return
      const mark = engine.mark()
      const ended = engine.wait({ tasks: [lease.taskId], since: mark }, 20_000)
      await engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
      await ended
      expect(performance.now() - startedAt).toBeLessThan(5_000)
    }
  })

  it('reads the journal to its end, every entry once, while it is written', async () => {
    const engine = await open(`store-${stores++}`)
    const written = new Set<string>()
    const write = async (from: number): Promise<void> => {
      for (let index = from; index < from + 60; index++) {
        const id = index % 4 === 0 ? null : taskId(`t${index}`)
        written.add(`note ${index}`)
        await engine.journal.append([
          { type: 'note', taskId: id, attempt: null, actor: 'me', reason: `note ${index}`, data: {} },
        ])
      }
    }
    const writing = Promise.all([write(0), write(100), write(200)])
    const read: string[] = []
    const ids = new Set<string>()
    let cursor: string | undefined
    let isWritten = false
    void writing.then(() => {
      isWritten = true
    })
    for (let empty = 0; empty < 2; ) {
      const page = await engine.journal.read({ limit: 7, ...(cursor === undefined ? {} : { cursor }) })
      cursor = page.cursor
      for (const entry of page.entries) ids.add(entry.id)
      read.push(...page.entries.map(({ reason }) => reason))
      if (page.entries.length === 0 && isWritten) empty++
    }
    expect(read.toSorted()).toEqual([...written].toSorted())
    expect(ids.size).toBe(read.length)
    const own = await engine.journal.read({ taskId: taskId('t5') })
    expect(own.entries.map(({ reason }) => reason)).toEqual(['note 5'])
    expect((await engine.journal.read({ taskId: taskId('t5'), cursor: own.cursor })).entries).toEqual([])
  })

  it('pauses and resumes everywhere, and tells of it once', async () => {
    const engine = await open(`store-${stores++}`)
    const request = await registered(engine, 'w')
    await engine.pause({ pool: DEFAULT_POOL }, BY)
    await engine.pause({ pool: DEFAULT_POOL }, BY)
    await engine.submit(specs(12))
    expect((await engine.claim(request(20))).claimed).toEqual([])
    expect((await engine.explain(taskId('t0')))?.gates).toMatchObject([{ kind: 'paused' }])
    expect(await engine.resume({ pool: poolName('other') }, BY)).toBe(false)
    expect(await engine.resume({ pool: DEFAULT_POOL }, BY)).toBe(true)
    expect(await engine.resume({ pool: DEFAULT_POOL }, BY)).toBe(false)
    expect((await engine.claim(request(20))).claimed).toHaveLength(12)
    const types = (await engine.journal.read()).entries.map(({ type }) => type)
    expect(types).toEqual(['worker.joined', 'lanes.paused', 'lanes.paused', 'lanes.resumed'])
  })

  it('redrives all dead letters in pages, by scope and by id', async () => {
    const engine = await open(`store-${stores++}`)
    const request = await registered(engine, 'w')
    await engine.submit(specs(25))
    const failure = observedFailure('validation', 'It is wrong.', actionName('render'))
    const decision = { kind: 'dead', reason: 'not_retriable', rule: 'r', sentence: 'No.' } as const
    const kill = async (): Promise<void> => {
      const { claimed } = await engine.claim(request(50))
      await engine.settle(claimed.map((ref) => ({ kind: 'failed', ref, failure, decision })))
    }
    await kill()
    const [group, ...others] = (await engine.failureGroups()).items
    expect(others).toEqual([])
    expect(group?.count).toBe(25)
    const redriven: string[] = []
    let cursor: string | undefined
    do {
      const page = await engine.change({
        kind: 'redrive',
        select: {},
        by: BY,
        limit: 4,
        ...(cursor === undefined ? {} : { cursor }),
      })
      expect(page.changed.length).toBeLessThanOrEqual(4)
      redriven.push(...page.changed)
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    expect(redriven.toSorted()).toEqual(
      specs(25)
        .map(({ id }) => id)
        .toSorted(),
    )
    await kill()
    const ids = ['t9', 'nobody', 't3', 't17', 't4'].map(taskId)
    const first = await engine.change({ kind: 'redrive', select: { ids }, by: BY, limit: 2 })
    expect(first.changed).toEqual(['t9', 't3'])
    const second = await engine.change({ kind: 'redrive', select: { ids }, by: BY, limit: 2, cursor: first.next ?? '' })
    expect(second).toEqual({ changed: ['t17', 't4'], next: null })
    await expectTrueCounters(engine)
  })

  it('fences a replaced worker everywhere', async () => {
    const engine = await open(`store-${stores++}`)
    const old = await registered(engine, 'w')
    await engine.submit(specs(9))
    const { claimed } = await engine.claim(old(9))
    expect(new Set(claimed.map((lease) => placeOf(lease.taskId))).size).toBe(PARTITIONS)
    const renewed = await registered(engine, 'w')
    const results = await engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
    expect(results).toEqual(claimed.map(() => ({ outcome: 'superseded', because: 'replaced' })))
    await expect(engine.claim(old())).rejects.toMatchObject({ code: 'REPRISE_WORKER_FENCED' })
    const entries = (await engine.journal.read()).entries.filter(({ type }) => type === 'worker.replaced')
    expect(entries).toMatchObject([{ data: { worker: 'w', epoch: renewed().epoch, leases: 9 } }])
    expect((await engine.expired(100)).overdue).toHaveLength(9)
    expect((await engine.workers()).items).toMatchObject([{ worker: 'w', epoch: renewed().epoch }])
  })

  it('lists every task, lane and worker once, in pages', async () => {
    const engine = await open(`store-${stores++}`)
    const tasks = Array.from({ length: 40 }, (_, index) => spec(`t${index}`, { pool: poolName(`pool${index % 7}`) }))
    await engine.submit(tasks)
    const ids: string[] = []
    let cursor: string | undefined
    do {
      const page = await engine.tasks({ limit: 3, ...(cursor === undefined ? {} : { cursor }) })
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    expect(ids.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
    const lanes: string[] = []
    do {
      const page = await engine.lanes({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      lanes.push(...page.items.map(({ pool, counts }) => `${pool} ${counts.queued}`))
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    expect(lanes.toSorted()).toEqual([6, 6, 6, 6, 6, 5, 5].map((count, index) => `pool${index} ${count}`))
    const wrong = { cursor: '7_x' }
    for (const list of [engine.tasks(wrong), engine.lanes(wrong), engine.failureGroups(wrong)]) {
      await expect(list).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    }
  })

  it('refuses to be opened with another number of partitions', async () => {
    const prefix = `store-${stores++}`
    await open(prefix)
    await expect(openRedisEngine({ url, prefix, partitions: 4 })).rejects.toThrow(/has 3 partitions, not 4/)
    const again = await openRedisEngine({ url, prefix })
    await again.submit(specs(9))
    expect((await again.counts()).queued).toBe(9)
    await again.close()
  })
})

/** What the store counts is what is there. */
async function expectTrueCounters(engine: Engine): Promise<void> {
  const found = new Map<TaskStatus, number>()
  let cursor: string | undefined
  do {
    const page = await engine.tasks({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })
    for (const { state } of page.items) found.set(state.status, (found.get(state.status) ?? 0) + 1)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  const counts = await engine.counts()
  for (const status of ['queued', 'waiting', 'running', 'succeeded', 'dead'] as const) {
    expect(counts[status]).toBe(found.get(status) ?? 0)
  }
}

async function scriptCalls(nodes: readonly RedisServer[]): Promise<number> {
  const infos = await Promise.all(nodes.map((node) => node.command('INFO', 'commandstats')))
  return infos.reduce<number>((sum, info) => sum + Number(/cmdstat_fcall:calls=(\d+)/.exec(String(info))?.[1] ?? 0), 0)
}
