// What a caller whose rights are limited to some tenants may see and touch. Somebody else's task is answered as one that does
// not exist.

import { NotFoundError, RequestError, type TenantId } from '@reprise/core'
import type { Principal } from './principal.ts'

export const mayTouch = ({ tenants }: Principal, tenant: TenantId): boolean =>
  tenants === null || tenants.includes(tenant)

/** The task if the caller may know of it. */
export function visible<T extends { readonly tenant: TenantId }>(principal: Principal, id: string, task: T | null): T {
  if (task === null || !mayTouch(principal, task.tenant)) throw new NotFoundError('task', id)
  return task
}

/** The tenant that a question is about: the one asked for, or the only one that the caller has. */
export function tenantScope(principal: Principal, asked: TenantId | undefined): { readonly tenant?: TenantId } {
  const { tenants } = principal
  if (asked !== undefined) {
    if (mayTouch(principal, asked)) return { tenant: asked }
    throw new NotFoundError('tenant', asked)
  }
  if (tenants === null) return {}
  const [only] = tenants
  if (tenants.length === 1 && only !== undefined) return { tenant: only }
  throw new RequestError(
    'REPRISE_INVALID',
    `Name a tenant: your rights are limited to ${tenants.join(', ') || 'none'}.`,
  )
}

/** For what can't be told apart by tenant. */
export function wholeStore({ actor, tenants }: Principal): void {
  if (tenants === null) return
  throw new RequestError(
    'REPRISE_FORBIDDEN',
    `This concerns all tenants, and the rights of ${actor} are limited to ${tenants.join(', ') || 'none'}.`,
  )
}
