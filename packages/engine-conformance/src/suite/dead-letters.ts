// Dead letters: the failure groups they form, and what an operator can do with them: redrive, discard, retry.

import { actionName, present, type TaskId, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, failure, ids, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const sizeMissing = failure('validation', 'The size is missing.')
const noAccess = failure('permission', 'No access.')
const retry = (store: Store, id: string, maxRetries = 1, policy?: string) =>
  store.engine.retry(taskId(id), { by: BY, maxRetries, ...present({ policy }) })

export const deadLetters = subject('dead letters', (check) => {
  check('dead letters with one fingerprint form one group', async (store) => {
    await store.deadLetter({ id: 'a' }, sizeMissing)
    store.clock.jump(1_000)
    await store.deadLetter({ id: 'b' }, sizeMissing)
    expect((await store.engine.failureGroups()).items).toEqual([
      {
        fingerprint: sizeMissing.fingerprint,
        action: 'render',
        count: 2,
        firstAt: START,
        lastAt: START + 1_000,
        lastTask: 'b',
        sample: sizeMissing,
      },
    ])
  })

  check('shows the most recent group first, and filters by action', async (store) => {
    await store.deadLetter({ id: 'a' }, sizeMissing)
    store.clock.jump(1_000)
    await store.deadLetter({ id: 'b', action: actionName('mail') }, noAccess)
    const groups = async (query = {}) =>
      (await store.engine.failureGroups(query)).items.map(({ sample }) => sample.code)
    expect(await groups()).toEqual(['permission', 'validation'])
    expect(await groups({ action: actionName('mail') })).toEqual(['permission'])
    const first = await store.engine.failureGroups({ limit: 1 })
    expect(first.items).toHaveLength(1)
    expect(await groups({ limit: 1, cursor: first.next })).toEqual(['validation'])
  })

  check('finds one group by its fingerprint, for as long as it has dead letters', async (store) => {
    await store.deadLetter({ id: 'a' }, sizeMissing)
    await store.deadLetter({ id: 'b', action: actionName('mail') }, noAccess)
    await store.deadLetter({ id: 'c' }, sizeMissing)
    const { fingerprint } = sizeMissing
    const found = (query = {}) => store.engine.failureGroups({ fingerprint, ...query })
    expect(await found()).toMatchObject({ items: [{ fingerprint, count: 2, action: 'render' }], next: null })
    expect(await found({ action: actionName('mail') })).toEqual({ items: [], next: null })
    await store.engine.change({ kind: 'discard', select: { ids: ids('a', 'c') }, by: BY })
    expect(await found()).toEqual({ items: [], next: null })
  })

  check(
    'a cursor of tasks serves any query: it passes over nothing that was accepted before its place',
    async (store) => {
      const succeed = async (id: string): Promise<void> => {
        const ref = await store.running({ id })
        await store.engine.settle([{ kind: 'succeeded', ref, result: null }])
      }
      await succeed('before')
      store.clock.jump(1_000)
      await store.deadLetter({ id: 'a' }, sizeMissing)
      store.clock.jump(1_000)
      await succeed('between')
      store.clock.jump(1_000)
      await store.deadLetter({ id: 'b' }, sizeMissing)
      store.clock.jump(1_000)
      await succeed('after')
      const { items, next } = await store.engine.tasks({ fingerprint: sizeMissing.fingerprint, limit: 1 })
      expect(items.map(({ id }) => id)).toEqual(['b'])
      const older = await store.engine.tasks({ status: 'succeeded', ...(next === null ? {} : { cursor: next }) })
      // Partitions that the first page did not touch begin at their newest.
      expect(older.items.map(({ id }) => id)).toEqual(expect.arrayContaining(['between', 'before']))
    },
  )

  check('a redrive opens a new generation with a fresh budget', async (store) => {
    await store.deadLetter({ id: 'a' })
    store.clock.jump(1_000)
    expect(await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })).toEqual({
      changed: ['a'],
      next: null,
    })
    expect(await store.task('a')).toMatchObject({
      generation: 2,
      attempt: 1,
      failures: 0,
      losses: 0,
      state: { status: 'queued', since: START + 1_000 },
    })
    expect((await store.engine.failureGroups()).items).toEqual([])
    expect(await (await store.worker('w2')).claimOne()).toMatchObject({
      attempt: 2,
      generation: 2,
      retryReason: 'manual',
    })
    expect((await store.journal()).at(-1)).toMatchObject({
      type: 'task.redriven',
      taskId: 'a',
      actor: 'operator:ann',
      reason: 'a test',
      data: { generation: 2 },
    })
  })

  check('a redrive forgives losses too', async (store) => {
    const lease = await store.running({ id: 'a' })
    store.clock.jump(10_000)
    await store.engine.settle([
      { kind: 'lost', ref: lease, failure: failure('worker_lost'), decision: dead('crash_loop') },
    ])
    await store.engine.change({ kind: 'redrive', select: {}, by: BY })
    expect(await store.task('a')).toMatchObject({ losses: 0, failures: 0, generation: 2 })
  })

  check('a redrive changes dead letters only', async (store) => {
    await store.deadLetter({ id: 'a' })
    await store.submit({ id: 'b' })
    expect(
      (await store.engine.change({ kind: 'redrive', select: { ids: ids('b', 'nobody', 'a', 'a') }, by: BY })).changed,
    ).toEqual(['a'])
  })

  check(
    'redrives a whole failure group, in order of acceptance, a bounded number per call',
    async (store) => {
      for (const id of ['a', 'b', 'c']) await store.deadLetter({ id }, sizeMissing)
      await store.deadLetter({ id: 'x' }, noAccess)
      const select = { fingerprint: sizeMissing.fingerprint }
      const first = await store.engine.change({ kind: 'redrive', select, by: BY, limit: 2 })
      expect(first.changed).toEqual(['a', 'b'])
      const changed: TaskId[] = []
      for (let cursor = first.next; cursor !== null; ) {
        const page = await store.engine.change({ kind: 'redrive', select, by: BY, limit: 2, cursor })
        changed.push(...page.changed)
        cursor = page.next
      }
      expect(changed).toEqual(['c'])
      expect(await store.status('x')).toBe('dead')
    },
    { ordered: true },
  )

  check('a discard gives dead letters up for good', async (store) => {
    await store.deadLetter({ id: 'a' })
    expect((await store.engine.change({ kind: 'discard', select: { ids: ids('a') }, by: BY })).changed).toEqual(['a'])
    expect((await store.task('a')).state).toEqual({ status: 'discarded', at: START })
    expect((await store.engine.failureGroups()).items).toEqual([])
    expect((await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })).changed).toEqual([])
    expect(await store.journalTypes('a')).toEqual(['execution.failed', 'task.discarded'])
  })

  check('a group comes back when its cause does', async (store) => {
    await store.deadLetter({ id: 'a' }, sizeMissing)
    await store.engine.change({ kind: 'discard', select: {}, by: BY })
    store.clock.jump(5_000)
    await store.deadLetter({ id: 'b' }, sizeMissing)
    expect((await store.engine.failureGroups()).items).toMatchObject([
      { count: 1, lastAt: START + 5_000, lastTask: 'b' },
    ])
  })

  const revert = (store: Store, ...which: string[]) =>
    store.engine.change({ kind: 'revert', select: { ids: ids(...which) }, by: BY })

  check('a change of named generations passes over tasks that are in another', async (store) => {
    await store.deadLetter({ id: 'a' })
    const select = { ids: ids('a', 'a'), generations: [2, 1] }
    expect((await store.engine.change({ kind: 'redrive', select, by: BY })).changed).toEqual(['a'])
    expect((await store.engine.change({ kind: 'redrive', select, by: BY })).changed).toEqual([])
    const odd = { ids: ids('a'), generations: [1, 2] }
    await expect(store.engine.change({ kind: 'redrive', select: odd, by: BY })).rejects.toThrow(/one for each/)
  })

  check(
    'a revert takes back a redrive that has not started: dead again, of the same cause and moment',
    async (store) => {
      await store.deadLetter({ id: 'a' }, sizeMissing)
      await store.deadLetter({ id: 'b' }, sizeMissing)
      const before = await store.task('a')
      const groups = await store.engine.failureGroups()
      store.clock.jump(1_000)
      await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
      expect((await revert(store, 'a', 'b', 'nobody')).changed).toEqual(['a'])
      expect(await store.task('a')).toEqual({ ...before, generation: 2, failures: 0 })
      expect(await store.engine.failureGroups()).toEqual(groups)
      expect(await store.engine.counts()).toMatchObject({ dead: 2, queued: 0 })
      expect(await (await store.worker('w2')).claimIds()).toEqual([])
      expect((await store.journal('a')).at(-1)).toMatchObject({ type: 'task.reverted', data: { from: 'queued' } })
      await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
      expect(await (await store.worker('w3')).claimOne()).toMatchObject({ attempt: 2, generation: 3 })
    },
  )

  check('a revert leaves alone what has started since, and what nobody redrove', async (store) => {
    await store.deadLetter({ id: 'a' })
    await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
    const lease = await (await store.worker('w2')).claimOne()
    await store.submit({ id: 'b' })
    expect((await revert(store, 'a', 'b')).changed).toEqual([])
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: retryIn(1_000) }])
    expect((await revert(store, 'a')).changed).toEqual([])
  })

  check('a revert takes back a discard, and counts and groups have it again', async (store) => {
    await store.deadLetter({ id: 'a' }, sizeMissing)
    const before = await store.task('a')
    await store.engine.change({ kind: 'discard', select: {}, by: BY })
    expect((await revert(store, 'a')).changed).toEqual(['a'])
    expect(await store.task('a')).toEqual(before)
    expect(await store.engine.counts()).toMatchObject({ dead: 1, discarded: 0 })
    expect((await store.engine.failureGroups()).items).toMatchObject([{ count: 1, lastTask: 'a' }])
    expect((await store.engine.change({ kind: 'redrive', select: {}, by: BY })).changed).toEqual(['a'])
  })

  check(
    'a dead letter says that another task has its dedupe key, also one whose discard was taken back',
    async (store) => {
      await store.deadLetter({ id: 'a', dedupeKey: 'k' })
      await store.engine.change({ kind: 'discard', select: {}, by: BY })
      await store.submit({ id: 'b', dedupeKey: 'k' })
      await revert(store, 'a')
      expect((await store.task('a')).state).toMatchObject({ status: 'dead', keyTaken: true })
      await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
      expect((await store.journal('a')).at(-1)).toMatchObject({ data: { generation: 2, withoutKey: true } })
    },
  )

  check('a revert names its tasks', async (store) => {
    await expect(store.engine.change({ kind: 'revert', select: {}, by: BY })).rejects.toThrow(/by their ids/)
  })

  check('A8: retry: no task, or no execution, is not found', async (store) => {
    await store.submit({ id: 'a' })
    expect(await retry(store, 'nobody')).toEqual({ outcome: 'not_found' })
    expect(await retry(store, 'a')).toEqual({ outcome: 'not_found' })
  })

  check('A8: retry: the latest execution must have failed', async (store) => {
    const lease = await store.running({ id: 'a' })
    expect(await retry(store, 'a')).toEqual({ outcome: 'wrong_status', status: 'running' })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    expect(await retry(store, 'a')).toEqual({ outcome: 'wrong_status', status: 'succeeded' })
  })

  check('A8: retry: a task that is queued again already says so', async (store) => {
    await store.deadLetter({ id: 'a' })
    expect(await retry(store, 'a')).toEqual({ outcome: 'queued', attempt: 2 })
    expect(await retry(store, 'a')).toEqual({ outcome: 'wrong_status', status: 'queued' })
  })

  check('A9: retry: the default budget of 1 allows one, then it is exhausted', async (store) => {
    await store.deadLetter({ id: 'a', settings: { maxRetries: null } })
    expect(await retry(store, 'a')).toEqual({ outcome: 'queued', attempt: 2 })
    expect(await store.task('a')).toMatchObject({ generation: 1, failures: 1, attempt: 1, state: { status: 'queued' } })
    const second = await (await store.worker('w2')).claimOne()
    expect(second).toMatchObject({ attempt: 2, retryReason: 'manual' })
    await store.engine.settle([{ kind: 'failed', ref: second, failure: sizeMissing, decision: dead() }])
    expect(await retry(store, 'a')).toEqual({ outcome: 'exhausted', budget: 1 })
    expect(await store.status('a')).toBe('dead')
  })

  check('A9: retry: an action that allows more gives more', async (store) => {
    await store.deadLetter({ id: 'a', settings: { maxRetries: 0 } })
    await store.deadLetter({ id: 'b', settings: { maxRetries: 5 } })
    expect(await retry(store, 'a', 0)).toEqual({ outcome: 'exhausted', budget: 0 })
    expect(await retry(store, 'b', 0)).toEqual({ outcome: 'queued', attempt: 2 })
  })

  check('A9: retry: a waiting task runs at once', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: retryIn(60_000) }])
    expect(await retry(store, 'a')).toEqual({ outcome: 'queued', attempt: 2 })
    expect(await (await store.worker('w2')).claimOne()).toMatchObject({ attempt: 2, retryReason: 'manual' })
  })

  check('B5: retry: the policy that it names comes along with every attempt from then on', async (store) => {
    await store.deadLetter({ id: 'a', settings: { maxRetries: 9 } })
    expect(await store.task('a')).not.toHaveProperty('policy')
    await retry(store, 'a', 1, 'patient')
    expect((await store.journal('a')).at(-1)).toMatchObject({
      type: 'task.retried',
      data: { attempt: 2, policy: 'patient' },
    })
    expect(await store.task('a')).toMatchObject({ policy: 'patient' })
    const second = await (await store.worker('w2')).claimOne()
    expect(second).toMatchObject({ attempt: 2, policy: 'patient' })
    await store.engine.settle([{ kind: 'failed', ref: second, failure: failure(), decision: retryIn(1_000) }])
    store.clock.jump(1_000)
    expect(await (await store.worker('w3')).claimOne()).toMatchObject({ attempt: 3, policy: 'patient' })
    store.clock.jump(60_000)
    const { overdue } = await store.engine.expired(10)
    expect(overdue).toMatchObject([{ kind: 'lease', policy: 'patient' }])
    expect((await store.engine.standings(ids('a'))).standings).toMatchObject([{ policy: 'patient' }])
  })

  check(
    'B5: retry: the policy stays with a retry that names none, gives way to another, and goes with a redrive',
    async (store) => {
      await store.deadLetter({ id: 'a', settings: { maxRetries: 9 } })
      const failOn = async (worker: string) => {
        const ref = await (await store.worker(worker)).claimOne()
        await store.engine.settle([{ kind: 'failed', ref, failure: sizeMissing, decision: dead() }])
      }
      await retry(store, 'a', 1, 'patient')
      await failOn('w2')
      await retry(store, 'a', 3)
      expect(await store.task('a')).toMatchObject({ policy: 'patient' })
      await failOn('w3')
      await retry(store, 'a', 3, 'strict')
      expect(await store.task('a')).toMatchObject({ policy: 'strict' })
      await failOn('w4')
      await store.engine.change({ kind: 'redrive', select: { ids: ids('a') }, by: BY })
      expect(await store.task('a')).not.toHaveProperty('policy')
      expect(await (await store.worker('w5')).claimOne()).not.toHaveProperty('policy')
    },
  )

  check('A8: retry: takes the task out of its failure group, with a journal entry', async (store) => {
    await store.deadLetter({ id: 'a' })
    await retry(store, 'a')
    expect((await store.engine.failureGroups()).items).toEqual([])
    expect((await store.journal('a')).at(-1)).toMatchObject({
      type: 'task.retried',
      actor: 'operator:ann',
      reason: 'a test',
      data: { attempt: 2 },
    })
  })
})
