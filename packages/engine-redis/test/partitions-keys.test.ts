import { type Engine, seededRandom, systemClock, type TaskId, type TaskSpec, tenantId, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startCluster } from '@reprise/test-servers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Link, openLink } from '../src/link/link.ts'
import {
  dyingLink,
  engineOn,
  hookedLink,
  idsIn,
  PARTITIONS,
  partitionsOn,
  registered,
  spec,
  stallingLink,
} from './partitions-fixture.ts'

const cluster = await startCluster()
let link: Link
let stores = 0

beforeAll(async () => {
  link = await openLink({ url: cluster.urls, clock: systemClock, random: seededRandom(1) })
})
afterAll(async () => {
  await link.close()
  await cluster.stop()
})

const KEY = 'the key'
/** More than a call makes: then nothing is cut off or held up any more. */
const STEPS = 16

const keyed = (id: string, changes: Partial<TaskSpec> = {}): TaskSpec => spec(id, { dedupeKey: KEY, ...changes })

/** Ids of tasks that live in different partitions, neither in the key's. */
const places = [0, 1, 2].filter((place) => place !== partitionsOn({} as Link, 'any').placeOf(`default\nrender\n${KEY}`))
const [firstPlace = 0, secondPlace = 0] = places
const [first = ''] = idsIn(firstPlace, 1, 'first')
const [second = ''] = idsIn(secondPlace, 1, 'second')

/** How much each partition has in a hash. */
function sizes(prefix: string, hash: string): Promise<unknown[]> {
  return partitionsOn(link, prefix).each((partition) => partition.command('HLEN', partition.key(hash)))
}

async function tasksIn(engine: Engine): Promise<TaskId[]> {
  return (await engine.tasks({})).items.map(({ id }) => id)
}

/** There is one task with the key; whoever comes now hears of it. */
async function expectOne(engine: Engine, candidates: readonly string[]): Promise<TaskId> {
  const [only, ...others] = await tasksIn(engine)
  expect(others).toEqual([])
  expect(candidates).toContain(only)
  if (only === undefined) throw new Error('There is no task.')
  expect(await engine.submit([keyed('another')])).toEqual([{ outcome: 'duplicate', id: only }])
  return only
}

