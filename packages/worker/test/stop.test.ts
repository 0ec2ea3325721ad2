// Stopping: what runs is drained or released within the grace time, and nothing needs to be rescued afterwards.

import { EventEmitter } from 'node:events'
import { StoreBusyError } from '@reprise/core'
import { createWorker, defineAction, stopOnSignals, type WorkerState, type WorkerStats } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp, taskOf } from './fixture.ts'

function heldAction() {
  const hold = Promise.withResolvers<string>()
  const events: string[] = []
  const action = defineAction({
    name: 'held',
    timeout: '1h',
    async run(_: null, { signal }) {
      events.push('started')
      signal.addEventListener('abort', () => events.push('aborted'))
      return hold.promise
    },
  })
  return { action, hold, events }
}

test('a graceful stop lets running handlers finish and claims nothing more', async () => {
  const { action, hold, events } = heldAction()
  const { client, clock, worker, engine } = await setUp({ actions: [action], concurrency: 1 })
  const [first, second] = await client.submitMany(action, [null, null])
  await clock.advance(10)
  const states: WorkerState[] = [worker.state]
  const stopping = worker.stop({ grace: '30s' })
  states.push(worker.state)
  await clock.advance(20_000)
  expect((await engine.workers()).items).toMatchObject([{ draining: true }])
  hold.resolve('done')
  await stopping
  states.push(worker.state)
  expect(states).toEqual(['running', 'draining', 'stopped'])
  expect(await first?.result()).toBe('done')
  expect((await second?.get())?.state.status).toBe('queued')
  expect(events).toEqual(['started'])
  expect((await engine.workers()).items).toEqual([])
  await worker.drained
  // At rest: no timer of it is left.
  expect(clock.nextAt()).toBeNull()
})

test('fault 26: at the end of the grace time signals fire first, then what is left is released', async () => {
  const { action, events } = heldAction()
  const { client, clock, worker, engine } = await setUp({ actions: [action] })
  const task = await client.submit(action, null)
  await clock.advance(10)
  const stopping = worker.stop({ grace: '10s' })
  await clock.advance(8_900)
  expect(events).toEqual(['started'])
  await clock.advance(200)
  expect(events).toEqual(['started', 'aborted'])
  expect((await taskOf(client, task.id)).state.status).toBe('running')
  await clock.advance(1_000)
  await stopping
  expect(worker.stats()).toMatchObject({ released: 1, abandoned: 1 })
  expect(await taskOf(client, task.id)).toMatchObject({
    attempt: 0,
    failures: 0,
    losses: 0,
    state: { status: 'queued' },
  })
  const types = (await engine.journal.read()).entries.map(({ type }) => type)
  expect(types).toEqual(['worker.joined', 'execution.released', 'worker.left'])
})

test('a handler that ends because of the signal is released, one that still finishes has succeeded', async () => {
  const polite = defineAction({
    name: 'polite',
    run: (input: 'throws' | 'finishes', { signal }) =>
      new Promise<string>((resolve, reject) => {
        signal.addEventListener('abort', () => {
          if (input === 'throws') reject(new Error('stopped half-way'))
          else resolve('just made it')
        })
      }),
  })
  const { client, clock, worker } = await setUp({ actions: [polite] })
  const throws = await client.submit(polite, 'throws')
  const finishes = await client.submit(polite, 'finishes')
  await clock.advance(10)
  const stopping = worker.stop({ grace: '10s' })
  await clock.advance(9_001)
  await stopping
  expect((await taskOf(client, throws.id)).state.status).toBe('queued')
  expect(await finishes.result()).toBe('just made it')
  expect(worker.stats()).toMatchObject({ released: 1, succeeded: 1, failed: 0 })
})

