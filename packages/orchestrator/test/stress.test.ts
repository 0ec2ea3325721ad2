// The start/stop contract of every service in this package, hammered: any number of calls at any moment, and at the
// end it is either at rest or at work, as asked.

import { type Clock, type Engine, type Service, seededRandom } from '@reprise/core'
import { expect, test } from 'vitest'
import { createSweep } from '../src/sweep.ts'
import { openStore } from './fixture.ts'

const services: Record<string, (engine: Engine, clock: Clock) => Service> = {
  sweep: (engine, clock) => createSweep({ engine, clock, random: seededRandom(1) }),
}

test.each(Object.keys(services))('%s survives 100 rounds of starts and stops at once', async (name) => {
  const { engine, clock } = await openStore()
  let looks = 0
  let looksAtOnce = 0
  let looksAtOnceMax = 0
  const watched: Engine = {
    ...engine,
    async expired(limit) {
      looks++
      looksAtOnceMax = Math.max(looksAtOnceMax, ++looksAtOnce)
      try {
        return await engine.expired(limit)
      } finally {
        looksAtOnce--
      }
    },
  }
  const service = services[name]?.(watched, clock)
  if (service === undefined) throw new Error('unknown')
  const random = seededRandom(7)
  for (let round = 0; round < 100; round++) {
    const calls = Array.from({ length: 8 }, () => (random.next() < 0.5 ? service.start() : service.stop()))
    if (random.next() < 0.2) await clock.advance(1_000)
    await Promise.all(calls)
  }
  await service.stop()
  expect(looksAtOnceMax).toBe(1)
  const looksAtRest = looks
  await clock.advance(10_000)
  expect(looks).toBe(looksAtRest)
  await service.start()
  await clock.advance(10_000)
  expect(looks).toBeGreaterThan(looksAtRest + 5)
  await service.stop()
  expect(clock.nextAt()).toBeNull()
})
