// The timeline of an incident: what happened in a period, on one line, with failures of one cause counted by the minute.

import { VirtualClock } from '@reprise/core'
import { openWorkOrders } from '@reprise/orchestrator'
import { afterAll, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

interface Timeline {
  readonly items: readonly { kind: string; count: number; dead: number; text: string; actor: string }[]
  readonly next: string | null
}

test.each(STORES)('B16: failures, workers, operators and runbooks of a period on one line (%s)', async (kind) => {
  const clock = new VirtualClock(1_900_000_000_000)
  const { engine, call } = await storeWithCaller(kind, clock, { clock })
  await died(engine, [spec('early')], 'EEARLY')
  await clock.advance(3_600_000)
  await died(
    engine,
    Array.from({ length: 12 }, (_, at) => spec(`t${at}`)),
    'EINVAL',
  )
  await clock.advance(60_000)
  await call(ANN, 'pauseLanes', { action: 'render', reason: 'look first' })
  await call(ANN, 'startRunbook', { name: 'stuck-worker-drain', inputs: { worker: 'w1' }, reason: 'it hangs' })
  const found: Timeline = await call(ANN, 'getIncident', { since: '10m' })
  expect(found.next).toBeNull()
  const failures = found.items.filter((line) => line.kind === 'failures')
  expect(failures).toMatchObject([{ count: 12, dead: 12, text: expect.stringContaining('EINVAL') as unknown }])
  expect(found.items.map((line) => line.kind).filter((one) => one !== 'worker' && one !== 'deploy')).toEqual([
    'failures',
    'operator',
    'runbook',
    'operator',
  ])
  expect(found.items.find((line) => line.kind === 'operator')).toMatchObject({
    actor: 'operator:ann',
    text: 'pauseLanes {"action":"render"}: look first',
  })
  expect(found.items.some((line) => line.text.includes('EEARLY'))).toBe(false)
  const earlier: Timeline = await call(ANN, 'getIncident', { since: '2h', until: '30m' })
  expect(earlier.items.filter((line) => line.kind === 'failures')).toMatchObject([{ count: 1 }])
  // Nothing is said twice.
  while (await openWorkOrders({ engine }));
  const { items }: Timeline = await call(ANN, 'getIncident', { since: '1m' })
  expect(items.find((line) => line.kind === 'work_order')?.text).toBe(
    'opened: render: tasks die of a cause, and a person has to look at it.',
  )
  await expect(call(ANN, 'getIncident', { since: '1m', until: '1h' })).rejects.toThrow(/ends before it begins/)
  await expect(call(ACME, 'getIncident', { since: '1h' })).rejects.toThrow(/all tenants/)
})