describe('dedupe keys in a store with several partitions', () => {
  it('are unique under concurrent submitters', async () => {
    const prefix = `store-${stores++}`
    const engines = await Promise.all(
      Array.from({ length: 6 }, () => openRedisEngine({ url: cluster.urls, prefix, partitions: PARTITIONS })),
    )
    const keys = Array.from({ length: 60 }, (_, index) => `key ${index}`)
    const results = await Promise.all(
      engines.flatMap((engine, number) =>
        [0, 1].map((half) =>
          engine.submit(
            keys
              .filter((_, index) => index % 2 === half)
              .map((dedupeKey, index) => spec(`${number}-${half}-${index}`, { dedupeKey })),
          ),
        ),
      ),
    )
    const accepted = results.flat().filter(({ outcome }) => outcome === 'accepted')
    expect(accepted).toHaveLength(keys.length)
    const [engine] = engines
    const tasks = (await engine?.tasks({ limit: 1_000 }))?.items ?? []
    expect(tasks.map(({ dedupeKey }) => dedupeKey).toSorted()).toEqual(keys.toSorted())
    const ids = new Set<string>(tasks.map(({ id }) => id))
    expect(results.flat().every(({ id }) => ids.has(id))).toBe(true)
    await Promise.all(engines.map((one) => one.close()))
  })

  it('count per tenant, and within one batch the first wins', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    const batch = [keyed('a'), keyed('b'), keyed('c', { tenant: tenantId('acme') }), keyed('a'), keyed('d')]
    expect(await engine.submit(batch)).toEqual([
      { outcome: 'accepted', id: 'a' },
      { outcome: 'duplicate', id: 'a' },
      { outcome: 'accepted', id: 'c' },
      { outcome: 'duplicate', id: 'a' },
      { outcome: 'duplicate', id: 'a' },
    ])
    expect(
      await engine.submit([spec('plain'), keyed('plain', { dedupeKey: 'new' }), spec('e', { dedupeKey: 'new' })]),
    ).toEqual([
      { outcome: 'accepted', id: 'plain' },
      { outcome: 'duplicate', id: 'plain' },
      { outcome: 'accepted', id: 'e' },
    ])
  })

  it.each(['before', 'after'] as const)(
    'can be had after a submitter died at any step, %s the store had it',
    async (moment) => {
      for (let step = 0; step < STEPS; step++) {
        const prefix = `store-${stores++}`
        await engineOn(dyingLink(link, step, moment), prefix)
          .submit([keyed(first)])
          .catch(() => undefined)
        const engine = engineOn(link, prefix)
        const [result] = await engine.submit([keyed(second)])
        const only = await expectOne(engine, [first, second])
        expect(result).toEqual({ outcome: only === second ? 'accepted' : 'duplicate', id: only })
        // Its submitter starts again and tries once more.
        expect(await engine.submit([keyed(first)])).toEqual([{ outcome: 'duplicate', id: only }])
      }
    },
  )

  it('stay unique when a submitter is held up at any step while another comes by', async () => {
    for (let step = 0; step < STEPS; step++) {
      const prefix = `store-${stores++}`
      const { link: stalling, stalled, goOn } = stallingLink(link, step)
      const late = engineOn(stalling, prefix).submit([keyed(first)])
      await Promise.race([stalled, late])
      const engine = engineOn(link, prefix)
      const [early] = await engine.submit([keyed(second)])
      goOn()
      const [result] = await late
      const only = await expectOne(engine, [first, second])
      expect(result).toEqual({ outcome: only === first ? 'accepted' : 'duplicate', id: only })
      expect(early).toEqual({ outcome: only === second ? 'accepted' : 'duplicate', id: only })
    }
  })

  it('stay unique when two takers of a dead submitter’s key hold each other up', async () => {
    for (let step = 0; step < STEPS; step++) {
      const prefix = `store-${stores++}`
      await engineOn(dyingLink(link, PARTITIONS + 1, 'before'), prefix)
        .submit([keyed(idsIn(firstPlace, 2, 'first')[1] ?? '')])
        .catch(() => undefined)
      const { link: stalling, stalled, goOn } = stallingLink(link, step)
      const late = engineOn(stalling, prefix).submit([keyed(first)])
      await Promise.race([stalled, late])
      const engine = engineOn(link, prefix)
      const [early] = await engine.submit([keyed(second)])
      goOn()
      const [result] = await late
      const only = await expectOne(engine, [first, second])
      expect([early?.id, result?.id]).toEqual([only, only])
    }
  })

  it('are free again when the task has ended, wherever retention dies that removes it', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let step = 0; step < STEPS; step++) {
        const prefix = `store-${stores++}`
        const engine = engineOn(link, prefix)
        await engine.submit([keyed(first)])
        const request = await registered(engine, 'w')
        const { claimed } = await engine.claim(request())
        await engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
        await engineOn(dyingLink(link, step, moment), prefix)
          .retain({ succeededMs: 0 })
          .catch(() => undefined)
        expect(await engine.submit([keyed(second)])).toEqual([{ outcome: 'accepted', id: second }])
        expect(await engine.submit([keyed('another')])).toEqual([{ outcome: 'duplicate', id: second }])
        // What was left to free does not free the new holder's key.
        await engine.retain({ succeededMs: 0 })
        await expectOne(engine, [second])
        expect(await sizes(prefix, 'freeing')).toEqual([0, 0, 0])
      }
    }
  })

  it('are not given to a task that was removed, if its acceptance is repeated late', async () => {
    const engine = engineOn(link, `store-${stores++}`)
    const sent: (() => Promise<unknown>)[] = []
    const recording: Link = {
      ...hookedLink(link, () => undefined),
      run: (script, key, args) => {
        sent.push(() => link.run(script, key, args))
        return link.run(script, key, args)
      },
    }
    await engineOn(recording, `store-${stores - 1}`).submit([keyed(first)])
    const request = await registered(engine, 'w')
    const { claimed } = await engine.claim(request())
    await engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
    await engine.retain({ succeededMs: 0 })
    expect(await sizes(`store-${stores - 1}`, 'dedupe')).toEqual([0, 0, 0])
    await engine.submit([keyed(second)])
    // The link repeats a call whose answer was lost; a server that stood still may even do so by itself.
    for (const repeat of sent) await repeat()
    await expectOne(engine, [second])
  })

  it('hold for reservations too, also when they are refused or cut off', async () => {
    const reservation = (id: string) => ({
      task: keyed(id),
      attempt: 1,
      maxRetries: 3,
      worker: workerId('w'),
      leaseMs: 10_000,
    })
    for (const moment of ['before', 'after'] as const) {
      for (let step = 0; step < STEPS; step++) {
        const prefix = `store-${stores++}`
        await engineOn(dyingLink(link, step, moment), prefix)
          .reserve(reservation(first))
          .catch(() => undefined)
        const engine = engineOn(link, prefix)
        const outcome = await engine.reserve(reservation(second)).then(
          ({ taskId }) => taskId,
          (error: { readonly code: string }) => error.code,
        )
        const only = await expectOne(engine, [first, second])
        expect(outcome).toBe(only === second ? second : 'REPRISE_DUPLICATE_EXECUTION')
      }
    }
    const engine = engineOn(link, `store-${stores++}`)
    await engine.pause({}, { actor: 'me', reason: 'a test' })
    await expect(engine.reserve(reservation(first))).rejects.toMatchObject({ code: 'REPRISE_NO_AVAILABLE_SLOT' })
    expect(await sizes(`store-${stores - 1}`, 'dedupe')).toEqual([0, 0, 0])
    expect(await engine.submit([keyed(second)])).toEqual([{ outcome: 'accepted', id: second }])
    await engine.resume({}, { actor: 'me', reason: 'a test' })
    await expect(engine.reserve(reservation(first))).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
    expect((await engine.reserve(reservation(second))).taskId).toBe(second)
  })
})
