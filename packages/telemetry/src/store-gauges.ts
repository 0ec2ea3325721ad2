// Figures of the whole store, looked up when somebody scrapes: bounded, kept for a few seconds, and with a time-out of their
// own. A store that does not answer gives a scrape without them and reprise_store_up 0, never a failed scrape.

import {
  type Clock,
  type Counts,
  failingTickets,
  heartbeatLag,
  inTime,
  type Logger,
  type Observing,
  type PoolName,
  present,
  type Records,
  type ScalingSignal,
  silentLogger,
  systemClock,
  TASK_STATUSES,
} from '@reprise/core'
import { CATALOGUE, type MetricDefinition } from './catalogue.ts'
import { JournalTail } from './journal-tail.ts'
import { ABOUT, levelNumber, type MonitoringThresholds, worstOf } from './level.ts'
import { lookAtStore, type MonitoringOptions, type StoreLook } from './monitoring.ts'
import { gauge, type MetricsRegistry } from './registry.ts'

export interface StoreGaugesOptions {
  readonly metrics: MetricsRegistry
  readonly clock?: Clock
  readonly log?: Logger
  /** How long an answer is used again; 5 s if not given. */
  readonly keepMs?: number
  /** How long a scrape waits for the store; 2 s if not given. */
  readonly timeoutMs?: number
  /** The window of the monitoring figures; 10 minutes if not given. */
  readonly windowMs?: number
  readonly thresholds?: MonitoringThresholds | undefined
  /** How many slots and workers these pools would need; without it there are no such gauges. */
  readonly scaling?: (pools: readonly PoolName[]) => Promise<readonly ScalingSignal[]>
}

interface Look extends StoreLook {
  readonly pools: ReadonlyMap<PoolName, Counts>
  readonly scaling: readonly ScalingSignal[]
  /** By outside system. */
  readonly unpushed: ReadonlyMap<string, readonly unknown[]>
}

const KEEP_MS = 5_000
const TIMEOUT_MS = 2_000
const POOLS_MAX = 100
const POOL_STATUSES = ['queued', 'waiting', 'running', 'dead'] as const
const HEALTHS = ['healthy', 'degraded', 'unhealthy'] as const
const BREAKER_STATUSES = ['open', 'half_open', 'ramping', 'closed'] as const
const STATISTICS = ['p50', 'p90', 'p99', 'max'] as const

/** From now on a scrape of the registry has the figures of this store. */
export function storeGauges(engine: Observing & Records, options: StoreGaugesOptions): void {
  const { metrics, clock = systemClock, log = silentLogger, keepMs = KEEP_MS, timeoutMs = TIMEOUT_MS } = options
  const journal = new JournalTail(engine)
  const { scaling = async () => [] } = options
  const window = present({ windowMs: options.windowMs, thresholds: options.thresholds })
  const show = gaugesOf(metrics, () => refresh())
  let takenAt: number | null = null
  let refreshing: Promise<void> | null = null
  /** A look that the store has not answered, however long ago it was given up: no second one is sent after it. */
  let unanswered = 0

  const lookInTime = async (): Promise<Look | null> => {
    if (unanswered > 0) return null
    unanswered++
    const look = lookAt(engine, { ...window, journal }, scaling).finally(() => unanswered--)
    // Given up already: what it says later is of no interest.
    look.catch(() => undefined)
    const answer = await inTime(clock, timeoutMs, look)
    return answer === 'late' ? null : answer
  }
  const refreshNow = async (): Promise<void> => {
    let look: Look | null = null
    try {
      look = await lookInTime()
      if (look === null)
        log.warn('The store did not answer in time; this scrape is without its figures.', { timeoutMs })
    } catch (error) {
      log.warn("The store's figures can't be had; this scrape is without them.", { error })
    }
    show(look)
    takenAt = clock.monotonic()
  }
  /** Every gauge asks, and all share one look. */
  const refresh = (): Promise<void> => {
    if (refreshing !== null) return refreshing
    if (takenAt !== null && clock.monotonic() - takenAt < keepMs) return Promise.resolve()
    refreshing = refreshNow().finally(() => {
      refreshing = null
    })
    return refreshing
  }
}

