// Takes back discards (undo): a discarded task is a dead letter again, of the same cause, while its discard is not too long ago.

import {
  compileFilter,
  type Engine,
  InvalidError,
  mapLimited,
  type SearchOptions,
  searchTasks,
  type Task,
  type TaskFilter,
} from '@reprise/core'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import { ownFilter } from './access/own-tasks.ts'
import { refuseUnlessOn } from './context.ts'
import { askedFilter, inStatus, lookOf } from './found.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { CursorInput, QueryInput, ReasonInput, TaskIdInput } from './schemas/names.ts'
import { BulkView } from './schemas/operations.ts'

const STEP = 100
const READS_AT_ONCE = 10

export const restoreOperations = {
  restoreTasks: operation({
    route: 'POST /api/v1/tasks/restore',
    summary: 'Take back discards: the tasks are dead letters again',
    description:
      'Names tasks by `ids`, or by a query (`q`). A discard can be taken back for 7 days, or as long as the server is set to, while retention has not removed its task. One bounded step: go on with `cursor` while `next` is not null.',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: z.object({
      ids: z.array(TaskIdInput).min(1).max(1_000).optional(),
      q: QueryInput.shape.q,
      dryRun: z.boolean().optional().meta({ description: 'Say how many would be restored, and change nothing.' }),
      reason: ReasonInput.optional(),
      cursor: CursorInput.optional(),
    }),
    output: BulkView,
    answer: 'What was restored.',
    repeatable: true,
    run: async (context, caller, { ids, q, dryRun, reason, cursor }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      if ((ids === undefined) === (q === undefined)) throw new InvalidError('Name tasks by ids, or by a query.')
      const named: TaskFilter =
        ids === undefined
          ? askedFilter(q ?? '', caller).filter
          : ownFilter({ terms: [{ negated: false, condition: { kind: 'name', field: 'id', globs: ids } }] }, caller)
      const filter: TaskFilter = {
        terms: [
          ...inStatus(named, ['discarded']).terms,
          {
            negated: false,
            condition: { kind: 'compare', field: 'ended', operator: '<=', amount: context.discardUndoMs },
          },
        ],
      }
      const step = { ...lookOf(context, caller), limit: STEP, light: true, ...given({ cursor }) }
      const { items, next } = await context.searches.run(caller, async () => {
        const page = await searchTasks(context.engine, { terms: filter.terms.filter(isKept) }, step)
        const diedOf = { terms: filter.terms.filter((term) => !isKept(term)) }
        return { ...page, items: await thoseThatDiedOf(context.engine, page.items, diedOf, step) }
      })
      if (dryRun === true) return { changed: [], next, dryRun: true, matched: items.length }
      if (items.length === 0) return { changed: [], next }
      const select = { ids: items.map(({ id }) => id) }
      const { changed } = await context.engine.change({ kind: 'revert', select, by: byOf(caller, reason) })
      return { changed, next }
    },
  }),
}

type Term = TaskFilter['terms'][number]

/** Whether a discarded task still says it. Of what it had died it is silent: its last attempt tells. */
const isKept = ({ condition }: Term): boolean =>
  condition.kind !== 'text' && !(condition.kind === 'name' && DIED_OF.has(condition.field))

const DIED_OF: ReadonlySet<string> = new Set(['fingerprint', 'code', 'reason'])

async function thoseThatDiedOf(
  engine: Pick<Engine, 'execution'>,
  tasks: readonly Task[],
  filter: TaskFilter,
  { seen, now }: Pick<SearchOptions, 'seen' | 'now'>,
): Promise<readonly Task[]> {
  if (filter.terms.length === 0) return tasks
  const agrees = compileFilter(filter, seen)
  const looked = await mapLimited(tasks, READS_AT_ONCE, async (task) => {
    const last = await engine.execution(task.id, task.attempt)
    if (last?.failure == null) return []
    const { failure, decision, resolvedAt } = last
    const reason = decision?.kind === 'dead' ? decision.reason : 'not_retriable'
    const died: Task = { ...task, state: { status: 'dead', at: resolvedAt ?? now, reason, failure } }
    return agrees(died, now) ? [task] : []
  })
  return looked.flat()
}
