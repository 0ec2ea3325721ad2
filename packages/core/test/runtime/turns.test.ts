import { expect, test } from 'vitest'
import {
  REST_FACTOR,
  REST_TURNS,
  SHARED_REST_TURNS,
  SHARED_SLICE_MS,
  SLICE_MS,
  Turns,
} from '../../src/runtime/turns.ts'

/** Time that moves by hand, and a loop that turns by hand. */
function loop() {
  const soon: (() => void)[] = []
  const clock = { ms: 0, monotonic: () => clock.ms, soon: (callback: () => void) => void soon.push(callback) }
  const turn = async (): Promise<void> => {
    for (const callback of soon.splice(0)) {
      callback()
      for (let wait = 0; wait < 5; wait++) await Promise.resolve()
    }
  }
  /** Until the next slice: the turn in which one was spent, and those that are left to others. */
  const rest = async (): Promise<void> => {
    for (let turns = 0; turns <= REST_TURNS; turns++) await turn()
  }
  return { clock, turn, rest, turns: new Turns(clock) }
}

test('all paced work has one slice, then leaves a few turns to others; those who wait come one by one', async () => {
  const { clock, rest, turns } = loop()
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let step = 0; step < 3; step++) {
      if (turns.isSpent) await turns.wait()
      clock.ms += SLICE_MS
      done.push(name)
    }
  }
  const all = Promise.all([work('a'), work('b')])
  expect(done).toEqual(['a'])
  for (let count = 2; count <= 6; count++) {
    await rest()
    expect(done).toHaveLength(count)
  }
  await all
  expect(done).toEqual(['a', 'a', 'b', 'a', 'b', 'b'])
})

test('many small waits share the slice of a turn, in their order', async () => {
  const { clock, rest, turns } = loop()
  expect(turns.isSpent).toBe(false)
  clock.ms += SLICE_MS
  const done: number[] = []
  const all = Promise.all(
    Array.from({ length: 100 }, async (_, number) => {
      if (turns.isSpent) await turns.wait()
      clock.ms += 1
      done.push(number)
    }),
  )
  for (let count = 1; count <= 20; count++) {
    expect(done).toHaveLength((count - 1) * SLICE_MS)
    await rest()
  }
  await all
  expect(done).toEqual(Array.from({ length: 100 }, (_, number) => number))
})

test('work that takes no time never waits', async () => {
  const { turns } = loop()
  for (let step = 0; step < 1_000; step++) expect(turns.isSpent).toBe(false)
})

test('what the process does between steps is not counted, and gives nobody a rest', async () => {
  const { clock, turns } = loop()
  for (let step = 0; step < 4; step++) {
    expect(turns.isSpent).toBe(false)
    clock.ms += 1
    turns.stepDone()
    clock.ms += SLICE_MS
  }
  expect(turns.isSpent).toBe(false)
  clock.ms += 1
  turns.stepDone()
  expect(turns.isSpent).toBe(true)
})

test('a turn whose steps were short ends the slice, however long the turn was', async () => {
  const { clock, turn, turns } = loop()
  expect(turns.isSpent).toBe(false)
  turns.stepDone()
  clock.ms += SLICE_MS
  await turn()
  expect(turns.isSpent).toBe(false)
  turns.stepDone()
})

/** Paced work that takes a slice in each of its steps, beside others who tell when they work. */
function besideOthers() {
  const { clock, turn, turns } = loop()
  turns.shareWithOthers()
  const steps = { done: 0 }
  void (async () => {
    for (;;) {
      if (turns.isSpent) await turns.wait()
      clock.ms += SHARED_SLICE_MS
      steps.done++
    }
  })()
  return { clock, turn, turns, steps }
}

test('paced work rests until others have been done for a few turns', async () => {
  const { turn, turns, steps } = besideOthers()
  await turn()
  expect(steps.done).toBe(1)
  for (let count = 0; count < 50; count++) {
    turns.othersWork()
    await turn()
  }
  expect(steps.done).toBe(1)
  for (let count = 0; count < SHARED_REST_TURNS - 1; count++) await turn()
  expect(steps.done).toBe(1)
  for (let count = 0; count < 3; count++) await turn()
  expect(steps.done).toBe(2)
})

test('while others always work, paced work has its part of the time', async () => {
  const { clock, turn, turns, steps } = besideOthers()
  const others = 1
  for (let count = 0; count < 1_000; count++) {
    turns.othersWork()
    clock.ms += others
    await turn()
  }
  const share = (steps.done * SHARED_SLICE_MS) / clock.ms
  expect(share).toBeGreaterThan(0.5 / (1 + REST_FACTOR))
  expect(share).toBeLessThanOrEqual(1 / (1 + REST_FACTOR))
})

test('what others take is no part of a slice', () => {
  const { clock, turns } = loop()
  turns.shareWithOthers()
  expect(turns.isSpent).toBe(false)
  turns.othersWork()
  clock.ms += 10 * SHARED_SLICE_MS
  expect(turns.isSpent).toBe(false)
})
