// Figures of the whole store, looked up when somebody scrapes: bounded, kept for a few seconds, and with a time-out of their
// own. A store that does not answer gives a scrape without them and reprise_store_up 0, never a failed scrape.

import {
  allPages,
  type Breaker,
  type Clock,
  type Counts,
  heartbeatLag,
  type Logger,
  type Observing,
  PAGE_LIMIT_MAX,
  type PoolName,
  type Records,
  silentLogger,
  sleep,
  systemClock,
  TASK_STATUSES,
  type WorkerView,
} from '@reprise/core'
import { JournalTail } from './journal-tail.ts'
import { levelNumber, type Monitoring, monitoring, WORKERS_MAX } from './monitoring.ts'
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
}

interface Look {
  readonly counts: Counts
  readonly pools: ReadonlyMap<PoolName, Counts>
  readonly workers: readonly WorkerView[]
  readonly breakers: readonly Breaker[]
  readonly monitoring: Monitoring
}

const KEEP_MS = 5_000
const TIMEOUT_MS = 2_000
const POOLS_MAX = 100
const POOL_STATUSES = ['queued', 'waiting', 'running', 'dead'] as const
const HEALTHS = ['healthy', 'degraded', 'unhealthy'] as const
const BREAKER_STATUSES = ['open', 'half_open', 'ramping', 'closed'] as const
const QUANTILES = ['p50', 'p90', 'p99', 'max'] as const

/** From now on a scrape of the registry has the figures of this store. */
export function storeGauges(engine: Observing & Records, options: StoreGaugesOptions): void {
  const { metrics, clock = systemClock, log = silentLogger, keepMs = KEEP_MS, timeoutMs = TIMEOUT_MS } = options
  const journal = new JournalTail(engine)
  const window = options.windowMs === undefined ? {} : { windowMs: options.windowMs }
  const gauges = gaugesOf(metrics, () => refresh())
  let takenAt: number | null = null
  let refreshing: Promise<void> | null = null
  /** A look that the store has not answered, however long ago it was given up: no second one is sent after it. */
  let unanswered = 0

  const lookInTime = async (): Promise<Look | null> => {
    if (unanswered > 0) return null
    const over = new AbortController()
    unanswered++
    const look = lookAt(engine, () => monitoring(engine, { ...window, journal })).finally(() => unanswered--)
    // Given up already: what it says later is of no interest.
    look.catch(() => undefined)
    try {
      return await Promise.race([look, sleep(clock, timeoutMs, over.signal, { hold: true }).then(() => null)])
    } finally {
      over.abort()
    }
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
    gauges.show(look)
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

async function lookAt(engine: Observing & Records, figures: () => Promise<Monitoring>): Promise<Look> {
  const [counts, registry, breakers, lanes, found] = await Promise.all([
    engine.counts(),
    allPages((page) => engine.workers(page), WORKERS_MAX),
    engine.breakers({ limit: PAGE_LIMIT_MAX }),
    engine.lanes({ limit: PAGE_LIMIT_MAX }),
    figures(),
  ])
  const names = new Set([...registry.items.flatMap(({ pools }) => pools), ...lanes.items.map(({ pool }) => pool)])
  const pools = await Promise.all(
    [...names].slice(0, POOLS_MAX).map(async (pool) => [pool, await engine.counts({ pool })] as const),
  )
  return { counts, workers: registry.items, breakers: breakers.items, pools: new Map(pools), monitoring: found }
}

function gaugesOf(metrics: MetricsRegistry, refresh: () => Promise<void>) {
  const up = gauge(metrics, 'storeUp', refresh)
  const tasks = gauge(metrics, 'tasks', refresh)
  const poolTasks = gauge(metrics, 'poolTasks', refresh)
  const workers = gauge(metrics, 'workers', refresh)
  const draining = gauge(metrics, 'workersDraining', refresh)
  const lag = gauge(metrics, 'heartbeatLag', refresh)
  const breakers = gauge(metrics, 'breakers', refresh)
  const figures = monitoringGauges(metrics, refresh)

  return {
    show(look: Look | null): void {
      for (const one of [tasks, poolTasks, workers, lag, breakers]) one.reset()
      up.set(look === null ? 0 : 1)
      figures.show(look?.monitoring ?? null)
      if (look === null) {
        draining.remove()
        return
      }
      for (const status of TASK_STATUSES) tasks.set({ status }, look.counts[status])
      for (const [pool, counts] of look.pools) {
        for (const status of POOL_STATUSES) poolTasks.set({ pool, status }, counts[status])
      }
      const found = look.workers
      for (const health of HEALTHS) workers.set({ health }, found.filter((one) => one.health.status === health).length)
      draining.set(found.filter((one) => one.draining).length)
      for (const status of BREAKER_STATUSES) {
        breakers.set({ status }, look.breakers.filter(({ state }) => state.status === status).length)
      }
      const lags = heartbeatLag(found, look.monitoring.at)
      if (lags.count > 0) for (const quantile of QUANTILES) lag.set({ quantile }, lags[quantile] / 1_000)
    },
  }
}

function monitoringGauges(metrics: MetricsRegistry, refresh: () => Promise<void>) {
  const retryRate = gauge(metrics, 'retryRate', refresh)
  const retrySuccessRate = gauge(metrics, 'retrySuccessRate', refresh)
  const unhealthyShare = gauge(metrics, 'unhealthyShare', refresh)
  const queueDepth = gauge(metrics, 'queueDepth', refresh)
  const healthRouting = gauge(metrics, 'healthRouting', refresh)
  const reasons = gauge(metrics, 'retryReasons', refresh)
  const level = gauge(metrics, 'level', refresh)

  return {
    show(found: Monitoring | null): void {
      const values = [
        [retryRate, found?.retryRate.value],
        [retrySuccessRate, found?.retrySuccess.value],
        [unhealthyShare, found?.health.unhealthyShare],
        [queueDepth, found?.queueDepth.average],
        [healthRouting, found?.healthRouting.value],
      ] as const
      // What can't be told is left out: a 0 would say something else.
      for (const [one, value] of values) {
        if (value === null || value === undefined) one.remove()
        else one.set(value)
      }
      reasons.reset()
      level.reset()
      if (found === null) return
      for (const { reason, count } of found.reasons) reasons.set({ reason }, count)
      level.set({ figure: 'overall' }, levelNumber(found.level))
      level.set({ figure: 'retry_rate' }, levelNumber(found.retryRate.level))
      level.set({ figure: 'unhealthy_share' }, levelNumber(found.health.level))
    },
  }
}
