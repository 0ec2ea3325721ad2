// What the journal tells of workers that become unwell and well again: each change once, however many processes look, and nothing
// of a worker that is on the edge.

import type { Engine, JournalEntry, VirtualClock } from '@reprise/core'
import { createHealthWatch } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'
import { beaten, joined, openStore } from './fixture.ts'

const EVERY_MS = 1_000
/** No heartbeat for so long, and a worker is unhealthy. */
const LONG_MS = 120_000

async function watched(engine: Engine, clock: VirtualClock, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const watch = createHealthWatch({ engine, clock, intervalMs: EVERY_MS })
    await watch.start()
    onTestFinished(() => watch.stop())
  }
}

async function told(engine: Engine): Promise<readonly JournalEntry[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.filter(({ type }) => type === 'worker.health')
}

test('B16: a worker that falls silent and comes back is told of twice, by one of three processes each time', async () => {
  const { engine, clock } = await openStore()
  const epoch = await joined(engine, 'w1')
  await beaten(engine, 'w1', epoch)
  await watched(engine, clock, 3)
  await clock.advance(3 * EVERY_MS)
  expect(await told(engine)).toEqual([])

  await clock.advance(LONG_MS)
  const [silent, ...others] = await told(engine)
  expect(others).toEqual([])
  expect(silent?.reason).toMatch(/^Worker w1 is unhealthy: no heartbeat for \d+ s/)
  for (let beat = 0; beat < 10; beat++) {
    await beaten(engine, 'w1', epoch)
    await clock.advance(EVERY_MS)
  }
  const entries = await told(engine)
  expect(entries.map(({ data }) => [data.from, data.to])).toEqual([
    ['healthy', 'unhealthy'],
    ['unhealthy', 'healthy'],
  ])
  expect(entries[1]?.reason).toBe('Worker w1 is healthy again.')
})

test('a worker that is unwell at one look only is not told of', async () => {
  const { engine, clock } = await openStore()
  const epoch = await joined(engine, 'w1')
  await watched(engine, clock, 1)
  for (let look = 0; look < 20; look++) {
    await beaten(engine, 'w1', epoch, { loopLagMs: look % 4 === 0 ? 60_000 : 0 })
    await clock.advance(EVERY_MS / 2)
    await beaten(engine, 'w1', epoch)
    await clock.advance(EVERY_MS / 2)
  }
  expect(await told(engine)).toEqual([])
})
