// Finds the tasks that agree with a filter, newest first, on any engine. What an engine can look up by itself (status, tenant,
// pool, action, failure group) is left to it, one stream for each status and tenant that may agree; the streams are merged by
// the time of acceptance, and the rest of the filter is tried on what comes. One call looks at a bounded number of tasks, so
// that nobody's question keeps others waiting. Nothing can be asked about payloads, so tasks are looked at without long ones;
// those that agree are then read whole, up to a number of bytes. How a place in all streams is written down is in
// search-cursor.ts.

import { InvalidError } from '../model/errors.ts'
import type { ActionName, Fingerprint, PoolName, TaskId, TenantId } from '../model/ids.ts'
import { NAME_LENGTH_MAX } from '../model/ids.ts'
import type { JsonText } from '../model/json.ts'
import { TASK_STATUSES, type Task, type TaskStatus } from '../model/task.ts'
import type { Scope } from '../port/changes.ts'
import type { Engine } from '../port/engine.ts'
import { type Counts, LEFT_OUT, pageLimit, type TaskLook, type TaskQuery } from '../port/queries.ts'
import type { Turns } from '../runtime/turns.ts'
import {
  compileFilter,
  type NameField,
  type QueryCondition,
  type SeenTask,
  type TaskFilter,
  type TaskPredicate,
} from './query-language.ts'
import { readCursor, type SearchPlace, writeCursor } from './search-cursor.ts'
import { TaskStream } from './search-stream.ts'

/** How many tasks one call looks at, if nothing else is said. */
export const SCAN_MAX = 5_000
/** How often one call asks the engine: it may have to look for long where little is found. */
const CALLS_MAX = 100
/** How many streams are merged. If there were more, fewer and larger ones are looked through. */
const STREAMS_MAX = 16
/** Streams are seldom alike: some are asked for a little more than their share. */
const EXTRA = 4
const IDS_AT_ONCE = 10
/** What a page holds of payloads and results, in characters: it ends behind the task that goes beyond that. */
const FOUND_LENGTH_MAX = 1_000_000

export type SearchEngine = Pick<Engine, 'task' | 'tasks' | 'counts'>

export interface SearchOptions {
  /** How many items a page has at the most. */
  readonly limit?: number
  /** From the page before, of the same filter and tenants. */
  readonly cursor?: string
  /** The moment that ages count from. */
  readonly now: number
  /** How many tasks are looked at; the page may then be short though more follow. */
  readonly maxScan?: number
  /** Whose tasks may be seen at all; everybody's if null or missing. */
  readonly tenants?: readonly TenantId[] | null
  /** Tasks as the asker may see them, which the filter is held against; as they are stored if missing. */
  readonly seen?: SeenTask | undefined
  /** Lets others have their turn now and then; not if missing. */
  readonly turns?: Pick<Turns, 'isSpent' | 'wait'>
  /** Long payloads and results are left out, for those who need none. */
  readonly light?: boolean
}

export interface SearchPage {
  readonly items: readonly Task[]
  /** For the next page; null on the last one. A page may be short, or empty, though more follow. */
  readonly next: string | null
  /** How many tasks were looked at. */
  readonly scanned: number
}

/**
 * Every task that stays as it is while somebody pages is found exactly once. One that changes between two pages (from queued to
 * running, say) is still found if it agrees before and after, unless it was accepted in the same millisecond as the end of a page.
 */
export async function searchTasks(
  engine: SearchEngine,
  filter: TaskFilter,
  options: SearchOptions,
): Promise<SearchPage> {
  const limit = pageLimit(options)
  const maxScan = options.maxScan ?? SCAN_MAX
  if (!Number.isInteger(maxScan) || maxScan < 1) {
    throw new InvalidError(`maxScan is a whole number from 1, not ${maxScan}.`)
  }
  const { tenants = null } = options
  const place = readCursor(options.cursor, filter, tenants)
  const agrees = agreement(filter, tenants, options.seen)
  const { now, turns = NO_TURNS, light = false } = options
  const search = { limit, maxScan, now, agrees, turns, light }
  const ids = exactNames(filter, 'id')
  const { items, after, scanned } =
    ids === null
      ? await findInStreams(
          seenThrough(engine, tenants),
          await streamsOf(engine, filter, tenants, place),
          place,
          search,
        )
      : await findById(engine, ids, place, search)
  return { items, next: after === null ? null : writeCursor(after, filter, tenants), scanned }
}

type TaskSource = Pick<Engine, 'task' | 'tasks'>

