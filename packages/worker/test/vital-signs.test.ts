// What a worker reports about itself: the rate of its own faults, and what it sees coming.

import {
  actionName,
  type Claimed,
  DEFAULT_HEALTH_THRESHOLDS,
  describeFailure,
  type Settlement,
  type SettleResult,
  silentLogger,
  VirtualClock,
} from '@reprise/core'
import { expect, test } from 'vitest'
import type { ActiveExecution } from '../src/active-execution.ts'
import { SettlementLog } from '../src/settlement-log.ts'
import { VitalSigns } from '../src/vital-signs.ts'

const failure = (code: string) => describeFailure(Object.assign(new Error('broken'), { code }), actionName('work'))

/** Only what the log reads of an execution. */
function ended(settlement: Partial<Settlement>): ActiveExecution {
  const claimed = { snapshot: { action: actionName('work') } } as Claimed
  return { claimed, settlement } as ActiveExecution
}

const succeeded = ended({ kind: 'succeeded' })
const failed = (code: string) =>
  ended({
    kind: 'failed',
    failure: failure(code),
    decision: { kind: 'dead', reason: 'not_retriable', rule: '', sentence: '' },
  })

function setUp(active: ReadonlySet<ActiveExecution> = new Set()) {
  const clock = new VirtualClock()
  const log = new SettlementLog({}, silentLogger, silentLogger)
  const thresholds = DEFAULT_HEALTH_THRESHOLDS
  const signs = new VitalSigns({ clock, active, settlementLog: log, thresholds, trouble: () => null })
  const settle = (count: number, execution: ActiveExecution, status: 'succeeded' | 'dead' | 'queued'): void => {
    const result: SettleResult = { outcome: 'settled', status, repeated: false }
    log.settled(Array<ActiveExecution>(count).fill(execution), Array<SettleResult>(count).fill(result))
  }
  const beat = (): string | null => {
    clock.jump(5_000)
    return signs.read().outlook
  }
  return { clock, signs, settle, beat }
}

test('C9: a rate of failures that rises is told before it crosses the threshold', () => {
  const { settle, beat } = setUp()
  const outlooks: (string | null)[] = []
  for (const faults of [0, 0, 0, 8, 16, 24, 28, 30, 32, 34]) {
    settle(100 - faults, succeeded, 'succeeded')
    settle(faults, failed('ECONNRESET'), 'dead')
    outlooks.push(beat())
  }
  expect(outlooks.slice(0, 3)).toEqual([null, null, null])
  expect(outlooks.at(-1)).toMatch(/% of its attempts fail, rising by .* past 30 % in about \d+ s/)
})

test.each([
  ['parked by a breaker', 'ECONNRESET', 'queued'],
  ["the task's own fault", 'HTTP_404', 'dead'],
] as const)('C9: failures that are %s tell nothing about the worker', (_, code, status) => {
  const { settle, beat } = setUp()
  for (const faults of [0, 0, 0, 8, 16, 24, 28, 30]) {
    settle(100 - faults, succeeded, 'succeeded')
    settle(faults, failed(code), status)
    expect(beat()).toBeNull()
  }
})

test('C9: a handful of outcomes is no rate', () => {
  const { settle, beat } = setUp()
  for (const faults of [0, 0, 0, 1, 1, 1, 1]) {
    settle(faults, failed('ECONNRESET'), 'dead')
    expect(beat()).toBeNull()
  }
})

test('C5: an event loop that falls behind more and more is told', () => {
  const { signs, beat } = setUp()
  let outlook: string | null = null
  for (const lagMs of [0, 100, 300, 600, 900, 1_200, 1_400, 1_600]) {
    signs.lag.note(lagMs)
    signs.lag.note(lagMs)
    outlook = beat()
  }
  expect(outlook).toMatch(/its event loop is \d+ ms late and rising/)
})

test('C5: how long it may be quiet counts from its last progress, to the first time-out of what it runs', () => {
  const active = new Set<ActiveExecution>()
  const { clock, signs, settle } = setUp(active)
  const start = (timeoutMs: number): void =>
    void active.add({ deadlineAt: clock.monotonic() + timeoutMs } as ActiveExecution)
  expect(signs.read().maxQuietMs).toBe(0)
  start(3_600_000)
  expect(signs.read().maxQuietMs).toBe(3_600_000)
  // A short one beside a long one: it is not stuck because the long one has not ended.
  clock.jump(600_000)
  start(30_000)
  expect(signs.read().maxQuietMs).toBe(630_000)
  clock.jump(5_000)
  settle(1, succeeded, 'succeeded')
  expect(signs.read().maxQuietMs).toBe(30_000)
})
