// Counts the tasks that agree with a filter, in all or by a field. What an engine counts anyway is read off its counters: a
// filter that names nothing but statuses, actions, tenants and pools. Everything else is looked through, a bounded number of
// tasks in one call, with a place to go on from. A count is exact once there is no such place.

import { InvalidError } from '../model/errors.ts'
import type { ActionName, PoolName, TenantId } from '../model/ids.ts'
import type { Task, TaskStatus } from '../model/task.ts'
import type { Scope } from '../port/changes.ts'
import type { Engine } from '../port/engine.ts'
import { PAGE_LIMIT_MAX } from '../port/queries.ts'
import { type NameField, namesOf, type SeenTask, type TaskFilter } from './query-language.ts'
import { type SearchEngine, type SearchOptions, searchTasks, statusesOf } from './search.ts'

/** How many tasks one call looks at, if nothing else is said. */
const COUNT_SCAN_MAX = 20_000
/** How many different values one answer has at the most: what is left comes with the next one. */
const VALUES_MAX = 1_000
/** How many counters are asked for. With more lanes than that, tasks are looked through. */
const LANES_MAX = 10_000
const SCOPES_MAX = 16

/** What tasks can be counted by: these, and `label.<name>`. */
export const COUNT_FIELDS = [
  'status',
  'action',
  'tenant',
  'pool',
  'reason',
  'code',
  'fingerprint',
  'worker',
  'version',
  'host',
] as const satisfies readonly (NameField | 'status')[]

type CountField = (typeof COUNT_FIELDS)[number]
const LANE_FIELDS = ['action', 'tenant', 'pool'] as const
type LaneField = (typeof LANE_FIELDS)[number]

export type CountedBy =
  | { readonly kind: 'field'; readonly field: CountField }
  | { readonly kind: 'label'; readonly label: string }

/** Throws if tasks can't be counted by it. */
export function countedBy(text: string): CountedBy {
  const [, label] = /^label[.:](.+)$/s.exec(text) ?? []
  if (label !== undefined) return { kind: 'label', label }
  const field = COUNT_FIELDS.find((one) => one === text.toLowerCase())
  if (field !== undefined) return { kind: 'field', field }
  throw new InvalidError(
    `Tasks can't be counted by '${text.slice(0, 40)}'. Known are: ${COUNT_FIELDS.join(', ')}, label.<name>.`,
  )
}

export interface CountOptions extends Omit<SearchOptions, 'limit' | 'light'> {
  readonly by?: CountedBy
  /** How many of those that were found are shown; none if missing. */
  readonly samples?: number
}

export interface TaskCount {
  readonly count: number
  /** The most first. Null stands for tasks that have no such thing. Empty if nothing was asked for. */
  readonly values: readonly { readonly value: string | null; readonly count: number }[]
  readonly samples: readonly Task[]
  /** Where to go on: what is counted from there is added. Null if the count is whole. */
  readonly next: string | null
}

export type CountEngine = SearchEngine & Pick<Engine, 'lanes'>

export async function countTasks(engine: CountEngine, filter: TaskFilter, options: CountOptions): Promise<TaskCount> {
  const { samples = 0 } = options
  const kept = options.cursor === undefined ? await keptCounts(engine, filter, options) : null
  if (kept === null) return lookedThrough(engine, filter, options)
  if (samples === 0 || kept.count === 0) return kept
  const { by: _, samples: __, ...search } = options
  const { items } = await searchTasks(engine, filter, { ...search, limit: samples, light: true })
  return { ...kept, samples: items }
}

async function lookedThrough(engine: CountEngine, filter: TaskFilter, options: CountOptions): Promise<TaskCount> {
  const { by, samples = 0, maxScan = COUNT_SCAN_MAX, cursor, ...search } = options
  const values = new Tally()
  const shown: Task[] = []
  let count = 0
  let scanned = 0
  let next = cursor ?? null
  do {
    const page = await searchTasks(engine, filter, {
      ...search,
      limit: Math.min(PAGE_LIMIT_MAX, maxScan),
      maxScan,
      light: true,
      ...(next === null ? {} : { cursor: next }),
    })
    count += page.items.length
    shown.push(...page.items.slice(0, samples - shown.length))
    if (by !== undefined) for (const task of page.items) values.add(countedValue(by, task, options.seen), 1)
    scanned += page.scanned
    next = page.next
  } while (next !== null && scanned < maxScan && values.size < VALUES_MAX)
  return { count, values: values.sorted(), samples: shown, next }
}

