// Operations that change many tasks at once, and the cancelling of one. Each call is one bounded step.

import {
  BATCH_MAX,
  type ChangeRequest,
  ConflictError,
  countedBy,
  countTasks,
  type Fingerprint,
  InvalidError,
  NotFoundError,
  searchTasks,
  type TaskFilter,
  type TaskId,
  type TaskSelector,
  type TaskStatus,
  turnsOf,
} from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller, tenantScope } from './access/caller.ts'
import { visibleTask } from './access/own-tasks.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { type Asked, askedFilter, inStatus, lookOf } from './found.ts'
import { given } from './given.ts'
import { familyOf } from './group-views.ts'
import { operation } from './operation.ts'
import {
  CursorInput,
  NameInput,
  QueryInput,
  ReasonInput,
  ScopeInput,
  TaskIdInput,
  TaskParams,
} from './schemas/names.ts'
import { BulkView } from './schemas/operations.ts'
import { TaskView } from './schemas/task.ts'
import { sightOf } from './sight.ts'
import { preparedFor, taskView } from './views.ts'

const ChangeInput = ScopeInput.extend({
  ids: z.array(TaskIdInput).min(1).max(1_000).optional(),
  fingerprint: NameInput.optional(),
  q: QueryInput.shape.q.meta({ description: 'The query language, in place of all other ways to name tasks.' }),
  all: z.literal(true).optional().meta({ description: 'Needed to mean every task there is.' }),
  dryRun: z.boolean().optional().meta({ description: 'Say how many would be changed, and change nothing.' }),
  reason: ReasonInput.optional(),
  limit: z.int().min(1).max(1_000).optional(),
  cursor: CursorInput.optional(),
})

const SAMPLES = 5

type Kind = 'cancel' | 'redrive' | 'discard' | 'promote'

/** The tasks that each can change. */
const FROM: Readonly<Record<Kind, readonly TaskStatus[]>> = {
  cancel: ['queued', 'waiting', 'running'],
  redrive: ['dead'],
  discard: ['dead'],
  promote: ['waiting'],
}

const change = (kind: Kind, summary: string, { repeatable = true, isForDead = false } = {}) =>
  operation({
    route: `POST /api/v1/tasks/${kind}`,
    summary,
    description:
      'Names tasks by `ids`, by a query (`q`), or all that agree with pool, action, tenant and fingerprint. One bounded step: go on with `cursor` while `next` is not null. With `dryRun` the answer says how many would be changed, and nothing is.',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: ChangeInput,
    output: BulkView,
    answer: 'What was changed.',
    repeatable,
    run: async (context, caller, { limit, cursor, reason, dryRun, q, ...selection }) => {
      if (isForDead) await refuseUnlessOn(context, 'dlq-inspector')
      const found = async (wanted: TaskFilter): Promise<z.output<typeof BulkView>> => {
        if (dryRun === true) return tried(context, caller, wanted, cursor)
        const step = {
          ...lookOf(context, caller),
          limit: Math.min(limit ?? STEP, STEP),
          light: true,
          ...given({ cursor }),
        }
        const { items, next } = await context.searches.run(caller, () => searchTasks(context.engine, wanted, step))
        if (items.length === 0) return { changed: [], next }
        const select = { ids: items.map(({ id }) => id) }
        const { changed } = await context.engine.change({ kind, select, by: byOf(caller, reason) })
        return { changed, next }
      }
      if (q !== undefined) {
        const { filter, warned } = queried(q, selection, caller)
        return { ...(await found(inStatus(filter, FROM[kind]))), ...warned }
      }
      const select = await selectorOf(context, selection, caller)
      const family = await familyOf(context.engine, caller, selection.fingerprint)
      // The store knows groups by one fingerprint; those that were merged are found by several.
      const isMerged = family !== undefined && family.length > 1
      if (dryRun === true || isMerged) return found(inStatus(filterOf(select, family), FROM[kind]))
      const request = { kind, select, by: byOf(caller, reason), limit: limit ?? BATCH_MAX, ...given({ cursor }) }
      return changedInSteps(context, request)
    },
  })

/** How many tasks one step of the store changes. A thousand at once would keep everybody waiting. */
const STEP = 100

/** If the store fails on the way, the answer says how far it came: a caller who goes on from there meets the error. */
async function changedInSteps(
  { engine, clock }: Context,
  { limit, ...request }: ChangeRequest & { readonly limit: number },
): Promise<z.output<typeof BulkView>> {
  const turns = turnsOf(clock)
  const changed: TaskId[] = []
  let { cursor } = request
  for (let left = limit; left > 0; left -= STEP) {
    if (turns.isSpent) await turns.wait()
    const step = { ...request, limit: Math.min(left, STEP), ...given({ cursor }) }
    try {
      const done = await engine.change(step)
      changed.push(...done.changed)
      if (done.next === null) return { changed, next: null }
      cursor = done.next
    } catch (error) {
      if (cursor === request.cursor || cursor === undefined) throw error
      return { changed, next: cursor }
    }
  }
  return { changed, next: cursor ?? null }
}

