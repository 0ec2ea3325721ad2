// The operation that counts the tasks of a query, in all or by a field.

import { COUNT_FIELDS, countedBy, countTasks } from '@reprise/core'
import { z } from 'zod'
import { askedFilter, lookOf } from './found.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { CursorInput, QueryInput } from './schemas/names.ts'
import { TaskCountView } from './schemas/operations.ts'

const BY_LENGTH_MAX = 300

export const countingOperations = {
  countTasks: operation({
    route: 'GET /api/v1/tasks/count',
    summary: 'Count the tasks that a query finds',
    description:
      'In all, or by a field. A query about status, action, tenant and pool alone is answered by counters. For any other, a bounded number of tasks is looked through: go on while `next` is not null, and add.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: QueryInput.extend({
      by: z
        .string()
        .max(BY_LENGTH_MAX)
        .optional()
        .meta({ description: `One of ${COUNT_FIELDS.join(', ')}, label.<name>.` }),
      cursor: CursorInput.optional(),
    }),
    output: TaskCountView,
    answer: 'How many there are.',
    run: (context, caller, { q = '', by, cursor }) => {
      const { filter, warned } = askedFilter(q, caller)
      const options = { ...lookOf(context, caller), ...given({ cursor, by: by === undefined ? by : countedBy(by) }) }
      return context.searches.run(caller, async () => {
        const { count, values, next } = await countTasks(context.engine, filter, options)
        return { count, values, next, ...warned }
      })
    },
  }),
}
