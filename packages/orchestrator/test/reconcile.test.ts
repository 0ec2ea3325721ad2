// The reconciliation of launch pools: what the launcher sees becomes true in the store, also after crashes, with any number
// of processes.

import { type Engine, InvalidError, StoreBusyError, succeeded, type TaskId } from '@reprise/core'
import { openLeaseCredentials } from '@reprise/orchestrator'
import { describe, expect, test } from 'vitest'
import { LEASE_MS, taskOf } from './fixture.ts'
import { launching, POOL } from './launching.ts'

describe('A11: a worker that ended', () => {
  test('is settled at once where the launcher tells, and within 2 s where it does not', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const { ledger } = await orchestrator()
    const told = await submit('told')
    const quiet = await submit('quiet')
    await clock.advance(100)
    launcher.finish('told:1', { ok: true, result: '{"answer":42}' as never })
    await clock.advance(1)
    expect((await taskOf(engine, told)).state).toMatchObject({ status: 'succeeded', result: '{"answer":42}' })
    launcher.finish('quiet:1', { ok: true, result: null }, 'quietly')
    await clock.advance(2_000)
    expect((await taskOf(engine, quiet)).state).toMatchObject({ status: 'succeeded', result: null })
    expect(launcher.forgotten).toEqual(['told', 'quiet'].map((id) => ({ key: `${id}:1`, handle: `handle of ${id}:1` })))
    expect(ledger.taken).toBe(0)
  })

  test('before its launch came back: settled as soon as that does', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const noted = Promise.withResolvers<void>()
    await orchestrator({ at: (point) => (point === 'launched' ? noted.promise : undefined) })
    const id = await submit('t1')
    await clock.advance(10)
    launcher.finish('t1:1', { ok: true, result: null })
    await clock.advance(10)
    expect((await taskOf(engine, id)).state.status).toBe('running')
    noted.resolve()
    await clock.advance(1)
    expect((await taskOf(engine, id)).state.status).toBe('succeeded')
  })

  test('badly: classified and decided like a failure of a handler', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator()
    const id = await submit('t1', { settings: { maxRetries: 1 } })
    await clock.advance(100)
    launcher.finish('t1:1', { ok: false, thrown: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
    await clock.advance(10)
    expect(await taskOf(engine, id)).toMatchObject({ failures: 1, state: { status: 'waiting', reason: 'connection' } })
    await clock.advance(2_000)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['t1:1', 't1:2'])
  })

  test('without a trace: lost within an interval, long before its lease ends, and it runs again', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator()
    const id = await submit('t1')
    await clock.advance(100)
    expect((await taskOf(engine, id)).state.status).toBe('running')
    launcher.see('t1:1', { status: 'vanished' })
    await clock.advance(1_500)
    expect(await taskOf(engine, id)).toMatchObject({ losses: 1, failures: 0 })
    expect(await engine.execution(id, 1)).toMatchObject({ status: 'lost' })
    await clock.advance(10_000)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['t1:1', 't1:2'])
  })

  test('B1: without a trace, and a hook was to be asked: held, because nothing that is launched has one', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator()
    const id = await submit('t1', { settings: { onLost: 'reconcile' } })
    await clock.advance(100)
    launcher.see('t1:1', { status: 'vanished' })
    await clock.advance(60_000)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'dead', reason: 'outcome_unknown' })
    expect(launcher.orders).toHaveLength(1)
  })

  test('with a result that the store refuses: failed, and the others are settled all the same', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const bad = await submit('bad')
    const good = await submit('good')
    const strict: Engine = {
      ...engine,
      settle: async (settlements) => {
        const isBad = settlements.some((one) => one.kind === 'succeeded' && one.ref.taskId === bad)
        if (isBad) throw new InvalidError('The result is too large.')
        return engine.settle(settlements)
      },
    }
    await orchestrator({ engine: strict })
    await clock.advance(100)
    launcher.finish('bad:1', { ok: true, result: null }, 'quietly')
    launcher.finish('good:1', { ok: true, result: null }, 'quietly')
    await clock.advance(2_000)
    expect((await taskOf(engine, good)).state.status).toBe('succeeded')
    expect((await taskOf(engine, bad)).state).toMatchObject({ status: 'dead' })
  })
})

