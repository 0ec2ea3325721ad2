// Retry quotas: how a decision to retry gets its place in a window that has room. A row per window that has any, until it is past.
// Many retries of one transaction take places in the same few windows: each is read once, and written once at the end.

import type { RetryQuota } from '@reprise/core'
import { quotaKey, quotaPlace, quotaRoom } from '@reprise/core/engine'
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
  const { quotas } = transaction
  const { name, windowMs } = quota
  const key = quotaKey(quota, lane.tenant)
  const started = transaction.startedLately(lane)
  const hasRoom = (number: number): boolean => quotas.taken(key, number) < quotaRoom(quota, started, number)
  const { window, dueAt } = quotaPlace(wantedAt, windowMs, hasRoom)
  quotas.take(key, window, (window + 1) * windowMs)
  return { dueAt, quota: dueAt > wantedAt ? name : null }
}

/** The windows that the retries of one transaction look at. */
export class QuotaWindows {
  readonly #db: Database
  readonly #now: number
  readonly #windows = new Map<string, Map<number, QuotaWindow>>()

  constructor(db: Database, now: number) {
    this.#db = db
    this.#now = now
  }

  taken(key: string, number: number): number {
    return this.#window(key, number).count
  }

  take(key: string, number: number, endsAt: number): void {
    const window = this.#window(key, number)
    window.count++
    window.added++
    window.endsAt = Math.max(window.endsAt, endsAt)
  }

  flush(): void {
    for (const [key, windows] of this.#windows) {
      for (const [number, { added, endsAt }] of windows) {
        if (added > 0) this.#db.run('takeQuotaPlaces', key, number, added, endsAt)
      }
    }
    this.#windows.clear()
  }

  #window(key: string, number: number): QuotaWindow {
    if (this.#windows.size === 0) this.#db.run('deletePastQuotaWindows', this.#now)
    let windows = this.#windows.get(key)
    if (windows === undefined) {
      windows = new Map()
      this.#windows.set(key, windows)
    }
    let window = windows.get(number)
    if (window === undefined) {
      const count = this.#db.get<{ count: number }>('quotaWindow', key, number)?.count ?? 0
      window = { count, added: 0, endsAt: 0 }
      windows.set(number, window)
    }
    return window
  }
}

interface QuotaWindow {
  count: number
  /** Of these, the ones that are not written yet. */
  added: number
  endsAt: number
}
