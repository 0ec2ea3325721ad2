// Waiting for results: each end has its own answer, and any number of waiters share one loop.

import { defineAction } from '@reprise/client'
import { type Engine, StoreBusyError } from '@reprise/core'
import { expect, test, vi } from 'vitest'
import { caught, claimAll, endAll, failAll, setUp } from './fixture.ts'

const work = defineAction({ name: 'work', run: async (input: number) => input })

test('a result comes as soon as the task has ended', async () => {
  const { client, engine } = await setUp()
  const task = await client.submit(work, 1)
  const result = task.result()
  await endAll(engine, { answer: 42 })
  expect(await result).toEqual({ answer: 42 })
  // Asked again, it is there at once; and so it is through a handle by id.
  expect(await client.task(task.id).result({ timeout: 1 })).toEqual({ answer: 42 })
})

test('a dead letter, a cancelled and a discarded task are failures in words', async () => {
  const { client, engine } = await setUp()
  const dead = await client.submit(work, 1)
  await failAll(engine, new TypeError('no such invoice'))
  await expect(dead.result()).rejects.toMatchObject({ code: 'REPRISE_TASK_FAILED', taskStatus: 'dead' })
  await expect(dead.result()).rejects.toThrow('no such invoice')
  await client.discardTasks({ ids: [dead.id] })
  await expect(dead.result()).rejects.toMatchObject({ taskStatus: 'discarded' })
  const cancelled = await client.submit(work, 2)
  const refused = caught(cancelled.result())
  expect(await cancelled.cancel({ reason: 'changed my mind' })).toBe(true)
  expect(await cancelled.cancel()).toBe(false)
  expect(await refused).toMatchObject({ taskStatus: 'cancelled' })
})

test('a dead letter gives advice that would have helped, and none once its retries are used up', async () => {
  const { client, engine, clock } = await setUp()
  const saidOf = async (action: typeof work, error: Error): Promise<string> => {
    const task = await client.submit(action, 1)
    for (let attempt = 1; attempt <= 2; attempt++) {
      await failAll(engine, error)
      await clock.advance(600_000)
    }
    return String(await caught(task.result({ timeout: 1 })))
  }
  expect(await saidOf(work, new Error('no luck'))).toContain('or set retry.max')
  const bug = await saidOf(work, new TypeError('no such field'))
  expect(bug).toContain('A TypeError is most likely a bug')
  expect(bug).not.toContain('retry.max')
  const retried = defineAction({ name: 'retried', retry: { max: 1 }, run: async (input: number) => input })
  expect(await saidOf(retried, new Error('no luck'))).toMatch(/no luck \(unknown, retries_exhausted\)\.$/)
})

test('a wait has an end of its own: a timeout, a signal, a closed client', async () => {
  const { client, clock } = await setUp()
  const task = await client.submit(work, 1)
  const tooLate = caught(task.result({ timeout: '1m' }))
  await clock.advance(60_000)
  const error = await tooLate
  expect(error).toMatchObject({ code: 'REPRISE_TIMED_OUT' })
  expect(String(error)).toContain('within 1m')
  const reason = new Error('enough')
  await expect(task.result({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const controller = new AbortController()
  const aborted = caught(task.result({ signal: controller.signal }))
  controller.abort(reason)
  expect(await aborted).toBe(reason)
  const closed = caught(task.result())
  await client.close()
  expect(await closed).toMatchObject({ code: 'REPRISE_STORE_CLOSED' })
  await expect(task.result()).rejects.toMatchObject({ code: 'REPRISE_STORE_CLOSED' })
})

test('nobody waits for a task that does not exist', async () => {
  const { client } = await setUp()
  await expect(client.task('nowhere').result()).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
})

test('many waiters share one wait, and are all answered', async () => {
  let waits = 0
  let waitsAtOnce = 0
  let maxWaitsAtOnce = 0
  const { client, engine } = await setUp((inner) => ({
    ...inner,
    async wait(...input: Parameters<Engine['wait']>) {
      waits++
      maxWaitsAtOnce = Math.max(maxWaitsAtOnce, ++waitsAtOnce)
      await inner.wait(...input)
      waitsAtOnce--
    },
  }))
  const tasks = await client.submitMany(
    work,
    Array.from({ length: 200 }, (_, index) => index),
  )
  const results = Promise.all([...tasks, ...tasks].map((task) => task.result()))
  await vi.waitFor(() => expect(waits).toBeGreaterThan(0), { timeout: 30_000 })
  await endAll(engine, 'done')
  expect(await results).toEqual(Array.from({ length: 400 }, () => 'done'))
  expect(maxWaitsAtOnce).toBe(1)
  expect(waits).toBeLessThan(10)
})

test('somebody who joins while others wait is heard at once', async () => {
  const { client, engine, clock } = await setUp()
  const first = await client.submit(work, 1, { delay: '1h' })
  const firstResult = caught(first.result())
  await clock.advance(1)
  const second = await client.submit(work, 2)
  const secondResult = second.result()
  await clock.advance(0)
  await endAll(engine, 'second')
  expect(await secondResult).toBe('second')
  await first.cancel()
  expect(await firstResult).toMatchObject({ taskStatus: 'cancelled' })
})

test('while nothing happens, the store is not asked', async () => {
  let reads = 0
  const { client, clock, engine } = await setUp((inner) => ({
    ...inner,
    task(id) {
      reads++
      return inner.task(id)
    },
  }))
  const task = await client.submit(work, 1)
  const result = task.result()
  await clock.advance(60_000)
  // Once at first, then once for each time-out of the wait.
  expect(reads).toBeLessThan(20)
  await endAll(engine, 'done')
  expect(await result).toBe('done')
})

test('a task that ends between looking and waiting is not missed', async () => {
  const { client, engine, clock } = await setUp((inner) => ({
    ...inner,
    async wait(interest, timeoutMs, signal) {
      await endAll(inner, 'just now')
      return inner.wait(interest, timeoutMs, signal)
    },
  }))
  const task = await client.submit(work, 1)
  const startedAt = clock.now()
  expect(await task.result()).toBe('just now')
  expect(clock.now()).toBe(startedAt)
  expect((await engine.counts()).succeeded).toBe(1)
})

test('a retry is not an end', async () => {
  const { client, engine, clock } = await setUp()
  const retried = defineAction({ name: 'retried', retry: { max: 1 }, run: async () => 1 })
  const task = await client.submit(retried, null)
  let ended = false
  const result = task.result().finally(() => {
    ended = true
  })
  await failAll(engine, Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
  await clock.advance(10_000)
  expect(ended).toBe(false)
  await endAll(engine, 'second time')
  expect(await result).toBe('second time')
})

test('an outage of the store is outlived', async () => {
  let isDown = true
  const { client, engine, clock } = await setUp((inner) => ({
    ...inner,
    task: (id) => (isDown ? Promise.reject(new StoreBusyError('down')) : inner.task(id)),
  }))
  const task = await client.submit(work, 1)
  const refused = caught(task.result())
  await clock.advance(10_000)
  expect(await claimAll(engine)).toHaveLength(1)
  isDown = false
  await client.cancelTasks({ ids: [task.id] })
  await clock.advance(5_000)
  expect(await refused).toMatchObject({ taskStatus: 'cancelled' })
})
