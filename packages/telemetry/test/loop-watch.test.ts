// The watch on the event loop: who held it, for how long, and what is said about it.

import { type Engine, type Logger, systemClock, Turns } from '@reprise/core'
import { LOOP_HELD_MS_MAX, LoopWatch, metricsText } from '@reprise/telemetry'
import { expect, test } from 'vitest'
import { aRegistry, openStore } from './fixture.ts'

const aTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Works on the loop, for twice as long as anybody may if not told otherwise. */
function hold(ms = 2 * LOOP_HELD_MS_MAX): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function aWatch() {
  const lines: unknown[] = []
  const metrics = aRegistry()
  const say = (_message: string, fields?: unknown): void => void lines.push(fields)
  const log: Logger = { debug: say, info: say, warn: say, error: say }
  return { watch: new LoopWatch({ metrics, log }), metrics, lines }
}

test('a request that holds the loop is counted and logged under its route, once for each route in a while', async () => {
  const { watch, metrics, lines } = aWatch()
  for (let time = 0; time < 3; time++) {
    watch.mark('GET /slow')
    hold()
    await aTurn()
    await aTurn()
  }
  expect(watch.read()).toMatchObject({ held: 3, longest: { route: 'GET /slow' } })
  expect(watch.read().longest?.ms).toBeGreaterThanOrEqual(2 * LOOP_HELD_MS_MAX)
  expect(lines).toMatchObject([{ event: 'loop.held', route: 'GET /slow' }])
  expect(await metricsText(metrics)).toContain('reprise_loop_held_total{route="GET /slow"} 3')
  watch.forget()
  expect(watch.read()).toMatchObject({ held: 0, longest: null })
})

test('work after an answer of the store belongs to the route that asked', async () => {
  const { watch } = aWatch()
  const { engine } = await openStore()
  const watched: Engine = watch.watched(engine)
  const quick = watch.run('GET /quick', () => watched.now())
  const slow = watch.run('GET /slow', async () => {
    await watched.now()
    hold()
    await watched.now()
  })
  await Promise.all([quick, slow])
  await aTurn()
  const { longest } = watch.read()
  expect(longest?.route).toBe('GET /slow')
  expect(longest?.ms).toBeGreaterThanOrEqual(2 * LOOP_HELD_MS_MAX)
})

test('what a request does between answers of the store is one piece while the loop has not turned', async () => {
  const { watch } = aWatch()
  const { engine } = await openStore()
  const watched = watch.watched(engine)
  await watch.run('GET /many', async () => {
    for (let time = 0; time < 4; time++) {
      await watched.now()
      hold(LOOP_HELD_MS_MAX / 2)
    }
  })
  await aTurn()
  const { longest, maxWorkMs } = watch.read()
  expect(longest?.route).toBe('GET /many')
  expect(longest?.ms).toBeGreaterThanOrEqual(2 * LOOP_HELD_MS_MAX)
  expect(maxWorkMs).toBeGreaterThan(0)
})

test('what two requests do in one turn is told apart', async () => {
  const { watch } = aWatch()
  const startedAt = performance.now()
  for (let time = 0; time < 50; time++) watch.run('GET /one', () => hold(LOOP_HELD_MS_MAX / 4))
  const allMs = performance.now() - startedAt
  await aTurn()
  expect(watch.read().longest?.ms).toBeLessThan(allMs * 0.75)
})

test('a commit for many is the work of the store', async () => {
  const { watch, lines } = aWatch()
  const commit = (): Promise<unknown> =>
    new Promise((resolve) => {
      setImmediate(() => {
        hold()
        resolve([])
      })
    })
  const watched = watch.watched({ submit: commit } as unknown as Engine)
  await watch.run('POST /tasks', () => watched.submit([]))
  await aTurn()
  expect(lines).toContainEqual(expect.objectContaining({ event: 'loop.held', route: 'store: submit' }))
})

test('waiting for a store elsewhere is nobody’s work', async () => {
  const { watch } = aWatch()
  const far = (): Promise<unknown> => new Promise((resolve) => void setTimeout(resolve, 2 * LOOP_HELD_MS_MAX))
  const watched = watch.watched({ submit: far } as unknown as Engine)
  await watch.run('POST /tasks', () => watched.submit([]))
  await aTurn()
  expect(watch.read().longest?.route).not.toBe('store: submit')
})

test('work after a turn that was left to others belongs to the request', async () => {
  const { watch } = aWatch()
  const turns = new Turns(systemClock)
  watch.watchTurns(turns)
  await watch.run('GET /paced', async () => {
    await turns.wait()
    hold()
  })
  await aTurn()
  expect(watch.read().longest?.ms).toBeGreaterThanOrEqual(2 * LOOP_HELD_MS_MAX)
})

test('time in which the thread did nothing is no work of it', async () => {
  const { watch } = aWatch()
  watch.mark('GET /blocked')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10 * LOOP_HELD_MS_MAX)
  await aTurn()
  await aTurn()
  const { longest, maxWorkMs } = watch.read()
  expect(longest?.ms).toBeGreaterThanOrEqual(9 * LOOP_HELD_MS_MAX)
  expect(maxWorkMs).toBeLessThan((longest?.ms ?? 0) / 2)
})

test('work of no request is nobody’s, and shows in the delay of the loop', async () => {
  const { watch } = aWatch()
  watch.open()
  watch.mark('GET /quick')
  await aTurn()
  await aTurn()
  const held = (): number => {
    hold()
    return watch.read().maxDelayMs
  }
  await expect.poll(held).toBeGreaterThanOrEqual(LOOP_HELD_MS_MAX)
  expect(watch.read().held).toBe(0)
  watch.close()
})
