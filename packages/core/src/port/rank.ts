// Whose a hold or a limit is, and who may lift or change it. Pure, so that every engine refuses alike.

import { OutrankedError } from '../model/errors.ts'
import type { By, Rank, Scope } from './changes.ts'
import { scopeText } from './explain.ts'

export const rankOf = ({ rank = 'platform' }: By): Rank => rank

/** Throws unless the caller's rank is that of the present owner or higher. Null: nobody has put anything on this scope. */
export function checkRank(what: 'hold' | 'limit', scope: Scope, owner: Rank | null, by: By): void {
  if (owner === 'platform' && rankOf(by) === 'tenant') throw outranked(what, scope)
}

export const outranked = (what: 'hold' | 'limit', scope: Scope): OutrankedError =>
  new OutrankedError(what, scopeText(scope))
