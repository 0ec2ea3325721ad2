// Searching on real engines: every page together is what a plain filter over all tasks gives, newest first, whatever the query,
// the size of the pages and the tenants; and the same while tasks move on.

import {
  type ActionName,
  ALL_TASKS,
  actionName,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  type Engine,
  type ExportedTask,
  encodeJson,
  exportTasks,
  failed,
  matches,
  observedFailure,
  parseQuery,
  poolName,
  retryToken,
  type SearchOptions,
  type SearchPage,
  searchTasks,
  succeeded,
  type Task,
  type TaskSpec,
  type TenantId,
  taskId,
  tenantId,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { startRedis } from '@reprise/test-servers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const START = Date.UTC(2030, 0, 1)
const BY = { actor: 'operator:ann', reason: 'a test' }
const ACTIONS = ['invoice.send', 'invoice.void', 'render'].map(actionName)
const TENANTS = ['acme', 'globex', 'initech'].map(tenantId)
const GPU = poolName('gpu')

const spec = (index: number, over: Partial<TaskSpec> = {}): TaskSpec => ({
  id: taskId(`task-${index}`),
  action: ACTIONS[index % 3] as ActionName,
  pool: index % 5 === 0 ? GPU : DEFAULT_POOL,
  tenant: TENANTS[Math.floor(index / 2) % 3] as TenantId,
  payload: encodeJson({ index }, 'payload'),
  labels: { team: index % 2 === 0 ? 'core' : 'edge' },
  priority: index % 7 === 0 ? 9 : 5,
  settings: DEFAULT_SETTINGS,
  retryToken: retryToken(`retry-${index}`),
  dedupeKey: null,
  deadlineAt: null,
  delayMs: 0,
  dueAt: null,
  deadlineMs: null,
  ...over,
})

async function claimAll(engine: Engine, limit: number) {
  const worker = workerId('w1')
  const pools = [DEFAULT_POOL, GPU]
  const { epoch } = await engine.register({
    worker,
    pools,
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
  })
  return (await engine.claim({ worker, epoch, pools, actions: null, limit, leaseMs: 60_000 })).claimed
}

/** Tasks of every status, some of them accepted in the same millisecond. */
async function populate(engine: Engine, clock: VirtualClock): Promise<void> {
  let index = 0
  for (let round = 0; round < 24; round++) {
    const batch = Array.from({ length: 1 + (round % 7) }, () =>
      spec(index++, round % 4 === 1 ? { delayMs: 600_000 } : {}),
    )
    await engine.submit(batch)
    await clock.advance(round % 3 === 0 ? 0 : 1_000 * (round % 5))
    if (round % 6 !== 5) continue
    const claimed = await claimAll(engine, 9)
    const decision = { kind: 'dead', reason: 'not_retriable', rule: 'r', sentence: 's' } as const
    await engine.settle(
      claimed.map((lease, at) => {
        if (at % 3 === 0) return succeeded(lease, null)
        const words = at % 2 === 0 ? 'Connection reset by peer' : 'It broke'
        const failure = observedFailure(at % 2 === 0 ? 'connection' : 'permanent', words, lease.snapshot.action)
        return failed(lease, failure, decision)
      }),
    )
  }
  await engine.change({
    kind: 'cancel',
    select: { ids: [taskId('task-80'), taskId('task-81'), taskId('task-82')] },
    by: BY,
  })
  const { items } = await engine.tasks({ status: 'dead', limit: 3 })
  await engine.change({ kind: 'discard', select: { ids: items.slice(1).map(({ id }) => id) }, by: BY })
  await claimAll(engine, 8)
}

async function everything(engine: Engine): Promise<readonly Task[]> {
  const all: Task[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Awaited<ReturnType<Engine['tasks']>> = await engine.tasks(cursor === '' ? {} : { cursor })
    all.push(...page.items)
    cursor = page.next
  }
  return all
}

async function pagesOf(engine: Engine, query: string, options: SearchOptions): Promise<readonly SearchPage[]> {
  const pages: SearchPage[] = []
  let cursor: string | null = null
  do {
    const page: SearchPage = await searchTasks(engine, parseQuery(query), {
      ...options,
      ...(cursor === null ? {} : { cursor }),
    })
    pages.push(page)
    cursor = page.next
    if (pages.length > 500) throw new Error(`The search for ${query} does not end.`)
  } while (cursor !== null)
  return pages
}

const idsOf = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id)

