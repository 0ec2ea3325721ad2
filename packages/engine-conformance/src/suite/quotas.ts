// Retry quotas: no more retries in one window than it has room for; what is over waits for the next, and never longer than one
// window. A store that is spread over several places deals a limit out among them, so most of these checks use a share, which is
// of what started in one place.

import { expired, failed, lost, type RetryQuota, taskId, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, failure, ids, retryIn, START, type Store, type TestWorker } from './fixture.ts'
import { outageOf, trip } from './outage.ts'
import { subject } from './subject.ts'

const ordered = { ordered: true }
const WINDOW_MS = 10_000
const QUOTA: RetryQuota = { name: 'mail-server', windowMs: WINDOW_MS, limit: 3, share: null }
/** So small a share that there is room for one. */
const ONE: RetryQuota = { ...QUOTA, limit: null, share: 0.01 }

/** Submits tasks and claims them for long. */
async function running(store: Store, worker: TestWorker, ...names: readonly string[]) {
  await store.submit(...names.map((id) => ({ id })))
  return (await worker.claim(names.length, { leaseMs: 86_000_000 })).claimed
}

/** Submits tasks and lets each fail once, to be tried again after a second. */
async function failEach(store: Store, quota: RetryQuota, ...names: readonly string[]): Promise<void> {
  const leases = await running(store, await store.worker(), ...names)
  await store.engine.settle(leases.map((ref) => failed(ref, failure(), retryIn(1_000), { quota })))
}

async function waitingOf(store: Store, id: string) {
  const { state } = await store.task(id)
  if (state.status !== 'waiting') throw new Error(`'${id}' is ${state.status}.`)
  return state
}

