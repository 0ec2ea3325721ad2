// The test kit, as a user of Reprise would use it.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { sleep } from '@reprise/core'
import { createTestKit, type TestKit, type TestKitOptions, VirtualClock } from '@reprise/testing'
import { defineAction, TransientError } from '@reprise/worker'
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'

async function kitFor(options: TestKitOptions): Promise<TestKit> {
  const kit = await createTestKit(options)
  onTestFinished(() => kit.close())
  return kit
}

const double = defineAction({ name: 'double', run: (input: number) => input * 2 })

test('runs tasks to their end, also those that are due in a month', async () => {
  const kit = await kitFor({ actions: [double] })
  const startedAt = kit.clock.now()
  const now = await kit.client.submit(double, 1)
  const later = await kit.client.submit(double, 2, { delay: '25d' })
  await kit.runUntilIdle()
  const result = await kit.expectSucceeded(now)
  expectTypeOf(result).toEqualTypeOf<number>()
  expect([result, await kit.expectSucceeded(later)]).toEqual([2, 4])
  expect(kit.clock.now() - startedAt).toBeGreaterThanOrEqual(25 * 86_400_000)
})

test('retries, timeouts and queue TTLs pass in no time', async () => {
  const flaky = defineAction({
    name: 'flaky',
    retry: { max: 2, backoff: { kind: 'fixed', delayMs: 3_600_000, jitter: 0 } },
    async run(_: null, { attempt }) {
      if (attempt < 3) throw new TransientError(`attempt ${attempt}`)
      return attempt
    },
  })
  const stuck = defineAction({ name: 'stuck', timeout: '2m', run: () => new Promise<never>(() => {}) })
  const expiring = defineAction({ name: 'expiring', queueTtl: '10m', pool: 'nobody' })
  const kit = await kitFor({ actions: [flaky, stuck, double] })
  const [retried, timedOut] = [await kit.client.submit(flaky, null), await kit.client.submit(stuck, null)]
  const expired = await kit.client.submit(expiring, { page: 4 })
  await kit.runUntilIdle()
  expect(await kit.expectSucceeded(retried)).toBe(3)
  expect((await kit.executionsOf(retried)).map(({ status }) => status)).toEqual(['failed', 'failed', 'succeeded'])
  await kit.expectDead(timedOut, { reason: 'retries_exhausted', code: 'timeout' })
  expect(await kit.expectDead(expired, { code: 'queue_timeout' })).toMatchObject({ failures: 1, payload: { page: 4 } })
})

test('handlers may wait for the clock of the kit, and for the real world', async () => {
  const virtual = defineAction({ name: 'virtual', timeout: '1d', run: () => sleep(kit.clock, 3_600_000) })
  const real = defineAction({
    name: 'real',
    timeout: '1s',
    async run() {
      const text = await readFile(fileURLToPath(import.meta.url), 'utf8')
      return text.includes('this very sentence')
    },
  })
  const kit = await kitFor({ actions: [virtual, real] })
  const [onClock, onDisk] = [await kit.client.submit(virtual, null), await kit.client.submit(real, null)]
  await kit.runUntilIdle()
  expect(await kit.expectSucceeded(onClock)).toBeNull()
  expect(await kit.expectSucceeded(onDisk)).toBe(true)
})

test('says what is stuck, and why', async () => {
  const kit = await kitFor({ actions: [double] })
  await kit.engine.pause({ action: double.name }, { actor: 'operator:ann', reason: 'maintenance' })
  await kit.client.submit(double, 1, { id: 'held-back' })
  await kit.client.submit('somebody-elses', null, { id: 'unknown-action' })
  const running = kit.runUntilIdle()
  await expect(running).rejects.toThrow('Tasks have not ended, and nothing changes any more (2):')
  await expect(running).rejects.toThrow(
    "- held-back (double, queued): Action 'double' is paused by operator:ann: maintenance",
  )
  await expect(running).rejects.toThrow(
    "- unknown-action (somebody-elses, queued): No worker in pool 'default' runs action",
  )
})

