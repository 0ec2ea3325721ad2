// Policies tried on what really happened: an outage of some minutes, recorded, then judged under a draft and under the version in
// force, on every kind of store.

import { decideFailed, describeFailure, durationMs, failed, succeeded, workerId } from '@reprise/core'
import { afterAll, describe, expect, test } from 'vitest'
import { SkippingClock, STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const policies = (retries: number, step: string): string => `
policies:
  - name: all
    retries: ${retries}
    backoff: { kind: fixed, delay: ${step}, jitter: 0 }
`

const SECONDS = 1_000

/**
 * Five tasks fail at once for a cause that is gone after two minutes, as a sixth shows that tried again. Another one fails of a
 * cause that never goes away.
 */
async function anOutage(kind: (typeof STORES)[number]) {
  const clock = new SkippingClock()
  const { engine, context, call } = await storeWithCaller(kind, clock)
  await context.policies.publish(policies(1, '10s'), 'operator:ann')
  const worker = workerId('w1')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
  // Registered anew each time: a worker that fails much gets little.
  const claim = async () => {
    const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
    return (await engine.claim({ worker, epoch, pools, actions: null, limit: 100, leaseMs: 600_000 })).claimed
  }
  const settle = async (retryIn: (id: string) => number | null): Promise<void> => {
    const settlements = (await claim()).map((one) => {
      const isPoison = one.taskId === 'poison'
      const error = isPoison
        ? new TypeError('no such thing')
        : Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      const failure = describeFailure(error, one.snapshot.action)
      const delayMs = retryIn(one.taskId)
      const base = { settings: one.snapshot.settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0.5 }
      const dead = decideFailed({ ...base, settings: { ...base.settings, maxRetries: 0 } })
      if (delayMs === null) return failed(one, failure, dead)
      const retry = { kind: 'retry', delayMs, reason: 'connection', rule: 'test', sentence: 'Again.' } as const
      return failed(one, failure, retry)
    })
    await engine.settle(settlements)
  }
  const names = ['a', 'b', 'c', 'd', 'e', 'patient', 'poison']
  await engine.submit(names.map((name) => spec(name)))
  await settle((id) => (id === 'poison' ? null : id === 'patient' ? 120 * SECONDS : 10 * SECONDS))
  // The first retry comes too early.
  clock.skip(30 * SECONDS)
  await settle(() => null)
  clock.skip(120 * SECONDS)
  await engine.settle((await claim()).map((one) => succeeded(one, null)))
  return { engine, call, clock }
}

describe.each(STORES)('policies on recorded failures (%s)', (kind) => {
  test('B14: says what would have recovered, and at how many attempts, next to the version in force', async () => {
    const { call, clock } = await anOutage(kind)
    clock.skip(durationMs('5m'))
    const draft = policies(5, '40s')
    const found = (await call(ANN, 'replayPolicies', { text: draft, since: '1h' })) as Record<string, unknown>
    expect(found).toMatchObject({
      tasks: 7,
      sampled: 7,
      isWhole: true,
      actual: { recovered: 1, dead: 6, retries: 6 },
      // One retry after ten seconds: too early for all.
      inForce: { recovered: 0, dead: 7, retries: 6 },
      // Every 40 seconds: the fourth retry comes after the outage.
      draft: { recovered: 6, dead: 1, unknown: 0 },
    })
    expect(found.draft).toHaveProperty('recoveredAfterMs.median')
    expect(found.causes).toMatchObject([
      { code: 'ECONNREFUSED', tasks: 6, draft: { recovered: 6 }, inForce: { recovered: 0 } },
      { tasks: 1, draft: { dead: 1, retries: 0 } },
    ])
  })

  test('is honest where nobody knows, keeps to the period and the action, and is for those who may', async () => {
    const { call, clock } = await anOutage(kind)
    expect(await call(ANN, 'replayPolicies', { since: '1h', action: 'nothing.such' })).toMatchObject({
      tasks: 0,
      draft: null,
    })
    clock.skip(durationMs('2h'))
    expect(await call(ANN, 'replayPolicies', { since: '1h' })).toMatchObject({ tasks: 0, sampled: 0 })
    await expect(call(ANN, 'replayPolicies', { text: 'policies: 7' })).rejects.toMatchObject({
      code: 'REPRISE_INVALID',
    })
    await expect(call(ACME, 'replayPolicies', {})).rejects.toMatchObject({ code: 'REPRISE_FORBIDDEN' })
  })
})
