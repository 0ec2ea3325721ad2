// Which number of trips a busy worker settles on: the one that brings tasks faster, tried anew now and then.

import { VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { TripPacing } from '../src/trip-pacing.ts'

/** Runs full trips that take so long each, by how many are under way; says how often each number was in force. */
function run(pacing: TripPacing, clock: VirtualClock, trips: number, tripMs: Readonly<Record<number, number>>) {
  const inForce: Record<number, number> = { 1: 0, 2: 0 }
  for (let trip = 0; trip < trips; trip++) {
    inForce[pacing.trips] = (inForce[pacing.trips] ?? 0) + 1
    clock.jump(tripMs[pacing.trips] ?? 1)
    pacing.returned(100 / pacing.trips, true)
  }
  return inForce
}

test('it goes the faster way nearly always, and finds out when that changes', () => {
  const clock = new VirtualClock()
  const pacing = new TripPacing(clock, 2)
  // Two trips of 50 bring 100 tasks in 2 ms, one of 100 in 3.
  const alone = run(pacing, clock, 10_000, { 1: 3, 2: 1 })
  expect(alone[2]).toBeGreaterThan(9_000)
  expect(alone[1]).toBeGreaterThan(0)
  // Others came: now one of 100 takes 3 ms, two of 50 take 4.
  const crowded = run(pacing, clock, 10_000, { 1: 3, 2: 2 })
  expect(crowded[1]).toBeGreaterThan(8_000)
  expect(crowded[2]).toBeGreaterThan(0)
})

test('trips that come back with less than there was room for say nothing', () => {
  const clock = new VirtualClock()
  const pacing = new TripPacing(clock, 2)
  for (let trip = 0; trip < 1_000; trip++) {
    clock.jump(1)
    pacing.returned(1, trip % 30 !== 0)
  }
  expect(pacing.trips).toBe(2)
})

test('an engine that works in the process itself always has one', () => {
  const clock = new VirtualClock()
  const pacing = new TripPacing(clock, 1)
  expect(run(pacing, clock, 1_000, { 1: 1 })).toEqual({ 1: 1_000, 2: 0 })
})
