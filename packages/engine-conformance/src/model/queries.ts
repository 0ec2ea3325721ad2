// Looking without touching: tasks, executions, lanes, groups, counts, series, and why a task is not running. Everything
// is worked out from the tasks on the spot.

import {
  type Counts,
  type CountsQuery,
  type Execution,
  type ExplainLook,
  type Explanation,
  type FailureGroup,
  type FailureGroupQuery,
  InvalidError,
  type LaneQuery,
  type LaneView,
  type LastWorker,
  LEFT_OUT,
  type Page,
  type PageRequest,
  present,
  type Scope,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type SeriesQuery,
  type StandingsResult,
  type Task,
  type TaskId,
  type TaskLog,
  type TaskLook,
  type TaskQuery,
  type TaskStatus,
  type TenantFigures,
} from '@reprise/core'
import {
  explain as explainFacts,
  LIGHT_BYTES_MAX,
  PAGE_BYTES_MAX,
  pageCursor,
  pageLimit,
  scopeMatches,
  tenantPage,
} from '@reprise/core/engine'
import { breakersOn } from './breakers.ts'
import { checkBatch } from './checks.ts'
import { fingerprintOfDead } from './dead-letter.ts'
import { gatesOf, holdsOn } from './gates.ts'
import { limitsOn, wallTime } from './lane.ts'
import { workerViews } from './registry.ts'
import type { Lane, State, TaskRecord } from './state.ts'
import { KEY_LOST } from './submit.ts'

function viewOf(state: State, record: TaskRecord): Task {
  const { snapshot, acceptedAt, generation, attempt, failures, losses, parks, deferrals, policy, lane } = record
  const lastWorker = lastWorkerOf(record)
  const spent = { generation, attempt, failures, losses, parks, deferrals, ...present({ policy }) }
  const known = { ...snapshot, acceptedAt, ...spent, lastWorker }
  if (record.state.status === 'dead' && record.keyUntil === KEY_LOST && snapshot.dedupeKey !== null) {
    return { ...known, state: { ...record.state, keyTaken: true } }
  }
  if (record.state.status !== 'queued') return { ...known, state: record.state }
  const { since, expires } = record.state
  return {
    ...known,
    state: { status: 'queued', since, expiresAt: expires === null ? null : wallTime(state, lane, expires) },
  }
}

function lastWorkerOf({ executions, attempt }: TaskRecord): LastWorker | null {
  const latest = executions.get(attempt)
  if (latest === undefined || latest.worker === null) return null
  const { worker, build } = latest
  return { worker, version: build?.version ?? null, host: build?.host ?? null }
}

export function task(state: State, id: TaskId, look: TaskLook = {}): Task | null {
  const record = state.tasks.get(id)
  return record === undefined ? null : seen(viewOf(state, record), look)
}

function seen(view: Task, { light = false }: TaskLook): Task {
  if (!light) return view
  const { payload, state } = view
  const known: Task = { ...view, payload: isLong(payload) ? LEFT_OUT : payload }
  if (state.status !== 'succeeded' || state.result === null || !isLong(state.result)) return known
  return { ...known, state: { ...state, result: LEFT_OUT } }
}

const isLong = (text: string): boolean => Buffer.byteLength(text) > LIGHT_BYTES_MAX

export function standings(state: State, ids: readonly TaskId[]): StandingsResult {
  checkBatch(ids, 'task ids')
  const found = ids.map((id) => {
    const record = state.tasks.get(id)
    if (record === undefined) return null
    const { acceptedAt, generation, failures, losses, parks, deferrals, policy } = record
    const { payload: _, ...snapshot } = record.snapshot
    return { snapshot, acceptedAt, generation, failures, losses, parks, deferrals, ...present({ policy }) }
  })
  return { standings: found, now: state.now }
}

export function statuses(state: State, ids: readonly TaskId[]): (TaskStatus | null)[] {
  checkBatch(ids, 'task ids')
  return ids.map((id) => state.tasks.get(id)?.state.status ?? null)
}

/** The first items after the cursor, in the order given; each has a place that a cursor can name. */
function pageOf<T>(
  page: PageRequest,
  items: readonly (readonly [place: number, item: T])[],
  isAfter: (place: number, cursor: number) => boolean,
  bytesOf: (item: T) => number = () => 0,
): Page<T> {
  const limit = pageLimit(page)
  const cursor = pageCursor(page)
  const rest = items.filter(([place]) => cursor === null || isAfter(place, cursor))
  let bytes = 0
  const shown = rest.slice(0, limit).filter(([, item]) => {
    const fits = bytes < PAGE_BYTES_MAX
    bytes += bytesOf(item)
    return fits
  })
  return { items: shown.map(([, item]) => item), next: rest.length > shown.length ? String(shown.at(-1)?.[0]) : null }
}

const upwards = (place: number, cursor: number): boolean => place > cursor
const downwards = (place: number, cursor: number): boolean => place < cursor

