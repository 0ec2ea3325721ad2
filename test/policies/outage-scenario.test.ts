// Scenario: 2,000 tasks whose dependency is down for two minutes, with a circuit breaker and without. In virtual time,
// through the SDKs, on each engine. The figures are printed.

import { createClient } from '@reprise/client'
import {
  type Breaker,
  DEFAULT_BREAKER,
  type Engine,
  seededRandom,
  silentLogger,
  sleep,
  VirtualClock,
} from '@reprise/core'
import { createWorker, defineAction } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import {
  type CountedEngine,
  counted,
  runUntil,
  SCENARIO_STORES,
  type ScenarioStore,
  showTable,
} from '../virtual-time/scenario-store.ts'

const TASKS = 2_000
const WORKERS = 4
const CONCURRENCY = 25
const AT_ONCE = WORKERS * CONCURRENCY
const WORK_MS = 200
/** Some tasks are done before the outage, so that the breaker has seen better days. */
const DOWN_FROM_MS = 1_000
const DOWN_MS = 120_000

interface Figures {
  readonly succeeded: number
  readonly dead: number
  /** Attempts that failed, and of those the ones that were begun when the outage was known. */
  readonly spent: number
  readonly begunLate: number
  /** Tasks that used up a retry, and the most that one of them used up. */
  readonly charged: number
  readonly maxCharges: number
  readonly parks: number
  readonly opened: number
  readonly secondsToEnd: number
}

interface RampStep {
  /** What the breaker let run at once. */
  readonly allowed: number
  readonly observed: number
}

interface Outcome {
  readonly figures: Figures
  readonly ramp: readonly RampStep[]
}

async function outage(store: ScenarioStore, breaker: boolean): Promise<Outcome> {
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  const dependency = new Dependency(clock)
  const charge = defineAction({
    name: 'charge',
    retry: { max: 2 },
    // Shorter than the outage: time in the queue does not count while a breaker is open.
    queueTtl: '30s',
    uses: ['payments'],
    breaker,
    run: () => dependency.call(),
  })
  const client = await createClient({ engine, clock })
  await client.submitMany(
    charge,
    Array.from({ length: TASKS }, (_, index) => index),
  )
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, (_, index) =>
      createWorker({
        engine,
        clock,
        id: `w${index}`,
        host: `host-${index}`,
        actions: [charge],
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
  const ramp = await runToTheEnd(engine, clock, dependency)
  const { succeeded, dead } = await engine.counts()
  const { spent, begunLate, elapsedMs } = dependency
  const secondsToEnd = Math.round(elapsedMs / 1_000)
  return { figures: { succeeded, dead, spent, begunLate, ...(await charges(engine)), secondsToEnd }, ramp }
}

/** What the tasks depend on, and what it sees of them. */
class Dependency {
  spent = 0
  begunLate = 0
  running = 0
  readonly #clock: VirtualClock
  readonly #startedAt: number

  constructor(clock: VirtualClock) {
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  get elapsedMs(): number {
    return this.#clock.now() - this.#startedAt
  }

  get isDown(): boolean {
    return this.elapsedMs >= DOWN_FROM_MS && this.elapsedMs < DOWN_FROM_MS + DOWN_MS
  }

  get isBack(): boolean {
    return this.elapsedMs >= DOWN_FROM_MS + DOWN_MS
  }

  async call(): Promise<string> {
    const begunMs = this.elapsedMs
    this.running++
    await sleep(this.#clock, WORK_MS)
    this.running--
    if (!this.isDown) return 'charged'
    this.spent++
    if (begunMs > DOWN_FROM_MS + 2 * WORK_MS) this.begunLate++
    throw Object.assign(new Error('connect ECONNREFUSED payments:443'), { code: 'ECONNREFUSED' })
  }
}

/** Runs until every task has ended. The most that ran at once under each limit of the release, in order. */
async function runToTheEnd(engine: CountedEngine, clock: VirtualClock, dependency: Dependency): Promise<RampStep[]> {
  const observed = new Map<number, number>()
  await runUntil(engine, clock, 3_600_000, async () => {
    const allowed = dependency.isBack ? allowedBy((await engine.breakers()).items[0]) : null
    if (allowed !== null) observed.set(allowed, Math.max(observed.get(allowed) ?? 0, dependency.running))
    const { succeeded, dead } = await engine.counts()
    return succeeded + dead === TASKS
  })
  return [...observed].map(([allowed, most]) => ({ allowed, observed: most }))
}

function allowedBy(breaker: Breaker | undefined): number | null {
  if (breaker?.state.status === 'ramping') return breaker.state.concurrency
  return breaker?.state.status === 'half_open' ? breaker.settings.probes : null
}

async function charges(engine: Engine) {
  const found = { charged: 0, maxCharges: 0, parks: 0, opened: 0 }
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<Engine['tasks']>> = await engine.tasks({
      limit: 1_000,
      ...(cursor === null ? {} : { cursor }),
    })
    for (const { failures, parks } of page.items) {
      if (failures > 0) found.charged++
      found.maxCharges = Math.max(found.maxCharges, failures)
      found.parks += parks
    }
    cursor = page.next
  } while (cursor !== null)
  const { entries } = await engine.journal.read({ limit: 1_000 })
  found.opened = entries.filter(({ type }) => type === 'breaker.opened').length
  return found
}

test.each(SCENARIO_STORES)('C9: an outage of two minutes, on $name', { timeout: 120_000 }, async (store) => {
  const { figures: on, ramp } = await outage(store, true)
  const { figures: off } = await outage(store, false)
  showTable(`${TASKS} tasks, their dependency down for ${DOWN_MS / 1_000} s, on ${store.name}`, [
    { breaker: 'on', ...on },
    { breaker: 'off', ...off },
  ])
  showTable(
    `The release after it, on ${store.name}`,
    ramp.map((step) => ({ ...step })),
  )

  expect(on).toMatchObject({ succeeded: TASKS, dead: 0 })
  // What ran when it began, and then only probes.
  const { minFailures, probes, maxRamp } = DEFAULT_BREAKER
  expect(on.begunLate).toBeLessThanOrEqual(probes * (on.opened - 1))
  expect(on.spent).toBeLessThanOrEqual(AT_ONCE + minFailures + on.begunLate)
  // Those before the breaker opened were charged, and no task twice.
  expect(on.charged).toBeLessThan(minFailures)
  expect(on.maxCharges).toBe(1)
  expect(on.parks).toBe(on.spent - on.charged)

  expect(ramp.map(({ allowed }) => allowed)).toEqual([probes, 6, 12, 24, 48, 96].filter((step) => step < maxRamp))
  for (const [index, { allowed, observed }] of ramp.entries()) {
    expect(observed).toBeLessThanOrEqual(allowed)
    expect(observed).toBeGreaterThan(ramp[index - 1]?.observed ?? 0)
  }

  expect(off.dead).toBeGreaterThan(TASKS / 2)
  expect(off.spent).toBeGreaterThan(10 * on.spent)
})
