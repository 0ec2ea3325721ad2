// Circuit breakers as they are listed and reset: which of them a call is about, and in which order they come. Pure, so that
// every engine lists alike.

import type { TenantId } from '../model/ids.ts'
import { type Breaker, type BreakerKey, breakerId, isListed } from '../policy/breaker.ts'
import { type Page, type PageRequest, pageLimit } from './queries.ts'

export interface BreakerQuery extends PageRequest {
  /** Those of these tenants, and those of all tenants; every one if missing. */
  readonly tenants?: readonly TenantId[]
}

/** By name; of one name that of all tenants first, then by tenant. */
export const byBreakerId = (a: BreakerKey, b: BreakerKey): number => (breakerId(a) < breakerId(b) ? -1 : 1)

/** A page of all that a store has. A cursor is the id of the last one that was shown. */
export function breakerPage(all: readonly Breaker[], query: BreakerQuery | undefined, now: number): Page<Breaker> {
  const limit = pageLimit(query)
  const { cursor = '', tenants } = query ?? {}
  const rest = all
    .filter((breaker) => isListed(breaker, now) && breakerId(breaker) > cursor)
    .filter(({ tenant }) => tenant === null || tenants === undefined || tenants.includes(tenant))
    .toSorted(byBreakerId)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rest.length > limit && last !== undefined ? breakerId(last) : null }
}

/** Whether a reset of a name is about this breaker. `tenants` are the tenants whose it may be, null for all; any if missing. */
export const isToReset = (
  breaker: BreakerKey,
  name: string,
  tenants: readonly (TenantId | null)[] | undefined,
): boolean => breaker.name === name && (tenants === undefined || tenants.includes(breaker.tenant))