export function tasks(state: State, query: TaskQuery): Page<Task> {
  const found = [...state.tasks.values()]
    .filter((record) => scopeMatches(query, record.lane))
    .filter((record) => query.status === undefined || record.state.status === query.status)
    .filter((record) => query.fingerprint === undefined || fingerprintOfDead(record) === query.fingerprint)
    .reverse()
  return pageOf(
    query,
    found.map((record) => [record.seq, seen(viewOf(state, record), query)]),
    downwards,
    ({ payload }) => Buffer.byteLength(payload),
  )
}

export function execution(state: State, id: TaskId, attempt: number): Execution | null {
  return state.tasks.get(id)?.executions.get(attempt) ?? null
}

export function executions(state: State, id: TaskId, page: PageRequest = {}): Page<Execution> {
  const found = [...(state.tasks.get(id)?.executions ?? [])].sort(([a], [b]) => a - b)
  return pageOf(page, found, upwards)
}

export function logs(state: State, id: TaskId): readonly TaskLog[] {
  const found = [...(state.tasks.get(id)?.logs ?? [])].sort(([a], [b]) => a - b)
  return found.map(([attempt, log]) => ({ attempt, ...log }))
}

export function explain(state: State, id: TaskId, look: ExplainLook = {}): Explanation | null {
  const record = state.tasks.get(id)
  if (record === undefined) return null
  return explainFacts({
    task: viewOf(state, record),
    now: state.now,
    holds: holdsOn(state, record.lane),
    limits: limitsOn(state, record.lane),
    breakers: breakersOn(state, record.lane),
    workers: workerViews(state),
    thresholds: state.healthThresholds,
    ...look,
  })
}

export function lanes(state: State, query: LaneQuery = {}): Page<LaneView> {
  const found = state.lanes.flatMap((lane, index) =>
    scopeMatches(query, lane) ? [[index + 1, laneView(state, lane)] as const] : [],
  )
  return pageOf(query, found, upwards)
}

function laneView(state: State, lane: Lane): LaneView {
  const { pool, action, tenant } = lane
  return { pool, action, tenant, counts: counts(state, lane), gates: gatesOf(state, lane) }
}

export function counts(state: State, query: CountsQuery = {}): Counts {
  const scope: Scope = query
  const records = [...state.tasks.values()].filter((record) => scopeMatches(scope, record.lane))
  const count = (status: TaskStatus): number => records.filter((record) => record.state.status === status).length
  const removed = state.lanes.filter((lane) => scopeMatches(scope, lane)).reduce((sum, lane) => sum + lane.removed, 0)
  return {
    accepted: records.length + removed,
    queued: count('queued'),
    waiting: count('waiting'),
    running: count('running'),
    succeeded: count('succeeded'),
    dead: count('dead'),
    discarded: count('discarded'),
    cancelled: count('cancelled'),
    removed,
  }
}

export function tenants(state: State, page?: PageRequest): Page<TenantFigures> {
  const ofLanes = state.lanes.map(({ tenant }) => ({ tenant, backlog: 0, running: 0, bytes: 0 }))
  const ofTasks = [...state.tasks.values()].map(({ lane, state: { status }, snapshot }) => ({
    tenant: lane.tenant,
    backlog: status === 'queued' || status === 'waiting' || status === 'running' ? 1 : 0,
    running: status === 'running' ? 1 : 0,
    bytes: Buffer.byteLength(snapshot.payload),
  }))
  return tenantPage([...ofLanes, ...ofTasks], page)
}

export function failureGroups(state: State, query: FailureGroupQuery = {}): Page<FailureGroup> {
  const limit = pageLimit(query)
  const found = state.groups
    .map((group, index) => ({ group, index, count: sizeOf(state, group.fingerprint) }))
    .filter(({ group, count }) => count > 0 && (query.action === undefined || group.action === query.action))
    .filter(({ group }) => query.fingerprint === undefined || group.fingerprint === query.fingerprint)
    .sort((a, b) => b.group.lastAt - a.group.lastAt || b.index - a.index)
  const from = found.findIndex(({ group }) => group.fingerprint === query.cursor) + 1
  const shown = found.slice(from, from + limit)
  const next = found.length > from + limit ? (shown.at(-1)?.group.fingerprint ?? null) : null
  return { items: shown.map(({ group, count }) => ({ ...group, count })), next }
}

const sizeOf = (state: State, fingerprint: string): number =>
  [...state.tasks.values()].filter((record) => fingerprintOfDead(record) === fingerprint).length

export function series(state: State, query: SeriesQuery): readonly SeriesPoint[] {
  if (query.to - query.from > SERIES_POINTS_MAX * SERIES_STEP_MS) {
    throw new InvalidError(`A series has at most ${SERIES_POINTS_MAX} minutes.`)
  }
  const events = state.events.filter(
    ({ lane, minute }) => minute >= query.from && minute < query.to && scopeMatches(query, lane),
  )
  const minutes = [...new Set(events.map(({ minute }) => minute))].sort((a, b) => a - b)
  return minutes.map((at) => {
    const point = { at, accepted: 0, started: 0, succeeded: 0, failed: 0, lost: 0, retried: 0, dead: 0, cancelled: 0 }
    for (const event of events) if (event.minute === at) point[event.kind]++
    return point
  })
}
