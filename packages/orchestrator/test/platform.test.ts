// What a launcher's platform says: that it has no room, which costs no task anything, and why a worker ended before it reported.

import { isRepriseError, PlatformFullError, type TaskId } from '@reprise/core'
import { expect, test } from 'vitest'
import { LEASE_MS, taskOf } from './fixture.ts'
import { launching, specOf } from './launching.ts'

test('A7: a platform without room is no failure: tasks keep their place, and the pool asks again, one at a time', async () => {
  const { engine, clock, launcher, orchestrator, submit } = await launching()
  const ids = await Promise.all(['t1', 't2', 't3'].map((id) => submit(id)))
  launcher.failure = new PlatformFullError('There is no capacity.')
  const { ledger } = await orchestrator({ maxLaunchFailures: 2 })
  await clock.advance(1)
  const releases = async () =>
    (await engine.journal.read({ limit: 1_000 })).entries.filter(({ type }) => type === 'execution.released').length
  const first = await releases()
  expect(first).toBe(3)
  await clock.advance(600_000)
  // One question at a time, further and further apart.
  expect((await releases()) - first).toBeLessThan(25)
  for (const id of ids) {
    expect(await taskOf(engine, id)).toMatchObject({
      failures: 0,
      deferrals: 0,
      attempt: 0,
      state: { status: 'queued' },
    })
  }
  expect(ledger.taken).toBe(0)
  launcher.failure = null
  await clock.advance(70_000)
  expect(launcher.orders.map(({ taskId }) => taskId).toSorted()).toEqual(['t1', 't2', 't3'])
})

test('A7: a target without room is no failure: its task is put off as it asks, and tasks for other targets come through', async () => {
  const { engine, clock, launcher, orchestrator, submit } = await launching()
  const id = await submit('full')
  launcher.failure = new PlatformFullError('The plugin answered 429.', { retryAfterMs: 60_000, isOneTarget: true })
  const { ledger } = await orchestrator({ maxLaunchFailures: 2 })
  await clock.advance(1)
  expect(await taskOf(engine, id)).toMatchObject({
    failures: 0,
    attempt: 0,
    state: { status: 'waiting', reason: 'worker_unavailable' },
  })
  expect(ledger.taken).toBe(0)
  launcher.failure = null
  const other = await submit('other')
  await clock.advance(10_000)
  expect((await taskOf(engine, other)).state.status).toBe('running')
  expect((await taskOf(engine, id)).state.status).toBe('waiting')
  launcher.failure = new PlatformFullError('The plugin answered 503.', { isOneTarget: true })
  await clock.advance(200_000)
  // Far more often than a launch may fail.
  expect(await taskOf(engine, id)).toMatchObject({ failures: 0, attempt: 0, state: { status: 'waiting' } })
  launcher.failure = null
  await clock.advance(600_000)
  expect(launcher.orders.map(({ taskId }) => taskId)).toEqual(['other', 'full'])
})

test('A7: a message that finds no room on the platform is refused with NoAvailableSlotError, also while the pool waits', async () => {
  const { engine, clock, launcher, orchestrator } = await launching()
  const { launch, ledger } = await orchestrator({ services: [] })
  launcher.failure = new PlatformFullError('There is no capacity.', { retryAfterMs: 20_000 })
  const refused = async (id: string) =>
    launch.receive({ task: await specOf(id), attempt: 1 }).catch((error: unknown) => error)
  expect(isRepriseError(await refused('m1'), 'REPRISE_NO_AVAILABLE_SLOT')).toBe(true)
  expect(await engine.execution('m1' as TaskId, 1)).toBeNull()
  launcher.failure = null
  await clock.advance(19_000)
  expect(isRepriseError(await refused('m2'), 'REPRISE_NO_AVAILABLE_SLOT')).toBe(true)
  expect(await engine.task('m2' as TaskId)).toBeNull()
  await clock.advance(2_000)
  expect(await launch.receive({ task: await specOf('m1'), attempt: 1 })).toBe('launched')
  expect(ledger.taken).toBe(1)
})

test('A11: a worker that stopped without calling back is lost, and what its platform says is the cause', async () => {
  const { engine, clock, launcher, orchestrator, submit } = await launching()
  await orchestrator()
  const ids = await Promise.all(['oom', 'pull'].map((id) => submit(id)))
  await clock.advance(100)
  const cause = { code: 'WORKER_OUT_OF_MEMORY', message: 'The container was killed: out of memory.' }
  launcher.see('oom:1', { status: 'vanished', cause })
  launcher.see('pull:1', { status: 'vanished', cause: { code: 'two words', message: 7 } as never })
  await clock.advance(LEASE_MS + 2_000)
  const [oom, pull] = await Promise.all(ids.map((id) => engine.execution(id, 1)))
  expect(oom).toMatchObject({ status: 'lost', errorCode: 'WORKER_OUT_OF_MEMORY' })
  // What makes no sense as a cause is none.
  expect(pull).toMatchObject({ status: 'lost', errorCode: 'worker_lost' })
})
