// The report of a period: what failed, what recovered, how long it took, the noisiest causes, and what breakers saved. Added up in
// parts, from the journal.

import { createRedactor, type JournalEntryInput, VirtualClock } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

interface Part {
  readonly failed: number
  readonly causes: readonly { fingerprint: string; failed: number; message: string }[]
  readonly next: string | null
}

const entry = (type: JournalEntryInput['type'], data: JournalEntryInput['data']): JournalEntryInput => ({
  type,
  taskId: null,
  attempt: null,
  actor: 'somebody',
  reason: 'because',
  data,
})
const failure = (fingerprint: string, decision: string, message = 'the bank is down'): JournalEntryInput =>
  entry('execution.failed', {
    fingerprint,
    decision,
    message,
    action: 'charge',
    code: 'HTTP_503',
    reason: 'connection',
  })

test.each(STORES)('B16: a report adds up what happened in its period, and nothing else (%s)', async (kind) => {
  const clock = new VirtualClock(1_900_000_000_000)
  const { engine, call } = await storeWithCaller(kind, clock, { clock, redaction: createRedactor() })
  await died(engine, [spec('early')], 'EEARLY')
  await clock.advance(8 * 86_400_000)
  await died(engine, [spec('a'), spec('b')], 'EINVAL')
  await engine.journal.append([
    failure('f1', 'park'),
    failure('f1', 'park'),
    failure('f1', 'retry', 'password=hunter2 was refused'),
    entry('task.recovered', { action: 'charge', fingerprint: null }),
    entry('task.recovered', { action: 'charge', fingerprint: 'f1' }),
    entry('breaker.opened', { breaker: 'dependency:bank' }),
    entry('alert.fired', { rule: 'dead_letters' }),
    entry('runbook.ended', { runbook: 'replay-after-outage', state: 'succeeded' }),
    entry('runbook.ended', { runbook: 'replay-after-outage', state: 'aborted' }),
    entry('work_order.opened', { workOrder: 'wo-1' }),
    entry('work_order.closed', { workOrder: 'wo-1', because: 'recovered', openMs: 60_000 }),
    entry('work_order.closed', { workOrder: 'wo-2', because: 'operator', openMs: 120_000 }),
  ])
  await call(ANN, 'pauseLanes', { action: 'render', reason: 'look first' })
  const report: Part = await call(ANN, 'getReport', {})
  expect(report).toMatchObject({
    failed: 5,
    parked: 2,
    died: 2,
    recoveredByRetry: 1,
    recoveredByPeople: 1,
    breakersOpened: [{ name: 'dependency:bank', count: 1 }],
    alertsFired: [{ name: 'dead_letters', count: 1 }],
    runbooks: [{ name: 'replay-after-outage', succeeded: 1, others: 1 }],
    workOrders: { opened: 1, recovered: 1, closed: 1, openMsSum: 180_000, openMsMax: 120_000 },
    operators: 1,
    causesLeftOut: 0,
    next: null,
  })
  expect(report.causes[0]).toMatchObject({ fingerprint: 'f1', failed: 3, parked: 2, died: 0, recovered: 1 })
  expect(report.causes).toHaveLength(2)
  expect(JSON.stringify(report)).not.toMatch(/hunter2|EEARLY/)
  const early: Part = await call(ANN, 'getReport', { since: '9d', until: '7d' })
  expect(early).toMatchObject({ failed: 1, died: 1 })
  await expect(call(ANN, 'getReport', { since: '1m', until: '1h' })).rejects.toThrow(/ends before it begins/)
  await expect(call(ACME, 'getReport', {})).rejects.toThrow(/all tenants/)
})

test.each(STORES)('B16: a part reads a bounded piece of the journal, and the parts lose nothing (%s)', async (kind) => {
  const clock = new VirtualClock(1_900_000_000_000)
  const { engine, call } = await storeWithCaller(kind, clock, { clock })
  for (let batch = 0; batch < 25; batch++) {
    await engine.journal.append(
      Array.from({ length: 500 }, (_, at) => failure(`f${(batch * 500 + at) % 300}`, 'retry')),
    )
  }
  const parts: Part[] = []
  let cursor: string | null = null
  do {
    const part: Part = await call(ANN, 'getReport', cursor === null ? {} : { cursor })
    parts.push(part)
    cursor = part.next
  } while (cursor !== null)
  expect(parts.map(({ failed }) => failed)).toEqual([10_000, 2_500])
  expect(parts[0]).toMatchObject({ causesLeftOut: 100 })
  expect(parts[0]?.causes).toHaveLength(200)
})
