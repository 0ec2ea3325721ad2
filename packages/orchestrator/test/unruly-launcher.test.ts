// A launcher is somebody else's code: one that hangs, throws or talks nonsense must not stop the pool, nor a stop.

import type { LaunchRef, LaunchSighting } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import type { FakeLauncher } from './fake-launcher.ts'
import { taskOf } from './fixture.ts'
import { launching } from './launching.ts'

const forever = new Promise<never>(() => undefined)
const idOf = ({ key }: { readonly key: string }): string => key.split(':')[0] ?? ''
const isOf = (ref: LaunchRef, id: string): boolean => idOf(ref) === id

describe('A3: a launch that never comes back', () => {
  test('is a failed one soon after its order is void: put off, counted, its slot free, its signal fired', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    const signals: AbortSignal[] = []
    const plain = launcher.launch.bind(launcher)
    launcher.launch = (order, signal) => {
      if (order.taskId !== 'hung') return plain(order, signal)
      signals.push(signal)
      return forever
    }
    const { ledger } = await orchestrator({ slots: 1, maxLaunchFailures: 2 })
    const id = await submit('hung', { settings: { maxRetries: 0 } })
    await clock.advance(13_000)
    const next = await submit('next')
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running' })
    expect(ledger.free).toBe(0)
    await clock.advance(1_200)
    expect(await taskOf(engine, id)).toMatchObject({
      deferrals: 1,
      state: { status: 'waiting', reason: 'worker_unavailable' },
    })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(launcher.orders.map(idOf)).toEqual([next])
    launcher.finish(launcher.orders[0]?.key ?? '', { ok: true, result: null })
    await clock.advance(20_000)
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'dead' })
    expect(ledger.taken).toBe(0)
  })

  test('and one that comes back later still: its worker is ended and forgotten', async () => {
    const { clock, launcher, orchestrator, submit } = await launching()
    const late = Promise.withResolvers<{ handle: string }>()
    let launches = 0
    launcher.launch = () => (launches++ === 0 ? late.promise : forever)
    await orchestrator({ slots: 1 })
    await submit('t1')
    await clock.advance(14_200)
    late.resolve({ handle: 'late' })
    await clock.advance(1)
    expect(launcher.ended).toMatchObject([{ handle: 'late' }])
    expect(launcher.forgotten).toMatchObject([{ handle: 'late' }])
    // The next try hangs as well: it must be over before the stop at the end.
    await clock.advance(15_000)
  })

  test('does not hold up a stop beyond a few seconds; its reservation stands until its lease ends', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    launcher.launch = () => forever
    const { stop } = await orchestrator({ slots: 1 })
    const id = await submit('t1')
    await clock.advance(100)
    let hasStopped = false
    const stopping = stop().then(() => {
      hasStopped = true
    })
    await clock.advance(2_000)
    expect(hasStopped).toBe(false)
    await clock.advance(1_500)
    await stopping
    expect((await taskOf(engine, id)).state).toMatchObject({ status: 'running', handle: null })
  })
})

describe('A11: a look that goes wrong for one launch', () => {
  const ways: Readonly<Record<string, (launcher: FakeLauncher) => void>> = {
    'it throws': (launcher) => {
      const plain = launcher.look.bind(launcher)
      launcher.look = async (refs) => {
        if (refs.some((ref) => isOf(ref, 'bad'))) throw new Error('no such run')
        return plain(refs)
      }
    },
    'it hangs': (launcher) => {
      const plain = launcher.look.bind(launcher)
      launcher.look = (refs) => (refs.some((ref) => isOf(ref, 'bad')) ? forever : plain(refs))
    },
    'an unknown status': saying({ status: 'banana' }),
    nothing: saying(null),
    'an end without an outcome': saying({ status: 'ended', handle: 'h' }),
    'a result that is no JSON': saying({ status: 'ended', handle: 'h', outcome: { ok: true, result: '{not json' } }),
    'a result that is no text': saying({ status: 'ended', handle: 'h', outcome: { ok: true, result: { a: 1 } } }),
    'a worker without a handle': saying({ status: 'running' }),
  }

  function saying(nonsense: unknown) {
    return (launcher: FakeLauncher): void => {
      const plain = launcher.look.bind(launcher)
      launcher.look = async (refs) => {
        const seen = await plain(refs)
        return refs.map((ref, index) => (isOf(ref, 'bad') ? nonsense : seen[index]) as LaunchSighting)
      }
    }
  }

  test.each(Object.entries(ways))('%s: the others are settled, and it times out', async (_, spoil) => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    spoil(launcher)
    const { errors, stop } = await orchestrator()
    const bad = await submit('bad', { settings: { timeoutMs: 60_000, maxRetries: 0 } })
    const good = await submit('good')
    await clock.advance(100)
    const key = launcher.orders.find(({ taskId }) => taskId === good)?.key ?? ''
    launcher.finish(key, { ok: true, result: null }, 'quietly')
    await clock.advance(10_000)
    expect((await taskOf(engine, good)).state.status).toBe('succeeded')
    expect((await taskOf(engine, bad)).state.status).toBe('running')
    expect(errors).toHaveLength(1)
    await clock.advance(65_000)
    expect(await engine.execution(bad, 1)).toMatchObject({ status: 'failed', errorCode: 'timeout' })
    expect(launcher.ended.map(idOf)).toEqual(['bad'])
    await stop()
  })

  test('one that can not be ended either is failed once even its time-out is over', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    launcher.end = () => forever
    const { ledger } = await orchestrator()
    const id = await submit('t1', { settings: { timeoutMs: 20_000, maxRetries: 0 } })
    await clock.advance(70_000)
    expect(await engine.execution(id, 1)).toMatchObject({ status: 'failed', errorCode: 'timeout' })
    expect(ledger.taken).toBe(0)
  })

  test('a stop does not wait for it', async () => {
    const { clock, launcher, orchestrator, submit } = await launching()
    const asked = Promise.withResolvers<void>()
    launcher.look = () => {
      asked.resolve()
      return forever
    }
    const { reconcile } = await orchestrator()
    await submit('t1')
    await clock.advance(1_500)
    await asked.promise
    await expect(reconcile.stop()).resolves.toBeUndefined()
  })

  test('a launcher whose hints throw is used without them', async () => {
    const { engine, clock, launcher, orchestrator, submit } = await launching()
    launcher.onEnded = () => {
      throw new Error('no hints today')
    }
    await orchestrator()
    const id = await submit('t1')
    await clock.advance(100)
    launcher.finish(launcher.orders[0]?.key ?? '', { ok: true, result: null })
    await clock.advance(2_000)
    expect((await taskOf(engine, id)).state.status).toBe('succeeded')
  })
})
