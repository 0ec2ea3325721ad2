import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  actionName,
  DEFAULT_BREAKER,
  DEFAULT_SETTINGS,
  leaseToken,
  poolName,
  succeeded,
  taskId,
  tenantId,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { openSqliteEngine, SCHEMA_VERSION } from '@reprise/engine-sqlite'
import { describe, expect, it } from 'vitest'
import { migrations } from '../src/sql.generated.ts'
import { claimer, spec, temporaryFolder } from './fixture.ts'

const NOW = Date.UTC(2030, 0, 1)

/** A store as the first layout left it: one task queued, one running, one waiting for a retry, and their worker. */
function storeOfLayout1(): string {
  const path = join(temporaryFolder(), 'store.db')
  const db = new DatabaseSync(path)
  db.exec(migrations[0]?.sql ?? '')
  const settings = JSON.stringify(DEFAULT_SETTINGS)
  const registration = JSON.stringify({ pools: ['default'], actions: null, host: 'h', version: '1', runtimes: [] })
  db.exec(`
    INSERT INTO lanes (id, pool, action, tenant, accepted, queued, waiting, running, ready)
      VALUES (1, 'default', 'act', 'default', 3, 1, 1, 1, 1);
    INSERT INTO profiles VALUES (1, '${settings}');
    INSERT INTO worker_names VALUES (1, 'old');
    INSERT INTO tasks (seq, id, lane, profile, status, priority, generation, attempt, attempt_base, failures, losses, accepted_at, since, rank, due_at, wait_reason, retry_reason, payload) VALUES
      (1, 'queued', 1, 1, 0, 5, 1, 0, 0, 0, 0, ${NOW}, ${NOW}, 1, NULL, NULL, NULL, '{}'),
      (2, 'running', 1, 1, 0, 5, 1, 0, 0, 0, 0, ${NOW}, ${NOW}, 2, NULL, NULL, NULL, '{}'),
      (3, 'waiting', 1, 1, 1, 5, 1, 1, 0, 1, 0, ${NOW}, ${NOW}, NULL, ${NOW + 5_000}, 'timeout', 'timeout', '{}');
    INSERT INTO ready VALUES (1, 4, 1, 1, ${NOW}, NULL, NULL);
    INSERT INTO waiting VALUES ('default', ${NOW + 5_000}, 3);
    INSERT INTO leases (seq, attempt, token, worker, started_at, until, timeout_at)
      VALUES (2, 1, 7, 1, ${NOW}, ${NOW + 15_000}, ${NOW + 60_000});
    INSERT INTO workers (id, epoch, registration, registered_at, last_beat_at, in_flight) VALUES ('old', 3, '${registration}', ${NOW}, ${NOW}, 1);
    INSERT INTO holds VALUES ('', '', 'acme', 'operator:ann', 'unpaid', ${NOW});
    INSERT INTO limits VALUES ('', '', 'acme', 2);
    UPDATE store SET next_seq = 4, next_rank = 3, next_token = 8, backlog = 2;
    PRAGMA user_version = 1;`)
  db.close()
  return path
}

/** As earlier versions stored settings: docs/adr/0026 has the names. */
const inOldNames = (json: string): string =>
  json
    .replace('maxLosses', 'lossesMax')
    .replace('minFailures', 'failuresMin')
    .replace('maxOpenMs', 'openMsMax')
    .replace('maxRamp', 'rampMax')

it('settings of tasks and breakers that were stored under old names are read under the new ones', async () => {
  const path = join(temporaryFolder(), 'store.db')
  const clock = new VirtualClock(NOW)
  const first = await openSqliteEngine({ path, clock, durability: 'fast' })
  await first.submit([spec('t1')])
  await first.close()
  const state = { status: 'open', since: NOW, until: NOW + 9_000, opens: 1, by: null }
  const breaker = { name: 'dependency:x', settings: DEFAULT_BREAKER, actions: [], state, buckets: [] }
  const db = new DatabaseSync(path)
  db.prepare('UPDATE profiles SET settings = ?').run(inOldNames(JSON.stringify(DEFAULT_SETTINGS)))
  db.prepare('INSERT INTO breakers VALUES (?, ?)').run('dependency:x', inOldNames(JSON.stringify(breaker)))
  db.close()
  const engine = await openSqliteEngine({ path, clock, durability: 'fast' })
  expect((await engine.task(taskId('t1')))?.settings).toEqual(DEFAULT_SETTINGS)
  expect((await engine.tasks({})).items[0]?.settings).toEqual(DEFAULT_SETTINGS)
  const { claimed } = await engine.claim(await claimer(engine, 'w1'))
  expect(claimed[0]?.snapshot.settings).toEqual(DEFAULT_SETTINGS)
  // Nor did it say whose it is, or who spoke for it.
  expect((await engine.breakers()).items).toEqual([{ ...breaker, tenant: null, voices: [] }])
  await engine.close()
})