test('gives up on a handler that outlasts the time it may take', async () => {
  const endless = defineAction({ name: 'endless', timeout: '1d', run: () => new Promise<never>(() => {}) })
  const kit = await kitFor({ actions: [endless] })
  await kit.client.submit(endless, null, { id: 'stubborn' })
  await expect(kit.runUntilIdle({ within: '1m', patience: 5 })).rejects.toThrow(
    '- stubborn (endless, running): Attempt 1',
  )
})

test('advance moves just so far', async () => {
  const kit = await kitFor({ actions: [double] })
  const task = await kit.client.submit(double, 5, { delay: '1m' })
  await kit.advance('59s')
  await expect(kit.expectSucceeded(task)).rejects.toThrow('should be succeeded, but is waiting')
  await kit.advance('1s')
  expect(await kit.expectSucceeded(task)).toBe(10)
})

test('expectations that are not met tell what happened', async () => {
  const broken = defineAction({
    name: 'broken',
    async run() {
      throw new TypeError('a bug')
    },
  })
  const kit = await kitFor({ actions: [broken, double] })
  const task = await kit.client.submit(broken, null, { id: 'b' })
  const fine = await kit.client.submit(double, 1)
  await kit.runUntilIdle()
  await expect(kit.expectSucceeded(task)).rejects.toThrow(
    "Task 'b' of action 'broken' should be succeeded, but is dead (not_retriable, unknown): a bug",
  )
  await expect(kit.expectDead(task, { reason: 'crash_loop' })).rejects.toThrow('should be dead (crash_loop, unknown)')
  await expect(kit.expectDead(fine)).rejects.toThrow('should be dead, but is succeeded')
  await expect(kit.expectDead('nowhere')).rejects.toThrow("There is no task 'nowhere'.")
})

test('the same seed gives the same run', async () => {
  const dueTimes = async (seed: number): Promise<number[]> => {
    const failing = defineAction({
      name: 'failing',
      retry: { max: 3 },
      async run() {
        throw new TransientError('again')
      },
    })
    const kit = await createTestKit({ actions: [failing], seed })
    const task = await kit.client.submit(failing, null)
    await kit.runUntilIdle()
    const executions = await kit.executionsOf(task)
    await kit.close()
    return executions.map(({ dispatchedAt }) => dispatchedAt)
  }
  const [first, second, third] = [await dueTimes(1), await dueTimes(1), await dueTimes(2)]
  expect(second).toEqual(first)
  expect(third).not.toEqual(first)
})

test('C9: an outage in virtual time: parked while the breaker is open, done when it is over', async () => {
  let isDown = true
  const charge = defineAction({
    name: 'charge',
    uses: ['stripe'],
    breaker: { minFailures: 1, open: '30s', maxOpen: '1h' },
    async run() {
      if (isDown) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      return 'charged'
    },
  })
  const kit = await kitFor({ actions: [charge, double] })
  await kit.expectBreaker('dependency:stripe', 'closed')
  const task = await kit.client.submit(charge, null, { id: 'c' })
  const fine = await kit.client.submit(double, 1, { id: 'd' })
  await kit.advance('1s')
  expect(await kit.expectParked(task)).toMatchObject({ parks: 1, failures: 0 })
  expect(await kit.expectBreaker('dependency:stripe', 'open')).toMatchObject({ actions: ['charge'] })
  await expect(kit.expectBreaker('dependency:stripe', 'half_open')).rejects.toThrow(
    "Breaker 'dependency:stripe' should be half_open, but is open",
  )
  await expect(kit.expectParked(fine)).rejects.toThrow("Task 'd' of action 'double' should be parked, but is succeeded")
  // Each round of probes doubles the time it stays open.
  await kit.advance('10m')
  expect((await kit.expectParked(task)).parks).toBeGreaterThan(3)
  isDown = false
  await kit.runUntilIdle()
  expect(await kit.expectSucceeded(task)).toBe('charged')
})

