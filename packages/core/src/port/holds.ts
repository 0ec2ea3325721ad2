// What operators have put on lanes, by its exact scope: holds and limits, also where no lane is yet. There the gates of lanes
// do not show them. Pure, so that every engine lists alike.

import type { TenantId } from '../model/ids.ts'
import type { Scope } from './changes.ts'
import type { ExplainFacts } from './explain.ts'
import { type Gate, type Page, type PageRequest, pageLimit } from './queries.ts'

/** As a gate shows it: `paused` is a hold, `concurrency` a limit, with room or without. */
export type Hold = Extract<Gate, { readonly kind: 'paused' | 'concurrency' }>

export interface HoldQuery extends PageRequest {
  /** Only on scopes of these tenants; every one if missing. */
  readonly tenants?: readonly TenantId[]
}

/** A page of all that a store has: by scope, what is not given first; of one scope the hold before the limit. */
export function holdPage(
  { holds, limits }: Pick<ExplainFacts, 'holds' | 'limits'>,
  query: HoldQuery | undefined,
): Page<Hold> {
  const limit = pageLimit(query)
  const { cursor = '', tenants } = query ?? {}
  const all = [
    ...holds.map((hold) => ({ kind: 'paused', ...hold }) as const),
    ...limits.map((one) => ({ kind: 'concurrency', ...one }) as const),
  ]
  const rest = all
    .filter((hold) => tenants === undefined || tenants.some((tenant) => tenant === hold.scope.tenant))
    .filter((hold) => nameOf(hold) > cursor)
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rest.length > limit && last !== undefined ? nameOf(last) : null }
}

/** Names have no control characters: as one text they sort as they do part by part. */
const nameOf = ({ scope, kind }: { readonly scope: Scope; readonly kind: Hold['kind'] }): string =>
  [scope.pool ?? '', scope.action ?? '', scope.tenant ?? '', kind === 'paused' ? 0 : 1].join('\n')