const term = fc.oneof(
  fc.constantFrom(
    'status:dead',
    'status:live',
    'status:ended',
    'status:dead,waiting',
    'status:queued',
    'status:running',
  ),
  fc.constantFrom('-status:succeeded', 'not status:dead,cancelled', 'status:succeeded,discarded,cancelled'),
  fc.constantFrom('action:invoice.*', 'action:render', 'action:render,invoice.void', '-action:render', 'pool:gpu'),
  fc.constantFrom('tenant:acme', 'tenant:acme,globex', 'tenant:*e*', '-tenant:acme', 'tenant:nobody'),
  fc.constantFrom('"connection reset"', 'label.team:core', 'team=edge', 'priority>5', 'age>10s', 'due<8m', 'code:*'),
  fc.constantFrom('id:task-7', 'id:task-1,task-80,task-9,nothing', 'id:task-1*', 'worker:w1', 'reason:delayed'),
)
const question = fc.record({
  query: fc.array(term, { maxLength: 3 }).map((terms) => terms.join(' ')),
  limit: fc.constantFrom(1, 2, 3, 7, 20, 1_000),
  maxScan: fc.constantFrom(1, 5, 40, 10_000),
  tenants: fc.constantFrom<(readonly TenantId[] | null)[]>(
    null,
    null,
    [],
    [tenantId('acme')],
    [tenantId('acme'), tenantId('initech')],
    Array.from({ length: 40 }, (_, index) => tenantId(index === 7 ? 'globex' : `tenant-${index}`)),
  ),
})

interface Place {
  readonly name: string
  readonly runs: number
  readonly open: (clock: VirtualClock) => Promise<Engine>
}

const cleanUps: (() => Promise<unknown>)[] = []
const onRedis = async (clock: VirtualClock, partitions: number): Promise<Engine> => {
  const server = await startRedis()
  cleanUps.push(() => server.stop())
  return openRedisEngine({ url: server.url, clock, partitions })
}
const PLACES: readonly Place[] = [
  { name: 'sqlite', runs: 100, open: (clock) => openSqliteEngine({ path: ':memory:', clock }) },
  { name: 'redis', runs: 50, open: (clock) => onRedis(clock, 1) },
  { name: 'redis of 3 partitions', runs: 40, open: (clock) => onRedis(clock, 3) },
]
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