describe('a store of the first layout', () => {
  it('keeps its dedupe keys, which belong to their actions from now on', async () => {
    const path = storeOfLayout1()
    const db = new DatabaseSync(path)
    db.exec(`
      UPDATE tasks SET dedupe_key = id;
      INSERT INTO dedupe (tenant, key, seq) SELECT 'default', id, seq FROM tasks;`)
    db.close()
    const engine = await openSqliteEngine({ path, clock: new VirtualClock(NOW + 1_000), durability: 'fast' })
    const ref = { taskId: taskId('running'), attempt: 1, token: leaseToken('7.2') }
    await engine.settle([succeeded(ref, null)])
    const specs = ['queued', 'running', 'waiting'].map((dedupeKey) => spec(`after-${dedupeKey}`, { dedupeKey }))
    const results = await engine.submit([...specs, spec('other', { dedupeKey: 'queued', action: actionName('other') })])
    // Other payloads than those of the tasks that hold the keys; the key of a task that has ended is free.
    expect(results.map(({ outcome, id }) => `${outcome} ${id}`)).toEqual([
      'conflict queued',
      'accepted after-running',
      'conflict waiting',
      'accepted other',
    ])
    const look = { repair: false, by: { actor: 'a', reason: 'b' } }
    expect((await engine.inspect(look)).findings).toEqual([])
    await engine.close()
  })

  it('opens, shows what it held, and goes on', async () => {
    const path = storeOfLayout1()
    const clock = new VirtualClock(NOW + 1_000)
    const engine = await openSqliteEngine({ path, clock, durability: 'fast' })
    const ref = { taskId: taskId('running'), attempt: 1, token: leaseToken('7.2') }
    expect(await engine.task(taskId('running'))).toMatchObject({
      parks: 0,
      deferrals: 0,
      state: { status: 'running', stage: 'run', handle: null, token: ref.token },
    })
    expect(await engine.task(taskId('waiting'))).toMatchObject({ state: { status: 'waiting', quota: null } })
    const { items } = await engine.workers()
    expect(items).toMatchObject([
      { worker: 'old', endpoint: null, lastProgressAt: NOW, maxQuietMs: 0, outlook: null, probeFailures: 0 },
    ])
    expect(items[0]?.health.status).toBe('healthy')
    const request = { worker: workerId('old'), epoch: 3, pools: [poolName('default')], actions: null }
    const { settled, claimed } = await engine.settleAndClaim([succeeded(ref, null)], {
      ...request,
      limit: 10,
      leaseMs: 15_000,
    })
    expect(settled).toEqual([{ outcome: 'settled', status: 'succeeded', repeated: false }])
    expect(claimed).toMatchObject([{ taskId: 'queued', parks: 0, deferrals: 0 }])
    await engine.close()
  })

  it("counts the bytes of its payloads, and what was held or limited is the platform's", async () => {
    const engine = await openSqliteEngine({ path: storeOfLayout1(), clock: new VirtualClock(NOW + 1_000) })
    expect((await engine.tenants()).items).toEqual([{ tenant: 'default', backlog: 3, running: 1, bytes: 6 }])
    const by = { actor: 'token:acme', reason: 'ours', rank: 'tenant' } as const
    const scope = { tenant: tenantId('acme') }
    await expect(engine.resume(scope, by)).rejects.toMatchObject({ code: 'REPRISE_OUTRANKED' })
    await expect(engine.limit(scope, null, by)).rejects.toMatchObject({ code: 'REPRISE_OUTRANKED' })
    await engine.close()
  })

  it('is brought to the present layout once, and left alone after that', async () => {
    const path = storeOfLayout1()
    for (const id of ['first', 'second']) {
      const engine = await openSqliteEngine({ path, clock: new VirtualClock(NOW + 1_000), durability: 'fast' })
      expect(await engine.submit([spec(id)])).toEqual([{ outcome: 'accepted', id }])
      const { claimed } = await engine.claim(await claimer(engine, id))
      expect(claimed).not.toHaveLength(0)
      await engine.close()
    }
    const db = new DatabaseSync(path)
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION })
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    db.close()
  })
})
