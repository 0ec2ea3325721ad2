// Inspection of a damaged store (B11): each test damages the file by hand, expects just that finding, has it repaired, and lets
// the tasks run to their end.

import { seededRandom, succeeded, taskId } from '@reprise/core'
import { describe, expect, it } from 'vitest'
import { claimer, spec, specs } from './fixture.ts'
import { BY, brief, damage, failure, look, repair, runToEnd, storeWithTaskInEachPlace } from './inspect-fixture.ts'

const seqOf = (id: string): string => `(SELECT seq FROM tasks WHERE id = '${id}')`
const LANE = "lane of pool 'default', action 'act', tenant 'default'"

const CASES: readonly { readonly is: string; readonly sql: readonly string[]; readonly finds: readonly string[] }[] = [
  {
    is: 'a queued task without an entry',
    sql: [`DELETE FROM ready WHERE seq = ${seqOf('queued')}`],
    finds: ["queue_entry_missing: task 'queued'"],
  },
  {
    is: 'a task that stands in the queue twice',
    sql: [`INSERT INTO ready (lane, place, rank, seq, since) VALUES (1, 4, 9999, ${seqOf('queued')}, 0)`],
    finds: ["queue_entry_twice: task 'queued'"],
  },
  {
    is: 'a task that stands in the queue, and once more among what is past its time',
    sql: [
      `INSERT INTO ready SELECT lane, 100, rank, seq, since, expires, deadline_at FROM ready WHERE seq = ${seqOf('queued')}`,
    ],
    finds: ["queue_entry_twice: task 'queued'"],
  },
  {
    is: 'an entry of a task that is dead',
    sql: [`INSERT INTO ready (lane, place, rank, seq, since) VALUES (1, 4, 9999, ${seqOf('dead')}, 0)`],
    finds: ["queue_entry_extra: task 'dead'"],
  },
  {
    is: 'an entry of a task that runs',
    sql: [`INSERT INTO ready (lane, place, rank, seq, since) VALUES (1, 4, 9999, ${seqOf('running')}, 0)`],
    finds: ["queue_entry_extra: task 'running'"],
  },
  {
    is: 'an entry of no task',
    sql: ['INSERT INTO ready (lane, place, rank, seq, since) VALUES (1, 4, 9999, 9999, 0)'],
    finds: ['queue_entry_extra: store'],
  },
  {
    is: 'a waiting task that never becomes due',
    sql: ['DELETE FROM waiting'],
    finds: ["delay_entry_missing: task 'waiting'"],
  },
  {
    is: 'a queued task in the delay queue',
    sql: [`INSERT INTO waiting VALUES ('default', 5, ${seqOf('queued')})`],
    finds: ["delay_entry_extra: task 'queued'"],
  },
  {
    is: 'a running task whose lease is gone: it shows as queued, and is not counted so',
    sql: [`DELETE FROM leases WHERE seq = ${seqOf('running')}`],
    finds: ["queue_entry_missing: task 'running'", `count: ${LANE}`, 'count: store'],
  },
  {
    is: 'a lease of a task that is dead',
    sql: [
      `INSERT INTO leases (seq, attempt, token, worker, started_at, until, timeout_at) VALUES (${seqOf('dead')}, 2, 999, 1, 0, 0, 0)`,
    ],
    finds: ["lease_extra: task 'dead'"],
  },
  {
    is: 'an assigned task that is in no inbox',
    sql: ['DELETE FROM inboxes'],
    finds: ["inbox_entry_missing: task 'assigned'"],
  },
  {
    is: 'a task in an inbox that was not assigned',
    sql: [`INSERT INTO inboxes VALUES (${seqOf('running')}, 1, 5)`],
    finds: ["inbox_entry_extra: task 'running'"],
  },
  {
    is: 'inboxes that nobody looks into',
    sql: ['UPDATE store SET has_inboxes = 0'],
    finds: ['count: store'],
  },
  {
    is: 'a count of successes that never were',
    sql: ['UPDATE lanes SET succeeded = succeeded + 3, accepted = accepted + 3'],
    finds: [`count: ${LANE}`],
  },
  {
    is: 'a lane whose claimable tasks claims do not see',
    sql: ['UPDATE lanes SET ready = 0'],
    finds: [`count: ${LANE}`],
  },
  {
    is: 'a wrong count of the backlog',
    sql: ['UPDATE store SET backlog = backlog + 5'],
    finds: ['count: store'],
  },
  {
    is: 'a dedupe key that nothing notes',
    sql: ['DELETE FROM dedupe'],
    finds: ["key_missing: task 'keyed'"],
  },
  {
    is: 'a dedupe key of no task',
    sql: ["INSERT INTO dedupe VALUES ('default', 'act', 'other', 9999)"],
    finds: ["key_extra: key 'other' of action 'act' and tenant 'default'"],
  },
  {
    is: 'a failure group that counts too many',
    sql: ['UPDATE failure_groups SET count = count + 2'],
    finds: [`group_count: failure group '${failure.fingerprint}'`],
  },
  {
    is: 'a dead letter without its failure group',
    sql: ['DELETE FROM failure_groups'],
    finds: ["group_entry_missing: task 'dead'"],
  },
]

