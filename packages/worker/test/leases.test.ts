// Leases: renewed while a handler runs, and when one is gone the handler is told and its result changes nothing.

import { StoreBusyError, silentLogger, succeeded, type Task } from '@reprise/core'
import { sweepOnce } from '@reprise/orchestrator'
import { createWorker, defineAction } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { type Setup, setUp, taskOf } from './fixture.ts'

function heldAction() {
  const hold = Promise.withResolvers<string>()
  const reasons: unknown[] = []
  const leases: (() => number)[] = []
  const action = defineAction({
    name: 'held',
    retry: { max: 1 },
    timeout: '1h',
    async run(_: null, { signal, leaseMsLeft }) {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      leases.push(leaseMsLeft)
      return hold.promise
    },
  })
  return { action, hold, reasons, leaseMsLeft: () => leases.map((left) => left()) }
}

const entriesOf = async ({ engine }: Setup, type: string): Promise<number> =>
  (await engine.journal.read({ limit: 1_000 })).entries.filter((entry) => entry.type === type).length

test('a long handler keeps its lease', async () => {
  const { action, hold, reasons } = heldAction()
  const setup = await setUp({ actions: [action] })
  const { client, clock } = setup
  const task = await client.submit(action, null)
  await clock.advance(10 * 60_000)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'running', attempt: 1 })
  hold.resolve('done')
  expect(await task.result()).toBe('done')
  expect(reasons).toEqual([])
  expect(await entriesOf(setup, 'execution.lost')).toBe(0)
})

test('a cancel fires the signal, and the result that comes later changes nothing', async () => {
  const { action, hold, reasons, leaseMsLeft } = heldAction()
  const { client, clock, worker } = await setUp({ actions: [action] })
  const task = await client.submit(action, null)
  await clock.advance(10)
  expect(leaseMsLeft()[0]).toBeGreaterThan(0)
  expect(await task.cancel()).toBe(true)
  await clock.advance(1_000)
  expect(reasons).toMatchObject([{ code: 'REPRISE_SUPERSEDED' }])
  expect(String(reasons[0])).toContain('(cancelled)')
  expect(leaseMsLeft()).toEqual([0])
  expect(worker.stats().inFlight).toBe(0)
  hold.resolve('late')
  await clock.advance(1_000)
  expect((await taskOf(client, task.id)).state.status).toBe('cancelled')
})

test('fault 16: an event loop that was blocked past the lease: another process swept it, and the result is refused', async () => {
  const results: string[] = []
  const seen: (Task['state'] | undefined)[] = []
  const blocking = defineAction({
    name: 'blocking',
    async run(_: null, { attempt, taskId }) {
      if (attempt === 1) {
        // Time passes and no timer of this process fires: that is a blocked loop. Meanwhile another process sweeps.
        clock.jump(60_000)
        await sweepOnce(engine, { next: () => 0 })
        seen.push((await engine.task(taskId))?.state)
      }
      results.push(`attempt ${attempt}`)
      return attempt
    },
  })
  const setup = await setUp({ actions: [blocking], sweep: false })
  const { client, clock, engine, worker } = setup
  const task = await client.submit(blocking, null)
  expect(await task.result()).toBe(2)
  await clock.advance(10)
  expect(seen).toMatchObject([{ status: 'waiting', reason: 'worker_lost' }])
  expect(results).toEqual(['attempt 1', 'attempt 2'])
  expect(worker.stats()).toMatchObject({ succeeded: 1, superseded: 1 })
  expect(await entriesOf(setup, 'execution.superseded')).toBe(1)
})

test('a lease that somebody else took over fires the signal', async () => {
  const { action, hold, reasons } = heldAction()
  const { client, clock, engine } = await setUp({ actions: [action], sweep: false })
  const task = await client.submit(action, null)
  await clock.advance(10)
  const state = (await engine.task(task.id))?.state
  if (state?.status !== 'running') throw new Error('not running')
  await engine.settle([succeeded({ taskId: task.id, attempt: 1, token: state.token }, null)])
  await clock.advance(5_000)
  expect(reasons).toMatchObject([{ code: 'REPRISE_SUPERSEDED' }])
  hold.resolve('late')
  await clock.advance(10)
  expect(await task.result()).toBeNull()
})

test('a machine that stood still for a minute loses nothing: the sweep waits until leases are renewed', async () => {
  const { action, hold, reasons } = heldAction()
  const setup = await setUp({ actions: [action], concurrency: 100 })
  const { client, clock } = setup
  const tasks = await client.submitMany(
    action,
    Array.from({ length: 50 }, () => null),
  )
  await clock.advance(2_000)
  clock.jump(60_000)
  await clock.advance(30_000)
  expect(reasons).toEqual([])
  hold.resolve('done')
  expect(await Promise.all(tasks.map((task) => task.result()))).toHaveLength(50)
  expect(await entriesOf(setup, 'execution.lost')).toBe(0)
})

