// The table of B15 in small: the rows that take no crash or outage, and all of them with REPRISE_LONG. `npm run acceptance` measures all
// rows with more tasks.

import { expect, test } from 'vitest'
import { acceptanceOf, MEASURES } from '../src/acceptance/acceptance.ts'
import { replayedBatch } from '../src/acceptance/replay.ts'
import { transientFaults } from '../src/acceptance/transient.ts'
import { trackedWorkOrders } from '../src/acceptance/work-orders.ts'

const measures = process.env.REPRISE_LONG === '1' ? MEASURES : [transientFaults, trackedWorkOrders, replayedBatch]

test.each(['sqlite', 'redis'] as const)(
  'B15: retries, work orders and a replayed batch are measured, and what is wanted is met (%s)',
  async (engine) => {
    const rows = await acceptanceOf(engine, { tasks: 60, deadLetters: 150 }, measures)
    expect(rows.filter(({ isMet }) => !isMet)).toEqual([])
    expect(rows).toHaveLength(measures.length)
    // A fault with which nothing could be measured is no good news.
    expect(rows[0]?.note).toMatch(/^[1-9]\d* of [1-9]\d* tasks that failed/)
  },
  300_000,
)
