// The one funnel of launch pools: acquire a slot, reserve, launch, note; and what a failed launch leaves behind.

import { isRepriseError, latestForTask, PermanentError, RetryAfterError, type TaskId } from '@reprise/core'
import { openLeaseCredentials } from '@reprise/orchestrator'
import { describe, expect, test } from 'vitest'
import { claimed, LEASE_MS, submitted, taskOf } from './fixture.ts'
import { launching, POOL, specOf } from './launching.ts'

describe('A7: acquire → reserve → launch', () => {
  test('a task is reserved, launched with everything its worker needs, and the handle is noted', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator()
    const id = await submit('t1', { labels: { team: 'blue' }, settings: { timeoutMs: 60_000 } })
    await clock.advance(100)
    const { state } = await taskOf(engine, id)
    expect(state).toMatchObject({ status: 'running', stage: 'launch', handle: 'handle of t1:1' })
    if (state.status !== 'running') throw new Error('not running')
    // Intruder 7: the store's own token is easily guessed, and not what a worker gets.
    const credentials = await openLeaseCredentials(engine, clock)
    const { token: own, startedAt } = state
    const token = credentials.issue({ taskId: id, attempt: 1, token: own, startedAt })
    expect(token).not.toBe(state.token)
    expect(launcher.orders).toMatchObject([
      {
        key: 't1:1',
        taskId: 't1',
        attempt: 1,
        token,
        action: 'work',
        tenant: 'default',
        payload: 'null',
        labels: { team: 'blue' },
        retryToken: 'token of t1',
        timeoutMs: 60_000,
      },
    ])
  })

  test('slots are acquired before anything is reserved: at capacity nothing is claimed, and an end makes room', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const { ledger } = await orchestrator({ slots: 2 })
    for (let number = 1; number <= 5; number++) await submit(`t${number}`)
    await clock.advance(5_000)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['t1:1', 't2:1'])
    expect(ledger).toMatchObject({ slots: 2, taken: 2, free: 0 })
    expect(await engine.counts({ pool: POOL })).toMatchObject({ running: 2, queued: 3 })
    launcher.finish('t1:1', { ok: true, result: null })
    await clock.advance(50)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['t1:1', 't2:1', 't3:1'])
  })

  test('a limit of the pool holds over all processes', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await engine.limit({ pool: POOL }, 3, { actor: 'operator:ann', reason: 'small machine' })
    await orchestrator({ slots: 10 })
    await orchestrator({ slots: 10 })
    for (let number = 1; number <= 9; number++) await submit(`t${number}`)
    await clock.advance(3_000)
    expect(launcher.orders).toHaveLength(3)
  })

  test('two processes launch each task once', async () => {
    const { clock, launcher, orchestrator, submit } = await launching()
    await orchestrator({ slots: 50 })
    await orchestrator({ slots: 50 })
    for (let number = 1; number <= 40; number++) await submit(`t${number}`)
    await clock.advance(3_000)
    expect(launcher.orders).toHaveLength(40)
    expect(new Set(launcher.orders.map(({ key }) => key)).size).toBe(40)
  })

  test('the order is void before the lease ends, counted from when the claim was sent', async () => {
    const { clock, launcher, orchestrator, submit } = await launching()
    await submit('long')
    await submit('short', { settings: { timeoutMs: 100 } })
    const startedAt = clock.now()
    await orchestrator({ leaseMs: 15_000 })
    await clock.advance(10)
    expect(launcher.orders.map(({ key, voidAt }) => [key, voidAt - startedAt])).toEqual([
      ['long:1', 14_000],
      // Its lease ends 5 s after its time-out.
      ['short:1', 4_100],
    ])
  })

  test('one whose deadline is over is not launched, and says so', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const id = await submit('t1', { settings: { slaMs: 1_000 } })
    clock.jump(1_000)
    await orchestrator()
    await clock.advance(10)
    expect(launcher.orders).toEqual([])
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'dead', reason: 'deadline' })
  })
})