export const changeOperations = {
  cancelTasks: change('cancel', 'Cancel tasks that have not ended'),
  // A second redrive could send back what has died again meanwhile.
  redriveTasks: change('redrive', 'Send dead letters back to work, with a fresh budget', {
    repeatable: false,
    isForDead: true,
  }),
  discardTasks: change('discard', 'Give dead letters up for good', { isForDead: true }),
  promoteTasks: change('promote', 'Make waiting tasks due now'),
  cancelTask: operation({
    route: 'POST /api/v1/tasks/{id}/cancel',
    summary: 'Cancel a task',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: TaskParams.extend({ reason: ReasonInput.optional() }),
    output: TaskView,
    answer: 'The task, cancelled.',
    repeatable: true,
    problems: [404, 409],
    run: async (context: Context, caller, { id, reason }) => {
      const { engine } = context
      const { id: stored } = await visibleTask(engine, caller, id, { light: true })
      const request = { kind: 'cancel', select: { ids: [stored] }, by: byOf(caller, reason) } as const
      const { changed } = await engine.change(request)
      const task = await engine.task(stored)
      if (task === null) throw new NotFoundError('task', id)
      if (changed.length === 0 && task.state.status !== 'cancelled') {
        throw new ConflictError(
          `Task '${stored}' has ended as ${task.state.status} already: there is nothing to cancel.`,
        )
      }
      return taskView(task, await preparedFor(task, sightOf(context, caller), turnsOf(context.clock)))
    },
  }),
}

type Selection = Omit<z.output<typeof ChangeInput>, 'limit' | 'cursor' | 'reason' | 'dryRun' | 'q'>

/** What a query names; it stands alone, and an empty one must be meant. */
function queried(q: string, { all, ...others }: Selection, caller: Caller): Asked {
  if (Object.keys(given(others)).length > 0) {
    throw new InvalidError(
      "Name tasks by a query alone: ids, pool, action, tenant and fingerprint can't stand beside q.",
    )
  }
  const asked = askedFilter(q, caller)
  if (asked.filter.terms.length > 0 || all === true) return asked
  throw new InvalidError("The query is empty: say which tasks; or 'all': true for every one.")
}

/** What a change would do. */
async function tried(
  context: Context,
  caller: Caller,
  filter: TaskFilter,
  cursor: string | undefined,
): Promise<z.output<typeof BulkView>> {
  const options = { ...lookOf(context, caller), by: countedBy('action'), samples: SAMPLES, ...given({ cursor }) }
  const { count, values, samples, next } = await context.searches.run(caller, () =>
    countTasks(context.engine, filter, options),
  )
  return {
    changed: [],
    next,
    dryRun: true,
    matched: count,
    byAction: values.map((one) => ({ action: one.value ?? '', count: one.count })),
    samples: samples.map(({ id, action, tenant, state }) => ({ id, action, tenant, status: state.status })),
  }
}

type SelectorField = 'id' | 'fingerprint' | 'pool' | 'action' | 'tenant'

/** The same tasks in words of the query language. */
function filterOf(select: TaskSelector, family: readonly string[] = []): TaskFilter {
  const names: readonly (readonly [SelectorField, readonly string[]])[] =
    'ids' in select
      ? [['id', select.ids]]
      : Object.entries(select).map(([field, name]) => [
          field as SelectorField,
          field === 'fingerprint' ? family : [name as string],
        ])
  return {
    terms: names.map(([field, globs]) => ({ negated: false, condition: { kind: 'name', field, globs } })),
  }
}

/** A forgotten field must never mean everything. */
async function selectorOf(
  { engine, clock }: Context,
  { ids, all, tenant, fingerprint, ...scope }: Selection,
  caller: Caller,
): Promise<TaskSelector> {
  const others = given({ ...scope, tenant, fingerprint: fingerprint as Fingerprint | undefined })
  if (ids !== undefined) {
    if (Object.keys(others).length > 0) {
      throw new InvalidError('Name tasks by ids, or by pool, action, tenant and fingerprint; not both.')
    }
    if (caller.tenants === null) return { ids }
    const turns = turnsOf(clock)
    const stored = new Set<TaskId>()
    for (const id of ids) {
      if (turns.isSpent) await turns.wait()
      stored.add((await visibleTask(engine, caller, id, { light: true })).id)
    }
    return { ids: [...stored] }
  }
  const select = { ...others, ...tenantScope(caller, tenant) }
  if (Object.keys(select).length === 0 && all !== true) {
    throw new InvalidError(
      "Say which tasks: by ids, pool, action, tenant or fingerprint; or 'all': true for every one.",
    )
  }
  return select
}
