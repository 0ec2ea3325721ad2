// Tasks that come from elsewhere with the attempts they had there (B13): dead letters stay dead letters, of their cause and moment;
// others go on with what they have left.

import { type Failure, type PastAttempt, type TaskPast, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, dead, expectRefused, failure, retryIn, START, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

const HOUR = 3_600_000
const SIZE: Failure = { ...failure('validation', 'The size is missing.'), stack: 'at render (size.ts:7)' }

const attemptOf = (attempt: number, change: Partial<PastAttempt> = {}): PastAttempt => ({
  attempt,
  generation: 1,
  status: 'failed',
  worker: workerId('old'),
  build: { version: '0.9', host: 'h9', runtimes: ['node'] },
  dispatchedAt: START - 2 * HOUR + attempt * 1_000,
  resolvedAt: START - 2 * HOUR + attempt * 1_000 + 500,
  retryReason: attempt === 1 ? null : 'timeout',
  failure: failure(),
  decision: retryIn(1_000),
  ...change,
})

const DIED = attemptOf(2, { failure: SIZE, decision: dead() })
const DEAD: TaskPast = { by: BY, generation: 1, attempts: [attemptOf(1), DIED], isDead: true }

export const pasts = subject('past', (check) => {
  check('B13: a dead letter from elsewhere is one here, with its attempts, cause and moment', async (store) => {
    const { engine } = store
    expect(await engine.submit([taskSpec({ id: 'a', past: DEAD })])).toEqual([{ outcome: 'accepted', id: 'a' }])
    expect(await store.task('a')).toMatchObject({
      acceptedAt: START,
      generation: 1,
      attempt: 2,
      failures: 2,
      losses: 0,
      lastWorker: { worker: 'old', version: '0.9', host: 'h9' },
      state: { status: 'dead', at: DIED.resolvedAt, reason: 'not_retriable', failure: SIZE },
    })
    const { items } = await engine.executions('a' as never)
    expect(items).toMatchObject(DEAD.attempts)
    expect(items.map(({ errorMessage }) => errorMessage)).toEqual(['It took too long.', 'The size is missing.'])
    expect(await engine.counts()).toMatchObject({ accepted: 1, dead: 1, queued: 0, waiting: 0 })
    expect((await engine.failureGroups()).items).toMatchObject([
      { count: 1, firstAt: DIED.resolvedAt, lastAt: DIED.resolvedAt, lastTask: 'a', sample: SIZE },
    ])
    expect(await store.journal('a')).toMatchObject([
      {
        type: 'task.imported',
        attempt: 2,
        ...BY,
        data: { action: 'render', status: 'dead', attempts: 2, decision: 'dead', fingerprint: SIZE.fingerprint },
      },
    ])
  })

  check('what it was once is no event of today: it counts as accepted, and as nothing else', async ({ engine }) => {
    await engine.submit([taskSpec({ id: 'a', past: DEAD })])
    expect(await engine.series({ from: START, to: START + 60_000 })).toMatchObject([
      { accepted: 1, failed: 0, dead: 0, started: 0, retried: 0 },
    ])
  })

  check('a second import of the same task is a duplicate, and changes nothing', async (store) => {
    const spec = taskSpec({ id: 'a', past: DEAD })
    expect(await store.engine.submit([spec, spec])).toMatchObject([{ outcome: 'accepted' }, { outcome: 'duplicate' }])
    expect(await store.engine.submit([spec])).toEqual([{ outcome: 'duplicate', id: 'a' }])
    expect(await store.engine.counts()).toMatchObject({ accepted: 1, dead: 1 })
    expect(await store.journal('a')).toHaveLength(1)
    expect((await store.engine.failureGroups()).items).toMatchObject([{ count: 1 }])
  })

  check('redrives, discards and reverts treat it as any other dead letter', async (store) => {
    const { engine } = store
    await engine.submit(['a', 'b'].map((id) => taskSpec({ id, past: DEAD })))
    await engine.change({ kind: 'discard', select: { ids: ['b' as never] }, by: BY })
    await engine.change({ kind: 'revert', select: { ids: ['b' as never] }, by: BY })
    expect((await store.task('b')).state).toMatchObject({ status: 'dead', at: DIED.resolvedAt })
    const { fingerprint } = SIZE
    expect((await engine.change({ kind: 'redrive', select: { fingerprint }, by: BY })).changed).toEqual(['a', 'b'])
    const lease = await (await store.worker('w1')).claimOne()
    expect(lease).toMatchObject({ attempt: 3, generation: 2, failures: 0, retryReason: 'manual' })
    expect((await engine.failureGroups()).items).toEqual([])
  })

  check('a group reaches back to its first dead letter, and shows the latest', async (store) => {
    await store.deadLetter({ id: 'now' }, SIZE)
    await store.engine.submit([taskSpec({ id: 'then', past: DEAD })])
    expect((await store.engine.failureGroups()).items).toMatchObject([
      { count: 2, firstAt: DIED.resolvedAt, lastAt: START, lastTask: 'now' },
    ])
  })

  check('one that goes on has spent what it spent, and keeps its attempt numbers', async (store) => {
    const lost = attemptOf(2, { status: 'lost', decision: retryIn(1_000, 'worker_lost') })
    const past: TaskPast = { by: BY, generation: 1, attempts: [attemptOf(1), lost], isDead: false }
    const parked = attemptOf(1, { decision: { kind: 'park', reason: 'connection', rule: 'r', sentence: 's' } })
    await store.engine.submit([
      taskSpec({ id: 'a', past }),
      taskSpec({ id: 'b', past: { ...past, attempts: [parked] } }),
      taskSpec({ id: 'c', past, delayMs: 5_000 }),
    ])
    expect(await store.task('b')).toMatchObject({ attempt: 1, failures: 0, parks: 1, state: { status: 'queued' } })
    expect(await store.task('c')).toMatchObject({
      attempt: 2,
      state: { status: 'waiting', dueAt: START + 5_000, reason: 'worker_lost' },
    })
    const lease = await (await store.worker('w1')).claimOne()
    expect(lease).toMatchObject({ taskId: 'a', attempt: 3, failures: 1, losses: 1, retryReason: 'worker_lost' })
    expect(await store.engine.counts()).toMatchObject({ accepted: 3, queued: 1, waiting: 1, running: 1 })
  })

  check('one that was redriven elsewhere is in that generation, which no deadline binds', async (store) => {
    const ended = attemptOf(1, { decision: dead() })
    const past: TaskPast = { by: BY, generation: 2, attempts: [ended], isDead: false }
    await store.engine.submit([taskSpec({ id: 'a', past, deadlineAt: START - HOUR })])
    const lease = await (await store.worker('w1')).claimOne()
    expect(lease).toMatchObject({ attempt: 2, generation: 2, failures: 0, retryReason: 'manual' })
  })

  check('one that was redriven elsewhere can be taken back: it is in the group of its cause then', async (store) => {
    const ended = attemptOf(1, { failure: SIZE, decision: dead() })
    await store.engine.submit([
      taskSpec({ id: 'a', past: { by: BY, generation: 2, attempts: [ended], isDead: false } }),
    ])
    expect((await store.engine.failureGroups()).items).toEqual([])
    await store.engine.change({ kind: 'revert', select: { ids: ['a' as never] }, by: BY })
    expect((await store.engine.failureGroups()).items).toMatchObject([{ count: 1, lastAt: ended.resolvedAt }])
  })

  check(
    'a dead letter from elsewhere leaves its dedupe key to others, and has it while nobody wants it',
    async (store) => {
      await store.engine.submit([taskSpec({ id: 'a', past: DEAD, dedupeKey: 'k' })])
      await store.engine.change({ kind: 'redrive', select: {}, by: BY })
      expect(await store.submit({ id: 'b', dedupeKey: 'k' })).toEqual([{ outcome: 'duplicate', id: 'a' }])
    },
  )

  check('a past that can not be is refused, and nothing is taken in', async (store) => {
    const refused = (past: TaskPast) =>
      expectRefused(store.engine.submit([taskSpec({ id: 'fine' }), taskSpec({ id: 'a', past })]), 'REPRISE_INVALID')
    await refused({ ...DEAD, attempts: [attemptOf(1), attemptOf(3, { decision: dead() })] })
    await refused({ ...DEAD, attempts: [attemptOf(1)] })
    await refused({ ...DEAD, attempts: [] })
    await refused({ ...DEAD, generation: 2 })
    await refused({ ...DEAD, generation: 0 })
    await refused({ ...DEAD, attempts: [attemptOf(1, { generation: 2 }), DIED] })
    await refused({ ...DEAD, attempts: [attemptOf(1), { ...DIED, resolvedAt: 0 }] })
    expect(await store.engine.counts()).toMatchObject({ accepted: 0 })
  })
})
