// What somebody may pass on to an API token: nothing that they don't have themselves.

import type { TenantId } from '@reprise/core'
import { type Caller, mayTouch } from './caller.ts'
import { ROLES, type Scope } from './scopes.ts'

/** Whether all of these are theirs; null stands for all there are. */
export function mayTouchAll(caller: Caller, tenants: readonly TenantId[] | null): boolean {
  if (tenants === null) return caller.tenants === null
  return tenants.every((tenant) => mayTouch(caller, tenant))
}

/**
 * The scopes that somebody may give to a token: their own. Admins may also give away `work`, which no person has: somebody has
 * to let the workers in.
 */
export function grantableScopes({ scopes }: Caller): ReadonlySet<Scope> {
  const isAdmin = ROLES.admin.every((scope) => scopes.has(scope))
  return isAdmin ? new Set<Scope>([...scopes, 'work']) : scopes
}
