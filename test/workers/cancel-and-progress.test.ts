// What passes between a running handler and the rest of the world, on every engine: a cancel reaches the handler, and its
// progress can be seen, both within a second.

import { createClient } from '@reprise/client'
import type { Engine } from '@reprise/core'
import { type AnyAction, createWorker, defineAction, silentLogger } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { STORES, twoOpenings } from './stores.ts'

/** Counts the renewals of leases. */
function counted(engine: Engine) {
  const count = { renewals: 0, leases: 0 }
  const renew: Engine['renew'] = (leases, leaseMs) => {
    count.renewals++
    count.leases += leases.length
    return engine.renew(leases, leaseMs)
  }
  const observed = new Proxy(engine, {
    get(target, key) {
      if (key === 'renew') return renew
      const member: unknown = Reflect.get(target, key)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  return { observed, count }
}

/** A handler that runs until it is told to stop. */
function endless() {
  const stopped = Promise.withResolvers<unknown>()
  const started = Promise.withResolvers<void>()
  const action = defineAction({
    name: 'endless',
    timeout: '1h',
    run(_: null, { signal, progress }) {
      signal.addEventListener('abort', () => stopped.resolve(signal.reason))
      progress(0.25, 'a quarter')
      started.resolve()
      return new Promise<never>(() => {})
    },
  })
  return { action, stopped: stopped.promise, started: started.promise }
}

async function working(kind: (typeof STORES)[number], action: AnyAction) {
  const { clock, here, there } = await twoOpenings(kind)
  const { observed, count } = counted(here)
  const worker = await createWorker({ engine: observed, clock, actions: [action], log: silentLogger, sweep: false })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const client = await createClient({ engine: there, clock })
  onTestFinished(() => client.close())
  return { clock, client, count }
}

describe.each(STORES)('on %s', (kind) => {
  test('a cancel in another process reaches a handler that runs, without the clock moving on', async () => {
    const { action, started, stopped } = endless()
    const { clock, client } = await working(kind, action)
    const task = await client.submit(action, null)
    await started
    await clock.advance(700)
    await task.cancel()
    expect(String(await stopped)).toContain('(cancelled)')
  })

  test('a cancel right after the start reaches the handler within a second', async () => {
    const { action, started, stopped } = endless()
    const { clock, client } = await working(kind, action)
    const task = await client.submit(action, null)
    await started
    await task.cancel()
    await clock.advance(1_000)
    expect(String(await stopped)).toContain('(cancelled)')
  })

  test('progress is seen within a second', async () => {
    const { action, started } = endless()
    const { clock, client } = await working(kind, action)
    const task = await client.submit(action, null)
    await started
    await clock.advance(1_000)
    const { state } = await client.getTask({ id: task.id })
    expect(state).toMatchObject({ status: 'running', progress: { fraction: 0.25, note: 'a quarter' } })
  })

  test('a quiet handler costs no more renewals than its lease needs', async () => {
    const started = Promise.withResolvers<void>()
    const action = defineAction({
      name: 'endless',
      timeout: '1h',
      run() {
        started.resolve()
        return new Promise<never>(() => {})
      },
    })
    const { clock, client, count } = await working(kind, action)
    await client.submit(action, null)
    await started.promise
    count.renewals = 0
    // A lease of 15 s is renewed every 5 s.
    await clock.advance(30_000)
    expect(count.renewals).toBeLessThanOrEqual(8)
  })
})
