// Takes tasks out for another pipeline (B12): what was asked, where it stands and every attempt so far, one record per task,
// each of which can be one line of JSON. Changes nothing: what was taken over elsewhere is cancelled here by its new owner.

import { decodeJson } from '../model/json.ts'
import type { Task, TaskTerms } from '../model/task.ts'
import { allPages } from '../port/all-pages.ts'
import type { Engine } from '../port/engine.ts'
import type { Page, PageRequest } from '../port/queries.ts'
import type { TaskFilter } from './query-language.ts'
import { type SearchEngine, type SearchOptions, searchTasks } from './search.ts'

/** Plain data. Tokens of leases are left out: they are their holders' own. */
export interface ExportedTask {
  readonly snapshot: TaskTerms & { readonly payload: unknown }
  readonly acceptedAt: number
  readonly generation: number
  readonly failures: number
  readonly losses: number
  readonly state: unknown
  /** Oldest first. */
  readonly attempts: readonly unknown[]
}

export type ExportEngine = SearchEngine & Pick<Engine, 'executions'>
export type ExportOptions = Pick<SearchOptions, 'now' | 'tenants' | 'seen' | 'turns'>

const TASKS_AT_ONCE = 50

/** Newest first. Holds a few tasks at a time, however many there are. */
export async function* exportTasks(
  engine: ExportEngine,
  filter: TaskFilter,
  options: ExportOptions,
): AsyncGenerator<ExportedTask, void, undefined> {
  let cursor: string | null = null
  do {
    const from: SearchOptions = { ...options, limit: TASKS_AT_ONCE, ...(cursor === null ? {} : { cursor }) }
    const page = await searchTasks(engine, filter, from)
    for (const task of page.items) yield await exportTask(engine, task)
    cursor = page.next
  } while (cursor !== null)
}

/** One task that was read whole, with its attempts. */
export const exportTask = async (engine: Pick<Engine, 'executions'>, task: Task): Promise<ExportedTask> =>
  exported(task, await attemptsOf(engine, task))

/** Each comes with the payload of its task, and is kept without it. */
const ATTEMPTS_AT_ONCE = 10

/** A task's attempts are bounded by its budgets; an operator may have opened many generations. Tokens are left out. */
async function attemptsOf(engine: Pick<Engine, 'executions'>, { id, attempt }: Task): Promise<readonly unknown[]> {
  if (attempt === 0) return []
  const read = async (page: PageRequest): Promise<Page<unknown>> => {
    const { items, next } = await engine.executions(id, { ...page, limit: ATTEMPTS_AT_ONCE })
    return { items: items.map(({ token: _own, taskSnapshot: _above, ...attempt }) => attempt), next }
  }
  return (await allPages(read, Number.POSITIVE_INFINITY)).items
}

function exported(task: Task, attempts: readonly unknown[]): ExportedTask {
  const { payload, acceptedAt, generation, failures, losses, state, ...more } = task
  const { attempt: _attempt, parks: _parks, deferrals: _deferrals, lastWorker: _worker, ...terms } = more
  return {
    snapshot: { ...terms, payload: decodeJson(payload) },
    acceptedAt,
    generation,
    failures,
    losses,
    state: stateOf(state),
    attempts,
  }
}

function stateOf(state: Task['state']): unknown {
  if (state.status === 'succeeded') return { ...state, result: state.result === null ? null : decodeJson(state.result) }
  if (state.status !== 'running') return state
  const { token: _own, ...rest } = state
  return rest
}
