// How many slots would keep the promise (C9: autoscaling signals): the sum, its bounds, and when it can't be told.

import { poolName, type ScalingOptions, scalingSignal } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ScalingFacts } from '../../src/workers/scaling.ts'

const pool = poolName('render')
/** 10 tasks/s come and go, 20 run: one takes 2 s. */
const steady: ScalingFacts = {
  pool,
  depth: 0,
  running: 20,
  arrived: 3_000,
  finished: 3_000,
  windowMs: 300_000,
  workers: 5,
}
const signal = (facts: Partial<ScalingFacts> = {}, options: Partial<ScalingOptions> = {}) =>
  scalingSignal({ ...steady, ...facts }, { targetWaitMs: 10_000, ...options })

describe('C9: autoscaling signals', () => {
  test("in a steady state Little's law gives what runs", () => {
    expect(signal()).toEqual({
      pool,
      slots: 20,
      workers: 20,
      workersNow: 5,
      sum: '10 tasks/s come and one takes 2s (20 running, 10 finished/s): 20 slots to keep up. 0 tasks wait, and within 10s a slot starts 6: 0 more to start them in time. Together 20 slots.',
      numbers: {
        depth: 0,
        running: 20,
        arrivedPerSecond: 10,
        finishedPerSecond: 10,
        durationMs: 2_000,
        targetWaitMs: 10_000,
        slotsToKeepUp: 20,
        slotsToCatchUp: 0,
      },
    })
  })

  test('a backlog needs slots that start it within the target', () => {
    // A slot starts one at once and five more in 10 s.
    expect(signal({ depth: 600 })).toMatchObject({ slots: 120, numbers: { slotsToKeepUp: 20, slotsToCatchUp: 100 } })
    expect(signal({ depth: 1 })).toMatchObject({ slots: 21 })
  })

  test('tasks longer than the target need a slot each, and never more', () => {
    expect(signal({ depth: 7, running: 3_000, windowMs: 300_000, arrived: 0 })).toMatchObject({
      slots: 7,
      numbers: { durationMs: 300_000 },
    })
  })

  test('bounds hold, and the sum says so', () => {
    expect(signal({}, { maxSlots: 8 }).slots).toBe(8)
    expect(signal({}, { maxSlots: 8 }).sum).toMatch(/20 slots; at most 8 are allowed\.$/)
    expect(signal({}, { minSlots: 50 }).slots).toBe(50)
    expect(signal({}, { minSlots: 50 }).sum).toMatch(/20 slots; at least 50 are asked for\.$/)
  })

  test('the numbers that are shown add up', () => {
    // 3.01 tasks/s, each of 2 s: 6.02 slots, which takes 7.
    const { sum, slots, numbers } = signal({ arrived: 903 })
    expect(numbers).toMatchObject({ slotsToKeepUp: 7, slotsToCatchUp: 0 })
    expect(slots).toBe(7)
    expect(sum).toMatch(/: 7 slots to keep up\. .*: 0 more to start them in time\. Together 7 slots\.$/)
  })

  test('in workers, rounded up', () => {
    expect(signal({}, { slotsPerWorker: 8 })).toMatchObject({ slots: 20, workers: 3 })
  })

  test('nothing to do', () => {
    const idle = { running: 0, arrived: 0, finished: 0 }
    expect(signal(idle)).toMatchObject({ slots: 0, workers: 0, sum: 'Nothing waits and nothing runs: 0 slots.' })
    expect(signal(idle, { minSlots: 2 })).toMatchObject({ slots: 2 })
  })

  test("it says when it can't tell, and what would help", () => {
    const stuck = signal({ depth: 40, finished: 0, running: 3 })
    expect(stuck).toMatchObject({ slots: null, workers: null, numbers: { durationMs: null } })
    expect(stuck.sum).toBe(
      "Can't tell: 40 tasks wait, 3 run, and nothing has ended in the last 5m, so nobody knows how long one takes. Ask again in a minute, or give durationMs.",
    )
    expect(signal({ depth: 1, running: 0, finished: 0, workers: 0 }).sum).toContain('No worker is there')
  })

  test('a given duration helps out', () => {
    const given = signal({ depth: 40, running: 0, finished: 0, arrived: 0 }, { durationMs: 10_000 })
    expect(given.slots).toBe(20)
    expect(given.sum).toContain('as was given')
  })

  test.each<[Partial<ScalingOptions>, string]>([
    [{ targetWaitMs: Number.NaN }, 'targetWaitMs'],
    [{ minSlots: -1 }, 'minSlots'],
    [{ minSlots: 5, maxSlots: 4 }, 'maxSlots'],
    [{ slotsPerWorker: 0 }, 'slotsPerWorker'],
    [{ targetWaitMs: -1 }, 'from 0, not -1'],
    [{ targetWaitMs: Number.POSITIVE_INFINITY }, 'targetWaitMs'],
    [{ durationMs: 0 }, 'durationMs'],
    [{ slots: 5 } as never, "no scaling option 'slots'"],
  ])('refuses %o', (options, field) => {
    expect(() => signal({}, options)).toThrow(field)
  })

  test('more waiting never asks for fewer', () => {
    const facts = fc.record({
      depth: fc.nat(10_000),
      running: fc.integer({ min: 1, max: 1_000 }),
      arrived: fc.nat(10_000),
      finished: fc.integer({ min: 1, max: 10_000 }),
    })
    fc.assert(
      fc.property(facts, fc.nat(1_000), (one, more) => {
        const [less, larger] = [signal(one).slots ?? -1, signal({ ...one, depth: one.depth + more }).slots ?? -1]
        expect(larger).toBeGreaterThanOrEqual(less)
        // At the most one slot for each that waits, and what Little's law says of durations in whole milliseconds.
        const seconds = steady.windowMs / 1_000
        const maxDuration = (one.running * seconds) / one.finished + 0.000_5
        expect(less).toBeLessThanOrEqual(one.depth + 1 + (one.arrived / seconds) * maxDuration)
      }),
    )
  })
})
