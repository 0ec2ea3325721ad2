// Looking: attempts, workers, lanes, counters, series, groups and explanations. Reads only. Tasks are in tasks.ts.

import {
  type Counts,
  type CountsQuery,
  type DepartedWorker,
  type Execution,
  type ExplainLook,
  type Explanation,
  type Failure,
  type FailureGroup,
  type FailureGroupQuery,
  type HealthThresholds,
  InvalidError,
  type LaneQuery,
  type LaneView,
  PAGE_LIMIT_MAX,
  type Page,
  type PageRequest,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type SeriesQuery,
  type TaskId,
  type TenantFigures,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import {
  DEPARTED_MS,
  departedCursor,
  departedPlace,
  explain as explainFacts,
  foreignCursor,
  laneGates,
  pageCursor,
  pageLimit,
} from '@reprise/core/engine'
import { existingBreakers } from './breakers.ts'
import type { Database } from './database.ts'
import { endedAttempt } from './ending.ts'
import { type ExecutionRow, executionOf, runningExecutionOf, successRowOf } from './execution-rows.ts'
import { allGates, gatesOf, laneScope } from './gates.ts'
import type { Lane } from './lane.ts'
import { type DepartedRow, registrationOf, type WorkerRow, workerViewOf, workerWithInbox } from './registry.ts'
import { scopeValues, type TaskRow } from './rows.ts'
import { findTask } from './tasks.ts'

export function findExecution(db: Database, id: TaskId, attempt: number): Execution | null {
  const task = db.get<TaskRow>('taskById', id)
  if (task === undefined) return null
  if (task.lease_attempt === attempt) return runningExecutionOf(task)
  const row = endedAttempt(db, task, attempt)
  return row === undefined ? null : executionOf(row, task)
}

export function listExecutions(db: Database, id: TaskId, page: PageRequest | undefined): Page<Execution> {
  const limit = pageLimit(page)
  const after = pageCursor(page) ?? 0
  const task = db.get<TaskRow>('taskById', id)
  if (task === undefined) return { items: [], next: null }
  const items = db.all<ExecutionRow>('executionsAfter', task.seq, after, limit).map((row) => executionOf(row, task))
  if (items.length === limit) return { items, next: String(items.at(-1)?.attempt ?? after) }
  const succeeded = successRowOf(task)
  const last = succeeded === undefined ? runningExecutionOf(task) : executionOf(succeeded, task)
  return { items: last !== null && last.attempt > after ? [...items, last] : items, next: null }
}

export function explain(
  db: Database,
  id: TaskId,
  now: number,
  thresholds: HealthThresholds,
  { healthAware }: ExplainLook,
): Explanation | null {
  const task = findTask(db, id, now)
  if (task === null) return null
  const workers = db
    .all<WorkerRow>('listWorkers', '', PAGE_LIMIT_MAX)
    .map((worker) => workerViewOf(worker, now, thresholds))
  const gates = gatesOf(allGates(db, existingBreakers(db, now)), task)
  return explainFacts({ task, now, ...gates, workers, thresholds, healthAware })
}

export function findWorker(db: Database, id: WorkerId, now: number, thresholds: HealthThresholds): WorkerView | null {
  const row = workerWithInbox(db, id)
  return row === undefined ? null : workerViewOf(row, now, thresholds)
}

export function listWorkers(
  db: Database,
  page: PageRequest | undefined,
  now: number,
  thresholds: HealthThresholds,
): Page<WorkerView> {
  const limit = pageLimit(page)
  const items = db
    .all<WorkerRow>('listWorkers', page?.cursor ?? '', limit)
    .map((row) => workerViewOf(row, now, thresholds))
  return { items, next: items.length === limit ? (items.at(-1)?.worker ?? null) : null }
}

/** The latest first. */
export function listDeparted(db: Database, page: PageRequest | undefined, now: number): Page<DepartedWorker> {
  const limit = pageLimit(page)
  const place = departedPlace(page?.cursor)
  const values = [now - DEPARTED_MS, place?.leftAt ?? Number.MAX_SAFE_INTEGER, place?.worker ?? '', limit + 1]
  const rows = db.all<DepartedRow>('listDeparted', ...values)
  const items = rows.slice(0, limit).map((row) => {
    const { id: worker, epoch, registered_at: registeredAt, left_at: leftAt } = row
    return { ...registrationOf(row), worker, epoch, registeredAt, leftAt }
  })
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? departedCursor(last) : null }
}

