// The operator's retry (A8, C8, B5). One atomic step of the store decides; here is only what each outcome is called.

import {
  type ErrorCode,
  isRepriseError,
  latestForTask,
  NotFoundError,
  policiesFor,
  present,
  type RepriseError,
  RequestError,
  type Task,
  type TaskId,
} from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller } from './access/caller.ts'
import { ownTask, visibleTask } from './access/own-tasks.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { operation } from './operation.ts'
import { retryByQueue } from './queue-retries.ts'
import { NameInput, ReasonInput, TaskParams } from './schemas/names.ts'
import { operatorBudget } from './views.ts'

/** A problem that promises a fixed text beside its message (A8). */
export class FixedTextError extends RequestError {
  readonly error: string

  constructor(code: ErrorCode, error: string, message: string, options: ErrorOptions = {}) {
    super(code, message, options)
    this.error = error
  }
}

/** Whether the store failed, rather than what was asked of it being refused. */
export const isStoreError = (error: unknown): error is RepriseError =>
  isRepriseError(error) && error.code.startsWith('REPRISE_STORE_')

export const RetryView = z
  .object({ taskId: z.string(), attempt: z.int(), status: z.literal('queued') })
  .meta({ id: 'Retry' })

export const RetryInput = TaskParams.extend({
  maxRetries: z.int().min(0).max(1_000).optional().meta({
    description: 'Lowers the budget, which is what MAX_RETRIES, the action or a policy allows. It can not raise it.',
  }),
  policy: NameInput.optional().meta({
    description:
      'From now on this policy counts for the task, whatever it matches: rules, retries, backoff, breaker, quota, SLA. Its retries take the place of the budget.',
  }),
  reason: ReasonInput.optional(),
})

export const retryOperations = {
  retryExecution: operation({
    route: 'POST /api/v1/executions/{id}/retry',
    summary: 'Retry a failed task',
    description: '`id` is the task, or one of its attempts as `<task>:<attempt>`; the latest attempt must have failed.',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: RetryInput,
    output: RetryView,
    answer: 'The next attempt is queued.',
    status: 202,
    repeatable: false,
    problems: [404, 409, 413, 502],
    run: async (context, caller, input) => {
      try {
        return await retried(context, caller, { ...input, id: await taskOf(context, caller, input.id) })
      } catch (error) {
        throw isStoreError(error) ? unreadable(error) : error
      }
    },
  }),
}

/** Not that nothing was changed: the answer to the change itself may be what was lost. */
const unreadable = (cause: Error): RequestError =>
  new RequestError('REPRISE_STORE_UNREACHABLE', 'The store did not answer. Look at the task, then try again.', {
    cause,
  })

async function retried(
  context: Context,
  caller: Caller,
  { id: named, policy, reason, maxRetries }: z.output<typeof RetryInput>,
) {
  const { engine, queue, maxRetries: ceiling } = context
  const task = await visibleTask(engine, caller, named, { light: true })
  const { id } = task
  if (task.state.status === 'dead') await refuseUnlessOn(context, 'dlq-inspector')
  const budget = await budgetOf(context, caller, task, { policy, maxRetries })
  if ((await latestForTask(engine, id)) === null) throw new NotFoundError('execution of task', id)
  const asked = { by: byOf(caller, reason), maxRetries: budget, ...present({ policy }) }
  // A policy for all further attempts is noted by the store, which then queues the task itself.
  const published =
    queue === null || policy !== undefined ? null : await retryByQueue(engine, queue, task, { ...asked, ceiling })
  const result = published ?? (await engine.retry(id, asked))
  switch (result.outcome) {
    case 'queued':
      return { taskId: id, attempt: result.attempt, status: 'queued' } as const
    case 'not_found':
      throw new NotFoundError('execution of task', id)
    case 'wrong_status':
      throw new FixedTextError(
        'REPRISE_NOT_RETRYABLE',
        `cannot retry execution in status '${result.status}'`,
        `The latest attempt of task '${id}' is ${result.status}; only one that has failed can be retried.`,
      )
    case 'exhausted':
      throw new FixedTextError(
        'REPRISE_BUDGET_EXHAUSTED',
        'retry budget exhausted',
        `Task '${id}' has used its ${result.budget} retries. Redrive it to open a new generation with a fresh budget.`,
      )
  }
}

/** An attempt is named `<task>:<attempt>`. A task whose own id looks like that is meant first. */
async function taskOf({ engine }: Context, caller: Caller, id: TaskId): Promise<TaskId> {
  const [, inside] = /^(.+):\d+$/.exec(id) ?? []
  if (inside === undefined) return id
  return (await ownTask(engine, caller, id)) === null ? (inside as TaskId) : id
}

/**
 * A number that is asked for stays below the ceiling (A6): MAX_RETRIES, what the action or the policies in force allow, or the
 * policy that is named.
 */
async function budgetOf(
  context: Context,
  caller: Caller,
  task: Task,
  { policy, maxRetries: asked }: { readonly policy: string | undefined; readonly maxRetries: number | undefined },
): Promise<number> {
  const { policies, maxRetries } = context
  const named = await policyRetries(context, caller, policy, task)
  const failure = task.state.status === 'dead' ? task.state.failure : null
  const usual = operatorBudget({ ...task, terms: task, failure }, { book: policies.current(), maxRetries })
  return asked === undefined ? (named ?? usual) : Math.min(asked, Math.max(usual, named ?? 0))
}

/**
 * The retries of the policy that is named; null if it does not say. For a caller who is limited to tenants there are the policies that may be about their task, and no others.
 */
async function policyRetries(
  { policies }: Context,
  { tenants }: Caller,
  name: string | undefined,
  task: Task,
): Promise<number | null> {
  if (name === undefined) return null
  await policies.look()
  const book = policies.current()
  const known = tenants === null ? book.policies : policiesFor(book, task)
  const policy = known.find((one) => one.name === name)
  if (policy === undefined) throw new NotFoundError('policy', name)
  return policy.retries ?? null
}
