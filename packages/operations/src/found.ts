// What a query finds, for operations that count tasks or change them: the filter with what its caller may see and mean.

import { parseQuery, queryWarnings, type SearchOptions, type TaskFilter, type TaskStatus, turnsOf } from '@reprise/core'
import type { Caller } from './access/caller.ts'
import { ownFilter } from './access/own-tasks.ts'
import type { Context } from './context.ts'
import { seenBy } from './sight.ts'

export interface Asked {
  readonly filter: TaskFilter
  /** What the query may not have been meant to say; nothing if there is nothing. */
  readonly warned: { readonly warnings?: string[] }
}

export function askedFilter(q: string, caller: Caller): Asked {
  const asked = parseQuery(q)
  const warnings = queryWarnings(asked)
  return { filter: ownFilter(asked, caller), warned: warnings.length === 0 ? {} : { warnings: [...warnings] } }
}

export const inStatus = ({ terms }: TaskFilter, statuses: readonly TaskStatus[]): TaskFilter => ({
  terms: [...terms, { negated: false, condition: { kind: 'status', statuses } }],
})

/** How a caller looks: at the tasks of the own tenants, as they may see them, in turns with others. */
export const lookOf = (
  context: Context,
  caller: Caller,
): Pick<SearchOptions, 'now' | 'tenants' | 'seen' | 'turns'> => ({
  now: context.clock.now(),
  tenants: caller.tenants,
  seen: seenBy(context, caller),
  turns: turnsOf(context.clock),
})
