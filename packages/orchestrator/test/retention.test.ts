// Retention keeps pace with the work, whatever else stands in the store. The store here is a list of ends, so that a million
// tasks are nothing; what the engines delete in one call is for the conformance suite.

import { type RetainResult, type Upkeep, VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { retentionSteps } from '../src/retention.ts'

const KEEP_MS = 20_000
const SECOND_MS = 1_000
const FOREVER = Number.POSITIVE_INFINITY

/** Tasks in their order, each by when it ended; partitions stand one behind the other, as in a cursor of a real store. */
class Ends {
  readonly #clock: VirtualClock
  readonly #partitions: (number | null)[][]
  /** Behind these in each partition all are there yet. */
  calls = 0

  constructor(clock: VirtualClock, partitions = 1) {
    this.#clock = clock
    this.#partitions = Array.from({ length: partitions }, () => [])
  }

  add(count: number, endedAt: number): void {
    for (let number = 0; number < count; number++) this.#partitions[number % this.#partitions.length]?.push(endedAt)
  }

  get kept(): number {
    return this.#partitions.flat().filter((at) => at !== null && at !== FOREVER).length
  }

  retain: Upkeep['retain'] = async (_rules, options): Promise<RetainResult> => {
    this.calls++
    const [place = 0, from = 0] = (options?.cursor ?? '0:0').split(':').map(Number)
    const ends = this.#partitions[place] ?? []
    let looked = 0
    let tasksRemoved = 0
    let at = from
    for (; at < ends.length && looked < (options?.limit ?? 1_000); at++) {
      const end = ends[at]
      if (end === null || end === undefined) continue
      looked++
      if (this.#clock.now() - end < KEEP_MS) continue
      ends[at] = null
      tasksRemoved++
    }
    const isLast = place === this.#partitions.length - 1
    const next = at < ends.length ? `${place}:${at}` : isLast ? null : `${place + 1}:0`
    return { tasksRemoved, entriesRemoved: 0, next }
  }
}

/** A second of work, then what the sweep does in it. */
async function second(clock: VirtualClock, ends: Ends, rate: number, step: () => Promise<boolean>): Promise<void> {
  ends.add(rate, clock.now())
  clock.jump(SECOND_MS)
  while (await step());
}

const begun = (partitions?: number) => {
  const clock = new VirtualClock(0)
  const ends = new Ends(clock, partitions)
  const step = retentionSteps({ retain: ends.retain } as Upkeep, { succeededMs: KEEP_MS }, clock)
  return { clock, ends, step }
}

const RATE = 20_000
/** What the rule keeps at that rate, with a fifth for what came since the last look and for pages that are half young. */
const KEPT_MAX = RATE * (KEEP_MS / SECOND_MS) * 1.2

test('B14: retention keeps pace with 20,000 tasks per second', async () => {
  const { clock, ends, step } = begun()
  for (let seconds = 0; seconds < 60; seconds++) await second(clock, ends, RATE, step)
  expect(ends.kept).toBeLessThan(KEPT_MAX)
})

test('dead letters in the way do not hold it up for long', async () => {
  const { clock, ends, step } = begun()
  for (let seconds = 0; seconds < 10; seconds++) await second(clock, ends, RATE, step)
  ends.add(50_000, FOREVER)
  for (let seconds = 0; seconds < 150; seconds++) await second(clock, ends, RATE, step)
  expect(ends.kept).toBeLessThan(KEPT_MAX)
})

test('each partition is kept pace with', async () => {
  const { clock, ends, step } = begun(4)
  for (let seconds = 0; seconds < 240; seconds++) await second(clock, ends, RATE, step)
  expect(ends.kept).toBeLessThan(KEPT_MAX)
})

test('a store with nothing to delete is looked at now and then', async () => {
  const { clock, ends, step } = begun()
  ends.add(100, FOREVER)
  for (let seconds = 0; seconds < 60; seconds++) await second(clock, ends, 0, step)
  expect(ends.calls).toBeLessThan(65)
})