test('renewals that fail are repeated soon, and lose no progress', async () => {
  const hold = Promise.withResolvers<void>()
  const action = defineAction({
    name: 'reporting',
    async run(_: null, context) {
      context.progress(0.25, 'a quarter')
      await hold.promise
    },
  })
  const { client, clock, engine, errors } = await setUp({ actions: [action], sweep: false })
  const task = await client.submit(action, null)
  engine.fault = (verb) => {
    if (verb === 'renew') throw new StoreBusyError('down')
  }
  await clock.advance(8_000)
  expect(errors.length).toBeGreaterThan(2)
  engine.fault = () => {}
  await clock.advance(2_000)
  expect((await taskOf(client, task.id)).state).toMatchObject({ progress: { fraction: 0.25, note: 'a quarter' } })
  hold.resolve()
  expect(await task.result()).toBeNull()
})

test('fault 18: a worker id that is used again: the older worker drops everything and stops, without an exit', async () => {
  const { action, hold, reasons } = heldAction()
  const { client, clock, engine, worker, errors } = await setUp({ actions: [action] })
  const task = await client.submit(action, null)
  await clock.advance(10)
  const newer = await createWorker({ engine, clock, actions: [action], id: 'w1', log: silentLogger })
  onTestFinished(() => newer.stop({ grace: 0 }))
  await clock.advance(6_000)
  await worker.drained
  expect(worker.state).toBe('stopped')
  expect(errors).toMatchObject([{ code: 'REPRISE_WORKER_FENCED' }])
  expect(reasons).toMatchObject([{ code: 'REPRISE_WORKER_FENCED' }])
  // The newer one runs it now, as the next attempt.
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'running', attempt: 2 })
  hold.resolve('from the newer')
  expect(await task.result()).toBe('from the newer')
  expect(newer.stats().succeeded).toBe(1)
})

test('a replaced worker whose slots are all taken hears of it by its heartbeat', async () => {
  const { action, hold, reasons } = heldAction()
  const { client, clock, engine, worker, errors } = await setUp({ actions: [action], concurrency: 1, lease: '10m' })
  await client.submit(action, null)
  await clock.advance(10)
  const [view] = (await engine.workers()).items
  if (view === undefined) throw new Error('no worker')
  await engine.register(view)
  await clock.advance(5_000)
  await worker.drained
  expect(errors).toMatchObject([{ code: 'REPRISE_WORKER_FENCED' }])
  expect(reasons).toHaveLength(1)
  hold.resolve('late')
})

test('a worker that the store has forgotten registers again', async () => {
  const { action, hold } = heldAction()
  hold.resolve('done')
  const { client, clock, engine, worker, errors } = await setUp({ actions: [action] })
  await clock.advance(100)
  const [view] = (await engine.workers()).items
  await engine.deregister(worker.id, view?.epoch ?? 0)
  const task = await client.submit(action, null)
  expect(await task.result()).toBe('done')
  expect(worker.state).toBe('running')
  expect((await engine.workers()).items[0]?.epoch).not.toBe(view?.epoch)
  expect(errors).toEqual([])
})

test('heartbeats tell how it fares', async () => {
  const { action, hold } = heldAction()
  const { client, clock, engine } = await setUp({
    actions: [action],
    host: 'box-1',
    version: '1.2.3',
    pools: ['default'],
  })
  await client.submit(action, null)
  await clock.advance(11_000)
  expect((await engine.workers()).items).toMatchObject([
    {
      worker: 'w1',
      host: 'box-1',
      version: '1.2.3',
      pools: ['default'],
      actions: ['held'],
      inFlight: 1,
      queueDepth: 0,
      loopLagMs: 0,
      maxQuietMs: 3_600_000,
      outlook: null,
      endpoint: null,
      draining: false,
    },
  ])
  const lagAfterPauses = async (pauses: number): Promise<number> => {
    for (let pause = 0; pause < pauses; pause++) {
      clock.jump(6_000)
      await clock.advance(1)
    }
    await clock.advance(5_000)
    return (await engine.workers()).items[0]?.loopLagMs ?? -1
  }
  expect(await lagAfterPauses(1)).toBe(0)
  expect(await lagAfterPauses(2)).toBeGreaterThan(4_000)
  hold.resolve('done')
})

test('short handlers are not watched for their end, and many long ones that end cost a few renewals a second', async () => {
  const holds: (() => void)[] = []
  const short = defineAction({ name: 'short', run: () => null })
  const long = defineAction({
    name: 'long',
    timeout: '1h',
    run: () => new Promise<void>((resolve) => holds.push(resolve)),
  })
  const { client, clock, engine } = await setUp({ actions: [short, long], concurrency: 100, lease: '10m' })
  const callsOf = (name: string) => engine.calls.filter(({ verb }) => verb === name).length
  const waitsForTasks = () =>
    engine.calls.filter(({ verb, input }) => verb === 'wait' && 'tasks' in Object(input[0])).length
  for (let round = 0; round < 10; round++) {
    await client.submitMany(short, [null, null, null])
    await clock.advance(200)
  }
  expect([waitsForTasks(), callsOf('renew')]).toEqual([0, 0])
  await client.submitMany(
    long,
    Array.from({ length: 80 }, () => null),
  )
  await clock.advance(1_000)
  const before = callsOf('renew')
  for (const release of holds) {
    release()
    await clock.advance(50)
  }
  // 80 ends in 4 s.
  expect(callsOf('renew') - before).toBeLessThanOrEqual(9)
})
