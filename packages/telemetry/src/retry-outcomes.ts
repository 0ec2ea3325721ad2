// What became of the retries that the journal tells of. A retry that failed is followed by an entry about the next attempt of its
// task; one that succeeded leaves none, so the tasks without a later entry are looked up: all of them if they are few, else the
// newest, and the rest is taken to be alike.

import type { Engine, TaskId, TaskStatus } from '@reprise/core'
import type { RetryEntry } from './journal-tail.ts'

export interface RetryOutcomes {
  readonly reasons: ReadonlyMap<string, number>
  readonly succeeded: number
  readonly failed: number
  /** Waiting, queued or running; or ended by an operator. */
  readonly pending: number
  readonly isEstimate: boolean
}

/** How many tasks are looked up at the most. */
const LOOKUPS_MAX = 100

export async function retryOutcomes(
  engine: Pick<Engine, 'task'>,
  entries: readonly RetryEntry[],
  lookupsMax: number = LOOKUPS_MAX,
): Promise<RetryOutcomes> {
  const reasons = new Map<string, number>()
  /** Tasks whose latest entry is a retry: in the order of those entries. */
  const open = new Set<TaskId>()
  let failed = 0
  for (const { taskId, attempt, isRetry, reason } of entries) {
    // An operator's retry may follow a retry that is still open: then there is one retry, not two.
    const endsRetry = open.delete(taskId) && attempt !== null
    if (endsRetry) failed++
    if (!isRetry) continue
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    open.add(taskId)
  }
  const sample = [...open].slice(-lookupsMax)
  const states = await Promise.all(sample.map(async (id) => (await engine.task(id))?.state.status ?? null))
  const found = { succeeded: 0, dead: 0 }
  for (const status of states) if (isEnd(status)) found[status]++
  const factor = sample.length === 0 ? 0 : open.size / sample.length
  const succeeded = Math.round(found.succeeded * factor)
  failed += Math.round(found.dead * factor)
  return {
    reasons,
    succeeded,
    failed,
    pending: open.size - succeeded - Math.round(found.dead * factor),
    isEstimate: open.size > sample.length,
  }
}

/** Dead since the journal was read. */
function isEnd(status: TaskStatus | null): status is 'succeeded' | 'dead' {
  return status === 'succeeded' || status === 'dead'
}
