// Takes back discards (undo): a discarded task is a dead letter again, of the same cause, while its discard is not too long ago.

import { InvalidError, searchTasks, type TaskFilter } from '@reprise/core'
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
      const { items, next } = await context.searches.run(caller, () => searchTasks(context.engine, filter, step))
      if (dryRun === true) return { changed: [], next, dryRun: true, matched: items.length }
      if (items.length === 0) return { changed: [], next }
      const select = { ids: items.map(({ id }) => id) }
      const { changed } = await context.engine.change({ kind: 'revert', select, by: byOf(caller, reason) })
      return { changed, next }
    },
  }),
}
