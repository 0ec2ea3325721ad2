// Retry quotas: a limit of retries in one window of time, as a number or as a share of the traffic, so that a storm of retries is
// capped. What is over waits for the next window, and never longer than one. Each tenant has the limit for itself, unless the
// quota says that all share it. A store keeps one count per window and reserves the place in the same step as the settlement
// that asks for it.

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
  /** Whether all tenants share it. If missing, each tenant has the quota for itself. */
  readonly allTenants?: boolean
}

/** What a store counts it by. Names hold no line feed. */
export const quotaKey = ({ name, allTenants }: RetryQuota, tenant: string): string =>
  allTenants === true ? name : `${name}\n${tenant}`

/** Where a store is spread over several places: which of how many this one is, from 0. */
interface Place {
  readonly place: number
  readonly places: number
}

/**
 * How many retries fit into a window, by the attempts that started. Several places deal the limit out: each has its part, and
 * they take what is left over in turn, so that the parts of one window always add up to the limit.
 */
export function quotaRoom(
  { limit, share }: RetryQuota,
  started: number,
  window: number,
  { place, places }: Place = { place: 0, places: 1 },
): number {
  const byShare = share === null ? Number.POSITIVE_INFINITY : Math.max(Math.floor(share * started), 1)
  if (limit === null) return byShare
  const extra = (window + place) % places < limit % places ? 1 : 0
  return Math.min(Math.floor(limit / places) + extra, byShare)
}

/**
 * The window that a retry wanted at `wantedAt` goes to, by number, and when it is due there: the wanted time, the beginning of
 * the next window, or one window later than wanted, over the quota. No window is booked further ahead than it is long.
 */
export function quotaPlace(
  wantedAt: number,
  windowMs: number,
  hasRoom: (window: number) => boolean,
): { readonly window: number; readonly dueAt: number } {
  const first = Math.floor(wantedAt / windowMs)
  if (hasRoom(first)) return { window: first, dueAt: wantedAt }
  const next = first + 1
  return { window: next, dueAt: hasRoom(next) ? next * windowMs : wantedAt + windowMs }
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
  if (quota.allTenants !== undefined && typeof quota.allTenants !== 'boolean') {
    throw new InvalidError('The allTenants of a retry quota is true or false.')
  }
  return quota
}
