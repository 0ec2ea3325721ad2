// Figures of the store at a scrape: what they are, that they are kept for a moment, and that a store which is away costs the
// scrape nothing but them.

import { type Engine, failed, type PoolName, succeeded } from '@reprise/core'
import { MONITORING_THRESHOLDS, metricsText, storeGauges } from '@reprise/telemetry'
import { expect, test } from 'vitest'
import {
  aCrew,
  aFailure,
  aRegistry,
  aTask,
  deadLetter,
  keepingLog,
  openStore,
  retryIn,
  seriesValue,
  timerOn,
} from './fixture.ts'

async function storeWithEveryStatus() {
  const store = await openStore()
  const metrics = aRegistry()
  const { engine } = store
  await engine.submit(['a', 'b', 'c', 'd'].map((id) => aTask(id)))
  const [a, b, c] = await (await aCrew(engine)).claim(3)
  if (a === undefined || b === undefined || c === undefined) throw new Error('nothing claimed')
  await engine.settle([succeeded(a, null), failed(b, aFailure, retryIn(60_000)), failed(c, aFailure, deadLetter())])
  return { ...store, metrics, value: (name: string, labels = {}) => seriesValue(metrics, name, labels) }
}

test('C10: a scrape has tasks by status and pool, workers by health, and the monitoring figures', async () => {
  const { engine, clock, metrics, value } = await storeWithEveryStatus()
  storeGauges(engine, { metrics, clock })
  expect(await value('reprise_store_up')).toBe(1)
  for (const [status, count] of Object.entries({ queued: 1, waiting: 1, running: 0, succeeded: 1, dead: 1 })) {
    expect(await value('reprise_tasks', { status })).toBe(count)
  }
  expect(await value('reprise_pool_tasks', { pool: 'default', status: 'queued' })).toBe(1)
  expect(await value('reprise_workers', { health: 'healthy' })).toBe(1)
  expect(await value('reprise_workers_draining')).toBe(0)
  expect(await value('reprise_worker_heartbeat_lag_seconds', { statistic: 'max' })).toBe(0)
  expect(await value('reprise_breakers', { status: 'open', level: 'tenant' })).toBe(0)
  expect(await value('reprise_monitoring_retry_rate')).toBeCloseTo(1 / 3)
  expect(await value('reprise_monitoring_level', { figure: 'retry_rate' })).toBe(1)
  expect(await value('reprise_monitoring_level', { figure: 'overall' })).toBe(1)
  expect(await value('reprise_monitoring_retries', { reason: 'connection' })).toBe(1)
  expect(await value('reprise_monitoring_health_routing_share')).toBe(1)
  // No retry has ended: that is not a success rate of 0.
  expect(await value('reprise_monitoring_retry_reason_success_rate', { reason: 'connection' })).toBeUndefined()
  expect(await value('reprise_monitoring_retry_success_rate')).toBeUndefined()
})

test('one look serves all gauges, and scrapes within a few seconds', async () => {
  const { engine, clock, metrics } = await storeWithEveryStatus()
  let looks = 0
  const counting = {
    ...engine,
    breakers: (...input: Parameters<Engine['breakers']>) => {
      looks++
      return engine.breakers(...input)
    },
  }
  storeGauges(counting, { metrics, clock, keepMs: 5_000 })
  await Promise.all([metricsText(metrics), metricsText(metrics)])
  clock.jump(4_999)
  await metricsText(metrics)
  expect(looks).toBe(1)
  clock.jump(1)
  await metricsText(metrics)
  expect(looks).toBe(2)
})

test('fault 9: a store that is away gives a scrape without its figures, in time, and is not asked again meanwhile', async () => {
  const { engine, clock, metrics, value } = await storeWithEveryStatus()
  const { log, lines } = keepingLog()
  const away = Promise.withResolvers<never>()
  let isAway = false
  let asked = 0
  const flaky = {
    ...engine,
    counts: (...input: Parameters<Engine['counts']>) => {
      asked++
      return isAway ? away.promise : engine.counts(...input)
    },
  }
  storeGauges(flaky, { metrics, clock, log, timeoutMs: 2_000, keepMs: 5_000 })
  expect(await value('reprise_store_up')).toBe(1)
  isAway = true
  asked = 0
  clock.jump(5_000)
  const scrape = metricsText(metrics)
  await timerOn(clock)
  await clock.advance(2_000)
  const text = await scrape
  expect(text).toMatch(/^reprise_store_up 0$/m)
  expect(text).not.toMatch(/^reprise_(tasks|pool_tasks|workers|breakers|monitoring_\w+)[{ ]/m)
  expect(lines).toMatchObject([{ level: 'warn' }])
  clock.jump(5_000)
  expect(await metricsText(metrics)).toMatch(/^reprise_store_up 0$/m)
  expect(asked).toBe(1)
  away.reject(new Error('gone'))
  isAway = false
  clock.jump(5_000)
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(await metricsText(metrics)).toMatch(/^reprise_store_up 1$/m)
})

test('fault 9: a store that refuses is a scrape with reprise_store_up 0, not an error', async () => {
  const { engine, clock, metrics } = await storeWithEveryStatus()
  const { log, lines } = keepingLog()
  storeGauges({ ...engine, workers: () => Promise.reject(new Error('refused')) }, { metrics, clock, log })
  expect(await metricsText(metrics)).toMatch(/^reprise_store_up 0$/m)
  expect(lines).toMatchObject([{ level: 'warn', fields: { error: new Error('refused') } }])
})

test('C9: how far to scale is a metric, for pools of which it can be told', async () => {
  const { engine, clock, metrics, value } = await storeWithEveryStatus()
  const asked: unknown[] = []
  const scaling = async (pools: readonly PoolName[]) => {
    asked.push(pools)
    const numbers = { depth: 0, running: 0, arrivedPerSecond: 0, finishedPerSecond: 0, durationMs: null }
    const sums = { ...numbers, targetWaitMs: 10_000, slotsToKeepUp: null, slotsToCatchUp: null }
    const signal = { workersNow: 1, sum: '', numbers: sums }
    return [
      { ...signal, pool: 'default' as PoolName, slots: 40, workers: 4 },
      { ...signal, pool: 'new' as PoolName, slots: null, workers: null },
    ]
  }
  storeGauges(engine, { metrics, clock, scaling })
  expect(await value('reprise_scaling_slots', { pool: 'default' })).toBe(40)
  expect(await value('reprise_scaling_workers', { pool: 'default' })).toBe(4)
  expect(await value('reprise_scaling_slots', { pool: 'new' })).toBeUndefined()
  expect(asked).toEqual([['default']])
})

test('C10: the level of a scrape goes by the thresholds that were given', async () => {
  const { engine, clock, metrics, value } = await storeWithEveryStatus()
  const thresholds = { ...MONITORING_THRESHOLDS, retryRate: { warning: 0.1, critical: 0.2 } }
  storeGauges(engine, { metrics, clock, thresholds })
  expect(await value('reprise_monitoring_level', { figure: 'retry_rate' })).toBe(2)
})