describe('an inspection finds, and repairs,', () => {
  it.each(CASES)('B11: $is', async ({ sql, finds }) => {
    const store = await storeWithTaskInEachPlace()
    damage(store.path, ...sql)
    const found = await look(store.engine)
    expect(found.findings.map(brief)).toEqual(finds)
    expect(found.findings.every(({ repaired }) => !repaired)).toBe(true)
    expect((await look(store.engine)).findings).toEqual(found.findings)

    const repairs = await repair(store.engine)
    expect(repairs.findings).toEqual(found.findings.map((finding) => ({ ...finding, repaired: true })))
    expect((await look(store.engine)).findings).toEqual([])
    const { entries } = await store.engine.journal.read()
    const told = entries.filter(({ type }) => type === 'store.repaired')
    expect(told.map(({ data }) => `${data.kind}: ${data.subject}`)).toEqual(finds)
    expect(told.every(({ actor, reason }) => actor === BY.actor && reason === BY.reason)).toBe(true)

    await runToEnd(store)
  })
})

describe('an inspection', () => {
  it('B11: gives a key back to the task that has it', async () => {
    const { engine, path } = await storeWithTaskInEachPlace()
    damage(path, `UPDATE dedupe SET seq = ${seqOf('queued')}`)
    expect((await look(engine)).findings.map(brief)).toEqual([
      "key_missing: task 'keyed'",
      "key_extra: key 'k' of action 'act' and tenant 'default'",
    ])
    expect((await repair(engine)).findings.map(brief)).toEqual(["key_missing: task 'keyed'"])
    expect((await look(engine)).findings).toEqual([])
    const { payload } = (await engine.task(taskId('keyed'))) ?? {}
    expect(
      await engine.submit([spec('again', { dedupeKey: 'k', ...(payload === undefined ? {} : { payload }) })]),
    ).toEqual([{ outcome: 'duplicate', id: 'keyed' }])
  })

  it('B11: leaves two tasks with one key to a person', async () => {
    const { engine, path } = await storeWithTaskInEachPlace()
    damage(path, "UPDATE tasks SET dedupe_key = 'k' WHERE id = 'queued'")
    const { findings } = await repair(engine)
    expect(findings).toMatchObject([{ kind: 'key_twice', subject: { id: 'queued' }, repaired: false }])
    expect((await look(engine)).findings.map(brief)).toEqual(["key_twice: task 'queued'"])
  })

  it('B11: says what it found, what it expected, and what that means', async () => {
    const { engine, path } = await storeWithTaskInEachPlace()
    damage(path, 'UPDATE lanes SET cancelled = cancelled + 2, accepted = accepted + 2')
    expect((await look(engine)).findings).toEqual([
      {
        kind: 'count',
        subject: { kind: 'lane', scope: { pool: 'default', action: 'act', tenant: 'default' } },
        found: 'cancelled 2',
        expected: 'cancelled 0',
        sentence: 'A count that is kept differs from a recount: numbers shown, and what depends on them, are off.',
        repaired: false,
      },
    ])
  })

  it('B11: takes away what a count is off by once, however many recount at a time, while tasks come and go', async () => {
    const { engine, path } = await storeWithTaskInEachPlace()
    damage(path, 'UPDATE lanes SET cancelled = cancelled + 7, accepted = accepted + 7', 'UPDATE store SET backlog = 50')
    const counting = Array.from({ length: 4 }, () => engine.inspect({ repair: true, by: BY, cursor: 'counts:' }))
    await engine.submit(specs(50, 'meanwhile'))
    const { claimed } = await engine.claim(await claimer(engine, 'meanwhile', 30))
    await engine.settle(claimed.map((ref) => succeeded(ref, null)))
    const results = await Promise.all(counting)
    const repaired = results.flatMap(({ findings }) => findings).filter((finding) => finding.repaired)
    expect(repaired.map(brief)).toEqual([`count: ${LANE}`, 'count: store'])
    expect((await look(engine)).findings).toEqual([])
    expect(await engine.counts()).toMatchObject({ accepted: 56, cancelled: 0, succeeded: 30 })
  })

  it('B11: recounts more than one slice of tasks', async () => {
    const { engine, path } = await storeWithTaskInEachPlace()
    for (let batch = 0; batch < 12; batch++) await engine.submit(specs(1_000, `batch-${batch}`))
    damage(path, 'DELETE FROM ready WHERE seq = 11000', 'DELETE FROM tasks WHERE seq = 11000')
    const { findings, checked } = await repair(engine)
    expect(checked).toBeGreaterThan(24_000)
    expect(findings.map(({ found, expected }) => ({ found, expected }))).toEqual([
      { found: "deleted, of action 'act' and tenant 'default'", expected: 'a record' },
      { found: 'queued 12002, ready 12002, bytes 240771', expected: 'queued 12001, ready 12001, bytes 240750' },
      { found: 'backlog 12003', expected: 'backlog 12002' },
    ])
    expect((await look(engine)).findings).toEqual([])
  })

  it.each(['tasks:x', 'tasks:[]', 'tasks:["a"]', 'queue:[1,2]', 'delayed:[1,2,3]', 'keys:["a",1]'])(
    'B11: refuses the cursor %s',
    async (cursor) => {
      const { engine } = await storeWithTaskInEachPlace()
      await expect(engine.inspect({ repair: false, by: BY, cursor })).rejects.toThrow(
        'not one that this store gave out',
      )
    },
  )
})

