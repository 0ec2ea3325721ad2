// Retry quotas: how a decision to retry gets its place in a window that has room. A row per window that has any, until it is past.

import type { RetryQuota } from '@reprise/core'
import { quotaKey, quotaPlace, quotaRoom } from '@reprise/core/engine'
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
  const key = quotaKey(quota, lane.tenant)
  const started = transaction.startedLately(lane)
  const counts = new Map(
    db.arrays<[window: number, count: number]>('quotaWindows', key, Math.floor(wantedAt / windowMs)),
  )
  const hasRoom = (number: number): boolean => (counts.get(number) ?? 0) < quotaRoom(quota, started, number)
  const { window, dueAt } = quotaPlace(wantedAt, windowMs, hasRoom)
  db.run('takeQuotaPlace', key, window, (window + 1) * windowMs)
  return { dueAt, quota: dueAt > wantedAt ? name : null }
}
