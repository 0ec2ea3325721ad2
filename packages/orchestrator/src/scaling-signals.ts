// How many slots each pool would need now, from what the store counts anyway. The sum itself is core's (scaling.ts).

import {
  check,
  InvalidError,
  type Observing,
  PAGE_LIMIT_MAX,
  type PoolName,
  poolName,
  refuseNoEngine,
  type ScalingOptions,
  type ScalingSignal,
  SERIES_STEP_MS,
  scalingSignal,
  type WorkerView,
} from '@reprise/core'
import { registrySnapshot } from './registry-snapshot.ts'

export interface ScalingSignalsOptions extends ScalingOptions {
  /** How many minutes of the past count; 5 if not given. */
  readonly minutes?: number
}

const MINUTES = 5

export async function scalingSignals(
  engine: Observing,
  pools: readonly string[],
  options: ScalingSignalsOptions,
): Promise<readonly ScalingSignal[]> {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidError('scalingSignals needs scaling options, with a targetWaitMs at least.')
  }
  refuseNoEngine(engine, 'workers', 'scalingSignals')
  const isList: boolean = Array.isArray(pools)
  if (!isList) throw new InvalidError(`The pools must be a list, such as ['default'], not ${check.shown(pools)}.`)
  const { minutes = MINUTES } = options
  if (!Number.isInteger(minutes) || minutes < 1) {
    throw new InvalidError(`The minutes that count are a whole number from 1, not ${check.shown(minutes)}.`)
  }
  const workers = await registrySnapshot(engine)
  return Promise.all(pools.map((pool) => signalOf(engine, poolName(pool), workers, options)))
}

async function signalOf(
  engine: Observing,
  pool: PoolName,
  registry: readonly WorkerView[],
  { minutes = MINUTES, ...options }: ScalingSignalsOptions,
): Promise<ScalingSignal> {
  const now = await engine.now()
  const counts = await engine.counts({ pool })
  const from = Math.floor(now / SERIES_STEP_MS) * SERIES_STEP_MS - minutes * SERIES_STEP_MS
  const points = await engine.series({ pool, from, to: now + 1 })
  const able = registry.filter(
    (worker) => worker.pools.includes(pool) && !worker.draining && worker.health.status !== 'unhealthy',
  )
  const workers = able.length
  let arrived = 0
  let finished = 0
  for (const point of points) {
    arrived += point.accepted + point.retried
    finished += point.succeeded + point.failed + point.lost
  }
  const depth = counts.queued + (workers === 0 && counts.waiting > 0 ? await dueCount(engine, pool, now) : 0)
  // A pool that is younger than the window has had less time.
  const windowMs = Math.max(now - Math.max(points[0]?.at ?? from, from), 1)
  return scalingSignal(
    { pool, depth, running: counts.running, arrived, finished, windowMs, workers },
    { slotsPerWorker: slotsPerWorker(able), ...options },
  )
}

/** As they say themselves, on the average; 1 where nobody says. */
function slotsPerWorker(workers: readonly WorkerView[]): number {
  if (workers.length === 0) return 1
  const slots = workers.reduce((sum, { concurrency = 1 }) => sum + concurrency, 0)
  return Math.max(Math.floor(slots / workers.length), 1)
}

/** Claims move what is due to the queue. Where nobody claims it must be looked for, in the newest page at least. */
async function dueCount(engine: Observing, pool: PoolName, now: number): Promise<number> {
  const { items } = await engine.tasks({ pool, status: 'waiting', limit: PAGE_LIMIT_MAX })
  return items.filter(({ state }) => state.status === 'waiting' && state.dueAt <= now).length
}