describe('A3: a failed launch', () => {
  test('deletes the reservation, frees the slot, and comes again with the same attempt, later each time', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const { ledger } = await orchestrator({ slots: 1 })
    launcher.failure = new Error('no room on the host')
    const id = await submit('t1')
    await clock.advance(10)
    expect(await taskOf(engine, id)).toMatchObject({
      attempt: 0,
      failures: 0,
      deferrals: 1,
      state: { status: 'waiting', reason: 'worker_unavailable' },
    })
    expect(await engine.execution(id, 1)).toBeNull()
    expect(ledger.free).toBe(1)
    expect((await engine.journal.read({ taskId: id })).entries.at(-1)).toMatchObject({
      type: 'execution.released',
      reason: 'Launch 1 of 10 failed: no room on the host',
    })
    await clock.advance(1_100)
    expect(await taskOf(engine, id)).toMatchObject({ deferrals: 2 })
    launcher.failure = null
    await clock.advance(2_100)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['t1:1'])
    launcher.finish('t1:1', { ok: true, result: null })
    await clock.advance(10)
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 1, deferrals: 0, state: { status: 'succeeded' } })
  })

  test('time after time: the attempt fails, and goes to the dead letters if nothing is left', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator({ maxLaunchFailures: 3 })
    launcher.failure = new Error('no such image')
    const id = await submit('t1')
    await clock.advance(2_000)
    expect((await taskOf(engine, id)).deferrals).toBe(2)
    await clock.advance(2_000)
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 1, failures: 1, state: { status: 'dead' } })
    expect(await latestForTask(engine, id)).toMatchObject({ status: 'failed', errorMessage: 'no such image' })
  })

  test("the launcher's own word counts: permanent fails at once, and a time to wait is kept", async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator()
    launcher.failure = new PermanentError('the command does not exist')
    const hopeless = await submit('t1')
    await clock.advance(10)
    expect((await taskOf(engine, hopeless)).state).toMatchObject({ status: 'dead', reason: 'not_retriable' })
    launcher.failure = new RetryAfterError('1m')
    const later = await submit('t2')
    await clock.advance(10)
    const { state } = await taskOf(engine, later)
    expect(state.status === 'waiting' ? state.dueAt - clock.now() : 0).toBeGreaterThan(59_000)
  })

  test('a stop in the middle of a launch gives the task back untouched', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const { promise, resolve } = Promise.withResolvers<void>()
    launcher.holdUp = promise
    const { stop } = await orchestrator()
    const id = await submit('t1')
    await clock.advance(100)
    const stopped = stop()
    await clock.advance(1)
    resolve()
    await stopped
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 0, deferrals: 0, state: { status: 'queued' } })
    expect(launcher.orders).toEqual([])
  })

  test('a store that is away for a moment: what was launched is noted later, and runs once', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    let isDown = false
    const flaky = {
      ...engine,
      renew: (...input: Parameters<typeof engine.renew>) =>
        isDown ? Promise.reject(new Error('down')) : engine.renew(...input),
    }
    await orchestrator({ engine: flaky })
    isDown = true
    const id = await submit('t1')
    await clock.advance(100)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', handle: null })
    isDown = false
    await clock.advance(10_000)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', handle: 'handle of t1:1' })
    expect(launcher.orders).toHaveLength(1)
  })
})

