// A limit of breakers that begins in the midst of a batch of settlements. It counts what runs at that moment; the rest of the
// batch ends some of what it counted. Each attempt that ends leaves its place, whatever the order and the stage.

import {
  actionName,
  type Claimed,
  type ClaimRequest,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  failed,
  released,
  type Settlement,
  succeeded,
} from '@reprise/core'
import { expect } from 'vitest'
import { wholeInspection } from '../whole-inspection.ts'
import { BY, dead, failure, ids, retryIn, type Store, type TestWorker } from './fixture.ts'
import { outageOf, statusOf, trip } from './outage.ts'
import type { Check } from './subject.ts'

const ordered = { ordered: true }
const MAIL = actionName('mail')
const RENDER = actionName('render')
const STRIPE = 'dependency:stripe'
const LANE = { pool: DEFAULT_POOL, action: MAIL, tenant: DEFAULT_TENANT }
const HOUR_MS = 3_600_000
const OUTAGE = { outage: outageOf({ breakers: [STRIPE] }) }

const refused = failure('connection', 'Refused.')

interface Scene {
  readonly worker: TestWorker
  /** Settled before. */
  readonly gone: Claimed
  /** Started before the breaker was half open: its failure lets the action join, and turns nothing. */
  readonly old: Claimed
  /** Started since: the limit counts it. */
  readonly recent: Claimed
}

/** A half open breaker of one action; attempts of another run, which it does not cover yet. */
async function halfOpen(store: Store, stage: ClaimRequest['stage'] = 'run'): Promise<Scene> {
  const worker = await store.worker()
  const claimMail = (changes: Partial<ClaimRequest> = {}) =>
    worker.claimOne({ actions: [MAIL], leaseMs: HOUR_MS, ...changes })
  await store.submit({ id: 'gone', action: MAIL }, { id: 'old', action: MAIL })
  const gone = await claimMail()
  const old = await claimMail()
  await store.engine.settle([succeeded(gone, null)])
  await trip(store, worker, { breakers: [STRIPE] })
  store.clock.jump(5_000)
  await worker.claimOne({ actions: [RENDER], leaseMs: HOUR_MS })
  expect(await statusOf(store, STRIPE)).toBe('half_open')
  await store.submit(...['recent', 'a', 'b', 'c'].map((id) => ({ id, action: MAIL })))
  return { worker, gone, old, recent: await claimMail({ stage }) }
}

const joining = ({ old }: Scene): Settlement => failed(old, refused, retryIn(HOUR_MS), OUTAGE)

/** How many more tasks of the joined action may start. The store must agree with itself before and after. */
async function expectRoom(store: Store, { worker }: Scene, room: number): Promise<void> {
  const inspect = () => wholeInspection(store.engine, { repair: false, by: BY })
  expect(await inspect()).toMatchObject({ findings: [] })
  expect(await worker.claimIds(10, { actions: [MAIL] })).toHaveLength(room)
  expect(await inspect()).toMatchObject({ findings: [] })
}

interface Ending {
  readonly settle: (lease: Claimed) => Settlement
  readonly stage?: ClaimRequest['stage']
  /** A success makes the breaker ramp: then two may run, not one. */
  readonly room: number
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  succeeds: { settle: (lease) => succeeded(lease, null), room: 2 },
  'succeeds as a launched one': { settle: (lease) => succeeded(lease, null), stage: 'launch', room: 2 },
  'fails for another reason': { settle: (lease) => failed(lease, failure(), retryIn(HOUR_MS)), room: 1 },
  dies: { settle: (lease) => failed(lease, failure('validation'), dead()), room: 1 },
  'is released': {
    settle: (lease) => released(lease, 'Stopping.', { delayMs: HOUR_MS, reason: 'stale_worker' }),
    room: 1,
  },
  'is released by a dispatcher': {
    settle: (lease) => released(lease, 'Nobody is fit.', { delayMs: HOUR_MS, reason: 'stale_worker' }),
    stage: 'dispatch',
    room: 1,
  },
}

export function breakerBatches(check: Check): void {
  for (const [name, { settle, stage, room }] of Object.entries(ENDINGS)) {
    check(
      `C9: an attempt that ${name}, in the batch in which its action joins a half open breaker, leaves its place`,
      async (store) => {
        const scene = await halfOpen(store, stage)
        await store.engine.settle([joining(scene), settle(scene.recent)])
        await expectRoom(store, scene, room)
      },
      ordered,
    )
  }

  check(
    'C9: a superseded settlement between them changes nothing about it',
    async (store) => {
      const scene = await halfOpen(store)
      const { gone, recent } = scene
      const late = failed(gone, refused, retryIn(0), OUTAGE)
      const results = await store.engine.settle([late, joining(scene), late, succeeded(recent, null), late])
      expect(results.map(({ outcome }) => outcome)).toEqual([
        'superseded',
        'settled',
        'superseded',
        'settled',
        'superseded',
      ])
      await expectRoom(store, scene, 2)
    },
    ordered,
  )

  check(
    'C9: one that ends before its action joins, in the same batch, takes no place',
    async (store) => {
      const scene = await halfOpen(store)
      await store.engine.settle([
        released(scene.recent, 'Stopping.', { delayMs: HOUR_MS, reason: 'stale_worker' }),
        joining(scene),
      ])
      await expectRoom(store, scene, 1)
    },
    ordered,
  )

  check(
    'C9: a claim in the same trip gets the place that a settlement left',
    async (store) => {
      const scene = await halfOpen(store)
      const ending = released(scene.recent, 'Stopping.', { delayMs: HOUR_MS, reason: 'stale_worker' })
      const request = scene.worker.request({ limit: 10, actions: [MAIL] })
      const { claimed } = await store.engine.settleAndClaim([joining(scene), ending], request)
      expect(claimed).toHaveLength(1)
      await expectRoom(store, scene, 0)
    },
    ordered,
  )

  for (const scope of [{ action: MAIL }, { pool: DEFAULT_POOL, action: MAIL }, LANE, { pool: DEFAULT_POOL }]) {
    check(
      `C9: it leaves its place of an operator’s limit of a ${Object.keys(scope).join(', ')} as well`,
      async (store) => {
        const scene = await halfOpen(store)
        // The probe of the other action runs in the same pool.
        await store.engine.limit(scope, 'action' in scope ? 2 : 3, BY)
        await store.engine.settle([joining(scene), succeeded(scene.recent, null)])
        await expectRoom(store, scene, 2)
      },
      ordered,
    )
  }

  check(
    'C9: a probe that is cancelled leaves its place, and one that is redriven takes one',
    async (store) => {
      const scene = await halfOpen(store)
      await store.engine.settle([joining(scene), failed(scene.recent, failure('validation'), dead())])
      expect(await scene.worker.claimIds(10, { actions: [MAIL] })).toEqual(['a'])
      await store.engine.change({ kind: 'cancel', select: { ids: ids('old', 'a', 'b', 'c') }, by: BY })
      await store.engine.change({ kind: 'redrive', select: { ids: ids('recent') }, by: BY })
      expect(await scene.worker.claimIds(10, { actions: [MAIL] })).toEqual(['recent'])
      await expectRoom(store, scene, 0)
    },
    ordered,
  )
}
