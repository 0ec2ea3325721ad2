// The audit: who did what, before and after, under which request; and that the record shows what was done to it. Entries are changed,
// removed, swapped and added in the store itself, by SQL and by Redis commands, as somebody with a shell would.

import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Engine, type JournalEntryInput, VirtualClock } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { type AuditLine, createAudit, removeOldSeals, sealOnce, sealsIn, verifyLines } from '@reprise/orchestrator'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../src/table.ts'
import { contextOn } from './events/fixture.ts'
import { ACME, ANN } from './store-with-caller.ts'

let redis: Promise<RedisServer> | null = null
afterAll(async () => (await redis)?.stop())

/** An entry as its store has it: what a shell can change. */
interface Raw {
  id: number
  reason: string
}

interface Opened {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly call: <T>(name: OperationName, input?: object, caller?: Caller) => Promise<T>
  /** Lets somebody with a shell have the entries, in their order. */
  readonly tamper: (change: (entries: Raw[]) => Raw[]) => Promise<void>
}

const STORES = ['sqlite', 'redis', 'redis in 3 partitions'] as const

async function opened(kind: (typeof STORES)[number]): Promise<Opened> {
  const clock = new VirtualClock(1_900_000_000_000)
  const { engine, tamper } = kind === 'sqlite' ? await onSqlite(clock) : await onRedis(clock, kind === 'redis' ? 1 : 3)
  const context = await contextOn(engine, { clock })
  const { signal } = new AbortController()
  const call = <T>(name: OperationName, input: object = {}, caller: Caller = ANN): Promise<T> =>
    perform(context, caller, [name, ALL_OPERATIONS[name]], input, signal) as Promise<T>
  return { engine, clock, call, tamper }
}

async function onSqlite(clock: VirtualClock): Promise<Pick<Opened, 'engine' | 'tamper'>> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-audit-'))
  const path = join(folder, 'store.db')
  const engine = await openSqliteEngine({ path, clock, durability: 'fast' })
  onTestFinished(async () => {
    await engine.close()
    rmSync(folder, { recursive: true })
  })
  const tamper: Opened['tamper'] = async (change) => {
    const db = new DatabaseSync(path)
    const before = db.prepare('SELECT * FROM journal ORDER BY id').all() as unknown as Raw[]
    const after = change(before.map((row) => ({ ...row })))
    db.exec('DELETE FROM journal')
    const put = db.prepare(
      'INSERT INTO journal (id, at, type, task, attempt, actor, reason, data) VALUES (:id, :at, :type, :task, :attempt, :actor, :reason, :data)',
    )
    for (const row of after) put.run({ ...row })
    db.close()
  }
  return { engine, tamper }
}

async function onRedis(clock: VirtualClock, partitions: number): Promise<Pick<Opened, 'engine' | 'tamper'>> {
  redis ??= startRedis()
  const server = await redis
  const prefix = randomUUID()
  const engine = await openRedisEngine({ url: server.url, prefix, partitions, clock })
  onTestFinished(() => engine.close())
  const tamper: Opened['tamper'] = async (change) => {
    for (const key of ((await server.command('KEYS', `*${prefix}*/journal`)) as string[]).toSorted()) {
      const before = (await server.command('XRANGE', key, '-', '+')) as [string, string[]][]
      const rows = before.map(([id, fields]) => {
        const at = fields.indexOf('reason') + 1
        return { id: Number.parseInt(id, 10), reason: fields[at] ?? '', fields, at }
      })
      const after = change(rows) as typeof rows
      await server.command('DEL', key)
      for (const { id, reason, fields, at } of after) {
        await server.command('XADD', key, `${id}-0`, ...fields.with(at, reason))
      }
    }
  }
  return { engine, tamper }
}

const entry = (at: number): JournalEntryInput => ({
  type: 'note',
  taskId: null,
  attempt: null,
  actor: 'operator:ann',
  reason: `the reason ${at}`,
  data: { b: at, a: 'x' },
})

const write = (engine: Engine, count: number): Promise<void> =>
  engine.journal.append(Array.from({ length: count }, (_, at) => entry(at)))

async function sealAll(engine: Engine, keptMs: number | null = null): Promise<void> {
  while (await sealOnce(engine, keptMs));
}

interface Verified {
  readonly seals: number
  readonly entries: number
  readonly removed: number
  readonly unsealed: number
  readonly head: { readonly number: number; readonly hash: string }
  readonly problems: readonly { readonly kind: string; readonly entries: readonly string[]; readonly seal: number }[]
  readonly next: string | null
}

