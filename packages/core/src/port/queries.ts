// What an engine answers when somebody looks: pages by cursor (never unbounded), counters that are kept rather than
// counted, and the explanation why a task is not running.

import type { Failure } from '../failure/failure.ts'
import { InvalidError } from '../model/errors.ts'
import type { ActionName, Fingerprint, TaskId, TenantId, WorkerId } from '../model/ids.ts'
import type { JsonText } from '../model/json.ts'
import type { Task, TaskStatus } from '../model/task.ts'
import type { Health, HealthEvidence } from '../workers/health.ts'
import type { By, Rank, Scope } from './changes.ts'
import type { DepartedWorker, WorkerRegistration } from './registry.ts'

export const PAGE_LIMIT_MAX = 1_000
export const PAGE_LIMIT_DEFAULT = 100

export interface PageRequest {
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
}

export interface Page<T> {
  readonly items: readonly T[]
  /** For the next page; null on the last one. A page may be short though more follow. */
  readonly next: string | null
}

export function pageLimit(page: PageRequest | undefined): number {
  const limit = page?.limit ?? PAGE_LIMIT_DEFAULT
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_LIMIT_MAX) {
    throw new InvalidError(`A page has between 1 and ${PAGE_LIMIT_MAX} items, not ${limit}.`)
  }
  return limit
}

export const foreignCursor = (): InvalidError => new InvalidError('The cursor is not one that this store gave out.')

/** A cursor is a position in some order: a whole number, opaque to callers. */
export function pageCursor(page: PageRequest | undefined): number | null {
  if (page?.cursor === undefined) return null
  const position = Number(page.cursor)
  if (!/^\d+$/.test(page.cursor) || !Number.isSafeInteger(position)) {
    throw foreignCursor()
  }
  return position
}

/** What is wanted of a task. */
export interface TaskLook {
  /**
   * Long payloads and results are left out, for those who look at many tasks and want a few: `LEFT_OUT` stands for them. What is
   * long is the engine's to say: what takes up to LIGHT_BYTES_MAX is always there, what takes more than four times that never is.
   */
  readonly light?: boolean
}

/** Stands where a light look leaves a payload or a result out. It is no JSON, and so no payload. */
export const LEFT_OUT = '' as JsonText

/** Newest first. A page is bounded by its bytes as well: see PAGE_BYTES_MAX. */
export interface TaskQuery extends PageRequest, Scope, TaskLook {
  readonly status?: TaskStatus
  /** Dead letters of one failure group. */
  readonly fingerprint?: Fingerprint
}

export interface Counts {
  /** Ever accepted. Equals the sum of all that follow. */
  readonly accepted: number
  readonly queued: number
  readonly waiting: number
  readonly running: number
  readonly succeeded: number
  readonly dead: number
  readonly discarded: number
  readonly cancelled: number
  /** Ended, and deleted since by a retention rule. */
  readonly removed: number
}

export type CountsQuery = Scope

export interface LaneQuery extends PageRequest, Scope {}

export interface LaneView extends Required<Scope> {
  readonly counts: Counts
  readonly gates: readonly Gate[]
}

/** A reason why a lane or task is held. */
export type Gate =
  | {
      readonly kind: 'paused'
      readonly scope: Scope
      readonly by: By
      readonly since: number
      /** Whose hold it is: only this rank or a higher one lifts it. */
      readonly rank: Rank
    }
  | {
      readonly kind: 'concurrency'
      readonly scope: Scope
      readonly running: number
      readonly concurrency: number
      readonly rank: Rank
    }
  | { readonly kind: 'not_due'; readonly dueAt: number; readonly reason: string }
  /** A breaker is not closed: nothing runs until `until`, or only a few at once. */
  | {
      readonly kind: 'breaker'
      readonly name: string
      /** Whose it is; null if it holds all tenants. */
      readonly tenant: TenantId | null
      readonly status: 'open' | 'half_open' | 'ramping'
      readonly since: number
      /** When it lets probes through; null once it does. */
      readonly until: number | null
    }
  /** Its retry is over the quota and was moved to a later window. */
  | { readonly kind: 'retry_quota'; readonly name: string; readonly dueAt: number }
  | { readonly kind: 'no_worker' }

export type WorkerVerdict = 'eligible' | 'degraded' | 'unhealthy' | 'draining' | 'other_pool' | 'other_actions'

export interface ExplainLook {
  /** Whether the task is kept from workers that are not well, by the policies in force; as its settings say if missing. */
  readonly healthAware?: boolean
}

export interface Explanation {
  readonly task: Task
  /** One sentence for a person. */
  readonly summary: string
  readonly gates: readonly Gate[]
  /** At most 100 workers that were considered. */
  readonly workers: readonly {
    readonly worker: WorkerId
    readonly verdict: WorkerVerdict
    readonly reasons: readonly string[]
  }[]
  /** The next time something can change by itself; null if nothing will. */
  readonly nextAt: number | null
}

export interface WorkerView extends WorkerRegistration, HealthEvidence {
  readonly epoch: number
  readonly registeredAt: number
  readonly memoryBytes: number
  readonly draining: boolean
  /** The version of the policies that it judges failures by, 0 for none; null if others judge for it, or it did not say. */
  readonly policyVersion: number | null
  readonly health: Health
}

/** The place of a worker among those that left: a cursor behind it. */
export const departedCursor = ({ leftAt, worker }: Pick<DepartedWorker, 'leftAt' | 'worker'>): string =>
  `${leftAt} ${worker}`

export function departedPlace(
  cursor: string | undefined,
): { readonly leftAt: number; readonly worker: WorkerId } | null {
  if (cursor === undefined) return null
  const [, leftAt, worker] = /^(\d{1,15}) (.+)$/s.exec(cursor) ?? []
  if (leftAt === undefined || worker === undefined) throw foreignCursor()
  return { leftAt: Number(leftAt), worker: worker as WorkerId }
}

/** Dead letters with one cause. Most recent first. */
export interface FailureGroup {
  readonly fingerprint: Fingerprint
  readonly action: ActionName
  /** Dead letters in it now. */
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly lastTask: TaskId
  /** The newest failure, as an example of all. */
  readonly sample: Failure
}

export interface FailureGroupQuery extends PageRequest {
  readonly action?: ActionName
  /** This one alone, if it has dead letters. Found at once, however many groups there are. */
  readonly fingerprint?: Fingerprint
}

/** Minutes from `from` (inclusive) to `to` (exclusive), at most 1,440 of them; minutes without events are left out. */
export interface SeriesQuery extends Scope {
  readonly from: number
  readonly to: number
}

export const SERIES_STEP_MS = 60_000
export const SERIES_POINTS_MAX = 1_440

export interface SeriesPoint {
  /** The start of the minute. */
  readonly at: number
  readonly accepted: number
  readonly started: number
  readonly succeeded: number
  readonly failed: number
  readonly lost: number
  readonly retried: number
  readonly dead: number
  readonly cancelled: number
}
