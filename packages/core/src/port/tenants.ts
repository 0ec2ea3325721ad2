// What tenants have in a store: figures that are kept and not counted, for limits and for operators.

import type { TenantId } from '../model/ids.ts'
import { type Page, type PageRequest, pageLimit } from './queries.ts'

export interface TenantFigures {
  readonly tenant: TenantId
  /** Tasks that have not ended: queued, waiting and running. */
  readonly backlog: number
  readonly running: number
  /** The payloads of all its tasks that were not removed, as bytes of UTF-8. Results and failures don't count. */
  readonly bytes: number
}

/** A page of what was added up, by name. The cursor is the last name of the page before. */
export function tenantPage(parts: Iterable<TenantFigures>, page: PageRequest | undefined): Page<TenantFigures> {
  const limit = pageLimit(page)
  const after = page?.cursor ?? ''
  const sums = new Map<TenantId, TenantFigures>()
  for (const part of parts) {
    if (part.tenant <= after) continue
    const { backlog, running, bytes } = sums.get(part.tenant) ?? { backlog: 0, running: 0, bytes: 0 }
    sums.set(part.tenant, {
      tenant: part.tenant,
      backlog: backlog + part.backlog,
      running: running + part.running,
      bytes: bytes + part.bytes,
    })
  }
  const sorted = [...sums.values()].sort((a, b) => (a.tenant < b.tenant ? -1 : 1))
  const items = sorted.slice(0, limit)
  return { items, next: sorted.length > limit ? (items.at(-1)?.tenant ?? null) : null }
}
