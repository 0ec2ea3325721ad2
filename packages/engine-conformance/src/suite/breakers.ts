// Circuit breakers: how the failures of an outage open one, how it finds out that the outage is over, and that nothing
// which an outage did is charged to tasks or workers. What it means for lanes is in breaker-gates.ts, breaker-limits.ts and
// breaker-batches.ts; whose tasks one tenant's failures hold in breaker-tenants.ts.

import { failed, succeeded, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { breakerBatches } from './breaker-batches.ts'
import { breakerGates } from './breaker-gates.ts'
import { breakerLimits } from './breaker-limits.ts'
import { breakerMessages } from './breaker-messages.ts'
import { breakerTenants } from './breaker-tenants.ts'
import { BY, dead, failure, retryIn, START } from './fixture.ts'
import { BREAKER, failing, outageOf, PARK, SMALL, statusOf, succeeding, trip } from './outage.ts'
import { type Check, subject } from './subject.ts'

const ordered = { ordered: true }

export const breakers = subject('breakers', (check) => {
  opening(check)
  recovering(check)
  breakerGates(check)
  breakerLimits(check)
  breakerBatches(check)
  breakerMessages(check)
  breakerTenants(check)
})

function opening(check: Check): void {
  check(
    'C9: a failure below the threshold is charged as ever, and remembered',
    async (store) => {
      const lease = await store.running({ id: 'a' })
      expect(await failing(store, lease)).toEqual({ outcome: 'settled', status: 'waiting', repeated: false })
      expect(await store.task('a')).toMatchObject({ failures: 1, parks: 0, state: { dueAt: START + 1_000 } })
      expect(await store.engine.breakers()).toEqual({
        items: [
          {
            name: BREAKER,
            tenant: 'default',
            settings: SMALL,
            actions: ['render'],
            state: { status: 'closed' },
            buckets: [{ at: START, ok: 0, failed: 1 }],
            voices: [],
          },
        ],
        next: null,
      })
    },
    ordered,
  )

  check(
    'C9: successes that are settled together count for a closed breaker one by one, before the failures behind them',
    async (store) => {
      const worker = await store.worker()
      await store.submit(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => ({ id })))
      const [first, second, third, fourth, ...rest] = (await worker.claim(7)).claimed
      if (first === undefined || second === undefined || third === undefined || fourth === undefined) expect.fail()
      await failing(store, first)
      await succeeding(store, second, third)
      const refused = failed(fourth, failure('connection', 'Refused.'), retryIn(1_000, 'connection'), {
        outage: outageOf(),
      })
      await store.engine.settle([...rest.map((lease) => succeeded(lease, null)), refused])
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ tenant: 'default', state: { status: 'closed' }, buckets: [{ at: START, ok: 5, failed: 2 }] }],
      })
    },
    ordered,
  )

  check(
    'C9: enough failures open it, and the attempt that did is parked without charge',
    async (store) => {
      await trip(store, await store.worker())
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ state: { status: 'open', since: START, until: START + 5_000, opens: 1 }, buckets: [] }],
      })
      expect(await store.task('first')).toMatchObject({ failures: 1, parks: 0, state: { status: 'waiting' } })
      expect(await store.task('second')).toMatchObject({
        attempt: 1,
        failures: 0,
        losses: 0,
        parks: 1,
        state: { status: 'queued', since: START },
      })
      expect(await store.engine.execution(taskId('second'), 1)).toMatchObject({
        status: 'failed',
        errorCode: 'connection',
        decision: PARK,
      })
    },
    ordered,
  )

  check(
    'C9: what would have died is parked: an outage uses up no attempt',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a' })
      const last = await worker.claimOne()
      await trip(store, worker)
      expect(await failing(store, last, { decision: dead('retries_exhausted') })).toMatchObject({ status: 'queued' })
      expect(await store.task('a')).toMatchObject({ failures: 0, parks: 1 })
      expect(await store.engine.counts()).toMatchObject({ dead: 0, queued: 2, waiting: 1 })
      expect((await store.engine.failureGroups()).items).toEqual([])
    },
    ordered,
  )

  check(
    'C1: the attempt after a park knows why it is there, and what was parked',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      store.clock.jump(5_000)
      expect(await worker.claimOne()).toMatchObject({
        taskId: 'second',
        attempt: 2,
        failures: 0,
        parks: 1,
        retryReason: 'connection',
      })
    },
    ordered,
  )

  check(
    'a parked settlement that is repeated counts once',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a' })
      const lease = await worker.claimOne()
      await trip(store, worker)
      await failing(store, lease)
      expect(await failing(store, lease)).toEqual({ outcome: 'settled', status: 'queued', repeated: true })
      expect(await store.task('a')).toMatchObject({ parks: 1, attempt: 1 })
    },
    ordered,
  )

  check(
    'successes between the failures keep it closed',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }, { id: 'e' })
      const [first, second, ...others] = (await worker.claim(5)).claimed
      if (first === undefined || second === undefined) throw new Error('Five were submitted.')
      await failing(store, first)
      await succeeding(store, ...others)
      expect(await failing(store, second)).toMatchObject({ status: 'waiting' })
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ state: { status: 'closed' }, buckets: [{ ok: 3, failed: 2 }] }],
      })
    },
    ordered,
  )

  check(
    'C5: a parked attempt says nothing about its worker',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'a' })
      const lease = await worker.claimOne()
      await trip(store, worker)
      const [before] = (await store.engine.workers()).items
      store.clock.jump(1_000)
      await failing(store, lease)
      const [after] = (await store.engine.workers()).items
      expect(before?.recentOutcomes).toBe(1)
      expect(after).toEqual({ ...before, lastProgressAt: START + 1_000 })
    },
    ordered,
  )

  check(
    'a redrive clears what was parked',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      store.clock.jump(5_000)
      const lease = await worker.claimOne()
      await store.engine.settle([failed(lease, failure('validation'), dead())])
      expect(await store.task('second')).toMatchObject({ parks: 1, state: { status: 'dead' } })
      await store.engine.change({ kind: 'redrive', select: { ids: [taskId('second')] }, by: BY })
      expect(await store.task('second')).toMatchObject({ parks: 0, deferrals: 0, generation: 2 })
    },
    ordered,
  )
}