describe('a worker that lives', () => {
  test('keeps its lease for as long as it runs', async () => {
    const { engine, clock, orchestrator, launcher, submit } = await launching()
    await orchestrator()
    const id = await submit('t1', { settings: { timeoutMs: 600_000 } })
    await clock.advance(300_000)
    const { state } = await taskOf(engine, id)
    expect(state.status === 'running' ? state.leaseUntil - clock.now() : 0).toBeGreaterThan(LEASE_MS / 2)
    expect(launcher.orders).toHaveLength(1)
  })

  test('C7: and runs past its timeout is ended, and the attempt fails with timeout', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    await orchestrator()
    const id = await submit('t1', { settings: { timeoutMs: 60_000, maxRetries: 1 } })
    await clock.advance(59_000)
    expect(launcher.ended).toEqual([])
    await clock.advance(3_000)
    expect(launcher.ended).toMatchObject([{ key: 't1:1' }])
    expect(await taskOf(engine, id)).toMatchObject({ failures: 1, losses: 0 })
    expect(await engine.execution(id, 1)).toMatchObject({ status: 'failed', errorCode: 'timeout' })
  })

  test('of a task that was cancelled is ended and forgotten', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const { ledger } = await orchestrator()
    const id = await submit('t1')
    await clock.advance(100)
    await engine.change({ kind: 'cancel', select: { ids: [id] }, by: { actor: 'operator:ann', reason: 'not needed' } })
    await clock.advance(2_000)
    expect(launcher.ended).toEqual([{ key: 't1:1', handle: 'handle of t1:1' }])
    expect(launcher.forgotten).toHaveLength(1)
    expect(ledger.taken).toBe(0)
    expect((await taskOf(engine, id)).state.status).toBe('cancelled')
  })
})

describe('A15: crashes', () => {
  test('between reserve and launch: the attempt runs once its lease has ended, and nothing is charged', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const id = await submit('t1')
    await orchestrator({ crashesAt: 'reserved', services: ['launch'] })
    await clock.advance(1_000)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', stage: 'launch', handle: null })
    await orchestrator()
    await clock.advance(13_000)
    expect(launcher.orders).toEqual([])
    await clock.advance(2_500)
    expect(launcher.orders.map(({ key }) => key)).toEqual(['t1:1'])
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 1, failures: 0, losses: 0, deferrals: 0 })
    expect((await engine.journal.read({ taskId: id })).entries).toMatchObject([{ type: 'execution.released' }])
  })

  test('after the launch, before it was noted: found by its key, and it runs once', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const id = await submit('t1')
    await orchestrator({ crashesAt: 'launched', services: ['launch'] })
    await clock.advance(1_000)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', handle: null })
    const { ledger } = await orchestrator()
    await clock.advance(LEASE_MS + 1_500)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', handle: 'handle of t1:1' })
    expect(ledger.taken).toBe(1)
    launcher.finish('t1:1', { ok: true, result: null })
    await clock.advance(10)
    expect((await taskOf(engine, id)).state.status).toBe('succeeded')
    expect(launcher.orders).toHaveLength(1)
  })

  test('after it was noted: another process takes it over before the lease ends', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const id = await submit('t1')
    await orchestrator({ services: ['launch'] })
    await clock.advance(100)
    await orchestrator()
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000)
      const { state } = await taskOf(engine, id)
      expect(state.status === 'running' ? state.leaseUntil : 0).toBeGreaterThan(clock.now())
    }
    expect(launcher.orders).toHaveLength(1)
  })

  test('a launch that was held up for longer than its lease starts nothing', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const { promise, resolve } = Promise.withResolvers<void>()
    const id = await submit('t1')
    const stalled = await orchestrator({
      slots: 1,
      at: (point) => (point === 'reserved' ? promise : undefined),
      services: ['launch'],
    })
    await clock.advance(1_000)
    await orchestrator({ slots: 1 })
    await clock.advance(LEASE_MS + 1_500)
    expect(launcher.orders).toHaveLength(1)
    resolve()
    await clock.advance(1_000)
    expect(launcher.orders).toHaveLength(1)
    expect(stalled.errors).toHaveLength(1)
    expect(await taskOf(engine, id)).toMatchObject({ attempt: 1, deferrals: 0, state: { status: 'running' } })
  })

  test('what another process is about to launch is left to it', async () => {
    const { clock, launcher, orchestrator, submit } = await launching()
    await submit('t1')
    await orchestrator({ crashesAt: 'reserved', services: ['launch'] })
    await clock.advance(100)
    await orchestrator()
    await clock.advance(10_000)
    expect(launcher.lookedAt).toEqual([])
  })

  test('what another process looks after is not asked for', async () => {
    const { clock, orchestrator, submit } = await launching()
    const first = await orchestrator()
    await submit('t1')
    await clock.advance(100)
    const second = await orchestrator()
    await clock.advance(60_000)
    expect(first.ledger.taken).toBe(1)
    expect(second.ledger.taken).toBe(0)
  })

  test('after trouble with the store, other processes may renew first', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    let isDown = false
    const flaky: Engine = {
      ...engine,
      launches: (query) => (isDown ? Promise.reject(new StoreBusyError('down')) : engine.launches(query)),
    }
    const id = await submit('t1')
    await orchestrator({ services: ['launch'] })
    await clock.advance(100)
    // On another host: the launcher here knows nothing of it.
    launcher.see('t1:1', { status: 'vanished' })
    await orchestrator({ engine: flaky, services: ['reconcile'] })
    await clock.advance(100)
    isDown = true
    await clock.advance(LEASE_MS)
    isDown = false
    await clock.advance(4_500)
    expect((await taskOf(engine, id)).losses).toBe(0)
    await clock.advance(6_000)
    expect((await taskOf(engine, id)).losses).toBe(1)
  })

  test('what nobody can tell of any more is lost when its time is over', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const id = await submit('t1', { settings: { timeoutMs: 60_000 } })
    await orchestrator({ services: ['launch'] })
    await clock.advance(100)
    launcher.see('t1:1', { status: 'unknown' })
    await orchestrator({ services: ['reconcile'] })
    await clock.advance(60_000)
    expect((await taskOf(engine, id)).losses).toBe(0)
    await clock.advance(10_000)
    expect((await taskOf(engine, id)).losses).toBe(1)
  })
})