describe.each(PLACES)('on $name', ({ runs, open }) => {
  let clock: VirtualClock
  let engine: Engine
  let all: readonly Task[]

  beforeAll(async () => {
    clock = new VirtualClock(START)
    engine = await open(clock)
    cleanUps.push(() => engine.close())
    await populate(engine, clock)
    all = await everything(engine)
  })

  test('there is something of every status to be found', async () => {
    const counts = await engine.counts()
    for (const status of ['queued', 'waiting', 'running', 'succeeded', 'dead', 'discarded', 'cancelled'] as const) {
      expect([status, counts[status] > 0]).toEqual([status, true])
    }
  })

  test('B11: a search finds what a plain filter over all tasks does, each once and newest first', async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ query, limit, maxScan, tenants }) => {
        const now = clock.now()
        const pages = await pagesOf(engine, query, { limit, maxScan, tenants, now })
        const found = pages.flatMap(({ items }) => items)
        const wanted = all.filter(
          (task) => matches(parseQuery(query), task, now) && (tenants === null || tenants.includes(task.tenant)),
        )
        expect(idsOf(found).toSorted()).toEqual(idsOf(wanted).toSorted())
        const times = found.map(({ acceptedAt }) => acceptedAt)
        expect(times).toEqual(times.toSorted((a, b) => b - a))
        for (const { items } of pages) expect(items.length).toBeLessThanOrEqual(limit)
      }),
      { numRuns: runs },
    )
  })

  test('a question that the engine can answer by itself keeps its order, and looks at no more than it shows', async () => {
    const now = clock.now()
    const [first] = await pagesOf(engine, 'action:render', { limit: 5, now })
    expect(first?.scanned).toBe(5)
    const pages = await pagesOf(engine, '', { limit: 7, now })
    expect(idsOf(pages.flatMap(({ items }) => items))).toEqual(idsOf(all))
  })

  test('one call looks at a bounded number of tasks, and says where to go on', async () => {
    const page = await searchTasks(engine, parseQuery('"nothing has this"'), { limit: 10, maxScan: 20, now: START })
    expect(page.items).toEqual([])
    expect(page.next).not.toBeNull()
    expect(page.scanned).toBeLessThanOrEqual(20 + 20)
  })

  test('intruder 14: a cursor is good for its own query and tenants only', async () => {
    const now = clock.now()
    const { next } = await searchTasks(engine, parseQuery('status:live'), { limit: 2, now, tenants: TENANTS })
    const cursor = next ?? ''
    const go = (query: string, options: Partial<SearchOptions>) =>
      searchTasks(engine, parseQuery(query), { limit: 2, now, cursor, ...options })
    await expect(go('status:live', { tenants: TENANTS })).resolves.toMatchObject({ items: { length: 2 } })
    await expect(go('status:ended', { tenants: TENANTS })).rejects.toThrow('belongs to another query')
    await expect(go('status:live', { tenants: null })).rejects.toThrow('belongs to another query')
    for (const forged of ['', '1', 'x'.repeat(30_000), btoa('[]'), btoa('{"a":1}'), btoa('[1,2')]) {
      await expect(go('status:live', { cursor: forged })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    }
  })

  test('B12: tasks are exported with payload, state and attempts, and without tokens of leases', async () => {
    const lines: string[] = []
    for await (const record of exportTasks(engine, parseQuery('-status:queued'), { now: clock.now() })) {
      lines.push(JSON.stringify(record))
    }
    const records = lines.map((line) => JSON.parse(line) as ExportedTask & { state: { status: string } })
    expect(records.map(({ snapshot }) => snapshot.id)).toEqual(
      idsOf((await pagesOf(engine, '-status:queued', { limit: 50, now: clock.now() })).flatMap(({ items }) => items)),
    )
    expect(lines.join('\n')).not.toContain('"token"')
    const buried = records.find(({ state }) => state.status === 'dead')
    expect(buried?.attempts).toMatchObject([{ attempt: 1, status: 'failed', decision: { kind: 'dead' } }])
    expect(buried?.snapshot.payload).toEqual({ index: Number(buried?.snapshot.id.slice(5)) })
    expect(buried?.snapshot.retryToken).toBe(`retry-${buried?.snapshot.id.slice(5)}`)
  })
})

describe('while tasks move on', () => {
  const storeOf = async (count: number) => {
    const clock = new VirtualClock(START)
    const engine = await openSqliteEngine({ path: ':memory:', clock })
    cleanUps.push(() => engine.close())
    for (let index = 0; index < count; index++) {
      await engine.submit([spec(index, { pool: DEFAULT_POOL, delayMs: index % 4 === 0 ? 3_600_000 : 0 })])
      await clock.advance(1)
    }
    return { clock, engine }
  }

  test('what changes from queued to running between pages is found once, and what is new does not come in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(0, 2, 6, 30), { maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        async (claims, limit) => {
          const { clock, engine } = await storeOf(30)
          const found: string[] = []
          let cursor: string | null = null
          let turn = 0
          do {
            const page: SearchPage = await searchTasks(engine, parseQuery('status:live'), {
              limit,
              now: clock.now(),
              ...(cursor === null ? {} : { cursor }),
            })
            found.push(...idsOf(page.items))
            cursor = page.next
            const wanted = claims[turn] ?? 0
            if (wanted > 0) await claimAll(engine, wanted)
            await engine.submit([spec(1_000 + turn)])
            turn++
          } while (cursor !== null && turn < 100)
          expect(found).toEqual(Array.from({ length: 30 }, (_, index) => `task-${29 - index}`))
          await engine.close()
        },
      ),
      { numRuns: 20 },
    )
  })

  test('a status that nothing has costs no look through all tasks', async () => {
    const { clock, engine } = await storeOf(20)
    const page = await searchTasks(engine, parseQuery('status:dead,running'), { now: clock.now() })
    expect(page).toEqual({ items: [], next: null, scanned: 0 })
  })

  test('a search for everything is a plain list', async () => {
    const { clock, engine } = await storeOf(5)
    const page = await searchTasks(engine, ALL_TASKS, { now: clock.now() })
    expect(idsOf(page.items)).toEqual(['task-4', 'task-3', 'task-2', 'task-1', 'task-0'])
    expect(page.next).toBeNull()
  })
})