function recovering(check: Check): void {
  check(
    'C9: once its time has come, the next claim lets a probe through',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.submit({ id: 'a' }, { id: 'b' })
      store.clock.jump(4_999)
      expect(await worker.claim(5)).toMatchObject({ claimed: [], nextDueAt: START + 5_000, heldBack: null })
      expect(await statusOf(store)).toBe('open')
      store.clock.jump(1)
      expect(await statusOf(store)).toBe('open')
      expect(await worker.claimIds(5)).toEqual(['second'])
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ state: { status: 'half_open', since: START + 5_000, opens: 1, succeeded: 0 } }],
      })
      expect(await worker.claimIds(5)).toEqual([])
    },
    ordered,
  )

  check(
    'C9: enough probes that succeed start the ramp, and its end closes it',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' })
      store.clock.jump(5_000)
      await succeeding(store, await worker.claimOne())
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ state: { status: 'ramping', since: START + 5_000, concurrency: 2, succeeded: 0 } }],
      })
      const { claimed } = await worker.claim(5)
      expect(claimed.map((lease) => lease.taskId)).toEqual(['a', 'b'])
      await succeeding(store, ...claimed)
      expect(await statusOf(store)).toBe('none')
      expect(await worker.claimIds(5)).toEqual(['c', 'd'])
    },
    ordered,
  )

  check(
    'C9: a probe that fails opens it again for twice as long, up to the longest, and is parked',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      for (const openMs of [5_000, 10_000, 15_000, 15_000]) {
        const [breaker] = (await store.engine.breakers()).items
        const at = store.clock.now()
        expect(breaker?.state).toMatchObject({ status: 'open', since: at, until: at + openMs })
        store.clock.jump(openMs)
        expect(await failing(store, await worker.claimOne())).toMatchObject({ status: 'queued' })
      }
      expect(await store.task('second')).toMatchObject({ attempt: 5, failures: 0, parks: 5 })
    },
    ordered,
  )

  check(
    'failures while it ramps are charged until they open it again',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.submit({ id: 'a' }, { id: 'b' })
      store.clock.jump(5_000)
      await succeeding(store, await worker.claimOne())
      const [a, b] = (await worker.claim(2)).claimed
      if (a === undefined || b === undefined) throw new Error('Two may run.')
      expect(await failing(store, a)).toMatchObject({ status: 'waiting' })
      expect(await failing(store, b)).toMatchObject({ status: 'queued' })
      expect(await store.engine.breakers()).toMatchObject({
        items: [{ state: { status: 'open', opens: 2, until: START + 15_000 } }],
      })
    },
    ordered,
  )

  check(
    'what started before the probes says nothing: its failure is parked, its success does not count',
    async (store) => {
      const worker = await store.worker()
      await store.submit({ id: 'old1' }, { id: 'old2' }, { id: 'old3' })
      const [old1, old2, old3] = (await worker.claim(3, { leaseMs: 60_000 })).claimed
      if (old1 === undefined || old2 === undefined || old3 === undefined) throw new Error('Three were submitted.')
      await trip(store, worker)
      await succeeding(store, old1)
      store.clock.jump(5_000)
      const probe = await worker.claimOne()
      await succeeding(store, old2)
      expect(await statusOf(store)).toBe('half_open')
      expect(await failing(store, old3)).toMatchObject({ status: 'queued' })
      expect(await statusOf(store)).toBe('half_open')
      await succeeding(store, probe)
      expect(await statusOf(store)).toBe('ramping')
      expect(await store.task('old3')).toMatchObject({ failures: 0, parks: 1 })
    },
    ordered,
  )

  check(
    'each change is journalled once, with words for a person',
    async (store) => {
      const worker = await store.worker()
      await trip(store, worker)
      await store.submit({ id: 'a' }, { id: 'b' })
      store.clock.jump(5_000)
      await succeeding(store, await worker.claimOne())
      await succeeding(store, ...(await worker.claim(2)).claimed)
      const entries = (await store.journal()).filter(({ type }) => type.startsWith('breaker.'))
      const common = { taskId: null, attempt: null, actor: 'breaker' }
      expect(entries.map(({ id: _id, ...entry }) => entry)).toEqual([
        {
          ...common,
          at: START,
          type: 'breaker.opened',
          reason: 'Too many failures: nothing starts until it has rested.',
          data: { breaker: BREAKER, tenant: 'default', opens: 1, until: START + 5_000 },
        },
        {
          ...common,
          at: START + 5_000,
          type: 'breaker.half_open',
          reason: 'A few attempts are let through.',
          data: { breaker: BREAKER, tenant: 'default', opens: 1, until: null },
        },
        {
          ...common,
          at: START + 5_000,
          type: 'breaker.ramping',
          reason: 'The attempts succeeded: more and more are let through.',
          data: { breaker: BREAKER, tenant: 'default', opens: 1, until: null },
        },
        {
          ...common,
          at: START + 5_000,
          type: 'breaker.closed',
          reason: 'Work goes on as before.',
          data: { breaker: BREAKER, tenant: 'default' },
        },
      ])
    },
    ordered,
  )

  check(
    'B9: the parked attempt’s own entry comes after that of the breaker, with the decision to park',
    async (store) => {
      await trip(store, await store.worker())
      expect(await store.journal()).toMatchObject([
        { type: 'execution.failed', taskId: 'first', data: { decision: 'retry' } },
        { type: 'breaker.opened' },
        {
          type: 'execution.failed',
          taskId: 'second',
          actor: 'worker:w1',
          reason: PARK.sentence,
          data: { code: 'connection', reason: 'connection', decision: 'park', detail: 'connection', dueAt: null },
        },
      ])
    },
    ordered,
  )
}