async function verified(call: Opened['call'], expected?: string): Promise<Verified> {
  const given = expected === undefined ? {} : { expected }
  let found = await call<Verified>('verifyAudit', given)
  while (found.next !== null) {
    const more: Verified = await call<Verified>('verifyAudit', { ...given, cursor: found.next })
    const { seals, entries, removed, problems } = found
    found = {
      ...more,
      seals: seals + more.seals,
      entries: entries + more.entries,
      removed: removed + more.removed,
      problems: [...problems, ...more.problems],
    }
  }
  return found
}

const told = ({ problems }: Verified) => problems.map(({ kind, entries }) => `${kind} ${entries.join(',')}`)

describe.each(STORES)('the audit (%s)', (kind) => {
  test('who, what, before and after, why, and the request of each change of an operator; nothing of who only looks', async () => {
    const { call } = await opened(kind)
    await call('pauseLanes', { action: 'render', reason: 'the bank is down' })
    await call('listLanes')
    await call('setFlag', { name: 'task-retry-queue', on: false, reason: 'calm down' })
    await call('discardTasks', { all: true, dryRun: true })
    const { items } = await call<{ items: { data: Record<string, string>; actor: string; reason: string }[] }>(
      'listAudit',
      {
        type: 'operation.*',
        actor: 'operator:*',
      },
    )
    expect(items.map(({ actor, reason, data }) => [data.operation, actor, reason])).toEqual([
      ['setFlag', 'operator:ann', 'calm down'],
      ['pauseLanes', 'operator:ann', 'the bank is down'],
    ])
    expect(items[0]?.data).toMatchObject({
      before: '{"on":true}',
      after: '{"on":false}',
      input: '{"name":"task-retry-queue","on":false}',
    })
    expect(items[1]?.data).toMatchObject({ before: '[]', after: expect.stringContaining('paused') as unknown })
    expect(items[1]?.data.request).toMatch(/^[0-9a-f-]{36}$/)
    expect((await call<{ items: unknown[] }>('listAudit', { actor: 'token:*' })).items).toEqual([])
    await expect(call('listAudit', {}, ACME)).rejects.toThrow(/all tenants/)
  })

  test('1,200 entries are sealed once by two processes at the same time, and are found as they were sealed', async () => {
    const { engine, call } = await opened(kind)
    for (let part = 0; part < 3; part++) await write(engine, 400)
    await Promise.all([sealAll(engine), sealAll(engine)])
    await sealAll(engine)
    await write(engine, 2)
    expect(await verified(call)).toMatchObject({ seals: 3, entries: 1_200, removed: 0, unsealed: 2, problems: [] })
  })

  test('one byte that is changed is found, and its entry is named', async () => {
    const { engine, call, tamper } = await opened(kind)
    await write(engine, 20)
    await sealAll(engine)
    const entries = (await engine.journal.read({ limit: 100 })).entries
    await tamper((rows) => rows.map((row) => ({ ...row, reason: row.reason.replace('reason 7', 'reason 8') })))
    expect(told(await verified(call))).toEqual([`entry_changed ${entries[7]?.id}`])
  })

  test('an entry that is removed is found and named, within a seal, and before it was sealed', async () => {
    const { engine, call, tamper } = await opened(kind)
    await write(engine, 20)
    await sealAll(engine)
    const entries = (await engine.journal.read({ limit: 100 })).entries
    await tamper((rows) => rows.filter(({ reason }) => reason !== 'the reason 7'))
    expect(told(await verified(call))).toEqual([`entry_missing ${entries[7]?.id}`])
    if (kind === 'redis in 3 partitions') return
    await write(engine, 3)
    const late = (await engine.journal.read({ newest: true, limit: 3 })).entries[1]
    await tamper((rows) => rows.filter(({ id }) => String(id) !== late?.id))
    await sealAll(engine)
    expect(told(await verified(call))).toEqual([`entry_missing ${entries[7]?.id}`, `entry_never_sealed ${late?.id}`])
  })

  test('two entries that are swapped are found, and both are named', async () => {
    const { engine, call, tamper } = await opened(kind)
    await write(engine, 20)
    await sealAll(engine)
    const entries = (await engine.journal.read({ limit: 100 })).entries
    await tamper((rows) => {
      const [one, other] = [rows[3], rows[11]]
      if (one === undefined || other === undefined) return rows
      return rows.with(3, { ...other, id: one.id }).with(11, { ...one, id: other.id })
    })
    expect(told(await verified(call))).toEqual([`entries_swapped ${entries[3]?.id},${entries[11]?.id}`])
  })

  test('a seal that is changed, removed, or made anew is found', async () => {
    const { engine, call } = await opened(kind)
    for (let seal = 0; seal < 4; seal++) {
      await write(engine, 5)
      await sealAll(engine)
    }
    const { head } = await verified(call)
    const seals = sealsIn(engine)
    const [, second, third] = (await seals.list()).items
    if (second === undefined || third === undefined) throw new Error('There are four.')
    await seals.update({ ...second.document, sealedAt: 1 }, second.version)
    expect((await verified(call)).problems).toMatchObject([{ kind: 'seal_changed', seal: 2 }])
    await seals.update(second.document, second.version + 1)
    expect((await verified(call)).problems).toEqual([])
    await seals.remove(third.document.id)
    expect((await verified(call)).problems).toMatchObject([{ kind: 'seal_missing', seal: 3 }])
    await seals.insert(third.document)
    const other = `${head.number}:${'0'.repeat(64)}`
    expect((await verified(call, `${head.number}:${head.hash}`)).problems).toEqual([])
    expect((await verified(call, other)).problems).toMatchObject([{ kind: 'seal_changed', seal: 4 }])
    expect((await verified(call, `9:${head.hash}`)).problems).toMatchObject([{ kind: 'seal_missing', seal: 9 }])
    await expect(call('verifyAudit', { expected: 'nonsense' })).rejects.toThrow(/<number>:<hash>/)
    await expect(call('verifyAudit', { cursor: 'nonsense' })).rejects.toThrow(/not one of this check/)
  })

  test('what retention removes is no problem, what somebody else removes is; seals go a day after their entries', async () => {
    const { engine, clock, call, tamper } = await opened(kind)
    const day = 86_400_000
    await write(engine, 5)
    await sealAll(engine, day)
    await clock.advance(1.5 * day)
    await write(engine, 5)
    await sealAll(engine, day)
    expect((await engine.retain({ journalMs: day })).entriesRemoved).toBe(5)
    expect(await verified(call)).toMatchObject({ seals: 2, entries: 5, removed: 5, problems: [] })
    await removeOldSeals(engine, day)
    expect(await verified(call)).toMatchObject({ seals: 2, problems: [] })
    await clock.advance(0.75 * day)
    await removeOldSeals(engine, day)
    expect(await verified(call)).toMatchObject({ seals: 1, entries: 5, removed: 0, problems: [] })
    await tamper((rows) => rows.slice(1))
    expect((await verified(call)).problems).toMatchObject([{ kind: 'entry_missing', seal: 2 }])
  })

  test('the file goes on where a crash cut it off, stands still while audit-streaming is off, and is checked without the store', async () => {
    const { engine, clock, call } = await opened(kind)
    const folder = mkdtempSync(join(tmpdir(), 'reprise-audit-file-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'audit.ndjson')
    let isOn = true
    const lines = (): AuditLine[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as AuditLine)
    const sealsInFile = (): number =>
      existsSync(file) ? lines().filter(({ kind: what }) => what === 'seal').length : 0
    /** Runs the service until everything is sealed, and stands in the file if it is on. */
    const round = async (): Promise<void> => {
      const service = createAudit({ engine, clock, file, isStreaming: () => isOn })
      await service.start()
      for (;;) {
        const { unsealed, head } = await verified(call)
        // A store in this process answers without a turn of the event loop; files need one.
        await new Promise((resolve) => setImmediate(resolve))
        if (unsealed === 0 && (!isOn || sealsInFile() === head.number)) break
      }
      await service.stop()
    }
    await write(engine, 3)
    await round()
    appendFileSync(file, '{"kind":"entry","seal":2,"entry":{"id":"4","at":19')
    await write(engine, 2)
    await round()
    isOn = false
    await write(engine, 1)
    await round()
    expect(lines().map((line) => line.kind)).toEqual(['entry', 'entry', 'entry', 'seal', 'entry', 'entry', 'seal'])
    expect(await verifyLines(iterated(lines()), true)).toMatchObject({ seals: 2, entries: 5, absent: 0, problems: [] })
    isOn = true
    await write(engine, 1)
    await round()
    expect(lines().filter((line) => line.kind === 'seal')).toHaveLength(4)
    const exported: AuditLine[] = []
    for await (const line of await call<AsyncIterable<AuditLine>>('exportAudit')) exported.push(line)
    expect(exported).toEqual(lines())
    writeFileSync(file, readFileSync(file, 'utf8').replace('reason 1', 'reason 9'))
    expect((await verifyLines(iterated(lines()), true)).problems).toMatchObject([{ kind: 'entry_changed', seal: 1 }])
  })
})

async function* iterated<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}