describe('messages of an outside queue', () => {
  test('A7: go through the same funnel, and NoAvailableSlotError at capacity reserves nothing', async () => {
    const { engine, clock, launcher, orchestrator } = await launching()
    const { launch } = await orchestrator({ slots: 1 })
    expect(await launch.receive({ task: await specOf('m1'), attempt: 1 })).toBe('launched')
    const full = await launch.receive({ task: await specOf('m2'), attempt: 1 }).catch((error: unknown) => error)
    expect(isRepriseError(full, 'REPRISE_NO_AVAILABLE_SLOT')).toBe(true)
    expect(await engine.task('m2' as TaskId)).toBeNull()
    launcher.finish('m1:1', { ok: true, result: null })
    await clock.advance(2_000)
    expect((await taskOf(engine, 'm1' as TaskId)).state.status).toBe('succeeded')
    expect(await launch.receive({ task: await specOf('m2'), attempt: 1 })).toBe('launched')
  })

  test('A15: a crash after the launch of one is reconciled: its worker is found, runs once, and is not lost', async () => {
    const { engine, clock, launcher, orchestrator } = await launching()
    const crashed = await orchestrator({ crashesAt: 'launched', services: [] })
    const task = await specOf('m1')
    const received = crashed.launch.receive({ task, attempt: 1 })
    await clock.advance(1_000)
    expect((await taskOf(engine, task.id)).state).toMatchObject({ status: 'running', stage: 'launch', handle: null })
    const { ledger } = await orchestrator()
    await clock.advance(LEASE_MS + 1_500)
    expect((await engine.expired(10)).overdue).toEqual([])
    expect((await taskOf(engine, task.id)).state).toMatchObject({ status: 'running', handle: 'handle of m1:1' })
    expect(ledger.taken).toBe(1)
    launcher.finish('m1:1', { ok: true, result: null })
    await clock.advance(10)
    expect(await taskOf(engine, task.id)).toMatchObject({ attempt: 1, losses: 0, state: { status: 'succeeded' } })
    expect(launcher.orders).toHaveLength(1)
    await crashed.stop()
    await received
  })

  test('A15: a crash between reserve and launch of one gives its task back, and nothing is charged', async () => {
    const { engine, clock, launcher, orchestrator } = await launching()
    const crashed = await orchestrator({ crashesAt: 'reserved', services: [] })
    const task = await specOf('m1')
    const received = crashed.launch.receive({ task, attempt: 1 })
    await clock.advance(1_000)
    await orchestrator()
    await clock.advance(LEASE_MS + 1_500)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['m1:1'])
    expect(await taskOf(engine, task.id)).toMatchObject({ attempt: 1, failures: 0, losses: 0, deferrals: 0 })
    await crashed.stop()
    await received
  })

  test('A2: a duplicate launches nothing', async () => {
    const { launcher, orchestrator } = await launching()
    const { launch } = await orchestrator()
    const task = await specOf('m1')
    const both = await Promise.all([launch.receive({ task, attempt: 1 }), launch.receive({ task, attempt: 1 })])
    expect(both.toSorted()).toEqual(['duplicate', 'launched'])
    expect(launcher.orders).toHaveLength(1)
  })

  test.each<[unknown]>([['2'], [0], [-1], [1.5], [Number.NaN], [undefined]])(
    'A6: an attempt %o is none, and counts as 1',
    async (attempt) => {
      const { launcher, orchestrator } = await launching()
      const { launch } = await orchestrator()
      expect(await launch.receive({ task: await specOf('m1'), attempt })).toBe('launched')
      expect(launcher.orders).toMatchObject([{ key: 'm1:1' }])
    },
  )

  test('A6: an attempt above maxRetries + 1 is dropped, whoever sent it', async () => {
    const { engine, launcher, orchestrator } = await launching()
    const { launch, ledger } = await orchestrator({ slots: 1, services: ['reconcile'], maxRetries: 1 })
    // What a message says of its own about the ceiling counts for nothing.
    const message = { task: await specOf('m1'), attempt: 3, maxRetries: 9 }
    expect(await launch.receive(message)).toBe('dropped')
    expect(launcher.orders).toEqual([])
    expect(ledger.free).toBe(1)
    expect((await engine.journal.read()).entries).toMatchObject([{ type: 'message.dropped', attempt: 3 }])
    expect(await launch.receive({ task: await specOf('m1'), attempt: 2 })).toBe('launched')
  })

  test('A3: a failed launch puts everything back, and the message may come again', async () => {
    const { engine, launcher, orchestrator } = await launching()
    const { launch, ledger } = await orchestrator({ services: [] })
    launcher.failure = new Error('no room')
    const task = await specOf('m1')
    expect(await launch.receive({ task, attempt: 1 })).toBe('launch_failed')
    expect(ledger.free).toBe(10)
    expect(await engine.execution(task.id, 1)).toBeNull()
    launcher.failure = null
    expect(await launch.receive({ task, attempt: 1 })).toBe('launched')
  })
})

test('a pool that is not launched is left to its workers', async () => {
  const { engine, clock, launcher, orchestrator } = await launching()
  await orchestrator()
  await submitted(engine, 'pulled')
  await clock.advance(2_000)
  expect(launcher.orders).toEqual([])
  expect(await claimed(engine)).toHaveLength(1)
})