/** One value for each task: of a dead letter's two reasons it is that of the failure. */
function countedValue(by: CountedBy, task: Task, seen: SeenTask | undefined): string | null {
  const shown = seen === undefined ? task : seen(task)
  if (by.kind === 'label') return Object.hasOwn(shown.labels, by.label) ? (shown.labels[by.label] ?? null) : null
  return by.field === 'status' ? task.state.status : (namesOf(by.field, shown).at(-1) ?? null)
}

class Tally {
  readonly #counts = new Map<string | null, number>()

  get size(): number {
    return this.#counts.size
  }

  add(value: string | null, count: number): void {
    if (count > 0) this.#counts.set(value, (this.#counts.get(value) ?? 0) + count)
  }

  sorted(): TaskCount['values'] {
    return [...this.#counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count)
  }
}

/** Read off counters; null if they do not tell. */
async function keptCounts(
  engine: CountEngine,
  filter: TaskFilter,
  { by, tenants = null }: CountOptions,
): Promise<TaskCount | null> {
  const scopes = scopesOf(filter, tenants)
  if (scopes === null || by?.kind === 'label') return null
  const statuses = statusesOf(filter)
  const values = new Tally()
  const field = by?.field
  if (field === undefined || field === 'status') {
    let count = 0
    for (const scope of scopes) {
      const counts = await engine.counts(scope)
      for (const status of statuses) {
        count += counts[status]
        if (field === 'status') values.add(status, counts[status])
      }
    }
    return { count, values: values.sorted(), samples: [], next: null }
  }
  return isLaneField(field) ? countedLanes(engine, scopes, field, statuses) : null
}

const isLaneField = (field: string): field is LaneField => LANE_FIELDS.some((one) => one === field)

async function countedLanes(
  engine: CountEngine,
  scopes: readonly Scope[],
  field: LaneField,
  statuses: readonly TaskStatus[],
): Promise<TaskCount | null> {
  const values = new Tally()
  let count = 0
  let lanes = 0
  for (const scope of scopes) {
    let cursor: string | null = null
    do {
      const page = await engine.lanes({ ...scope, limit: 100, ...(cursor === null ? {} : { cursor }) })
      for (const lane of page.items) {
        const some = statuses.reduce((sum, status) => sum + lane.counts[status], 0)
        values.add(lane[field], some)
        count += some
      }
      lanes += page.items.length
      cursor = page.next
      if (values.size > VALUES_MAX || lanes > LANES_MAX) return null
    } while (cursor !== null)
  }
  return { count, values: values.sorted(), samples: [], next: null }
}

/** The scopes that together are all that the filter is about, each once; null if it is about more than lanes and statuses. */
function scopesOf({ terms }: TaskFilter, allowed: readonly TenantId[] | null): readonly Scope[] | null {
  const named = new Map<LaneField, ReadonlySet<string>>(allowed === null ? [] : [['tenant', new Set<string>(allowed)]])
  for (const { negated, condition } of terms) {
    if (condition.kind === 'status') continue
    if (negated || condition.kind !== 'name' || !isLaneField(condition.field)) return null
    if (condition.globs.some((glob) => glob.includes('*'))) return null
    const before = named.get(condition.field)
    named.set(condition.field, new Set(condition.globs.filter((name) => before?.has(name) !== false)))
  }
  let scopes: readonly Scope[] = [{}]
  for (const [field, names] of named) {
    if (scopes.length * names.size > SCOPES_MAX) return null
    scopes = scopes.flatMap((scope) => [...names].map((name) => withName(scope, field, name)))
  }
  return scopes
}

function withName(scope: Scope, field: LaneField, name: string): Scope {
  switch (field) {
    case 'action':
      return { ...scope, action: name as ActionName }
    case 'tenant':
      return { ...scope, tenant: name as TenantId }
    case 'pool':
      return { ...scope, pool: name as PoolName }
  }
}
