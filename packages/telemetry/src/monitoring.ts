// The figures that an operator watches (C10), ready-made from what the store counts anyway: how much is retried and with what
// success, why, how the workers are, and whether that is a reason to worry. Each figure says on what it stands; what can't be
// told is null rather than 0. The level and its words are made in level.ts.

import {
  allPages,
  type Breaker,
  type Counts,
  heartbeatLag,
  InvalidError,
  type LaneView,
  NO_POLICIES,
  type Observing,
  openSetbacks,
  PAGE_LIMIT_MAX,
  type PolicyBook,
  type Records,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  takingWork,
  type WorkerView,
} from '@reprise/core'
import { JournalTail } from './journal-tail.ts'
import { type Because, becauseOf, type Level, type LevelFacts, type MonitoringThresholds, worstOf } from './level.ts'
import { type LevelFindings, levelFacts } from './level-facts.ts'
import { type RetryOutcomes, retryOutcomes } from './retry-outcomes.ts'

export interface Monitoring {
  /** The store's time, and the part of the past that counts: whole minutes. */
  readonly at: number
  readonly from: number
  readonly windowMs: number
  readonly level: Level
  /** Why, in sentences, the worst first; empty if all is well. */
  readonly because: readonly Because[]
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
  readonly reasons: readonly {
    readonly reason: string
    readonly count: number
    readonly share: number
    /** What became of the retries with this reason: of those that have ended, the share that succeeded; null if none has. */
    readonly success: number | null
    readonly succeeded: number
    readonly failed: number
  }[]
  readonly health: {
    /** Those that are there; one that was silent for long is gone. */
    readonly workers: number
    readonly gone: number
    readonly draining: number
    /** Those that get work when they ask for it. */
    readonly takingWork: number
    /** Whether health decides who gets work (C11), and the policies that switch this off for some actions. */
    readonly aware: boolean
    readonly unawareBy: readonly string[]
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
  /** Above which a figure is a warning, or critical; the usual ones if not given (C10). */
  readonly thresholds?: MonitoringThresholds | undefined
  /** 10 minutes if not given; at most a day. */
  readonly windowMs?: number
  /** The store's time; asked for if not given. */
  readonly now?: number
  /** One that all calls about this engine share, if not given. */
  readonly journal?: JournalTail
  /** The policies in force: they may set SLAs. None if not given. */
  readonly book?: PolicyBook
  /** Whether causes of dead letters are named; true if not given. */
  readonly causes?: boolean
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
/** A worker that was silent this long is gone: it says nothing about those that are there. */
const GONE_MS = 300_000
/** That all workers are gone is news for this long. */
const GONE_NEWS_MS = 3_600_000
/** How many workers and lanes figures are made of. */
const WORKERS_MAX = 10_000
const LANES_MAX = 10_000

/** What was looked at, for who shows more of it than the figures. */
export interface StoreLook {
  readonly counts: Counts
  readonly workers: readonly WorkerView[]
  readonly lanes: readonly LaneView[]
  readonly breakers: readonly Breaker[]
  readonly monitoring: Monitoring
}

export async function monitoring(engine: Observing & Records, options: MonitoringOptions = {}): Promise<Monitoring> {
  return (await lookAtStore(engine, options)).monitoring
}

/** Of the retries that ended in the window, the share that failed; null if none ended. For those who watch this figure alone. */
export async function retryFailures(
  engine: Observing & Records,
  windowMs: number,
): Promise<{ readonly share: number; readonly ended: number } | null> {
  const { entries } = await tailOf(engine).look((await engine.now()) - windowMs)
  const { succeeded, failed } = await retryOutcomes(engine, entries)
  const ended = succeeded + failed
  return ended === 0 ? null : { share: failed / ended, ended }
}

export async function lookAtStore(engine: Observing & Records, options: MonitoringOptions): Promise<StoreLook> {
  const { windowMs = WINDOW_MS, journal = tailOf(engine) } = options
  if (!(Number.isInteger(windowMs) && windowMs >= SERIES_STEP_MS && windowMs <= WINDOW_MS_MAX)) {
    throw new InvalidError(
      `The window is between a minute and ${WINDOW_MS_MAX / SERIES_STEP_MS} minutes in ms, not ${windowMs}.`,
    )
  }
  const now = options.now ?? (await engine.now())
  const from = Math.floor((now - windowMs) / SERIES_STEP_MS) * SERIES_STEP_MS
  const [points, registry, tail, counts, lanes, { items: breakers }, setbacks] = await Promise.all([
    engine.series({ from, to: now + 1 }),
    allPages((page) => engine.workers(page), WORKERS_MAX),
    journal.look(from),
    engine.counts(),
    allPages((page) => engine.lanes(page), LANES_MAX),
    engine.breakers({ limit: PAGE_LIMIT_MAX }),
    openSetbacks(engine),
  ])
  const { items: workers } = registry
  const present = workers.filter(({ lastBeatAt }) => now - lastBeatAt < GONE_MS)
  const taking = takingWork(present, now, engine.healthThresholds)
  const { book = NO_POLICIES, causes = true } = options
  const found = await levelFacts(engine, {
    now,
    from,
    workers,
    taking,
    counts,
    lanes: lanes.items,
    breakers,
    setbacks,
    book,
    causes,
  })
  const isAware = engine.healthThresholds.enabled
  const pools = [...new Set(registry.items.flatMap((worker) => worker.pools))]
  const byHealth = await Promise.all(
    pools.slice(0, POOLS_MAX).map((pool) => engine.series({ from, to: now + 1, pool })),
  )
  const figures = monitoringOf({
    now,
    from,
    windowMs,
    points,
    startedByHealth: isAware ? byHealth.reduce((sum, own) => sum + total(own, 'started'), 0) : 0,
    workers: present,
    gone: workers.filter(({ lastBeatAt }) => now - lastBeatAt >= GONE_MS),
    takingWork: taking.length,
    isAware,
    unawareBy: book.policies.filter(({ healthAware }) => healthAware === false).map(({ name }) => name),
    found,
    retries: await retryOutcomes(engine, tail.entries),
    isJournalComplete: tail.isComplete,
    thresholds: options.thresholds,
    notes: [
      ...(registry.isComplete ? [] : ['There are more workers than were looked at.']),
      ...(lanes.isComplete ? [] : ['There are more lanes than were looked at.']),
      ...(pools.length > POOLS_MAX ? [`Only ${POOLS_MAX} of ${pools.length} pools count for routing by health.`] : []),
    ],
  })
  return { counts, workers, lanes: lanes.items, breakers, monitoring: figures }
}

export interface MonitoringFacts {
  readonly now: number
  readonly from: number
  readonly windowMs: number
  readonly points: readonly SeriesPoint[]
  /** Attempts that started in pools that registered workers serve. */
  readonly startedByHealth: number
  readonly workers: readonly Pick<WorkerView, 'health' | 'draining' | 'queueDepth' | 'lastBeatAt'>[]
  readonly gone: readonly Pick<WorkerView, 'lastBeatAt'>[]
  readonly takingWork: number
  readonly isAware: boolean
  readonly unawareBy: readonly string[]
  readonly found: LevelFindings
  readonly retries: RetryOutcomes
  readonly isJournalComplete: boolean
  readonly notes: readonly string[]
  /** The usual ones if missing. */
  readonly thresholds?: MonitoringThresholds | undefined
}

/** Pure: the same facts give the same figures. */
export function monitoringOf(facts: MonitoringFacts): Monitoring {
  const { now, from, windowMs, points, workers, gone, retries, isJournalComplete } = facts
  const flow = flowOf(points)
  const { retried, started } = flow
  const ended = flow.succeeded + flow.failed + flow.lost
  const count = { healthy: 0, degraded: 0, unhealthy: 0 }
  for (const { health } of workers) count[health.status]++
  const unhealthyShare = share(count.unhealthy, workers.length)
  const silentMs = now - Math.max(...gone.map(({ lastBeatAt }) => lastBeatAt))
  const staff = {
    present: workers.length,
    unhealthy: count.unhealthy,
    taking: facts.takingWork,
    lastSilentMs: workers.length === 0 && silentMs < GONE_NEWS_MS ? silentMs : null,
  }
  const because = becauseOf({ ...facts.found, windowMs, flow, workers: staff }, facts.thresholds)
  const { count: _workers, ...heartbeatLagMs } = heartbeatLag(workers, now)
  const depths = workers.map(({ queueDepth }) => queueDepth)
  return {
    at: now,
    from,
    windowMs,
    level: worstOf(because),
    because,
    retryRate: { value: share(retried, ended), level: worstOf(because, 'retry_rate'), ended, retried },
    retrySuccess: {
      value: share(retries.succeeded, retries.succeeded + retries.failed),
      succeeded: retries.succeeded,
      failed: retries.failed,
      pending: retries.pending,
      isEstimate: retries.isEstimate,
    },
    reasons: distribution(retries.reasons),
    health: {
      workers: workers.length,
      gone: gone.length,
      draining: workers.filter(({ draining }) => draining).length,
      takingWork: facts.takingWork,
      aware: facts.isAware,
      unawareBy: facts.unawareBy,
      ...count,
      unhealthyShare,
      level: worstOf(because, 'unhealthy_share'),
      heartbeatLagMs,
    },
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

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

function total(points: readonly SeriesPoint[], flow: Exclude<keyof SeriesPoint, 'at'>): number {
  return sum(points.map((point) => point[flow]))
}

const flowOf = (points: readonly SeriesPoint[]): LevelFacts['flow'] => ({
  accepted: total(points, 'accepted'),
  started: total(points, 'started'),
  succeeded: total(points, 'succeeded'),
  failed: total(points, 'failed'),
  lost: total(points, 'lost'),
  retried: total(points, 'retried'),
  dead: total(points, 'dead'),
  cancelled: total(points, 'cancelled'),
})

function distribution(reasons: RetryOutcomes['reasons']): Monitoring['reasons'] {
  const all = sum([...reasons.values()].map(({ count }) => count))
  return [...reasons]
    .map(([reason, { count, succeeded, failed }]) => {
      return { reason, count, share: count / all, success: share(succeeded, succeeded + failed), succeeded, failed }
    })
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
}
