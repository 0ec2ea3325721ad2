// What an operator's call looks like in the SDK, and how it becomes a request to the engine: names are checked, the
// actor and the reason filled in, a selector told from a list of ids. Nothing here talks to a store.

import {
  actionName,
  type BulkRequest,
  type By,
  checkedName,
  type Fingerprint,
  InvalidError,
  type PageRequest,
  poolName,
  type Scope,
  type TaskQuery,
  type TaskSelector,
  type TaskStatus,
  taskId,
  tenantId,
} from '@reprise/core'
import { refuseUnknownKeys } from './known-keys.ts'

/** One lane, or all lanes that agree with what is given. */
export interface ScopeQuery {
  readonly pool?: string
  readonly action?: string
  readonly tenant?: string
}

/** One task, several, or all in a scope; `{}` means every task there is. */
export type TaskTarget = string | readonly string[] | (ScopeQuery & { readonly fingerprint?: string })

export interface ByOptions {
  /** Who asks, for the journal: `operator:ann`. */
  readonly actor?: string
  /** Why, for the journal. */
  readonly reason?: string
}

export interface BulkOptions extends ByOptions {
  readonly limit?: number
  /** `next` of the result before, to go on where it stopped. */
  readonly cursor?: string
}

export interface RetryOptions extends ByOptions {
  /** MAX_RETRIES: how many retries an operator may ask for. */
  readonly maxRetries?: number
}

export interface ListQuery extends ScopeQuery, PageRequest {
  readonly status?: TaskStatus
  readonly fingerprint?: string
}

export function bulkRequest(target: TaskTarget, options: BulkOptions = {}): BulkRequest {
  refuseUnknownKeys(options, ['actor', 'reason', 'limit', 'cursor'], 'option')
  return {
    select: selector(target),
    by: byOf(options),
    ...(options.limit === undefined ? {} : { limit: options.limit }),
    ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
  }
}

export function byOf(options: ByOptions): By {
  return {
    actor: checkedName('actor', options.actor ?? 'client'),
    reason: checkedName('reason', options.reason ?? 'asked for by the client'),
  }
}

export function checkedScope(query: ScopeQuery): Scope {
  refuseUnknownKeys(query, ['pool', 'action', 'tenant'], 'query field')
  return scopeOf(query)
}

function scopeOf(query: ScopeQuery): Scope {
  return {
    ...(query.pool === undefined ? {} : { pool: poolName(query.pool) }),
    ...(query.action === undefined ? {} : { action: actionName(query.action) }),
    ...(query.tenant === undefined ? {} : { tenant: tenantId(query.tenant) }),
  }
}

export function taskQuery(query: ListQuery): TaskQuery {
  refuseUnknownKeys(query, ['pool', 'action', 'tenant', 'status', 'fingerprint', 'limit', 'cursor'], 'query field')
  return {
    ...scopeOf(query),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.fingerprint === undefined ? {} : { fingerprint: fingerprintOf(query.fingerprint) }),
    ...(query.limit === undefined ? {} : { limit: query.limit }),
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
  }
}

function selector(target: TaskTarget): TaskSelector {
  if (typeof target === 'string') return { ids: [taskId(target)] }
  if (isList(target)) return { ids: target.map(taskId) }
  refuseUnknownKeys(target, ['pool', 'action', 'tenant', 'fingerprint'], 'selector field')
  // A variable that happens to be undefined must not turn 'this tenant' into 'everybody'.
  for (const [field, value] of Object.entries(target)) {
    if (value === undefined)
      throw new InvalidError(`The selector field '${field}' is undefined. Leave it out to mean all.`)
  }
  const fingerprint = target.fingerprint === undefined ? {} : { fingerprint: fingerprintOf(target.fingerprint) }
  return { ...scopeOf(target), ...fingerprint }
}

function isList(target: TaskTarget): target is readonly string[] {
  return Array.isArray(target)
}

function fingerprintOf(value: string): Fingerprint {
  return checkedName('fingerprint', value) as Fingerprint
}
