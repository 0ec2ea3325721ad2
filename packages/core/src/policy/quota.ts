// Retry quotas: a limit of retries in one window of time, as a number or as a share of the traffic, so that a storm of retries is capped. What is over
// waits: its retry is moved to the first window that has room. A store keeps one count per window and reserves the place
// in the same step as the settlement that asks for it.

import { InvalidError } from '../model/errors.ts'

export interface RetryQuota {
  /** Tasks whose quotas have one name share it. */
  readonly name: string
  readonly windowMs: number
  /** Retries in one window; null if only the share counts. */
  readonly limit: number | null
  /**
   * Retries in one window as a share of the attempts that started in its lane, this minute or the one before, whichever had more; at
   * least 1. Null if only the limit counts.
   */
  readonly share: number | null
}

/** How far ahead a retry is moved at the most: then it waits there, over the quota, rather than for ever. */
export const QUOTA_WINDOWS_MAX = 1_000

/** How many retries fit into one window, by the attempts that started. */
export function quotaRoom({ limit, share }: RetryQuota, started: number): number {
  const byShare = share === null ? Number.POSITIVE_INFINITY : Math.max(Math.floor(share * started), 1)
  return Math.min(limit ?? Number.POSITIVE_INFINITY, byShare)
}

/**
 * The window that a retry wanted at `wantedAt` goes to, by number, and when it is due there. `taken` tells how many a
 * window has. Where a store is spread over several places, they take the windows in turn: `place` of `places`.
 */
export function quotaPlace(
  wantedAt: number,
  windowMs: number,
  room: number,
  taken: (window: number) => number,
  place = 0,
  places = 1,
): { readonly window: number; readonly dueAt: number } {
  const first = Math.floor(wantedAt / windowMs)
  let window = first + ((((place - first) % places) + places) % places)
  const last = window + (QUOTA_WINDOWS_MAX - 1) * places
  while (window < last && taken(window) >= room) window += places
  return { window, dueAt: Math.max(wantedAt, window * windowMs) }
}

export function checkedQuota(quota: RetryQuota): RetryQuota {
  if (!(Number.isInteger(quota.windowMs) && quota.windowMs >= 1_000 && quota.windowMs <= 86_400_000)) {
    throw new InvalidError('The window of a retry quota is between 1 s and 24 h.')
  }
  if (quota.limit !== null && !(Number.isInteger(quota.limit) && quota.limit >= 1 && quota.limit <= 1_000_000)) {
    throw new InvalidError('The limit of a retry quota is a whole number from 1 to 1,000,000.')
  }
  if (quota.share !== null && !(quota.share > 0 && quota.share <= 1)) {
    throw new InvalidError('The share of a retry quota is above 0, and 1 at the most.')
  }
  if (quota.limit === null && quota.share === null) {
    throw new InvalidError('A retry quota has a limit, a share, or both.')
  }
  return quota
}
