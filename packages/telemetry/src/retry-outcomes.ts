// What became of the retries that the journal tells of. A retry that failed is followed by an entry about the next attempt of its
// task; one that succeeded leaves none, so the tasks without a later entry are looked up: all of them if they are few, else the
// newest, and the rest is taken to be alike.

import type { Engine, TaskId, TaskStatus } from '@reprise/core'
import type { RetryEntry } from './journal-tail.ts'

export interface RetryOutcomes {
  readonly reasons: ReadonlyMap<string, ReasonOutcomes>
  readonly succeeded: number
  readonly failed: number
  /** Waiting, queued or running; or ended by an operator. */
  readonly pending: number
  readonly isEstimate: boolean
}

/** The retries with one reason, and what became of them as far as they have ended. */
interface ReasonOutcomes {
  readonly count: number
  readonly succeeded: number
  readonly failed: number
}

/** How many tasks are looked up at the most. */
const LOOKUPS_MAX = 100

export async function retryOutcomes(
  engine: Pick<Engine, 'task'>,
  entries: readonly RetryEntry[],
  maxLookups: number = LOOKUPS_MAX,
): Promise<RetryOutcomes> {
  const reasons = new Map<string, Tally>()
  const tallyOf = (reason: string): Tally => {
    const tally = reasons.get(reason) ?? { count: 0, succeeded: 0, failed: 0, open: 0, sampled: 0 }
    reasons.set(reason, tally)
    return tally
  }
  /** Tasks whose latest entry is a retry, with its reason: in the order of those entries. */
  const open = new Map<TaskId, Tally>()
  let failed = 0
  for (const { taskId, attempt, isRetry, reason } of entries) {
    // An operator's retry may follow a retry that is still open: then there is one retry, not two.
    const before = open.get(taskId)
    open.delete(taskId)
    if (before !== undefined && attempt !== null) {
      failed++
      before.failed++
    }
    if (!isRetry) continue
    const tally = tallyOf(reason)
    tally.count++
    open.set(taskId, tally)
  }
  for (const tally of open.values()) tally.open++
  const sample = [...open].slice(-maxLookups)
  const states = await Promise.all(
    sample.map(async ([id, tally]) => ({
      tally,
      status: (await engine.task(id, { light: true }))?.state.status ?? null,
    })),
  )
  const found = { succeeded: 0, dead: 0 }
  const ends = new Map<Tally, { succeeded: number; dead: number }>()
  for (const { tally, status } of states) {
    tally.sampled++
    if (!isEnd(status)) continue
    found[status]++
    const own = ends.get(tally) ?? { succeeded: 0, dead: 0 }
    own[status]++
    ends.set(tally, own)
  }
  for (const [tally, own] of ends) {
    const share = tally.open / tally.sampled
    tally.succeeded += Math.round(own.succeeded * share)
    tally.failed += Math.round(own.dead * share)
  }
  const factor = sample.length === 0 ? 0 : open.size / sample.length
  const succeeded = Math.round(found.succeeded * factor)
  failed += Math.round(found.dead * factor)
  return {
    reasons: new Map(
      [...reasons].map(([reason, { count, succeeded: well, failed: ill }]) => [
        reason,
        { count, succeeded: well, failed: ill },
      ]),
    ),
    succeeded,
    failed,
    pending: open.size - succeeded - Math.round(found.dead * factor),
    isEstimate: open.size > sample.length,
  }
}

/** While it is counted: beside the outcomes, how many have not ended in the journal, and how many of these were looked up. */
interface Tally {
  count: number
  succeeded: number
  failed: number
  open: number
  sampled: number
}

/** Dead since the journal was read. */
function isEnd(status: TaskStatus | null): status is 'succeeded' | 'dead' {
  return status === 'succeeded' || status === 'dead'
}
