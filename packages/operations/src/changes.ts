// Operations that change many tasks at once, and the cancelling of one. Each call is one bounded step.

import { ConflictError, type Engine, type Fingerprint, InvalidError, type TaskSelector } from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller, tenantScope, visible } from './access/caller.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { NameInput, ReasonInput, ScopeInput, TaskIdInput, TaskParams } from './schemas/names.ts'
import { BulkView } from './schemas/operations.ts'
import { TaskView } from './schemas/task.ts'
import { visibleTask } from './tasks.ts'
import { taskView } from './views.ts'

const ChangeInput = ScopeInput.extend({
  ids: z.array(TaskIdInput).min(1).max(1_000).optional(),
  fingerprint: NameInput.optional(),
  all: z.literal(true).optional().meta({ description: 'Needed to mean every task there is.' }),
  reason: ReasonInput.optional(),
  limit: z.int().min(1).max(1_000).optional(),
  cursor: z.string().max(2_000).optional(),
})

type Kind = 'cancel' | 'redrive' | 'discard' | 'promote'

const change = (kind: Kind, summary: string, { repeatable = true, isForDead = false } = {}) =>
  operation({
    route: `POST /api/v1/tasks/${kind}`,
    summary,
    description:
      'Names tasks by `ids`, or all that agree with pool, action, tenant and fingerprint. One bounded step: go on with `cursor` while `next` is not null.',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: ChangeInput,
    output: BulkView,
    answer: 'What was changed.',
    repeatable,
    run: async (context, caller, { limit, cursor, reason, ...selection }) => {
      if (isForDead) await refuseUnlessOn(context, 'dlq-inspector')
      const select = await selectorOf(context.engine, selection, caller)
      return context.engine.change({ kind, select, by: byOf(caller, reason), ...given({ limit, cursor }) })
    },
  })

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
      await visibleTask(context, caller, id)
      const request = { kind: 'cancel', select: { ids: [id] }, by: byOf(caller, reason) } as const
      const { changed } = await context.engine.change(request)
      const task = await visibleTask(context, caller, id)
      if (changed.length === 0 && task.state.status !== 'cancelled') {
        throw new ConflictError(`Task '${id}' has ended as ${task.state.status} already: there is nothing to cancel.`)
      }
      return taskView(task, context.redaction)
    },
  }),
}

type Selection = Omit<z.output<typeof ChangeInput>, 'limit' | 'cursor' | 'reason'>

/** A forgotten field must never mean everything. */
async function selectorOf(
  engine: Engine,
  { ids, all, tenant, fingerprint, ...scope }: Selection,
  caller: Caller,
): Promise<TaskSelector> {
  const others = given({ ...scope, tenant, fingerprint: fingerprint as Fingerprint | undefined })
  if (ids !== undefined) {
    if (Object.keys(others).length > 0) {
      throw new InvalidError('Name tasks by ids, or by pool, action, tenant and fingerprint; not both.')
    }
    if (caller.tenants !== null) for (const id of ids) visible(caller, id, await engine.task(id))
    return { ids }
  }
  const select = { ...others, ...tenantScope(caller, tenant) }
  if (Object.keys(select).length === 0 && all !== true) {
    throw new InvalidError(
      "Say which tasks: by ids, pool, action, tenant or fingerprint; or 'all': true for every one.",
    )
  }
  return select
}
