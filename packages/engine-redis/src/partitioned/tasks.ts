// Looking at tasks and their attempts in all partitions. One task is looked at where it lives; lists are merged by the time of
// acceptance. Tokens are shown as callers know them.

import {
  type Execution,
  type ExplainLook,
  type Explanation,
  PAGE_LIMIT_MAX,
  type Page,
  type PageRequest,
  type Task,
  type TaskId,
  type TaskLog,
  type TaskLook,
  type TaskQuery,
} from '@reprise/core'
import { explain as explainFacts, pageLimit } from '@reprise/core/engine'
import { NO_GATES } from '../gates-facts.ts'
import { logsOf } from '../logs.ts'
import { findExecution, findTask, LOOK_BOUNDS, listExecutions, seeTask, type TaskRow, taskRows } from '../tasks.ts'
import { gatesFactsOf } from './gates.ts'
import { merge, split } from './merge.ts'
import { outwardToken, type Partitions } from './partitions.ts'
import { allWorkers } from './registry.ts'

export async function findTaskIn(store: Partitions, id: TaskId, look?: TaskLook): Promise<Task | null> {
  const place = store.placeOf(id)
  const task = await findTask(store.at(place), id, look)
  return task === null ? null : outward(place, task)
}

const START = '-'

export async function listTasks(store: Partitions, query: TaskQuery): Promise<Page<Task>> {
  const limit = pageLimit(query)
  const cursors = split(query.cursor, START, /^\d{1,16}$/, store.size)
  // All together look as far as one partition alone would.
  const bounds = {
    maxLooks: Math.ceil(LOOK_BOUNDS.maxLooks / store.size),
    maxBytes: Math.ceil(LOOK_BOUNDS.maxBytes / store.size),
  }
  const page = await merge<TaskRow>(
    cursors,
    limit,
    async (cursor, wanted, place) => {
      const from = cursor === START ? null : Number(cursor)
      const { rows, next } = await taskRows(store.at(place), from, wanted, query, bounds)
      const found = rows.map((item) => ({ item, cursor: String(item.seq) }))
      return next === null || found.length === wanted ? found : [...found, { item: null, cursor: String(next) }]
    },
    isNewer,
  )
  return {
    items: page.rows.map(({ item, place }) => outward(place, item.task)),
    next: page.hasMore ? page.cursor : null,
  }
}

/** Of tasks accepted in the same millisecond, the order is that of their partitions' numbers: as good as any. */
function isNewer(a: TaskRow, b: TaskRow): boolean {
  if (a.task.acceptedAt !== b.task.acceptedAt) return a.task.acceptedAt > b.task.acceptedAt
  return a.seq > b.seq
}

export async function executionIn(store: Partitions, id: TaskId, attempt: number): Promise<Execution | null> {
  const place = store.placeOf(id)
  const execution = await findExecution(store.at(place), id, attempt)
  return execution === null ? null : outwardExecution(place, execution)
}

export async function executionsIn(
  store: Partitions,
  id: TaskId,
  page: PageRequest | undefined,
): Promise<Page<Execution>> {
  const place = store.placeOf(id)
  const { items, next } = await listExecutions(store.at(place), id, page)
  return { items: items.map((execution) => outwardExecution(place, execution)), next }
}

export const logsIn = (store: Partitions, id: TaskId): Promise<readonly TaskLog[]> =>
  logsOf(store.at(store.placeOf(id)), id)

/** With the limits and workers of the whole store. */
export async function explain(store: Partitions, id: TaskId, look: ExplainLook): Promise<Explanation | null> {
  const place = store.placeOf(id)
  const [seen, workers] = await Promise.all([seeTask(store.at(place), id), allWorkers(store, PAGE_LIMIT_MAX)])
  if (seen === null) return null
  const { task, now } = seen
  const [facts = NO_GATES] = await gatesFactsOf(store, [task])
  const { thresholds } = store.home
  return explainFacts({ task: outward(place, task), now, ...facts, workers, thresholds, ...look })
}

function outward(place: number, task: Task): Task {
  const { state } = task
  if (state.status !== 'running') return task
  return { ...task, state: { ...state, token: outwardToken(place, state.token) } }
}

function outwardExecution(place: number, execution: Execution): Execution {
  return { ...execution, token: outwardToken(place, execution.token) }
}
