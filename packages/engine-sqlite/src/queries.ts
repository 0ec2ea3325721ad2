// Looking: pages, counters, series, groups and explanations. Reads only.

import {
  breakerGates,
  type Counts,
  type CountsQuery,
  type Execution,
  type Explanation,
  explain as explainFacts,
  type Failure,
  type FailureGroup,
  type FailureGroupQuery,
  type Gate,
  type HealthThresholds,
  InvalidError,
  type LaneQuery,
  type LaneView,
  PAGE_LIMIT_MAX,
  type Page,
  type PageRequest,
  pageCursor,
  pageLimit,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type SeriesQuery,
  type Task,
  type TaskId,
  type TaskQuery,
  type WorkerView,
} from '@reprise/core'
import { existingBreakers } from './breakers.ts'
import type { Database } from './database.ts'
import { endedAttempt } from './ending.ts'
import { type ExecutionRow, executionOf, runningExecutionOf, successRowOf } from './execution-rows.ts'
import { allGates, type Gates, gatesOf, laneScope } from './gates.ts'
import type { Lane } from './lane.ts'
import { type WorkerRow, workerViewOf } from './registry.ts'
import { latestAttempt, SET_ASIDE_NUMBER, scopeValues, type TaskRow, taskOf } from './rows.ts'

/** How many rows a page of tasks may look at when no index leads to the right ones. */
const WINDOW = 20_000

export function findTask(db: Database, id: TaskId, now: number): Task | null {
  const row = db.get<TaskRow>('taskById', id)
  return row === undefined ? null : taskOf(row, now)
}

export function listTasks(db: Database, query: TaskQuery, now: number): Page<Task> {
  const limit = pageLimit(query)
  const before = pageCursor(query) ?? Number.MAX_SAFE_INTEGER
  const scope = scopeValues(query)
  const { status, fingerprint } = query
  if (fingerprint !== undefined) {
    if (status !== undefined && status !== 'dead') return { items: [], next: null }
    return taskPage(db.all('tasksOfGroup', ...scope, before, fingerprint, limit), limit, now)
  }
  switch (status) {
    case 'dead':
    case 'discarded':
    case 'cancelled':
      return taskPage(db.all('tasksSetAside', ...scope, before, SET_ASIDE_NUMBER[status], limit), limit, now)
    case 'waiting':
      return taskPage(db.all('tasksWaiting', ...scope, before, limit), limit, now)
    case 'running':
      return taskPage(db.all('tasksRunning', ...scope, before, limit), limit, now)
    default:
      return windowPage(db, scope, before, status, limit, now)
  }
}

function windowPage(
  db: Database,
  scope: [string, string, string],
  before: number,
  status: 'queued' | 'succeeded' | undefined,
  limit: number,
  now: number,
): Page<Task> {
  const newest = db.get<{ seq: number }>('newestSeq')?.seq ?? 0
  const oldest = db.get<{ seq: number }>('oldestSeq')?.seq ?? 0
  const top = Math.min(before, newest + 1)
  const bottom = top - WINDOW
  const rows = db.all<TaskRow>('tasksInWindow', ...scope, top, bottom, status ?? null, limit)
  const items = rows.map((row) => taskOf(row, now))
  if (rows.length === limit) return { items, next: String(rows.at(-1)?.seq ?? bottom) }
  return { items, next: bottom > oldest ? String(bottom) : null }
}

function taskPage(rows: TaskRow[], limit: number, now: number): Page<Task> {
  return {
    items: rows.map((row) => taskOf(row, now)),
    next: rows.length === limit ? String(rows.at(-1)?.seq ?? 0) : null,
  }
}

export function findExecution(db: Database, id: TaskId, attempt: number): Execution | null {
  const task = db.get<TaskRow>('taskById', id)
  if (task === undefined) return null
  if (task.lease_attempt === attempt) return runningExecutionOf(task)
  const row = endedAttempt(db, task, attempt)
  return row === undefined ? null : executionOf(row, task)
}

export function latestExecution(db: Database, id: TaskId): Execution | null {
  const task = db.get<TaskRow>('taskById', id)
  return task === undefined ? null : findExecution(db, id, latestAttempt(task))
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

export function explain(db: Database, id: TaskId, now: number, thresholds: HealthThresholds): Explanation | null {
  const row = db.get<TaskRow>('taskById', id)
  if (row === undefined) return null
  const workers = db
    .all<WorkerRow>('listWorkers', '', PAGE_LIMIT_MAX)
    .map((worker) => workerViewOf(worker, now, thresholds))
  const gates = gatesOf(allGates(db, existingBreakers(db, now)), row)
  return explainFacts({ task: taskOf(row, now), now, ...gates, workers })
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

export function listLanes(db: Database, query: LaneQuery | undefined, now: number): Page<LaneView> {
  const limit = pageLimit(query)
  const gates = allGates(db, existingBreakers(db, now))
  const rows = db.all<Lane>('lanesInScope', ...scopeValues(query ?? {}), pageCursor(query) ?? 0, limit)
  return {
    items: rows.map((row) => laneViewOf(row, gatesOf(gates, row))),
    next: rows.length === limit ? String(rows.at(-1)?.id ?? 0) : null,
  }
}

function laneViewOf(lane: Lane, { holds, limits, breakers }: Gates): LaneView {
  const gates: Gate[] = holds.map((hold) => ({ kind: 'paused', ...hold }))
  gates.push(...breakerGates(breakers))
  for (const limit of limits) if (limit.running >= limit.concurrency) gates.push({ kind: 'concurrency', ...limit })
  return { ...laneScope(lane), counts: countsOf(lane), gates }
}

export function counts(db: Database, query: CountsQuery | undefined): Counts {
  const row = db.get<Counts>('countLanesInScope', ...scopeValues(query ?? {}))
  if (row === undefined) throw new Error('Counting gave no row.')
  return countsOf(row)
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
  const rows = db.all<GroupRow>('failureGroups', query?.action ?? '', lastAt, id, limit)
  const items = rows.map(
    (row) =>
      ({
        fingerprint: row.fingerprint,
        action: row.action,
        count: row.count,
        firstAt: row.first_at,
        lastAt: row.last_at,
        lastTask: row.last_task,
        sample: JSON.parse(row.sample) as Failure,
      }) as FailureGroup,
  )
  const last = rows.at(-1)
  return { items, next: rows.length === limit && last !== undefined ? `${last.last_at}.${last.id}` : null }
}

function groupCursor(cursor: string | undefined): [lastAt: number, id: number] {
  if (cursor === undefined) return [Number.MAX_SAFE_INTEGER, 0]
  const [lastAt, id] = cursor.split('.').map(Number)
  if (lastAt === undefined || id === undefined || !Number.isSafeInteger(lastAt) || !Number.isSafeInteger(id)) {
    throw new InvalidError('The cursor is not one that this store gave out.')
  }
  return [lastAt, id]
}
