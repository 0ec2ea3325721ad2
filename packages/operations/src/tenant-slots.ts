// What is set for how many tasks of a tenant may run at once: by the rules, or by hand. What an operator of the platform set
// on exactly the lanes of a tenant stands in place of the rules, until the operator lifts it. A server keeps it in step.

import { type Collection, type Engine, isRepriseError, type Scope, type TenantId } from '@reprise/core'
import type { Caller } from './access/caller.ts'

export interface TenantSlotsDocument {
  readonly id: TenantId
  /** Whether callers who are limited to the tenant submit for it: then it has limits also where no rule names it. */
  readonly isLimited: boolean
  /** By the rules. */
  readonly running: number | null
  /** By an operator; null if none did. */
  readonly byHand: number | null
}

export const tenantSlotsIn = (engine: Pick<Engine, 'collection'>): Collection<TenantSlotsDocument> =>
  engine.collection<TenantSlotsDocument>({ name: 'tenant-slots', indexes: {} })

/** Before the limit is set: from now on the rules leave it alone; or, if it is lifted, they count again. */
export async function noteLimitByHand(
  engine: Pick<Engine, 'collection'>,
  caller: Caller,
  { tenant, ...others }: Scope,
  byHand: number | null,
): Promise<void> {
  if (tenant === undefined || Object.keys(others).length > 0 || caller.tenants !== null) return
  const documents = tenantSlotsIn(engine)
  const stored = await documents.get(tenant)
  const document = { id: tenant, isLimited: stored?.document.isLimited ?? false, running: null, byHand }
  try {
    await (stored === null ? documents.insert(document) : documents.update(document, stored.version))
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    return noteLimitByHand(engine, caller, { tenant }, byHand)
  }
}
