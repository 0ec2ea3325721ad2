// The level of a store and its words: what is weighed, from when on it counts, and what a person reads.

import { type Engine, failed, type PolicyBook, succeeded, type TenantId, type WorkerId } from '@reprise/core'
import { becauseOf, type LevelFacts, monitoring } from '@reprise/telemetry'
import { describe, expect, test } from 'vitest'
import { aCrew, aFailure, aTask, deadLetter, openRedisStore, openStore } from './fixture.ts'

const STILL = { accepted: 0, started: 0, succeeded: 0, failed: 0, lost: 0, retried: 0, dead: 0, cancelled: 0 }

const WELL: LevelFacts = {
  windowMs: 600_000,
  flow: STILL,
  setbacks: [],
  dead: 0,
  workers: { present: 1, unhealthy: 0, taking: 1, lastSilentMs: null },
  unserved: { tasks: 0, due: 0, lanes: [], waitedMs: null },
  waits: [],
  backlogs: [],
  breakers: [],
  newCauses: [],
}

const words = (change: Partial<LevelFacts>): readonly string[] =>
  becauseOf({ ...WELL, ...change }).map(({ level, says }) => `${level}: ${says}`)

const NOBODY = { present: 0, unhealthy: 0, taking: 0, lastSilentMs: null }
const lane = { action: 'crm.sync', pool: 'default' }

