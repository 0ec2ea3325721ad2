// Ids that a caller who is limited to tenants chooses live in a namespace of the tenant: `order-17` of acme is stored as
// `@acme~order-17`. So no tenant can take another's id, or learn from a refusal that the other has one. Ids that we draw,
// and those of callers for the whole store, stay as they are. docs/adr/0022-ids-of-tenants.md says why.

import { InvalidError } from './errors.ts'
import { NAME_LENGTH_MAX, type TaskId, type TenantId } from './ids.ts'

const OWN_ID = /^@([^~]+)~(.+)$/s
const ESCAPES: Readonly<Record<string, string>> = { '%': '%25', '~': '%7E' }

/** The tenant's name without the separator, so that two pairs of tenant and id never give one stored id. */
const namespaceOf = (tenant: string): string => `@${tenant.replace(/[%~]/g, (found) => ESCAPES[found] ?? found)}~`

/** What is stored for an id that was chosen for this tenant. The stored id itself means the same. */
export function ownId(tenant: TenantId, id: TaskId): TaskId {
  const namespace = namespaceOf(tenant)
  if (id.startsWith(namespace) && id.length > namespace.length) return id
  const stored = namespace + id
  if (stored.length <= NAME_LENGTH_MAX) return stored as TaskId
  throw new InvalidError(
    `The task id is stored with its tenant as '${namespace.slice(0, 40)}…' and then has ${stored.length} characters; at most ${NAME_LENGTH_MAX} are allowed. Use an id of at most ${Math.max(NAME_LENGTH_MAX - namespace.length, 0)}.`,
  )
}

/** The tenant in whose namespace an id is, and the id that was chosen; null for any other id. */
export function ownerOfId(id: string): { readonly tenant: TenantId; readonly id: TaskId } | null {
  const [, escaped, chosen] = OWN_ID.exec(id) ?? []
  if (escaped === undefined || chosen === undefined) return null
  const tenant = escaped.replace(/%7E/g, '~').replace(/%25/g, '%')
  return namespaceOf(tenant) === `@${escaped}~` ? { tenant: tenant as TenantId, id: chosen as TaskId } : null
}

/** How many namespaces one id is looked for in: a caller with more tenants than this names the stored id. */
const NAMESPACES_MAX = 16

/**
 * The stored ids that a caller with these tenants may mean, the own ones first. An id in another tenant's namespace is never
 * looked up, so that asking for it takes as long whether or not there is such a task.
 */
export function meantIds(tenants: readonly TenantId[] | null, id: TaskId): readonly TaskId[] {
  if (tenants === null) return [id]
  const owner = ownerOfId(id)
  if (owner !== null && tenants.includes(owner.tenant)) return [id]
  const own = tenants.length > NAMESPACES_MAX ? [] : tenants.map((tenant) => (namespaceOf(tenant) + id) as TaskId)
  return [...own.filter(({ length }) => length <= NAME_LENGTH_MAX), ...(owner === null ? [id] : [])]
}
