// What an operator's call looks like in the SDK, and how it becomes a request to the engine: names are checked, the
// actor and the reason filled in, a selector told from a list of ids. Nothing here talks to a store.

import {
  actionName,
  type By,
  checkedName,
  checkedText,
  type FailureGroupQuery,
  type Fingerprint,
  type InspectRequest,
  InvalidError,
  type JournalQuery,
  type LaneQuery,
  NAME_LENGTH_MAX,
  type PageRequest,
  poolName,
  refuseUnknownKeys,
  type Scope,
  SERIES_POINTS_MAX,
  TASK_STATUSES,
  type TaskQuery,
  type TaskSelector,
  type TaskStatus,
  taskId,
  tenantId,
} from '@reprise/core'
import type { BulkRequest, WatchRequest } from './backend.ts'

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
  /** How many retries an operator may ask for; MAX_RETRIES of the environment if not given. */
  readonly maxRetries?: number
}

export interface InspectOptions extends BulkOptions {
  /** Sets right what is found; otherwise nothing is changed. */
  readonly repair?: boolean
}

export interface SeriesOptions extends ScopeQuery {
  /** The last so many; 60 if missing. */
  readonly minutes?: number
}

export interface WatchOptions {
  /** Of an event that was seen: go on from there. From now on if missing. */
  readonly cursor?: string
  /** Only events about this task. */
  readonly taskId?: string
  /** Types such as `execution.failed`, or families such as `task.*`; all if missing. */
  readonly types?: readonly string[]
  /** Ends the watching. */
  readonly signal?: AbortSignal
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

const REASON_LENGTH_MAX = 1_000
export const DEFAULT_ACTOR = 'client'

export function byOf(options: ByOptions): By {
  return {
    actor: checkedName('actor', options.actor ?? DEFAULT_ACTOR),
    reason: checkedText('reason', options.reason ?? 'asked for by the client', REASON_LENGTH_MAX),
  }
}

/** For calls that take an actor and a reason, and nothing else. */
export function onlyBy(options: ByOptions): By {
  refuseUnknownKeys(options, ['actor', 'reason'], 'option')
  return byOf(options)
}

const BREAKER_NAME_LENGTH_MAX = NAME_LENGTH_MAX + 'dependency:'.length
const BREAKER_NAME = /^(?:action|dependency):./

export function checkedBreakerName(name: string): string {
  const checked = checkedText('breaker name', name, BREAKER_NAME_LENGTH_MAX)
  if (BREAKER_NAME.test(checked)) return checked
  throw new InvalidError(`A breaker is named 'action:…' or 'dependency:…', not '${checked.slice(0, 40)}'.`)
}

export function checkedScope(query: ScopeQuery): Scope {
  refuseUnknownKeys(query, ['pool', 'action', 'tenant'], 'query field')
  return scopeOf(query)
}

function scopeOf(query: ScopeQuery): Scope {
  refuseUndefined(query)
  return {
    ...(query.pool === undefined ? {} : { pool: poolName(query.pool) }),
    ...(query.action === undefined ? {} : { action: actionName(query.action) }),
    ...(query.tenant === undefined ? {} : { tenant: tenantId(query.tenant) }),
  }
}

// A variable that happens to be undefined must not turn 'this tenant' into 'everybody'.
function refuseUndefined(query: object): void {
  for (const [field, value] of Object.entries(query)) {
    if (value === undefined) throw new InvalidError(`The field '${field}' is undefined. Leave it out to mean all.`)
  }
}

/** For calls that take a page, and nothing else. */
export function onlyPage(page: PageRequest = {}): PageRequest {
  refuseUnknownKeys(page, ['limit', 'cursor'], 'query field')
  return pageOf(page)
}

function pageOf(query: PageRequest): PageRequest {
  return {
    ...(query.limit === undefined ? {} : { limit: query.limit }),
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
  }
}

export function taskQuery(query: ListQuery): TaskQuery {
  refuseUnknownKeys(query, ['pool', 'action', 'tenant', 'status', 'fingerprint', 'limit', 'cursor'], 'query field')
  if (query.status !== undefined && !TASK_STATUSES.includes(query.status)) {
    throw new InvalidError(`There is no status '${String(query.status)}'. Known are: ${TASK_STATUSES.join(', ')}.`)
  }
  return {
    ...scopeOf(query),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.fingerprint === undefined ? {} : { fingerprint: fingerprintOf(query.fingerprint) }),
    ...pageOf(query),
  }
}

export function laneQuery(query: ScopeQuery & PageRequest): LaneQuery {
  refuseUnknownKeys(query, ['pool', 'action', 'tenant', 'limit', 'cursor'], 'query field')
  return { ...scopeOf(query), ...pageOf(query) }
}

export function groupQuery(query: { readonly action?: string } & PageRequest): FailureGroupQuery {
  refuseUnknownKeys(query, ['action', 'limit', 'cursor'], 'query field')
  refuseUndefined(query)
  return { ...(query.action === undefined ? {} : { action: actionName(query.action) }), ...pageOf(query) }
}

export interface JournalRequest extends PageRequest {
  readonly taskId?: string
  /** From the newest backwards. */
  readonly newest?: true
}

export function journalQuery(query: JournalRequest): JournalQuery {
  refuseUnknownKeys(query, ['taskId', 'newest', 'limit', 'cursor'], 'query field')
  refuseUndefined(query)
  return {
    ...(query.taskId === undefined ? {} : { taskId: taskId(query.taskId) }),
    ...(query.newest === true ? { newest: true } : {}),
    ...pageOf(query),
  }
}

export function inspectRequest(options: InspectOptions): InspectRequest {
  refuseUnknownKeys(options, ['repair', 'actor', 'reason', 'limit', 'cursor'], 'option')
  return { repair: options.repair ?? false, by: byOf(options), ...pageOf(options) }
}

const SERIES_MINUTES = 60

export function seriesRequest({ minutes = SERIES_MINUTES, ...scope }: SeriesOptions): {
  readonly scope: Scope
  readonly minutes: number
} {
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > SERIES_POINTS_MAX) {
    throw new InvalidError(`A series has between 1 and ${SERIES_POINTS_MAX} minutes, not ${minutes}.`)
  }
  return { scope: checkedScope(scope), minutes }
}

export function watchRequest(options: WatchOptions): WatchRequest {
  refuseUnknownKeys(options, ['cursor', 'taskId', 'types', 'signal'], 'option')
  const types = (options.types ?? []).map((type) => checkedName('event type', type))
  return {
    cursor: options.cursor ?? null,
    taskId: options.taskId === undefined ? null : taskId(options.taskId),
    types,
    signal: options.signal ?? null,
  }
}

function selector(target: TaskTarget): TaskSelector {
  if (typeof target === 'string') return { ids: [taskId(target)] }
  if (isList(target)) return { ids: target.map(taskId) }
  refuseUnknownKeys(target, ['pool', 'action', 'tenant', 'fingerprint'], 'selector field')
  const fingerprint = target.fingerprint === undefined ? {} : { fingerprint: fingerprintOf(target.fingerprint) }
  return { ...scopeOf(target), ...fingerprint }
}

function isList(target: TaskTarget): target is readonly string[] {
  return Array.isArray(target)
}

function fingerprintOf(value: string): Fingerprint {
  return checkedName('fingerprint', value) as Fingerprint
}