export function listLanes(db: Database, query: LaneQuery | undefined, now: number): Page<LaneView> {
  const limit = pageLimit(query)
  const gates = allGates(db, existingBreakers(db, now))
  const rows = db.all<Lane>('lanesInScope', ...scopeValues(query ?? {}), pageCursor(query) ?? 0, limit)
  return {
    items: rows.map((row) => ({ ...laneScope(row), counts: countsOf(row), gates: laneGates(gatesOf(gates, row)) })),
    next: rows.length === limit ? String(rows.at(-1)?.id ?? 0) : null,
  }
}

export function counts(db: Database, query: CountsQuery | undefined): Counts {
  const row = db.get<Counts>('countLanesInScope', ...scopeValues(query ?? {}))
  if (row === undefined) throw new Error('Counting gave no row.')
  return countsOf(row)
}

/** By name; the cursor is the last name of the page before. */
export function tenants(db: Database, page: PageRequest | undefined): Page<TenantFigures> {
  const limit = pageLimit(page)
  const rows = db.all<TenantFigures>('tenantFigures', page?.cursor ?? '', limit + 1)
  const items = rows.slice(0, limit).map(({ tenant, backlog, running, bytes }) => ({ tenant, backlog, running, bytes }))
  return { items, next: rows.length > limit ? (items.at(-1)?.tenant ?? null) : null }
}

function countsOf(row: Counts): Counts {
  const { accepted, queued, waiting, running, succeeded, dead, discarded, cancelled, removed } = row
  return { accepted, queued, waiting, running, succeeded, dead, discarded, cancelled, removed }
}

export function series(db: Database, query: SeriesQuery): SeriesPoint[] {
  const from = Math.ceil(query.from / SERIES_STEP_MS)
  const to = Math.ceil(query.to / SERIES_STEP_MS)
  if (!(to - from <= SERIES_POINTS_MAX))
    throw new InvalidError(`A series covers at most ${SERIES_POINTS_MAX} minutes. Ask for it in parts.`)
  return db
    .all<Omit<SeriesPoint, 'at'> & { minute: number }>('seriesInScope', ...scopeValues(query), from, to)
    .map(({ minute, ...point }) => ({ ...point, at: minute * SERIES_STEP_MS }))
}

interface GroupRow {
  readonly id: number
  readonly fingerprint: string
  readonly action: string
  readonly count: number
  readonly first_at: number
  readonly last_at: number
  readonly last_task: string
  readonly sample: string
}

export function listFailureGroups(db: Database, query: FailureGroupQuery | undefined): Page<FailureGroup> {
  const limit = pageLimit(query)
  const [lastAt, id] = groupCursor(query?.cursor)
  const action = query?.action ?? ''
  if (query?.fingerprint !== undefined) {
    const isOver = query.cursor !== undefined
    const rows = isOver ? [] : db.all<GroupRow>('failureGroup', query.fingerprint, action)
    return { items: rows.map(groupOf), next: null }
  }
  const rows = db.all<GroupRow>('failureGroups', action, lastAt, id, limit)
  const items = rows.map(groupOf)
  const last = rows.at(-1)
  return { items, next: rows.length === limit && last !== undefined ? `${last.last_at}.${last.id}` : null }
}

const groupOf = (row: GroupRow): FailureGroup =>
  ({
    fingerprint: row.fingerprint,
    action: row.action,
    count: row.count,
    firstAt: row.first_at,
    lastAt: row.last_at,
    lastTask: row.last_task,
    sample: JSON.parse(row.sample) as Failure,
  }) as FailureGroup

function groupCursor(cursor: string | undefined): [lastAt: number, id: number] {
  if (cursor === undefined) return [Number.MAX_SAFE_INTEGER, 0]
  const [lastAt, id] = cursor.split('.').map(Number)
  if (lastAt === undefined || id === undefined || !Number.isSafeInteger(lastAt) || !Number.isSafeInteger(id)) {
    throw foreignCursor()
  }
  return [lastAt, id]
}