test('A16: a callback resolves exactly the attempt whose token it carries, also with two alive', async () => {
  const { engine, clock, launcher, orchestrator, submit } = await launching()
  await orchestrator()
  const id = await submit('t1', { settings: { maxRetries: 3 } })
  await clock.advance(100)
  // The first attempt's worker lives on, unseen, though its attempt is lost.
  launcher.see('t1:1', { status: 'vanished' })
  await clock.advance(40_000)
  const [first, second] = launcher.orders
  expect([first?.key, second?.key]).toEqual(['t1:1', 't1:2'])
  const credentials = await openLeaseCredentials(engine)
  const callback = async (attempt: number, credential = '') => {
    const ref = credentials.read({ taskId: id, attempt, credential })
    return ref === null ? 'not its credential' : (await engine.settle([succeeded(ref, null)]))[0]
  }
  expect(await callback(1, first?.token)).toMatchObject({ outcome: 'superseded', because: 'lost' })
  expect(await callback(2, first?.token)).toBe('not its credential')
  expect((await taskOf(engine, id)).state.status).toBe('running')
  expect(await callback(2, second?.token)).toMatchObject({ outcome: 'settled', status: 'succeeded' })
  await clock.advance(2_000)
  // Whoever called back is not needed any more.
  expect(launcher.ended).toMatchObject([{ key: 't1:2' }])
  expect((await taskOf(engine, id)).state.status).toBe('succeeded')
})

test('A15, intruder 7: whoever looks after a crash asks with the very credential that the order had', async () => {
  const { clock, launcher, orchestrator, submit } = await launching()
  await submit('t1')
  await orchestrator({ services: ['launch'], crashesAt: 'launched' })
  await clock.advance(100)
  const [order] = launcher.orders
  await orchestrator({ services: ['reconcile'] })
  await clock.advance(40_000)
  expect(launcher.lookedAt).toContain('t1:1')
  expect(new Set(launcher.lookedFor)).toEqual(new Set([order?.token]))
})

test('a page of many launches is looked at in parts, each once', async () => {
  const { engine, clock, launcher, orchestrator, submit } = await launching()
  for (let number = 0; number < 450; number++) await submit(`t${number}`)
  await orchestrator({ slots: 450 })
  await clock.advance(5_000)
  expect(launcher.orders).toHaveLength(450)
  for (const { key } of launcher.orders) launcher.finish(key, { ok: true, result: null }, 'quietly')
  await clock.advance(2_500)
  expect(await engine.counts({ pool: POOL })).toMatchObject({ succeeded: 450, running: 0 })
  expect((await engine.task('t0' as TaskId))?.attempt).toBe(1)
})