test('a signal, or a second stop, ends the grace time early', async () => {
  const { action, events } = heldAction()
  const { client, clock, worker } = await setUp({ actions: [action] })
  const task = await client.submit(action, null)
  await clock.advance(10)
  const controller = new AbortController()
  const stopping = worker.stop({ grace: '1h', signal: controller.signal })
  await clock.advance(1_000)
  controller.abort()
  await clock.advance(1)
  expect(events).toContain('aborted')
  expect((await taskOf(client, task.id)).state.status).toBe('running')
  void worker.stop({ grace: 0 })
  await stopping
  expect((await taskOf(client, task.id)).state.status).toBe('queued')
  expect(worker.state).toBe('stopped')
  expect(clock.nextAt()).toBeNull()
})

test('what a claim brings after the stop goes back untouched', async () => {
  const { action, events } = heldAction()
  const { client, clock, worker, engine } = await setUp({ actions: [action] })
  await clock.advance(10)
  let stopping: Promise<void> | undefined
  engine.faultAfter = (verb) => {
    if (verb === 'claim') stopping ??= worker.stop()
  }
  const task = await client.submit(action, null)
  await clock.advance(10)
  await stopping
  expect(events).toEqual([])
  expect(worker.stats().released).toBe(1)
  expect((await taskOf(client, task.id)).state.status).toBe('queued')
})

test('a store that is away delays the stop until the settlement is in', async () => {
  const { action, hold } = heldAction()
  const { client, clock, worker, engine } = await setUp({ actions: [action] })
  const task = await client.submit(action, null)
  await clock.advance(10)
  engine.fault = (verb) => {
    if (verb.startsWith('settle')) throw new StoreBusyError('down')
  }
  hold.resolve('done')
  const stopping = worker.stop()
  await clock.advance(5_000)
  expect(worker.state).toBe('draining')
  expect(worker.stats().unsettled).toBe(1)
  engine.fault = () => {}
  await clock.advance(3_000)
  await stopping
  expect(await task.result()).toBe('done')
})

test('a store that stays away does not delay it for ever', async () => {
  const { action, hold } = heldAction()
  const { client, clock, worker, engine } = await setUp({ actions: [action], sweep: false })
  await client.submit(action, null)
  await clock.advance(10)
  engine.fault = () => {
    throw new StoreBusyError('down')
  }
  hold.resolve('done')
  const stopping = worker.stop()
  await clock.advance(20_000)
  await stopping
  expect(worker.state).toBe('stopped')
  expect(worker.stats().unsettled).toBe(1)
})

test('an engine that is closed under it stops it, with one error', async () => {
  const { action, events } = heldAction()
  const { client, clock, worker, engine, errors } = await setUp({ actions: [action], sweep: false })
  await client.submit(action, null)
  await clock.advance(10)
  await engine.close()
  await clock.advance(6_000)
  await worker.drained
  expect(worker.state).toBe('stopped')
  expect(errors).toMatchObject([{ code: 'REPRISE_STORE_CLOSED' }])
  expect(events).toEqual(['started', 'aborted'])
})

test('an engine that was opened for it is closed with it', async () => {
  const action = defineAction({ name: 'noop', run: () => {} })
  const worker = await createWorker({ engine: 'sqlite::memory:', actions: [action] })
  await worker.stop()
  expect(worker.state).toBe('stopped')
  await worker.stop()
  await worker.drained
})

test('stopOnSignals: the first signal stops gracefully, the second at once; then the hooks are gone', async () => {
  const source = Object.assign(new EventEmitter(), { exit: () => calls.push('exit') })
  const calls: unknown[] = []
  const stopped = Promise.withResolvers<void>()
  stopOnSignals(
    {
      stop(options) {
        calls.push(options)
        return stopped.promise
      },
      stats: () => ({ abandoned: 0 }) as WorkerStats,
    },
    source,
  )
  source.emit('SIGHUP')
  source.emit('SIGINT')
  expect(calls).toEqual([undefined, { grace: 0 }])
  stopped.resolve()
  await stopped.promise
  await Promise.resolve()
  expect(['SIGTERM', 'SIGINT', 'SIGHUP'].map((name) => source.listenerCount(name))).toEqual([0, 0, 0])
})
