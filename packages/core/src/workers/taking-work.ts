// Which workers get work when they ask for it, as the store's claims decide: an unhealthy one gets none, unless only its failures
// speak against it and no better worker shares a pool with it; or unless health-aware selection is off. Pure, so that status and doctor say what claims do.

import type { WorkerView } from '../port/queries.ts'
import { assessHealth, type HealthThresholds, NO_OUTCOMES } from './health.ts'
import { isAlive } from './liveness.ts'

export function takingWork(
  workers: readonly WorkerView[],
  now: number,
  thresholds: HealthThresholds,
): readonly WorkerView[] {
  const wellServed = new Set(
    workers.filter(({ health }) => health.status !== 'unhealthy').flatMap(({ pools }) => pools),
  )
  return workers.filter((worker) => {
    if (worker.draining) return false
    if (!thresholds.enabled) return isAlive(worker, now, thresholds.heartbeatStaleMs)
    if (worker.health.status !== 'unhealthy') return true
    if (worker.pools.some((pool) => wellServed.has(pool))) return false
    return !isUnwell(worker, now, thresholds)
  })
}

/** Whether it is unhealthy by more than the failures of its tasks. */
export const isUnwell = (worker: WorkerView, now: number, thresholds: HealthThresholds): boolean =>
  assessHealth({ ...worker, ...NO_OUTCOMES }, now, thresholds).status === 'unhealthy'