test('B7: policies of the kit decide', async () => {
  const failing = defineAction({
    name: 'failing',
    async run() {
      throw new TransientError('again')
    },
  })
  const policies = { current: () => ({ version: 1, policies: [{ name: 'two', match: {}, retries: 2 }], rules: [] }) }
  const kit = await kitFor({ actions: [failing], policies })
  const task = await kit.client.submit(failing, null)
  await kit.runUntilIdle()
  expect((await kit.expectDead(task, { reason: 'retries_exhausted' })).failures).toBe(3)
})

test('retries hours apart do not make the worker seem slow', async () => {
  const patient = defineAction({
    name: 'patient',
    retry: { max: 10, backoff: { kind: 'fixed', delayMs: 7_200_000, jitter: 0 } },
    async run(_: null, { attempt }) {
      if (attempt <= 10) throw new TransientError('not yet')
      return attempt
    },
  })
  const kit = await kitFor({ actions: [patient] })
  const task = await kit.client.submit(patient, null)
  const startedAt = kit.clock.now()
  await kit.runUntilIdle()
  expect(await kit.expectSucceeded(task)).toBe(11)
  expect((await kit.executionsOf(task)).map(({ dispatchedAt }) => dispatchedAt - startedAt)).toEqual(
    Array.from({ length: 11 }, (_, index) => index * 7_200_000),
  )
})

describe('advance takes no longer for days than for seconds', () => {
  /** How many timers the parts of the kit set meanwhile: at every second some, as long as time ticks. */
  const timersDuring = async (work: () => Promise<void>): Promise<number> => {
    const timers = vi.spyOn(VirtualClock.prototype, 'after')
    try {
      await work()
      return timers.mock.calls.length
    } finally {
      timers.mockRestore()
    }
  }
  const DAY_MS = 86_400_000

  test('with nothing to do, and with a task that is held', async () => {
    const kit = await kitFor({ actions: [double] })
    expect(await timersDuring(() => kit.advance('6d'))).toBeLessThan(500)
    await kit.client.submit('somebody-elses', null)
    const startedAt = kit.clock.now()
    expect(await timersDuring(() => kit.advance('6d'))).toBeLessThan(500)
    expect(kit.clock.now() - startedAt).toBe(6 * DAY_MS)
  })

  test('and meets each retry at its moment', async () => {
    const daily = defineAction({
      name: 'daily',
      retry: { max: 10, backoff: { kind: 'fixed', delayMs: DAY_MS, jitter: 0 } },
      run: () => Promise.reject(new TransientError('not yet')),
    })
    const kit = await kitFor({ actions: [daily] })
    const startedAt = kit.clock.now()
    const task = await kit.client.submit(daily, null)
    expect(await timersDuring(() => kit.advance('6d'))).toBeLessThan(2_000)
    expect((await kit.executionsOf(task)).map(({ dispatchedAt }) => dispatchedAt - startedAt)).toEqual(
      Array.from({ length: 7 }, (_, index) => index * DAY_MS),
    )
  })

  test('and timers of the test and of handlers, which keep their lease meanwhile', async () => {
    const fired: number[] = []
    const slow = defineAction({ name: 'slow', timeout: '7d', run: () => sleep(kit.clock, 3 * DAY_MS) })
    const stuck = defineAction({ name: 'stuck', timeout: '5d', run: () => new Promise<never>(() => {}) })
    const kit = await kitFor({ actions: [slow, stuck] })
    const startedAt = kit.clock.now()
    const [slept, timedOut] = [await kit.client.submit(slow, null), await kit.client.submit(stuck, null)]
    kit.clock.after(DAY_MS, () => fired.push(kit.clock.now() - startedAt))
    kit.clock.after(DAY_MS + 1, () => fired.push(kit.clock.now() - startedAt)).cancel()
    expect(await timersDuring(() => kit.advance('6d'))).toBeLessThan(2_000)
    expect(fired).toEqual([DAY_MS])
    await kit.expectSucceeded(slept)
    await kit.expectDead(timedOut, { code: 'timeout' })
    const ends = [...(await kit.executionsOf(slept)), ...(await kit.executionsOf(timedOut))]
    expect(ends.map(({ resolvedAt }) => (resolvedAt ?? 0) - startedAt)).toEqual([3 * DAY_MS, 5 * DAY_MS])
  })
})
