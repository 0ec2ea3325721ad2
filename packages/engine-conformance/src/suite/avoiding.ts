// A retry goes to another worker, host or version than the one that failed it, if there is one that is better; for a short
// while, so that nothing waits long for it.

import { actionName, DEFAULT_HEALTH_THRESHOLDS, failed, lost, taskId } from '@reprise/core'
import { AVOID_MS } from '@reprise/core/engine'
import { expect } from 'vitest'
import { BY, dead, failure, ids, LEASE_MS, pool, retryIn, START, type Store, type TestWorker } from './fixture.ts'
import { subject } from './subject.ts'

const ordered = { ordered: true }
const ELSEWHERE = { host: 'there', version: '2' }

/** Submits 'a' and lets its first attempt fail on this worker; it is due again at once. */
async function failOn(store: Store, worker: TestWorker): Promise<void> {
  await store.submit({ id: 'a', settings: { queueTtlMs: 60_000 } })
  await store.engine.settle([failed(await worker.claimOne(), failure('validation'), retryIn(0, 'validation'))])
}

export const avoiding = subject('avoiding', (check) => {
  check(
    'C7: a retry is left to another worker',
    async (store) => {
      const failedOn = await store.worker('w1')
      await failOn(store, failedOn)
      const other = await store.worker('w2')
      expect(await failedOn.claim(5)).toEqual({
        claimed: [],
        nextDueAt: START + AVOID_MS,
        heldBack: null,
        now: START,
      })
      expect(await store.status('a')).toBe('queued')
      expect(await other.claimIds(5)).toEqual(['a'])
    },
    ordered,
  )

  check(
    'C7: nobody waits for long: after a while the same worker gets it',
    async (store) => {
      const failedOn = await store.worker('w1')
      await failOn(store, failedOn)
      await store.worker('w2')
      await failedOn.claim(5)
      store.clock.jump(AVOID_MS - 1)
      expect(await failedOn.claim(5)).toMatchObject({ claimed: [], nextDueAt: START + AVOID_MS })
      store.clock.jump(1)
      expect(await failedOn.claim(5)).toMatchObject({ claimed: [{ taskId: 'a', attempt: 2 }], nextDueAt: null })
    },
    ordered,
  )

  check(
    'C7: the time counts from when it was queued again, not from the failure',
    async (store) => {
      const failedOn = await store.worker('w1')
      await store.submit({ id: 'a' })
      await store.engine.settle([failed(await failedOn.claimOne(), failure(), retryIn(5_000))])
      store.clock.jump(5_000)
      await store.worker('w2')
      expect(await failedOn.claim(5)).toMatchObject({ claimed: [], nextDueAt: START + 5_000 + AVOID_MS })
    },
    ordered,
  )

  for (const [what, alike] of [
    ['host', { host: 'here', version: '2' }],
    ['version', { host: 'there', version: '1' }],
  ] as const) {
    check(
      `C7: a worker with the ${what} of the one that failed it leaves it to one that differs in both`,
      async (store) => {
        const failedOn = await store.worker('w1')
        await failOn(store, failedOn)
        const similar = await store.worker('w2', alike)
        const different = await store.worker('w3', ELSEWHERE)
        expect(await similar.claimIds(5)).toEqual([])
        expect(await different.claimIds(5)).toEqual(['a'])
      },
      ordered,
    )
  }

  check(
    'of those alike, any takes it',
    async (store) => {
      await failOn(store, await store.worker('w1'))
      const second = await store.worker('w2')
      await store.worker('w3')
      expect(await second.claimIds(5)).toEqual(['a'])
    },
    ordered,
  )

  check(
    'no worker is better that could not take it now',
    async (store) => {
      const failedOn = await store.worker('w1')
      await store.worker('silent', ELSEWHERE)
      store.clock.jump(DEFAULT_HEALTH_THRESHOLDS.heartbeatStaleMs)
      await failedOn.beat()
      await failOn(store, failedOn)
      await store.worker('in another pool', { ...ELSEWHERE, pools: [pool('gpu')] })
      await store.worker('of other actions', { ...ELSEWHERE, actions: [actionName('mail')] })
      await (await store.worker('draining', ELSEWHERE)).beat({ draining: true })
      await (await store.worker('degraded', ELSEWHERE)).beat({ queueDepth: 50 })
      await (await store.worker('unhealthy', ELSEWHERE)).beat({ queueDepth: 100 })
      expect(await failedOn.claimIds(5)).toEqual(['a'])
    },
    ordered,
  )

  check(
    'other tasks of the lane are not held up',
    async (store) => {
      const failedOn = await store.worker('w1')
      await failOn(store, failedOn)
      await store.worker('w2')
      await failedOn.claim(1)
      await store.submit({ id: 'b' }, { id: 'c', priority: 0 })
      expect(await failedOn.claim(1)).toMatchObject({ claimed: [{ taskId: 'b' }], nextDueAt: START + AVOID_MS })
      expect(await failedOn.claimIds(5)).toEqual(['c'])
    },
    ordered,
  )

  check(
    'a lost attempt is left to another worker, too',
    async (store) => {
      const lostOn = await store.worker('w1')
      await store.submit({ id: 'a' })
      const lease = await lostOn.claimOne()
      store.clock.jump(LEASE_MS)
      await store.engine.settle([lost(lease, failure('worker_lost'), retryIn(0, 'worker_lost'))])
      await store.worker('w2')
      expect(await lostOn.claimIds(5)).toEqual([])
    },
    ordered,
  )

  check(
    'a redriven task goes to anybody: its generation is new',
    async (store) => {
      const failedOn = await store.worker('w1')
      await store.submit({ id: 'a' })
      await store.engine.settle([failed(await failedOn.claimOne(), failure('validation'), dead())])
      await store.worker('w2')
      await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
      expect(await failedOn.claimIds(5)).toEqual(['a'])
    },
    ordered,
  )

  check(
    'when the worker that failed it is gone, nobody is like it',
    async (store) => {
      const failedOn = await store.worker('w1')
      await failOn(store, failedOn)
      const similar = await store.worker('w2')
      await store.worker('w3', ELSEWHERE)
      await store.engine.deregister(failedOn.id, failedOn.epoch)
      expect(await similar.claimIds(5)).toEqual(['a'])
    },
    ordered,
  )

  check(
    'who dispatches or launches avoids nothing',
    async (store) => {
      const failedOn = await store.worker('w1')
      await failOn(store, failedOn)
      await store.worker('w2')
      expect(await failedOn.claimIds(5, { stage: 'dispatch' })).toEqual(['a'])
    },
    ordered,
  )

  check(
    'an entry past its time is retired, avoided or not',
    async (store) => {
      const failedOn = await store.worker('w1')
      await store.submit({ id: 'a', settings: { queueTtlMs: 1_000 } })
      await store.engine.settle([failed(await failedOn.claimOne(), failure(), retryIn(0))])
      await store.worker('w2')
      await failedOn.claim(5)
      store.clock.jump(1_000)
      expect(await failedOn.claim(5)).toMatchObject({ claimed: [], nextDueAt: null })
      expect((await store.engine.expired(5)).overdue).toMatchObject([{ kind: 'queue_ttl', ref: { taskId: 'a' } }])
      expect(await store.engine.task(taskId('a'))).toMatchObject({ state: { status: 'queued' } })
    },
    ordered,
  )
})
