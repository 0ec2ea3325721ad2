// What is observed of a small day's work, on each engine: metrics from the facade, figures of the store at a scrape, and the
// monitoring figures. In virtual time, through the SDKs.

import { createClient } from '@reprise/client'
import { seededRandom, silentLogger, VirtualClock } from '@reprise/core'
import { createRegistry, metricsText, monitoring, observedEngine, storeGauges } from '@reprise/telemetry'
import { createWorker, defineAction, PermanentError, TransientError } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES } from '../virtual-time/scenario-store.ts'

const TASKS = 40

/** Every second one fails once, every tenth one for good. */
const moody = defineAction({
  name: 'moody',
  retry: { max: 2 },
  run(number: number, { attempt }) {
    if (number % 10 === 9) throw new PermanentError('no use')
    if (number % 2 === 0 && attempt === 1) throw new TransientError('not yet')
    return number
  },
})

test.each(SCENARIO_STORES)('B9 and C10: what is told of the same work is the same on $name', async (store) => {
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  const metrics = createRegistry({ processMetrics: false })
  const observed = observedEngine(engine, { metrics, log: silentLogger, clock, maxLeases: 0 })
  const client = await createClient({ engine: observed, clock })
  const options = { engine: observed, clock, random: seededRandom(1), log: silentLogger }
  const worker = await createWorker({ ...options, id: 'w1', actions: [moody], concurrency: 10 })
  onTestFinished(async () => {
    await worker.stop({ grace: 0 })
    await client.close()
    await engine.close()
  })
  await client.submitMany(
    moody,
    Array.from({ length: TASKS }, (_, index) => index),
  )
  await runUntil(engine, clock, 60_000, async () => {
    const { succeeded, dead } = await engine.counts()
    return succeeded + dead === TASKS
  })
  storeGauges(observed, { metrics, clock, timeoutMs: 60_000 })
  const text = await metricsText(metrics)
  const pool = 'pool="default"'
  for (const line of [
    `reprise_tasks_submitted_total{${pool},outcome="accepted"} 40`,
    `reprise_executions_total{${pool},status="succeeded"} 36`,
    `reprise_executions_total{${pool},status="failed"} 24`,
    `reprise_queue_wait_seconds_count{${pool}} 40`,
    `task_retry_scheduled_total{${pool},reason="transient"} 20`,
    `task_retry_success_total{${pool},reason="transient"} 20`,
    `task_retry_dlq_total{${pool},reason="not_retriable"} 4`,
    'reprise_store_up 1',
    'reprise_tasks{status="dead"} 4',
    `reprise_pool_tasks{${pool},status="dead"} 4`,
    // A third of its attempts failed.
    'reprise_workers{health="degraded"} 1',
    'reprise_monitoring_retry_success_rate 1',
    'reprise_monitoring_retries{reason="transient"} 20',
    'reprise_monitoring_health_routing_share 1',
    'reprise_monitoring_level{figure="retry_rate"} 1',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(await monitoring(observed, { now: clock.now() })).toMatchObject({
    level: 'warning',
    retryRate: { value: 20 / 60, ended: 60, retried: 20, level: 'warning' },
    retrySuccess: { value: 1, succeeded: 20, failed: 0, pending: 0 },
    isJournalComplete: true,
    notes: [],
  })
})
