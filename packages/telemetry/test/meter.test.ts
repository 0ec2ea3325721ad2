// The meter of the orchestrator's services on a registry, and what keeps labels few.

import { HEARTBEAT_LAG_SECONDS, STALE_WORKER_RETRY_TOTAL, silentLogger, systemClock } from '@reprise/core'
import { createRegistry, METRICS_CONTENT_TYPE, metricsText, observedEngine, prometheusMeter } from '@reprise/telemetry'
import { expect, test } from 'vitest'
import { aRegistry, openStore, seriesValue } from './fixture.ts'

test('D4: stale picks are counted by topic and worker, and heartbeat lag is the last that was seen', async () => {
  const metrics = aRegistry()
  const meter = prometheusMeter(metrics)
  meter.count(STALE_WORKER_RETRY_TOTAL, { topic: 'render', worker: 'w1' })
  meter.count(STALE_WORKER_RETRY_TOTAL, { topic: 'render', worker: 'w1' }, 2)
  meter.observe(HEARTBEAT_LAG_SECONDS, { statistic: 'p99' }, 0.9)
  meter.observe(HEARTBEAT_LAG_SECONDS, { statistic: 'p99' }, 0.7)
  const text = await metricsText(metrics)
  expect(text).toContain('scheduler_stale_worker_retry_total{topic="render",worker="w1"} 3')
  expect(text).toContain('scheduler_heartbeat_lag_seconds{statistic="p99"} 0.7')
})

test('D4: workers whose ids are drawn anew at each start do not fill the registry', async () => {
  const metrics = aRegistry()
  const meter = prometheusMeter(metrics)
  for (let index = 0; index < 2_000; index++) {
    meter.count(STALE_WORKER_RETRY_TOTAL, { topic: 'render', worker: `w${index}` })
  }
  const series = (await metricsText(metrics)).split('\n').filter((line) => line.startsWith(STALE_WORKER_RETRY_TOTAL))
  expect(series).toHaveLength(501)
  expect(await seriesValue(metrics, STALE_WORKER_RETRY_TOTAL, { topic: 'render', worker: 'other' })).toBe(1_500)
})

test('two observed engines and two meters may share a registry', async () => {
  const { engine } = await openStore()
  const metrics = aRegistry()
  const options = { metrics, log: silentLogger, clock: systemClock }
  await observedEngine(engine, options).counts()
  await observedEngine(engine, options).counts()
  prometheusMeter(metrics)
  prometheusMeter(metrics).count('made_up_total', { kind: 'x' })
  const name = 'reprise_engine_call_duration_seconds_count'
  expect(await seriesValue(metrics, name, { verb: 'counts', outcome: 'ok' })).toBe(2)
  expect(await seriesValue(metrics, 'made_up_total', { kind: 'x' })).toBe(1)
})

test('a registry has the figures of its process, in the text format of Prometheus', async () => {
  const text = await metricsText(createRegistry())
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
  expect(text).toMatch(/^process_resident_memory_bytes /m)
  expect(METRICS_CONTENT_TYPE).toMatch(/^text\/plain; version=0\.0\.4/)
})