/** Without the tasks of others, which count neither as looked at nor as the place that a cursor tells. */
function seenThrough(engine: SearchEngine, tenants: readonly TenantId[] | null): TaskSource {
  if (tenants === null) return engine
  const allowed = new Set(tenants)
  return {
    task: (id, look) => engine.task(id, look),
    tasks: async (query) => {
      const { items, next } = await engine.tasks(query)
      return { items: items.filter(({ tenant }) => allowed.has(tenant)), next }
    },
  }
}

interface Search {
  readonly limit: number
  readonly maxScan: number
  readonly now: number
  readonly agrees: TaskPredicate
  readonly turns: Pick<Turns, 'isSpent' | 'wait'>
  readonly light: boolean
}

const NO_TURNS: Search['turns'] = { isSpent: false, wait: () => Promise.resolve() }

interface Found {
  readonly items: readonly Task[]
  readonly after: SearchPlace | null
  readonly scanned: number
}

function agreement(filter: TaskFilter, tenants: readonly TenantId[] | null, seen: SeenTask | undefined): TaskPredicate {
  const agrees = compileFilter(filter, seen)
  if (tenants === null) return agrees
  const allowed = new Set(tenants)
  // Tried on every task, also where an engine was asked for these tenants alone: nobody's tasks get past this.
  return (task, now) => allowed.has(task.tenant) && agrees(task, now)
}

async function findById(
  engine: SearchEngine,
  ids: readonly string[],
  place: SearchPlace,
  search: Search,
): Promise<Found> {
  const known = [...new Set(ids)].filter((id) => id.length <= NAME_LENGTH_MAX)
  const tasks: Task[] = []
  for (let at = 0; at < known.length; at += IDS_AT_ONCE) {
    if (search.turns.isSpent) await search.turns.wait()
    const some = await Promise.all(known.slice(at, at + IDS_AT_ONCE).map((id) => engine.task(id as TaskId, LIGHT)))
    for (const task of some) if (task !== null && search.agrees(task, search.now)) tasks.push(task)
  }
  tasks.sort((a, b) => b.acceptedAt - a.acceptedAt)
  const found = new FoundTasks(engine, search)
  let { passed } = place
  for (const task of tasks.slice(passed)) {
    if (!found.hasRoom) break
    await found.add(task)
    passed++
  }
  return { items: found.items, after: passed < tasks.length ? { ...place, passed } : null, scanned: known.length }
}

const LIGHT: TaskLook = { light: true }

/** What agrees, whole. */
class FoundTasks {
  readonly #engine: TaskSource
  readonly #search: Search
  readonly #tasks = new Map<TaskId, Task>()
  #length = 0

  constructor(engine: TaskSource, search: Search) {
    this.#engine = engine
    this.#search = search
  }

  get items(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get hasRoom(): boolean {
    return this.#tasks.size < this.#search.limit && this.#length < FOUND_LENGTH_MAX
  }

  /** As it was seen, if that was all of it; otherwise it is read, and left out if it does not agree any more. */
  async add(seen: Task): Promise<void> {
    const { agrees, now, turns, light } = this.#search
    if (light || isWhole(seen)) return this.#take(seen)
    if (turns.isSpent) await turns.wait()
    const task = await this.#engine.task(seen.id)
    if (task !== null && agrees(task, now)) this.#take(task)
  }

  #take(task: Task): void {
    this.#tasks.set(task.id, task)
    this.#length += lengthOf(task)
  }
}

const resultOf = ({ state }: Task): JsonText | null => (state.status === 'succeeded' ? state.result : null)

/** Whether nothing of it was left out by a light look. */
export const isWhole = (task: Task): boolean => task.payload !== LEFT_OUT && resultOf(task) !== LEFT_OUT

const lengthOf = (task: Task): number => task.payload.length + (resultOf(task)?.length ?? 0)