/** Whatever leads to tasks, and may be damaged without breaking a constraint. */
const DAMAGES = [
  ...['ready', 'waiting', 'leases', 'inboxes', 'dedupe', 'failure_groups'].map((table) => `DELETE FROM ${table}`),
  ...['queued', 'keyed', 'running'].flatMap((id) => [
    `DELETE FROM ready WHERE seq = ${seqOf(id)}`,
    `DELETE FROM leases WHERE seq = ${seqOf(id)}`,
  ]),
  ...['queued', 'dead', 'running', 'waiting', 'assigned', 'nobody'].flatMap((id, index) => [
    `INSERT OR REPLACE INTO ready VALUES (1, 4, ${900 + index}, coalesce(${seqOf(id)}, 999), 0, NULL, NULL)`,
    `INSERT OR REPLACE INTO ready VALUES (1, 100, ${900 + index}, coalesce(${seqOf(id)}, 999), 0, NULL, NULL)`,
    `INSERT OR REPLACE INTO waiting VALUES ('default', 5, coalesce(${seqOf(id)}, 999))`,
    `INSERT OR REPLACE INTO inboxes VALUES (coalesce(${seqOf(id)}, 999), 1, 5)`,
    `INSERT OR REPLACE INTO dedupe VALUES ('default', 'act', 'other', coalesce(${seqOf(id)}, 999))`,
  ]),
  ...['dead', 'waiting', 'nobody'].map(
    (id) =>
      `INSERT OR REPLACE INTO leases (seq, attempt, token, worker, started_at, until, timeout_at) VALUES (coalesce(${seqOf(id)}, 999), 2, 999, 1, 0, 0, 0)`,
  ),
  'UPDATE lanes SET dead = dead + 2, accepted = accepted + 2',
  'UPDATE lanes SET queued = queued + 2, ready = 0, accepted = accepted + 2',
  'UPDATE lanes SET running = 0, succeeded = succeeded + running',
  'UPDATE store SET backlog = 0',
  'UPDATE store SET has_inboxes = 0',
  'UPDATE failure_groups SET count = 0',
]

describe('an inspection repairs', () => {
  it.each(Array.from({ length: 25 }, (_, seed) => seed))('B11: random damage, seed %i', async (seed) => {
    const random = seededRandom(seed)
    const store = await storeWithTaskInEachPlace()
    const done = Array.from(
      { length: 1 + Math.floor(random.next() * 5) },
      () => DAMAGES[Math.floor(random.next() * DAMAGES.length)] ?? '',
    )
    for (const sql of done) damage(store.path, sql)
    const { findings } = await repair(store.engine)
    const unrepaired = findings.filter(({ repaired }) => !repaired).map(brief)
    const left = (await look(store.engine)).findings.map(brief)
    expect({ done, unrepaired, left }).toEqual({ done, unrepaired: [], left: [] })
    await runToEnd(store)
  })
})