export const quotas = subject('quotas', (check) => {
  check(
    'C9: retries over the quota wait for the next window, and never longer than one window',
    async (store) => {
      await failEach(store, { ...ONE, share: 0.4 }, 'a', 'b', 'c', 'd', 'e')
      for (const id of ['a', 'b']) {
        expect(await waitingOf(store, id)).toMatchObject({ dueAt: START + 1_000, reason: 'timeout', quota: null })
      }
      for (const id of ['c', 'd']) {
        const moved = { since: START, dueAt: START + WINDOW_MS, reason: 'timeout', quota: 'mail-server' }
        expect(await waitingOf(store, id)).toMatchObject(moved)
      }
      expect(await waitingOf(store, 'e')).toMatchObject({ dueAt: START + WINDOW_MS + 1_000, quota: 'mail-server' })
    },
    ordered,
  )

  check('C9: a limit holds for the whole store, and nothing is put off for longer than one window', async (store) => {
    const names = Array.from({ length: 20 }, (_, number) => `t${number}`)
    await failEach(store, QUOTA, ...names)
    const due = await Promise.all(names.map(async (id) => (await waitingOf(store, id)).dueAt - START))
    expect(due.filter((ms) => ms < WINDOW_MS).length).toBeLessThanOrEqual(3)
    expect(due.filter((ms) => ms === WINDOW_MS).length).toBeLessThanOrEqual(3)
    expect(Math.max(...due)).toBe(WINDOW_MS + 1_000)
  })

  check(
    'each tenant has a quota for itself, unless it is for all tenants',
    async (store) => {
      const worker = await store.worker()
      const fail = async (quota: RetryQuota, id: string, tenant: string): Promise<string | null> => {
        await store.submit({ id, tenant: tenantId(tenant) })
        const { claimed } = await worker.claim(1)
        await store.engine.settle(claimed.map((ref) => failed(ref, failure(), retryIn(1_000), { quota })))
        return (await waitingOf(store, id)).quota
      }
      expect(await fail(ONE, 'a', 'loud')).toBeNull()
      expect(await fail(ONE, 'b', 'loud')).toBe('mail-server')
      expect(await fail(ONE, 'c', 'quiet')).toBeNull()
      const shared = { ...ONE, name: 'shared', allTenants: true }
      expect(await fail(shared, 'd', 'loud')).toBeNull()
      expect(await fail(shared, 'e', 'quiet')).toBe('shared')
    },
    ordered,
  )

  check(
    'a task that was moved runs in its window, and not before',
    async (store) => {
      await failEach(store, ONE, 'a', 'b')
      const { dueAt } = await waitingOf(store, 'b')
      const worker = await store.worker()
      store.clock.jump(1_000)
      expect(await worker.claim(5)).toMatchObject({ claimed: [{ taskId: 'a' }], nextDueAt: dueAt })
      store.clock.jump(dueAt - START - 1_001)
      expect(await worker.claimIds(5)).toEqual([])
      store.clock.jump(1)
      expect(await worker.claimIds(5)).toEqual(['b'])
    },
    ordered,
  )

  check(
    'quotas of another name have their own room, those of one name share it, whatever the action',
    async (store) => {
      const one = ONE
      await failEach(store, one, 'a')
      await failEach(store, { ...one, name: 'other' }, 'b')
      expect(await waitingOf(store, 'b')).toMatchObject({ quota: null })
      await failEach(store, one, 'c')
      expect(await waitingOf(store, 'c')).toMatchObject({ quota: 'mail-server' })
    },
    ordered,
  )

  check(
    'C9: a share is of the attempts that started in the lane, at least one',
    async (store) => {
      const quota = { ...QUOTA, limit: null, share: 0.5 }
      await failEach(store, quota, 'a', 'b', 'c', 'd')
      expect(await waitingOf(store, 'b')).toMatchObject({ quota: null })
      expect(await waitingOf(store, 'c')).toMatchObject({ quota: 'mail-server' })
      const least = { ...quota, name: 'least', share: 0.01 }
      await failEach(store, least, 'e', 'f')
      expect(await waitingOf(store, 'e')).toMatchObject({ quota: null })
      expect(await waitingOf(store, 'f')).toMatchObject({ quota: 'least' })
    },
    ordered,
  )

  check(
    'a share counts this minute or the one before, whichever had more',
    async (store) => {
      const worker = await store.worker()
      const leases = await running(store, worker, 'a', 'b', 'c', 'd', 'e', 'f')
      const quota = { ...QUOTA, limit: null, share: 0.5 }
      const settle = (refs: typeof leases, name: string) =>
        store.engine.settle(refs.map((ref) => failed(ref, failure(), retryIn(0), { quota: { ...quota, name } })))
      store.clock.jump(60_000)
      await settle(leases.slice(0, 3), 'one minute later')
      expect(await waitingOf(store, 'c')).toMatchObject({ quota: null })
      store.clock.jump(60_000)
      await settle(leases.slice(3, 5), 'two minutes later')
      expect(await waitingOf(store, 'e')).toMatchObject({ quota: 'two minutes later' })
    },
    ordered,
  )

  check(
    'with a limit and a share, the smaller counts',
    async (store) => {
      await failEach(store, { ...ONE, limit: 300 }, 'a', 'b')
      expect(await waitingOf(store, 'b')).toMatchObject({ quota: 'mail-server' })
    },
    ordered,
  )

  check(
    'C9: explain names the quota, and when the retry is due',
    async (store) => {
      await failEach(store, ONE, 'a', 'b')
      const { dueAt } = await waitingOf(store, 'b')
      const explanation = await store.engine.explain(taskId('b'))
      expect(explanation).toMatchObject({
        gates: [{ kind: 'retry_quota', name: 'mail-server', dueAt }],
        nextAt: dueAt,
      })
      expect(explanation?.summary).toMatch(
        /^Its retry is over the quota 'mail-server' and was moved: it is due in \d+(s|m)/,
      )
      expect((await store.engine.explain(taskId('a')))?.gates).toMatchObject([{ kind: 'not_due' }])
    },
    ordered,
  )

  check(
    'the journal tells the time at which it is really due',
    async (store) => {
      await failEach(store, ONE, 'a', 'b')
      const { dueAt } = await waitingOf(store, 'b')
      expect(await store.journal('b')).toMatchObject([{ type: 'execution.failed', data: { dueAt } }])
    },
    ordered,
  )

  check(
    'A8: a retry by an operator, a promotion and a redrive ask for no room',
    async (store) => {
      const one = ONE
      await failEach(store, one, 'a', 'b', 'c')
      await store.engine.retry(taskId('b'), { by: BY, maxRetries: 3 })
      expect(await store.status('b')).toBe('queued')
      await store.engine.change({ kind: 'promote', select: { ids: ids('c') }, by: BY })
      expect(await store.status('c')).toBe('queued')
    },
    ordered,
  )

  check(
    'lost attempts and expired entries ask for room as well',
    async (store) => {
      const one = ONE
      const lease = await store.running({ id: 'a' })
      await store.submit({ id: 'b', settings: { queueTtlMs: 1_000 } })
      store.clock.jump(WINDOW_MS)
      await store.engine.settle([
        lost(lease, failure('worker_lost'), retryIn(0, 'worker_lost'), { quota: one }),
        expired({ taskId: taskId('b'), attempt: 1 }, failure('queue_timeout'), retryIn(0, 'queue_timeout'), {
          quota: one,
        }),
      ])
      const [first, second] = [await waitingOf(store, 'a'), await waitingOf(store, 'b')]
      expect(second.dueAt).toBeGreaterThan(first.dueAt)
      expect(second.quota).toBe('mail-server')
    },
    ordered,
  )

  check(
    'what dies or is parked takes no room',
    async (store) => {
      const one = ONE
      const worker = await store.worker()
      const [dying, parked, tried] = await running(store, worker, 'dying', 'parked', 'tried')
      if (dying === undefined || parked === undefined || tried === undefined) throw new Error('Three were submitted.')
      await trip(store, worker)
      await store.engine.settle([
        failed(dying, failure(), dead(), { quota: one }),
        failed(parked, failure('connection'), retryIn(0), { quota: one, outage: outageOf() }),
        failed(tried, failure(), retryIn(0), { quota: one }),
      ])
      expect(await store.status('parked')).toBe('queued')
      expect(await waitingOf(store, 'tried')).toMatchObject({ dueAt: START, quota: null })
    },
    ordered,
  )
})
