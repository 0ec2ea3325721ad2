// Inspection (B11): a store that works agrees with itself, whatever happened in it; looking changes nothing, and neither does a
// repair that has nothing to do. What an inspection finds in a damaged store is each engine's own subject.

import { BATCH_MAX, type InspectRequest, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { type WholeInspection, wholeInspection } from '../whole-inspection.ts'
import { BY, dead, expectRefused, failure, ids, pool, retryIn, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const inspectAll = ({ engine }: Store, request: Partial<InspectRequest> = {}): Promise<WholeInspection> =>
  wholeInspection(engine, { repair: false, by: BY, ...request })

/** Tasks in every status, with keys, limits, groups, inboxes and launches; some came back, some expired, some were reserved. */
async function busyStore(store: Store): Promise<void> {
  const { engine, clock } = store
  const acme = tenantId('acme')
  await engine.limit({ tenant: acme }, 2, BY)
  await engine.limit({}, 20, BY)
  await store.submit(
    ...['a', 'b', 'c'].map((id) => ({ id, dedupeKey: `key-${id}` })),
    ...['d', 'e', 'f', 'g'].map((id) => ({ id, tenant: acme })),
    { id: 'late', delayMs: 60_000 },
    { id: 'soon', delayMs: 1_000, priority: 9 },
    { id: 'brief', settings: { queueTtlMs: 500 }, priority: 0 },
    { id: 'bound', deadlineMs: 500, priority: 0 },
    { id: 'gone' },
  )
  const worker = await store.worker('w1')
  const { claimed } = await worker.claim(4)
  const [first, second, third] = claimed
  if (first === undefined || second === undefined || third === undefined) throw new Error('Too little was claimed.')
  await engine.settle([
    { kind: 'succeeded', ref: first, result: null },
    { kind: 'failed', ref: second, failure: failure(), decision: retryIn(0) },
    { kind: 'failed', ref: third, failure: failure('validation', 'The size is missing.'), decision: dead() },
  ])
  await engine.change({ kind: 'cancel', select: { ids: ids('gone') }, by: BY })
  clock.jump(1_000)
  const other = await store.worker('w2')
  const again = await other.claimOne()
  await engine.settle([{ kind: 'released', ref: again, reason: 'stopping' }])
  const { claimed: dispatched } = await other.claim(1, { stage: 'dispatch' })
  await engine.assign(dispatched.map((lease) => ({ ...lease, worker: worker.id, ttlMs: 30_000 })))
  await engine.claim(other.request({ stage: 'launch' }))
  await store.deadLetter({ id: 'elsewhere', pool: pool('other') })
  await engine.pause({ pool: pool('other') }, BY)
  await store.submit({ id: 'held', pool: pool('other') })
}

async function everything({ engine }: Store): Promise<unknown> {
  return {
    tasks: (await engine.tasks({})).items,
    counts: await engine.counts(),
    lanes: (await engine.lanes()).items,
    groups: (await engine.failureGroups()).items,
    workers: (await engine.workers()).items,
    journal: (await engine.journal.read()).entries,
  }
}

export const inspecting = subject('inspect', (check) => {
  check('B11: an empty store has nothing to find', async (store) => {
    expect(await inspectAll(store)).toMatchObject({ findings: [], unchecked: [] })
    expect(await inspectAll(store, { repair: true })).toMatchObject({ findings: [], unchecked: [] })
  })

  check('B11: a store in which much has happened agrees with itself', async (store) => {
    await busyStore(store)
    const { findings, unchecked, checked } = await inspectAll(store)
    expect(findings).toEqual([])
    expect(unchecked).toEqual([])
    expect(checked).toBeGreaterThanOrEqual(14)
  })

  check('B11: looking changes nothing, and neither does a repair that has nothing to do', async (store) => {
    await busyStore(store)
    const before = await everything(store)
    await inspectAll(store)
    expect(await everything(store)).toEqual(before)
    await inspectAll(store, { repair: true })
    expect(await everything(store)).toEqual(before)
  })

  check('B11: it goes on by its cursor, step by step', async (store) => {
    await busyStore(store)
    const inSteps = await inspectAll(store, { limit: 1 })
    expect(inSteps.findings).toEqual([])
    expect(inSteps.checked).toBeGreaterThanOrEqual(14)
  })

  check('B11: it is safe while everything runs', async (store) => {
    const worker = await store.worker()
    const inspections = Promise.all([
      inspectAll(store, { repair: true, limit: 3 }),
      inspectAll(store, { repair: true, limit: 5 }),
      inspectAll(store, { limit: 2 }),
    ])
    for (let round = 0; round < 12; round++) {
      await store.submit({ id: `a${round}`, dedupeKey: `key-${round}` }, { id: `b${round}`, delayMs: 1 })
      store.clock.jump(1)
      const { claimed } = await worker.claim(3)
      await store.engine.settle(
        claimed.map((ref, index) =>
          index === 0
            ? { kind: 'failed', ref, failure: failure('validation'), decision: dead() }
            : { kind: 'succeeded', ref, result: null },
        ),
      )
      if (round % 3 === 2) await store.engine.change({ kind: 'redrive', select: {}, by: BY, limit: 2 })
    }
    expect((await inspections).flatMap(({ findings }) => findings)).toEqual([])
    expect((await inspectAll(store)).findings).toEqual([])
  })

  check('B11: it refuses a cursor that it did not give out, and limits out of bounds', async ({ engine }) => {
    const request = { repair: false, by: BY }
    for (const cursor of ['nonsense', '', 'tasks', 'elsewhere:1'])
      await expectRefused(engine.inspect({ ...request, cursor }), 'REPRISE_INVALID')
    for (const limit of [0, 1.5, BATCH_MAX + 1])
      await expectRefused(engine.inspect({ ...request, limit }), 'REPRISE_INVALID')
  })

  check('B11: a repair needs somebody who wants it, and why', async ({ engine }) => {
    await expectRefused(engine.inspect({ repair: true, by: { ...BY, actor: '' } }), 'REPRISE_INVALID')
    await expectRefused(engine.inspect({ repair: true, by: { ...BY, reason: '' } }), 'REPRISE_INVALID')
    expect(await engine.inspect({ repair: false, by: { actor: '', reason: '' } })).toMatchObject({ findings: [] })
  })
})
