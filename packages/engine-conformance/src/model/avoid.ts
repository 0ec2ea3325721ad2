// Which workers a retry avoids: the one that failed it, and those like it, for a short while and only if a better one is there.

import { AVOID_MS } from '@reprise/core/engine'
import { latestExecution } from './change.ts'
import { healthOf } from './registry.ts'
import type { State, TaskRecord, WorkerRecord } from './state.ts'

/** Until when this worker should leave a queue entry to others; null if it may have it now. */
export function avoidedUntil(state: State, task: TaskRecord, worker: WorkerRecord): number | null {
  if (task.state.status !== 'queued') return null
  const until = task.state.since + AVOID_MS
  if (state.now >= until) return null
  const latest = latestExecution(task)
  if (latest === undefined || latest.generation !== task.generation || latest.worker === null) return null
  if (latest.status !== 'failed' && latest.status !== 'lost') return null
  const failedOn = latest.worker
  const likeness = (of: WorkerRecord): number => {
    if (of.worker === failedOn) return 3
    const was = state.workers.get(failedOn)
    return was === undefined ? 0 : Number(of.host === was.host) + Number(of.version === was.version)
  }
  const isBetter = (other: WorkerRecord): boolean =>
    other !== worker &&
    other.pools.includes(task.lane.pool) &&
    (other.actions === null || other.actions.includes(task.lane.action)) &&
    !other.draining &&
    healthOf(state, other).status === 'healthy' &&
    likeness(other) < likeness(worker)
  return [...state.workers.values()].some(isBetter) ? until : null
}