describe('C10: what the level says', () => {
  test('nothing wrong is nothing to say', () => {
    expect(words({})).toEqual([])
    expect(words({ workers: NOBODY })).toEqual([])
  })

  test('C10, intruder 16: 50,000 dead, 25,000 queued and no worker is critical, and says so', () => {
    const unserved = { tasks: 25_000, due: 0, lanes: [lane], waitedMs: 720_000 }
    expect(words({ dead: 50_000, unserved, workers: NOBODY })).toEqual([
      'critical: 25,000 tasks are queued and no worker takes work; the oldest has waited 12m or more.',
      'critical: 50,000 dead letters wait for a decision: redrive or discard them.',
    ])
  })

  test('C10: workers that sit idle make nothing ok: what was left behind counts', () => {
    expect(words({ dead: 50_000 })).toEqual([expect.stringMatching(/^critical: 50,000 dead letters/)])
    expect(words({ dead: 11 })).toEqual([expect.stringMatching(/^warning: 11 dead letters/)])
    expect(words({ dead: 10 })).toEqual([])
  })

  test.each([
    [1, 10_000, 'warning'],
    [100, 10_000, 'warning'],
    [101, 10_000, 'critical'],
    [1, 300_001, 'critical'],
  ])('C10: %i queued for %i ms without a worker is %s', (tasks, waitedMs, level) => {
    const found = becauseOf({ ...WELL, unserved: { tasks, due: 0, lanes: [lane], waitedMs } })
    expect(found).toMatchObject([{ level, about: 'no_worker' }])
    expect(found[0]?.says).toContain('no worker takes crm.sync in pool default')
  })

  test.each([
    [5, 'ok'],
    [6, 'warning'],
    [100, 'warning'],
    [101, 'critical'],
  ])('C10: %i dead letters in 10 minutes are %s', (dead, level) => {
    expect(becauseOf({ ...WELL, flow: { ...STILL, dead } }).map((one) => one.level)).toEqual(
      level === 'ok' ? [] : [level],
    )
  })

  test.each([
    [9, 9, 'ok'],
    [100, 20, 'ok'],
    [100, 21, 'warning'],
    [100, 51, 'critical'],
  ])('C10: of %i attempts %i failing is %s', (ended, bad, level) => {
    const flow = { ...STILL, succeeded: ended - bad, failed: bad - 1, lost: 1 }
    expect(becauseOf({ ...WELL, flow }).map((one) => one.level)).toEqual(level === 'ok' ? [] : [level])
  })

  test('C10: a wait is weighed against the SLA, or against a quarter of an hour', () => {
    const wait = { action: 'crm.sync', tenant: 'acme', waitedMs: 600_000, usedMs: 600_000, allowedMs: null }
    expect(words({ waits: [wait] })).toEqual([])
    expect(words({ waits: [{ ...wait, waitedMs: 900_001 }] })).toEqual([expect.stringMatching(/^warning: /)])
    expect(words({ waits: [{ ...wait, allowedMs: 1_200_000 }] })).toEqual([])
    expect(words({ waits: [{ ...wait, allowedMs: 900_000 }] })).toEqual([
      'warning: A task of crm.sync (tenant acme) has waited 10m; its SLA or deadline of 15m ends in 5m.',
    ])
    expect(words({ waits: [{ ...wait, allowedMs: 600_000 }] })).toEqual([
      'critical: A task of crm.sync (tenant acme) has waited 10m, and is past its SLA or deadline of 10m.',
    ])
    const backlog = { action: 'crm.sync', tenant: 'acme', queued: 25_000, startsInMs: 7_200_000, allowedMs: null }
    expect(words({ backlogs: [backlog] })).toEqual([
      'warning: 25,000 tasks of crm.sync (tenant acme) are queued; at the rate of now the last one starts in about 2h.',
    ])
    expect(words({ backlogs: [{ ...backlog, allowedMs: 600_000 }] })).toEqual([
      expect.stringMatching(/^critical: .* past the SLA or deadline of 10m\.$/),
    ])
  })

  test('C10: open breakers and new causes are named', () => {
    const breakers = [
      { name: 'dependency:crm', tenant: 'acme', actions: 1 },
      { name: 'dependency:mail', tenant: null, actions: 3 },
    ]
    const causes = ['A', 'B', 'C', 'D'].map((code, index) => ({ action: 'crm.sync', code, count: index * 40 }))
    expect(words({ breakers, newCauses: causes })).toEqual([
      'critical: 4 new causes of dead letters in the last 10m: crm.sync D (120 dead), crm.sync C (80 dead), crm.sync B (40 dead) and 1 more.',
      'critical: Breaker dependency:mail is open for all tenants: 3 actions wait.',
      'warning: Breaker dependency:crm is open for tenant acme: 1 action waits.',
    ])
  })

  test('C10: new causes that share action and code are told of together', () => {
    const like = [1, 1, 3].map((count) => ({ action: 'crm.sync', code: 'unknown', count }))
    const other = { action: 'mail.send', code: 'HTTP_500', count: 2 }
    expect(words({ newCauses: [other, ...like] })).toEqual([
      'warning: 4 new causes of dead letters in the last 10m: crm.sync unknown (3 causes, 5 dead), mail.send HTTP_500 (2 dead).',
    ])
  })

  test('C10: unhealthy workers are counted with those that still take work', () => {
    expect(words({ workers: { present: 1, unhealthy: 1, taking: 1, lastSilentMs: null } })).toEqual([
      'critical: The only worker is unhealthy; 1 still takes work.',
    ])
    expect(words({ workers: { present: 4, unhealthy: 2, taking: 2, lastSilentMs: null } })).toEqual([
      'warning: 2 of 4 workers are unhealthy; 2 still take work.',
    ])
    expect(words({ workers: { ...NOBODY, lastSilentMs: 480_000 } })).toEqual([
      'warning: No worker is left: the last heartbeat came 8m ago.',
    ])
  })
})

async function oneDies(engine: Engine): Promise<void> {
  const [claimed] = await (await aCrew(engine)).claim(1)
  if (claimed === undefined) throw new Error('nothing claimed')
  await engine.settle([failed(claimed, aFailure, deadLetter())])
}