async function findInStreams(
  engine: TaskSource,
  queries: readonly TaskQuery[],
  place: SearchPlace,
  search: Search,
): Promise<Found> {
  const { limit, maxScan, now, agrees, turns } = search
  const size = queries.length === 1 ? limit : Math.ceil(limit / queries.length) + EXTRA
  const streams = queries.map((query) => new TaskStream(engine, query, size, place))
  const found = new FoundTasks(engine, search)
  let calls = CALLS_MAX + streams.length
  let scanned = 0
  let oldestAt = place.oldestAt
  while (found.hasRoom) {
    if (turns.isSpent) await turns.wait()
    if (streams.some(isLacking)) {
      const lacking = streams.filter(isLacking)
      // What is in hand is looked through in any case: so each call comes further than the one before.
      if (lacking.length > calls || scanned >= maxScan) break
      calls -= lacking.length
      scanned += sum(await Promise.all(lacking.map((stream) => stream.fetch())))
      continue
    }
    const next = newestOf(streams)
    if (next === null) break
    const task = next.take()
    oldestAt = Math.min(oldestAt ?? task.acceptedAt, task.acceptedAt)
    if (agrees(task, now)) await found.add(task)
  }
  const isEnd = streams.every((stream) => stream.isEnded)
  const places = Object.fromEntries(streams.map((stream) => [stream.key, stream.place]))
  return { items: found.items, after: isEnd ? null : { passed: 0, oldestAt, streams: places }, scanned }
}

const isLacking = (stream: TaskStream): boolean => stream.isLacking

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function newestOf(streams: readonly TaskStream[]): TaskStream | null {
  let newest: TaskStream | null = null
  let at = Number.NEGATIVE_INFINITY
  for (const stream of streams) {
    const { head } = stream
    if (head === null || head.acceptedAt <= at) continue
    newest = stream
    at = head.acceptedAt
  }
  return newest
}

/** The questions to the engine that together give every task which may agree, each once. */
async function streamsOf(
  engine: SearchEngine,
  filter: TaskFilter,
  allowed: readonly TenantId[] | null,
  place: SearchPlace,
): Promise<readonly TaskQuery[]> {
  const fingerprint = exactName(filter, 'fingerprint')
  const scope: Scope = {
    ...optional('pool', exactName(filter, 'pool') as PoolName | null),
    ...optional('action', exactName(filter, 'action') as ActionName | null),
  }
  const statuses = statusesOf(filter).filter((status) => fingerprint === null || status === 'dead')
  const tenants = tenantsOf(filter, allowed)
  const scopes =
    tenants === null || tenants.length > STREAMS_MAX ? [scope] : tenants.map((tenant) => ({ ...scope, tenant }))
  if (fingerprint !== null) {
    if (statuses.length === 0) return []
    return scopes.map((one) => ({ ...one, status: 'dead' as const, fingerprint: fingerprint as Fingerprint }))
  }
  // As it was begun, it goes on: a place in one kind of streams says little about another.
  const begun = Object.keys(place.streams)
  if (statuses.length === TASK_STATUSES.length || begun.some((key) => key.startsWith('/'))) return scopes
  const queries: TaskQuery[] = []
  for (const one of scopes) {
    // Kept, not counted: asking is cheap, and spares looking through everything for what is not there.
    const counts = await engine.counts(one)
    queries.push(...statuses.filter((status) => hasAny(counts, status)).map((status) => ({ ...one, status })))
  }
  return queries.length <= STREAMS_MAX || begun.length > 0 ? queries : scopes
}

const hasAny = (counts: Counts, status: TaskStatus): boolean => counts[status] > 0

function optional<K extends string, V>(key: K, value: V | null): { [key in K]?: V } {
  return value === null ? {} : ({ [key]: value } as { [key in K]?: V })
}

/** Those that may agree. */
export function statusesOf({ terms }: TaskFilter): readonly TaskStatus[] {
  return TASK_STATUSES.filter((status) =>
    terms.every(
      ({ negated, condition }) => condition.kind !== 'status' || condition.statuses.includes(status) !== negated,
    ),
  )
}

/** Those that may agree; null if nothing says which. */
function tenantsOf(filter: TaskFilter, allowed: readonly TenantId[] | null): readonly TenantId[] | null {
  const named = exactNames(filter, 'tenant') as readonly TenantId[] | null
  if (named === null) return allowed === null ? null : [...new Set(allowed)]
  return [...new Set(named)].filter((tenant) => allowed === null || allowed.includes(tenant))
}

/** The one name that the field must have; null if nothing says so. */
function exactName(filter: TaskFilter, field: NameField): string | null {
  const names = exactNames(filter, field)
  return names?.length === 1 ? (names[0] ?? null) : null
}

/** The names of which the field must have one; null if nothing says so. */
function exactNames({ terms }: TaskFilter, field: NameField): readonly string[] | null {
  for (const { negated, condition } of terms) {
    if (!negated && isExact(condition, field)) return condition.globs
  }
  return null
}

const isExact = (
  condition: QueryCondition,
  field: NameField,
): condition is QueryCondition & { readonly kind: 'name' } =>
  condition.kind === 'name' && condition.field === field && !condition.globs.some((glob) => glob.includes('*'))
