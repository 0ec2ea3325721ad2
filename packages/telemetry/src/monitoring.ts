// The figures that an operator watches (C10), ready-made from what the store counts anyway: how much is retried and with what
// success, why, how the workers are, and whether that is a reason to worry. Each figure says on what it stands; what can't be
// told is null rather than 0.

import {
  allPages,
  heartbeatLag,
  InvalidError,
  type Observing,
  type Records,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type WorkerView,
} from '@reprise/core'
import { JournalTail } from './journal-tail.ts'
import { type RetryOutcomes, retryOutcomes } from './retry-outcomes.ts'

export type Level = 'ok' | 'warning' | 'critical'

interface Thresholds {
  readonly warning: number
  readonly critical: number
}

/** Above these shares a figure is a warning, or critical (C10). */
export const MONITORING_THRESHOLDS = {
  retryRate: { warning: 0.2, critical: 0.5 },
  unhealthyShare: { warning: 0.3, critical: 0.7 },
} as const satisfies Record<string, Thresholds>

export interface Monitoring {
  /** The store's time, and the part of the past that counts: whole minutes. */
  readonly at: number
  readonly from: number
  readonly windowMs: number
  readonly level: Level
  readonly retryRate: {
    /** Of the attempts that ended, the share that led to a retry; null if none ended. */
    readonly value: number | null
    readonly level: Level
    readonly ended: number
    readonly retried: number
  }
  readonly retrySuccess: {
    /** Of the retries that have ended, the share that succeeded; null if none has. */
    readonly value: number | null
    readonly succeeded: number
    readonly failed: number
    readonly pending: number
    /** Whether the number of successes was carried over from a sample. */
    readonly isEstimate: boolean
  }
  readonly reasons: readonly { readonly reason: string; readonly count: number; readonly share: number }[]
  readonly health: {
    readonly workers: number
    readonly healthy: number
    readonly degraded: number
    readonly unhealthy: number
    /** Null without workers. */
    readonly unhealthyShare: number | null
    readonly level: Level
    readonly heartbeatLagMs: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number }
  }
  readonly queueDepth: {
    /** Tasks that wait inside a worker, on average; null without workers. */
    readonly average: number | null
    readonly max: number
  }
  readonly healthRouting: {
    /** Of the attempts that started, the share in pools whose workers are chosen by health; null if none started. */
    readonly value: number | null
    readonly started: number
  }
  /** Whether the journal of the whole window was read: if not, reasons and retry success stand on a part of it. */
  readonly isJournalComplete: boolean
  /** Where a figure is not exact, in words. */
  readonly notes: readonly string[]
}

export interface MonitoringOptions {
  /** 10 minutes if not given; at most a day. */
  readonly windowMs?: number
  /** The store's time; asked for if not given. */
  readonly now?: number
  /** One that all calls about this engine share, if not given. */
  readonly journal?: JournalTail
}

/** The next call goes on reading where the last one stopped, without having to keep anything. */
const tails = new WeakMap<Records, JournalTail>()

function tailOf(engine: Records): JournalTail {
  const tail = tails.get(engine) ?? new JournalTail(engine)
  tails.set(engine, tail)
  return tail
}

const WINDOW_MS = 600_000
const WINDOW_MS_MAX = (SERIES_POINTS_MAX - 1) * SERIES_STEP_MS
const POOLS_MAX = 100
/** How many workers figures are made of. */
export const WORKERS_MAX = 10_000

