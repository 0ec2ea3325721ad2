// The complete state of a store, read through the port alone and in a form that can be compared: all pages, without
// cursors, and the journal without its ids (which only have to grow).

import {
  type Breaker,
  type Counts,
  type DepartedWorker,
  type Engine,
  type Execution,
  type FailureGroup,
  type Hold,
  type JournalEntry,
  type LaneView,
  type Launch,
  latestForTask,
  type Page,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type StandingsResult,
  type Task,
  type TaskLog,
  type TenantFigures,
  type WorkerView,
} from '@reprise/core'
import { InvariantError } from './difference.ts'
import { POOLS } from './draft.ts'

const PAGES_MAX = 1_000

export interface StoreSnapshot {
  readonly tasks: readonly Task[]
  readonly standings: StandingsResult['standings']
  readonly executions: readonly Execution[]
  readonly logs: readonly (readonly TaskLog[])[]
  readonly counts: Counts
  readonly lanes: readonly LaneView[]
  readonly holds: readonly Hold[]
  readonly tenants: readonly TenantFigures[]
  readonly groups: readonly FailureGroup[]
  readonly workers: readonly WorkerView[]
  readonly departed: readonly DepartedWorker[]
  readonly breakers: readonly Breaker[]
  readonly launches: readonly Launch[]
  readonly series: readonly SeriesPoint[]
}

/** Everything but the journal. Small pages, so that cursors are tried as well. */
export async function readStore(engine: Engine, from: number, now: number): Promise<StoreSnapshot> {
  const tasks = await allPages((page) => engine.tasks({ ...page, limit: 3 }))
  const executions: Execution[] = []
  const logs: (readonly TaskLog[])[] = []
  for (const { id } of tasks) {
    const own = await allPages((page) => engine.executions(id, { ...page, limit: 2 }))
    executions.push(...own)
    logs.push(await engine.logs(id))
    const latest = await latestForTask(engine, id)
    if (latest?.attempt !== own.at(-1)?.attempt)
      throw new InvariantError(3, `the latest attempt of ${id} is not its highest.`)
  }
  const launches: Launch[] = []
  for (const pool of POOLS) launches.push(...(await allPages((page) => engine.launches({ ...page, pool, limit: 2 }))))
  const ids = tasks.map(({ id }) => id)
  const { standings } = await engine.standings(ids)
  const statuses = await engine.statuses(ids)
  const differs = tasks.find(({ state }, index) => state.status !== statuses[index])
  if (differs !== undefined) throw new InvariantError(12, `statuses() and task() differ about ${differs.id}.`)
  return {
    tasks,
    standings,
    executions,
    logs,
    counts: await engine.counts(),
    lanes: await allPages((page) => engine.lanes({ ...page, limit: 2 })),
    holds: await allPages((page) => engine.holds({ ...page, limit: 1 })),
    tenants: await allPages((page) => engine.tenants({ ...page, limit: 1 })),
    groups: await allPages((page) => engine.failureGroups({ ...page, limit: 2 })),
    workers: await allPages((page) => engine.workers({ ...page, limit: 2 })),
    departed: await allPages((page) => engine.departed({ ...page, limit: 2 })),
    breakers: await allPages((page) => engine.breakers({ ...page, limit: 1 })),
    launches,
    series: await readSeries(engine, from, now),
  }
}

async function allPages<T>(fetch: (page: { readonly cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  for (let count = 0; count < PAGES_MAX; count++) {
    const page: Page<T> = await fetch(cursor === null ? {} : { cursor })
    items.push(...page.items)
    if (page.next === null) return items
    cursor = page.next
  }
  throw new Error('The pages do not end.')
}

async function readSeries(engine: Engine, from: number, now: number): Promise<SeriesPoint[]> {
  const windowMs = SERIES_POINTS_MAX * SERIES_STEP_MS
  const points: SeriesPoint[] = []
  for (let start = from; start <= now; start += windowMs) {
    points.push(...(await engine.series({ from: start, to: start + windowMs })))
  }
  return points
}

export interface JournalReading {
  readonly entries: readonly Omit<JournalEntry, 'id'>[]
  readonly cursor: string
}

/** What was written since the cursor. */
export async function readJournal(engine: Engine, cursor: string | null): Promise<JournalReading> {
  const entries: JournalEntry[] = []
  let at = cursor
  for (let count = 0; count < PAGES_MAX; count++) {
    const page = await engine.journal.read(at === null ? { limit: 5 } : { limit: 5, cursor: at })
    at = page.cursor
    entries.push(...page.entries)
    if (page.entries.length === 0) break
  }
  if (new Set(entries.map(({ id }) => id)).size !== entries.length) {
    throw new InvariantError(9, 'an id of the journal comes twice.')
  }
  return { entries: entries.map(({ id: _id, ...entry }) => entry), cursor: at ?? '' }
}
