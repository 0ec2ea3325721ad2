// The table of a run, and its last line.

import { expect, test } from 'vitest'
import type { Row } from '../src/run.ts'
import { summaryOf, tableOf } from '../src/table.ts'

const row = (name: string, changes: Partial<Row> = {}): Row => ({
  name,
  outcome: 'refused',
  seen: 'as seen',
  loopDelayMs: 1,
  loopWorkMs: 1,
  memoryMb: 100,
  neighbour: null,
  ...changes,
})

const idle = row('idle', { loopDelayMs: 2, neighbour: { p50Ms: 5, p99Ms: 10, tasks: 100, lost: 0 } })
const report = {
  idle,
  rows: [
    row('one', { outcome: 'succeeded', loopDelayMs: 80.04, neighbour: { p50Ms: 9, p99Ms: 25, tasks: 90, lost: 0 } }),
    row('other', { outcome: 'failed', memoryMb: 700.2 }),
  ],
}

test('the last line sums up', () => {
  expect(summaryOf(report)).toEqual({
    cases: 2,
    succeeded: 1,
    failed: 1,
    loopDelayMaxMs: 80,
    loopWorkMaxMs: 1,
    memoryMaxMb: 700,
    idleLoopDelayMs: 2,
    neighbourWorst: 2.5,
  })
})

test('the table shows each case beside the idle server, and which bound was missed', () => {
  const table = tableOf(report)
  expect(table).toMatch(/^idle +– +2 ms +1 ms +100 MB +10 ms, 1 x/m)
  expect(table).toMatch(/^one +SUCCEEDED +80 ms +1 ms +100 MB +25 ms, 2\.5 x {2}as seen$/m)
  expect(table).toMatch(/^other +failed to run/m)
  expect(table).toMatch(
    /longest loop delay 80 ms \(MISSED: at most 50\), of which .* 1 ms at most; without an attack 2 ms/,
  )
  expect(table).toMatch(/worst neighbour p99 2\.5 x idle \(met: at most 3\)/)
})
