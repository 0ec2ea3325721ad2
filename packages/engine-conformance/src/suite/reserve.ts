// Reserve: the same step as a claim, for one attempt that an outside message names (A2, A6).

import { actionName, JSON_NULL, type ReserveRequest, succeeded, taskId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import {
  ACTION,
  BY,
  dead,
  expectRefused,
  failure,
  ids,
  LEASE_MS,
  retryIn,
  type SpecInput,
  START,
  type Store,
  taskSpec,
} from './fixture.ts'
import { subject } from './subject.ts'

const message = (input: SpecInput, attempt: number, changes: Partial<ReserveRequest> = {}): ReserveRequest => {
  const task = taskSpec({ ...input, settings: { maxRetries: null, ...input.settings } })
  return { task, attempt, maxRetries: 1, worker: workerId('launcher'), leaseMs: LEASE_MS, ...changes }
}

const reserve = (store: Store, input: SpecInput, attempt: number, changes: Partial<ReserveRequest> = {}) =>
  store.engine.reserve(message(input, attempt, changes))

export const reserving = subject('reserve', (check) => {
  check('A2: creates an unknown task and reserves its attempt', async (store) => {
    expect(await reserve(store, { id: 'a' }, 1)).toMatchObject({
      taskId: 'a',
      attempt: 1,
      generation: 1,
      retryReason: null,
      leaseUntil: START + LEASE_MS,
    })
    expect(await store.task('a')).toMatchObject({ attempt: 1, state: { status: 'running', worker: 'launcher' } })
    expect(await store.engine.counts()).toMatchObject({ accepted: 1, running: 1, queued: 0 })
  })

  check('A6: an unknown task may come with a later attempt', async (store) => {
    expect(await reserve(store, { id: 'a' }, 2)).toMatchObject({ attempt: 2, failures: 0 })
    expect((await store.engine.executions(taskId('a'))).items.map(({ attempt }) => attempt)).toEqual([2])
  })

  check('A2: an attempt that is already reserved is a duplicate', async (store) => {
    const lease = await reserve(store, { id: 'a' }, 1)
    await expectRefused(reserve(store, { id: 'a' }, 1), 'REPRISE_DUPLICATE_EXECUTION')
    expect((await store.task('a')).state).toMatchObject({ status: 'running', token: lease.token })
  })

  check('A2: of 20 concurrent messages for one attempt, one wins', async (store) => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () =>
        reserve(store, { id: 'a' }, 1).then(
          () => 'won',
          (error: { code: string }) => error.code,
        ),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'REPRISE_DUPLICATE_EXECUTION')).toHaveLength(19)
  })

  check('A6: an attempt above the ceiling is dropped and journalled, and leaves no task behind', async (store) => {
    await expectRefused(reserve(store, { id: 'a' }, 3), 'REPRISE_BUDGET_EXHAUSTED')
    expect(await store.status('a')).toBe(null)
    expect(await store.engine.counts()).toMatchObject({ accepted: 0 })
    expect(await store.journal()).toMatchObject([
      {
        type: 'message.dropped',
        taskId: 'a',
        actor: 'caller',
        reason: "Attempt 3 of task 'a' is above its ceiling of 2. Redrive the task to open a new generation.",
        data: { attempt: 3 },
      },
    ])
  })

  check('A6: the ceiling is the larger of MAX_RETRIES and what the action allows, plus one', async (store) => {
    await expectRefused(reserve(store, { id: 'a' }, 2, { maxRetries: 0 }), 'REPRISE_BUDGET_EXHAUSTED')
    expect(await reserve(store, { id: 'b', settings: { maxRetries: 4 } }, 5, { maxRetries: 0 })).toMatchObject({
      attempt: 5,
    })
    await expectRefused(reserve(store, { id: 'c', settings: { maxRetries: 4 } }, 6), 'REPRISE_BUDGET_EXHAUSTED')
  })

  check('A6: lost attempts do not lower the ceiling', async (store) => {
    const lease = await reserve(store, { id: 'a' }, 1)
    store.clock.jump(LEASE_MS)
    await store.engine.settle([
      { kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: retryIn(0, 'worker_lost') },
    ])
    const second = await reserve(store, { id: 'a' }, 2)
    await store.engine.settle([{ kind: 'failed', ref: second, failure: failure(), decision: dead() }])
    expect(await reserve(store, { id: 'a' }, 3)).toMatchObject({ attempt: 3 })
  })

  check('A6: a redrive opens a new budget', async (store) => {
    const lease = await reserve(store, { id: 'a' }, 2)
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: dead() }])
    await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
    expect(await reserve(store, { id: 'a' }, 3)).toMatchObject({ attempt: 3, generation: 2, retryReason: 'manual' })
    await expectRefused(reserve(store, { id: 'a' }, 5), 'REPRISE_BUDGET_EXHAUSTED')
  })

  check('takes a task wherever it stands: queued, waiting or dead', async (store) => {
    await store.deadLetter({ id: 'dead' })
    await store.submit({ id: 'queued' }, { id: 'waiting', delayMs: 60_000 })
    expect(await reserve(store, { id: 'queued' }, 1)).toMatchObject({ attempt: 1 })
    expect(await reserve(store, { id: 'waiting' }, 1)).toMatchObject({ attempt: 1 })
    expect(await reserve(store, { id: 'dead' }, 2)).toMatchObject({ attempt: 2, retryReason: 'manual' })
    expect((await store.engine.failureGroups()).items).toEqual([])
    expect(await store.engine.counts()).toMatchObject({ running: 3, queued: 0, waiting: 0, dead: 0 })
  })

  check('an attempt after a dead letter is manual, whatever the attempt before was for', async (store) => {
    const input = { id: 'a', settings: { maxRetries: 5 } }
    const first = await reserve(store, input, 1)
    await store.engine.settle([{ kind: 'failed', ref: first, failure: failure(), decision: retryIn(0) }])
    const second = await reserve(store, input, 2)
    expect(second.retryReason).toBe('timeout')
    await store.engine.settle([{ kind: 'failed', ref: second, failure: failure(), decision: dead() }])
    expect((await reserve(store, input, 3)).retryReason).toBe('manual')
  })

  check('a task that has ended is a duplicate', async (store) => {
    const lease = await reserve(store, { id: 'a' }, 1)
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    await expectRefused(reserve(store, { id: 'a' }, 2), 'REPRISE_DUPLICATE_EXECUTION')
    await store.submit({ id: 'b' })
    await store.engine.change({ kind: 'cancel', select: { ids: ids('b') }, by: BY })
    await expectRefused(reserve(store, { id: 'b' }, 1), 'REPRISE_DUPLICATE_EXECUTION')
  })

  check('an attempt that skips one, or comes while another runs, is a conflict', async (store) => {
    await store.submit({ id: 'a' })
    await expectRefused(reserve(store, { id: 'a' }, 2), 'REPRISE_CONFLICT')
    await reserve(store, { id: 'a' }, 1)
    await expectRefused(reserve(store, { id: 'a' }, 2), 'REPRISE_CONFLICT')
  })

  check('A7: a full limit and a paused lane have no slot; nothing is reserved', async (store) => {
    await store.submit({ id: 'a' })
    await store.engine.limit({}, 0, BY)
    await expectRefused(reserve(store, { id: 'a' }, 1), 'REPRISE_NO_AVAILABLE_SLOT')
    await store.engine.limit({}, null, BY)
    await store.engine.pause({}, BY)
    await expectRefused(reserve(store, { id: 'a' }, 1), 'REPRISE_NO_AVAILABLE_SLOT')
    expect(await store.task('a')).toMatchObject({ attempt: 0, state: { status: 'queued' } })
    await store.engine.resume({}, BY)
    expect(await reserve(store, { id: 'a' }, 1)).toMatchObject({ attempt: 1 })
  })

  check('A17: slots are limited per action: a message of another action has its own', async (store) => {
    await store.engine.limit({ action: ACTION }, 2, BY)
    await reserve(store, { id: 'a' }, 1)
    const lease = await reserve(store, { id: 'b' }, 1)
    await expectRefused(reserve(store, { id: 'c' }, 1), 'REPRISE_NO_AVAILABLE_SLOT')
    expect(await reserve(store, { id: 'd', action: actionName('another') }, 1)).toMatchObject({ attempt: 1 })
    await store.engine.settle([succeeded(lease, JSON_NULL)])
    expect(await reserve(store, { id: 'c' }, 1)).toMatchObject({ attempt: 1 })
  })

  check('A7: a message that finds no slot leaves neither a task nor a lane behind', async (store) => {
    await store.engine.pause({}, BY)
    await expectRefused(reserve(store, { id: 'a' }, 1), 'REPRISE_NO_AVAILABLE_SLOT')
    expect(await store.status('a')).toBe(null)
    expect((await store.engine.lanes()).items).toEqual([])
    expect((await store.engine.counts()).accepted).toBe(0)
  })

  check('A3: a failed launch is released, and the redelivered message reserves again', async (store) => {
    const lease = await reserve(store, { id: 'a' }, 1)
    await store.engine.settle([{ kind: 'released', ref: lease, reason: 'The launch failed.' }])
    const again = await reserve(store, { id: 'a' }, 1)
    expect(again.attempt).toBe(1)
    expect(again.token).not.toBe(lease.token)
  })

  check('refuses lease times out of range', async (store) => {
    await expectRefused(reserve(store, { id: 'a' }, 1, { leaseMs: 0 }), 'REPRISE_INVALID')
    expect(await store.status('a')).toBe(null)
  })
})