export async function monitoring(engine: Observing & Records, options: MonitoringOptions = {}): Promise<Monitoring> {
  const { windowMs = WINDOW_MS, journal = tailOf(engine) } = options
  if (!(Number.isInteger(windowMs) && windowMs >= SERIES_STEP_MS && windowMs <= WINDOW_MS_MAX)) {
    throw new InvalidError(
      `The window is between a minute and ${WINDOW_MS_MAX / SERIES_STEP_MS} minutes in ms, not ${windowMs}.`,
    )
  }
  const now = options.now ?? (await engine.now())
  const from = Math.floor((now - windowMs) / SERIES_STEP_MS) * SERIES_STEP_MS
  const [points, registry, tail] = await Promise.all([
    engine.series({ from, to: now + 1 }),
    allPages((page) => engine.workers(page), WORKERS_MAX),
    journal.look(from),
  ])
  const pools = [...new Set(registry.items.flatMap((worker) => worker.pools))]
  const byHealth = await Promise.all(
    pools.slice(0, POOLS_MAX).map((pool) => engine.series({ from, to: now + 1, pool })),
  )
  return monitoringOf({
    now,
    from,
    windowMs,
    points,
    startedByHealth: byHealth.reduce((sum, own) => sum + total(own, 'started'), 0),
    workers: registry.items,
    retries: await retryOutcomes(engine, tail.entries),
    isJournalComplete: tail.isComplete,
    notes: [
      ...(registry.isComplete ? [] : ['There are more workers than were looked at.']),
      ...(pools.length > POOLS_MAX ? [`Only ${POOLS_MAX} of ${pools.length} pools count for routing by health.`] : []),
    ],
  })
}

export interface MonitoringFacts {
  readonly now: number
  readonly from: number
  readonly windowMs: number
  readonly points: readonly SeriesPoint[]
  /** Attempts that started in pools that registered workers serve. */
  readonly startedByHealth: number
  readonly workers: readonly Pick<WorkerView, 'health' | 'queueDepth' | 'lastBeatAt'>[]
  readonly retries: RetryOutcomes
  readonly isJournalComplete: boolean
  readonly notes: readonly string[]
}

/** Pure: the same facts give the same figures. */
export function monitoringOf(facts: MonitoringFacts): Monitoring {
  const { now, from, windowMs, points, workers, retries, isJournalComplete } = facts
  const ended = total(points, 'succeeded') + total(points, 'failed') + total(points, 'lost')
  const retried = total(points, 'retried')
  const retryRate = share(retried, ended)
  const started = total(points, 'started')
  const count = { healthy: 0, degraded: 0, unhealthy: 0 }
  for (const { health } of workers) count[health.status]++
  const unhealthyShare = share(count.unhealthy, workers.length)
  const levels = {
    retryRate: levelOf(retryRate, MONITORING_THRESHOLDS.retryRate),
    health: levelOf(unhealthyShare, MONITORING_THRESHOLDS.unhealthyShare),
  }
  const { count: _workers, ...heartbeatLagMs } = heartbeatLag(workers, now)
  const depths = workers.map(({ queueDepth }) => queueDepth)
  return {
    at: now,
    from,
    windowMs,
    level: worst(levels.retryRate, levels.health),
    retryRate: { value: retryRate, level: levels.retryRate, ended, retried },
    retrySuccess: {
      value: share(retries.succeeded, retries.succeeded + retries.failed),
      succeeded: retries.succeeded,
      failed: retries.failed,
      pending: retries.pending,
      isEstimate: retries.isEstimate,
    },
    reasons: distribution(retries.reasons),
    health: { workers: workers.length, ...count, unhealthyShare, level: levels.health, heartbeatLagMs },
    queueDepth: {
      average: share(sum(depths), depths.length),
      max: depths.reduce((most, depth) => Math.max(most, depth), 0),
    },
    healthRouting: { value: share(Math.min(facts.startedByHealth, started), started), started },
    isJournalComplete,
    notes: [
      ...facts.notes,
      ...(isJournalComplete
        ? []
        : ['Reasons and retry success stand on a part of the window: its journal was not read to the end.']),
      ...(retries.isEstimate ? ['The successes among the retries are carried over from a sample.'] : []),
    ],
  }
}

const LEVELS = ['ok', 'warning', 'critical'] as const satisfies Level[]
export const levelNumber = (level: Level): number => LEVELS.indexOf(level)

function levelOf(value: number | null, { warning, critical }: Thresholds): Level {
  if (value === null || value <= warning) return 'ok'
  return value > critical ? 'critical' : 'warning'
}

const worst = (a: Level, b: Level): Level => (levelNumber(a) > levelNumber(b) ? a : b)
const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

function total(points: readonly SeriesPoint[], flow: Exclude<keyof SeriesPoint, 'at'>): number {
  return sum(points.map((point) => point[flow]))
}

function distribution(reasons: ReadonlyMap<string, number>): Monitoring['reasons'] {
  const all = sum([...reasons.values()])
  return [...reasons]
    .map(([reason, count]) => ({ reason, count, share: count / all }))
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
}