describe('C10: the level of a store', () => {
  test('C10: records of workers that died long ago make nothing critical', async () => {
    const { engine, clock } = await openStore()
    for (const id of ['w1', 'w2', 'w3']) await aCrew(engine, ['default'], id)
    clock.jump(3_600_000)
    expect(await monitoring(engine)).toMatchObject({
      level: 'ok',
      because: [],
      health: { workers: 0, gone: 3, unhealthyShare: null },
    })
    await aCrew(engine, ['default'], 'w4')
    expect(await monitoring(engine)).toMatchObject({ level: 'ok', health: { workers: 1, gone: 3, takingWork: 1 } })
  })

  test('C10: that the last worker has gone silent is said for an hour', async () => {
    const { engine, clock } = await openStore()
    await aCrew(engine)
    clock.jump(600_000)
    const { level, because } = await monitoring(engine)
    expect(level).toBe('warning')
    expect(because.map(({ says }) => says)).toEqual(['No worker is left: the last heartbeat came 10m ago.'])
  })

  test('C10: a backlog that no worker takes is told by lane, unless somebody holds it or launches it', async () => {
    const { engine, clock } = await openStore()
    await aCrew(engine, ['gpu'])
    await engine.submit([aTask('a'), aTask('b')])
    clock.jump(1_000)
    const unserved = async () => (await monitoring(engine)).because.map(({ about, says }) => `${about}: ${says}`)
    expect(await unserved()).toEqual([
      'no_worker: 2 tasks are queued and no worker takes work in pool default; the oldest has waited 1s or more.',
    ])
    await engine.pause({ pool: aTask('a').pool }, { actor: 'ann', reason: 'deploy' })
    expect(await unserved()).toEqual([])
    await engine.resume({ pool: aTask('a').pool }, { actor: 'ann', reason: 'done' })
    // One of them starts on a worker that is not registered, as those of launch pools are not.
    const worker = 'launched' as WorkerId
    await engine.reserve({ task: aTask('c'), attempt: 1, maxRetries: 1, worker, leaseMs: 15_000 })
    expect(await unserved()).toEqual([])
  })

  test.each(['sqlite', 'redis'] as const)(
    '1: on %s, due tasks that no claim moved count as a backlog',
    async (store) => {
      const { engine, clock } = store === 'sqlite' ? await openStore() : await openRedisStore()
      await engine.submit([aTask('a', { delayMs: 60_000 }), aTask('b', { delayMs: 600_000 })])
      expect((await monitoring(engine)).because).toEqual([])
      clock.jump(61_000)
      expect((await monitoring(engine)).because).toEqual([
        {
          level: 'warning',
          about: 'no_worker',
          says: expect.stringMatching(/^1 task is due and no worker takes/) as string,
        },
      ])
      await engine.submit([aTask('c')])
      clock.jump(600_000)
      expect((await monitoring(engine)).because[0]).toEqual({
        level: 'critical',
        about: 'no_worker',
        says: '3 tasks are queued or due and no worker takes work; the oldest has waited 10m 1s or more.',
      })
    },
  )

  test('C10: the SLA of a policy counts, as does that of the task', async () => {
    const { engine, clock } = await openStore()
    await aCrew(engine)
    await engine.submit([aTask('a')])
    clock.jump(20_000)
    const book: PolicyBook = { version: 1, rules: [], policies: [{ name: 'soon', match: {}, slaMs: 30_000 }] }
    expect((await monitoring(engine)).because).toEqual([])
    expect((await monitoring(engine, { book })).because).toMatchObject([{ level: 'warning', about: 'wait' }])
    clock.jump(9_000)
    await engine.submit([aTask('b', { settings: { ...aTask('b').settings, slaMs: 1 } })])
    clock.jump(1)
    expect((await monitoring(engine)).because).toMatchObject([{ level: 'critical', about: 'wait' }])
  })

  test('C10: a cause is new for one window, and is not named where that is switched off', async () => {
    const { engine, clock } = await openStore()
    await engine.submit([aTask('a')])
    await oneDies(engine)
    const about = async (options = {}) => (await monitoring(engine, options)).because.map((one) => one.about)
    expect(await about()).toEqual(['new_causes'])
    expect(await about({ causes: false })).toEqual([])
    clock.jump(660_000)
    expect(await about()).toEqual(['unhealthy_share'])
  })

  test('C10: the last worker that goes on although it fails counts as one that takes work', async () => {
    const { engine } = await openStore()
    await engine.submit(Array.from({ length: 12 }, (_, index) => aTask(`t${index}`, { tenant: 'acme' as TenantId })))
    const crew = await aCrew(engine)
    for (let count = 0; count < 10; count++) {
      const [claimed] = await crew.claim(1)
      if (claimed === undefined) throw new Error('nothing claimed')
      await engine.settle([failed(claimed, aFailure, deadLetter())])
    }
    const { health, because } = await monitoring(engine)
    expect(health).toMatchObject({ workers: 1, unhealthy: 1, takingWork: 1 })
    expect(because.map(({ about }) => about)).not.toContain('no_worker')
    const [next] = await crew.claim(1)
    if (next === undefined) throw new Error('it does not go on')
    await engine.settle([succeeded(next, null)])
    await aCrew(engine, ['default'], 'w2')
    expect((await monitoring(engine)).health).toMatchObject({ workers: 2 })
  })
})
