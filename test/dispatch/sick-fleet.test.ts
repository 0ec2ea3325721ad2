// Scenario: ten workers of which three fail everything and two stall until the time-out, with routing by health and
// without. In virtual time, through the SDKs, on each engine. The figures are printed.

import { createClient } from '@reprise/client'
import {
  DEFAULT_HEALTH_THRESHOLDS,
  type HealthThresholds,
  seededRandom,
  silentLogger,
  sleep,
  TransientError,
  VirtualClock,
} from '@reprise/core'
import { createWorker, defineAction } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES, type ScenarioStore, showTable } from '../virtual-time/scenario-store.ts'

const TASKS = 3_000
const CONCURRENCY = 10
const WORK_MS = 500

type Condition = 'well' | 'failing' | 'stalling'
const FLEET: readonly Condition[] = [
  ...Array<Condition>(5).fill('well'),
  ...Array<Condition>(3).fill('failing'),
  ...Array<Condition>(2).fill('stalling'),
]

/** The switch of C11: no evidence keeps anybody from work. */
const NEVER: HealthThresholds = { ...DEFAULT_HEALTH_THRESHOLDS, enabled: false }

interface Figures {
  readonly attempts: number
  /** Of all attempts, in percent. */
  readonly onSickPercent: number
  readonly dead: number
  readonly secondsToEnd: number
}

async function sickFleet(store: ScenarioStore, healthThresholds: HealthThresholds): Promise<Figures> {
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock, healthThresholds }))
  const startedAt = clock.now()
  let onWell = 0
  let onSick = 0
  const actionOf = (condition: Condition) =>
    defineAction({
      name: 'convert',
      retry: { max: 2 },
      timeout: '12s',
      async run() {
        if (condition === 'well') onWell++
        else onSick++
        if (condition === 'stalling') return new Promise<never>(() => {})
        await sleep(clock, WORK_MS)
        if (condition === 'failing') throw new TransientError('the disk of this host is full')
        return 'converted'
      },
    })
  const client = await createClient({ engine, clock })
  await client.submitMany(
    actionOf('well'),
    Array.from({ length: TASKS }, (_, index) => index),
  )
  const workers = await Promise.all(
    FLEET.map((condition, index) =>
      createWorker({
        engine,
        clock,
        id: `${condition}-${index}`,
        host: `host-${index}`,
        actions: [actionOf(condition)],
        concurrency: CONCURRENCY,
        random: seededRandom(index),
        sweep: index === 0,
        log: silentLogger,
      }),
    ),
  )
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.stop({ grace: 0 })))
    await client.close()
    await engine.close()
  })
  await runUntil(engine, clock, 3_600_000, async () => {
    const { succeeded, dead } = await engine.counts()
    return succeeded + dead === TASKS
  })
  const { dead } = await engine.counts()
  const attempts = onWell + onSick
  return {
    attempts,
    onSickPercent: Math.round((1_000 * onSick) / attempts) / 10,
    dead,
    secondsToEnd: Math.round((clock.now() - startedAt) / 1_000),
  }
}

// The README names these figures.
test.each(SCENARIO_STORES)(
  'C5, C6: workers that fail or stall get about 2 % of the work instead of 38 %, and no task dies, on $name',
  { timeout: 120_000 },
  async (store) => {
    const on = await sickFleet(store, DEFAULT_HEALTH_THRESHOLDS)
    const off = await sickFleet(store, NEVER)
    showTable(`${TASKS} tasks on a fleet of which half is sick, on ${store.name}`, [
      { routing: 'on', ...on },
      { routing: 'off', ...off },
    ])
    expect(on.onSickPercent).toBeLessThan(3.5)
    expect(off.onSickPercent).toBeGreaterThan(30)
    expect(on.dead).toBe(0)
    expect(off.dead).toBeGreaterThan(50)
    expect(on.secondsToEnd).toBeLessThan(off.secondsToEnd)
  },
)