async function lookAt(
  engine: Observing & Records,
  options: MonitoringOptions,
  scaling: NonNullable<StoreGaugesOptions['scaling']>,
): Promise<Look> {
  const look = await lookAtStore(engine, options)
  const names = new Set([...look.workers.flatMap(({ pools }) => pools), ...look.lanes.map(({ pool }) => pool)])
  const looked = [...names].slice(0, POOLS_MAX)
  const pools = await Promise.all(looked.map(async (pool) => [pool, await engine.counts({ pool })] as const))
  return { ...look, pools: new Map(pools), scaling: await scaling(looked), unpushed: await failingTickets(engine) }
}

type Shown = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]

/** What can't be told is left out: a 0 would say something else. */
const one = (value: number | null): Shown => (value === null ? [] : [[{}, value]])
const counted = <Item>(items: readonly Item[], is: (item: Item) => boolean): number => items.filter(is).length

/** What each gauge shows of a look. */
const SHOWN = {
  tasks: ({ counts }) => TASK_STATUSES.map((status) => [{ status }, counts[status]]),
  poolTasks: ({ pools }) =>
    [...pools].flatMap(([pool, counts]) => POOL_STATUSES.map((status) => [{ pool, status }, counts[status]] as const)),
  workers: ({ workers }) =>
    HEALTHS.map((health) => [{ health }, counted(workers, (worker) => worker.health.status === health)]),
  workersDraining: ({ workers }) => one(counted(workers, ({ draining }) => draining)),
  heartbeatLag({ workers, monitoring: { at } }) {
    const lag = heartbeatLag(workers, at)
    return lag.count === 0 ? [] : STATISTICS.map((statistic) => [{ statistic }, lag[statistic] / 1_000])
  },
  breakers: ({ breakers }) =>
    BREAKER_STATUSES.flatMap((status) => {
      const alike = breakers.filter(({ state }) => state.status === status)
      const common = counted(alike, ({ tenant }) => tenant === null)
      return [
        [{ status, level: 'tenant' }, alike.length - common] as const,
        [{ status, level: 'all' }, common] as const,
      ]
    }),
  retryRate: ({ monitoring: { retryRate } }) => one(retryRate.value),
  retrySuccessRate: ({ monitoring: { retrySuccess } }) => one(retrySuccess.value),
  unhealthyShare: ({ monitoring: { health } }) => one(health.unhealthyShare),
  queueDepth: ({ monitoring: { queueDepth } }) => one(queueDepth.average),
  healthRouting: ({ monitoring: { healthRouting } }) => one(healthRouting.value),
  retryReasons: ({ monitoring: { reasons } }) => reasons.map(({ reason, count }) => [{ reason }, count]),
  retryReasonSuccess: ({ monitoring: { reasons } }) =>
    reasons.flatMap(({ reason, success }) => (success === null ? [] : [[{ reason }, success] as const])),
  scalingSlots: ({ scaling }) =>
    scaling.flatMap(({ pool, slots }) => (slots === null ? [] : [[{ pool }, slots] as const])),
  scalingWorkers: ({ scaling }) =>
    scaling.flatMap(({ pool, workers }) => (workers === null ? [] : [[{ pool }, workers] as const])),
  workOrdersUnpushed: ({ unpushed }) => [...unpushed].map(([system, tickets]) => [{ system }, tickets.length]),
  level: ({ monitoring: { level, because } }) => [
    [{ figure: 'overall' }, levelNumber(level)],
    ...ABOUT.map((figure) => [{ figure }, levelNumber(worstOf(because, figure))] as const),
  ],
} as const satisfies Partial<Record<keyof typeof CATALOGUE, (look: Look) => Shown>>

/** The function that shows a look, or that there is none. */
function gaugesOf(metrics: MetricsRegistry, refresh: () => Promise<void>): (look: Look | null) => void {
  const up = gauge(metrics, CATALOGUE.storeUp, refresh)
  const shows = Object.entries(SHOWN).map(([key, shown]) => {
    const definition: MetricDefinition<'gauge'> = CATALOGUE[key as keyof typeof SHOWN]
    const meter = gauge(metrics, definition, refresh)
    return (look: Look | null): void => {
      // Without labels, a reset would leave a 0 behind.
      if (definition.labels.length === 0) meter.remove()
      else meter.reset()
      const values: Shown = look === null ? [] : shown(look)
      for (const [labels, value] of values) meter.set(labels, value)
    }
  })
  return (look) => {
    up.set(look === null ? 0 : 1)
    for (const show of shows) show(look)
  }
}
