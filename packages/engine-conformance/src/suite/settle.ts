// How attempts end: each kind of settlement, what it writes, and that all of it is written in one step.

import { encodeJson, leaseToken, type Settlement } from '@reprise/core'
import { expect } from 'vitest'
import { dead, expectRefused, failure, retryIn, START } from './fixture.ts'
import { subject } from './subject.ts'

export const settling = subject('settle', (check) => {
  check('A4: succeeded ends the task with its result', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(300)
    const result = encodeJson({ pages: 2 }, 'result')
    expect(await store.engine.settle([{ kind: 'succeeded', ref: lease, result }])).toEqual([
      { outcome: 'settled', status: 'succeeded', repeated: false },
    ])
    expect((await store.task('a')).state).toEqual({ status: 'succeeded', at: START + 300, result: '{"pages":2}' })
    expect(await store.engine.execution(lease.taskId, 1)).toMatchObject({
      status: 'succeeded',
      dispatchedAt: START,
      resolvedAt: START + 300,
      errorCode: null,
      failure: null,
    })
  })

  check('takes a missing result', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect((await store.task('a')).state).toEqual({ status: 'succeeded', at: START, result: null })
  })

  check('B1: failed with a retry goes to the delay queue with its reason', async (store) => {
    const lease = await store.running({ id: 'a' })
    const results = await store.engine.settle([
      {
        kind: 'failed',
        ref: lease,
        failure: failure('connection', 'Refused.'),
        decision: retryIn(2_000, 'connection'),
      },
    ])
    expect(results).toEqual([{ outcome: 'settled', status: 'waiting', repeated: false }])
    expect(await store.task('a')).toMatchObject({
      attempt: 1,
      failures: 1,
      losses: 0,
      state: { status: 'waiting', since: START, dueAt: START + 2_000, reason: 'connection' },
    })
  })

  check('A1: a failed attempt keeps its error, failure and decision', async (store) => {
    const lease = await store.running({ id: 'a' })
    const cause = failure('connection', 'Refused.')
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: cause, decision: retryIn(2_000, 'connection') }])
    expect(await store.engine.execution(lease.taskId, 1)).toEqual({
      taskId: 'a',
      attempt: 1,
      generation: 1,
      worker: 'w1',
      build: { version: '1', host: 'here', runtimes: [] },
      token: lease.token,
      dispatchedAt: START,
      retryReason: null,
      taskSnapshot: lease.snapshot,
      status: 'failed',
      resolvedAt: START,
      errorCode: 'connection',
      errorMessage: 'Refused.',
      failure: cause,
      decision: retryIn(2_000, 'connection'),
    })
  })

  check('a retry without a delay also goes through the delay queue', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: retryIn(0) }])
    expect((await store.task('a')).state).toEqual({
      status: 'waiting',
      since: START,
      dueAt: START,
      reason: 'timeout',
      quota: null,
    })
  })

  check('failed without a retry makes a dead letter', async (store) => {
    const lease = await store.running({ id: 'a' })
    const cause = failure('validation')
    const settlement = { kind: 'failed', ref: lease, failure: cause, decision: dead('not_retriable') } as const
    expect(await store.engine.settle([settlement])).toEqual([{ outcome: 'settled', status: 'dead', repeated: false }])
    expect((await store.task('a')).state).toEqual({
      status: 'dead',
      at: START,
      reason: 'not_retriable',
      failure: cause,
    })
  })

  check('lost counts apart from failures', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    const cause = failure('worker_lost', 'Gone.')
    expect(
      await store.engine.settle([{ kind: 'lost', ref: lease, failure: cause, decision: retryIn(0, 'worker_lost') }]),
    ).toEqual([{ outcome: 'settled', status: 'waiting', repeated: false }])
    expect(await store.task('a')).toMatchObject({ attempt: 1, failures: 0, losses: 1 })
    expect(await store.engine.execution(lease.taskId, 1)).toMatchObject({ status: 'lost', errorCode: 'worker_lost' })
  })

  check('lost does not apply while the lease lasts', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(9_999)
    expect(
      await store.engine.settle([{ kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: retryIn(0) }]),
    ).toEqual([{ outcome: 'superseded', because: 'renewed' }])
    expect(await store.status('a')).toBe('running')
    expect(await store.journal()).toEqual([])
  })

  check('a worker may settle after its lease has run out, if nobody else did', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(20_000)
    const [result] = await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(result).toEqual({ outcome: 'settled', status: 'succeeded', repeated: false })
  })

  check('settles a batch one after the other, each by itself', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
    const { claimed } = await (await store.worker()).claim(3)
    const [a, b, c] = claimed
    if (a === undefined || b === undefined || c === undefined) throw new Error('Three tasks were expected.')
    const stale = { ...b, token: leaseToken('made-up') }
    const results = await store.engine.settle([
      { kind: 'succeeded', ref: a, result: null },
      { kind: 'succeeded', ref: stale, result: null },
      { kind: 'failed', ref: c, failure: failure(), decision: retryIn(1_000) },
    ])
    expect(results).toEqual([
      { outcome: 'settled', status: 'succeeded', repeated: false },
      { outcome: 'superseded', because: 'replaced' },
      { outcome: 'settled', status: 'waiting', repeated: false },
    ])
    expect(await store.status(b.taskId)).toBe('running')
  })

  check('answers in the order of the batch, where successes in a row are broken by others', async (store) => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    await store.submit(...ids.map((id) => ({ id })))
    const { claimed } = await (await store.worker()).claim(ids.length)
    const success = (index: number, token?: string): Settlement => {
      const ref = claimed[index]
      if (ref === undefined) throw new Error('Seven tasks were expected.')
      return { kind: 'succeeded', ref: token === undefined ? ref : { ...ref, token: leaseToken(token) }, result: null }
    }
    const ended = { outcome: 'settled', status: 'succeeded', repeated: false }
    const again = { ...ended, repeated: true }
    const [first, second, , , fifth] = claimed
    const results = await store.engine.settle([
      success(0),
      success(1),
      success(1),
      success(2),
      success(3),
      // Of the same claim, but another's.
      success(4, first?.token),
      success(0),
      success(5),
      success(6),
      success(6, second?.token),
    ])
    const refused = { outcome: 'superseded', because: 'replaced' }
    const notIts = { outcome: 'superseded', because: 'succeeded' }
    expect(results).toEqual([ended, ended, again, ended, ended, refused, again, ended, ended, notIts])
    expect(await store.engine.counts()).toMatchObject({ running: 1, succeeded: 6 })
    expect(await store.status(fifth?.taskId ?? '')).toBe('running')
  })

  check('settles and claims in one step', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' })
    const worker = await store.worker()
    const lease = await worker.claimOne()
    const outcome = await store.engine.settleAndClaim(
      [{ kind: 'succeeded', ref: lease, result: null }],
      worker.request(),
    )
    expect(outcome).toMatchObject({
      settled: [{ outcome: 'settled', status: 'succeeded', repeated: false }],
      claimed: [{ attempt: 1 }],
      heldBack: null,
    })
    expect([lease, ...outcome.claimed].map(({ taskId }) => taskId).toSorted()).toEqual(['a', 'b'])
  })

  check('a slot that a settlement frees can be claimed in the same step (A7)', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' })
    await store.engine.limit({}, 1, { actor: 'operator:ann', reason: 'a test' })
    const worker = await store.worker()
    const lease = await worker.claimOne()
    const outcome = await store.engine.settleAndClaim(
      [{ kind: 'succeeded', ref: lease, result: null }],
      worker.request(),
    )
    expect([lease, ...outcome.claimed].map(({ taskId }) => taskId).toSorted()).toEqual(['a', 'b'])
  })

  check('settlements stand even if the claim with them is refused', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b' })
    const lease = await (await store.worker('w1')).claimOne()
    const replaced = await store.worker('w2')
    await store.worker('w2')
    const settlement = { kind: 'succeeded', ref: lease, result: null } as const
    const outcome = await store.engine.settleAndClaim([settlement], replaced.request())
    expect(outcome).toMatchObject({ settled: [{ outcome: 'settled', status: 'succeeded' }], claimed: [] })
    await expectRefused(replaced.claim(), 'REPRISE_WORKER_FENCED')
  })

  check('takes an empty batch, and refuses 1,001 settlements', async (store) => {
    const lease = await store.running({ id: 'a' })
    expect(await store.engine.settle([])).toEqual([])
    const many = Array.from({ length: 1_001 }, () => ({ kind: 'succeeded', ref: lease, result: null }) as const)
    await expectRefused(store.engine.settle(many), 'REPRISE_INVALID')
    expect(await store.status('a')).toBe('running')
  })
})
