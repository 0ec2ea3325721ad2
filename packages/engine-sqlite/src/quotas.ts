// Retry quotas: how a decision to retry gets its place in a window that has room. A row per window that has any, until it is past.

import type { RetryQuota } from '@reprise/core'
import { quotaPlace, quotaRoom } from '@reprise/core/engine'
import type { Database } from './database.ts'
import type { Lane } from './lane.ts'
import type { Transaction } from './transaction.ts'

export interface RetryPlace {
  readonly dueAt: number
  /** The quota that moved it to a later time than was wanted; null if none did. */
  readonly quota: string | null
}

/** When a retry that is wanted then may run; takes its place there. */
export function placeRetry(
  transaction: Transaction,
  lane: Lane,
  wantedAt: number,
  quota: RetryQuota | undefined,
): RetryPlace {
  if (quota === undefined) return { dueAt: wantedAt, quota: null }
  const { db, now } = transaction
  const { name, windowMs } = quota
  db.run('deletePastQuotaWindows', now)
  const room = quotaRoom(quota, transaction.startedLately(lane))
  const { window, dueAt } = quotaPlace(wantedAt, windowMs, room, takenIn(db, name))
  db.run('takeQuotaPlace', name, window, (window + 1) * windowMs)
  return { dueAt, quota: dueAt > wantedAt ? name : null }
}

const WINDOWS_PER_READ = 64

/** How many a window has; windows are asked for in their order, and read some at a time. */
function takenIn(db: Database, name: string): (window: number) => number {
  const counts = new Map<number, number>()
  let readTo = Number.NEGATIVE_INFINITY
  return (window) => {
    if (window > readTo) {
      const rows = db.arrays<[window: number, count: number]>('quotaWindows', name, window, WINDOWS_PER_READ)
      for (const [number, count] of rows) counts.set(number, count)
      readTo = rows.length < WINDOWS_PER_READ ? Number.POSITIVE_INFINITY : (rows.at(-1)?.[0] ?? window)
    }
    return counts.get(window) ?? 0
  }
}
