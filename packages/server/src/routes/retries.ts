// The operator's retry, at the three addresses that different callers know it by (A8, C8, B5). One atomic step of the store
// decides; here is only what each outcome is called.

import type { taskRoutes } from '@reprise/contract'
import { NotFoundError, RequestError, type RetryResult, type TaskId, taskId } from '@reprise/core'
import { byOf } from '../access/by.ts'
import type { Principal } from '../access/principal.ts'
import { visible } from '../access/tenants.ts'
import { type Answer, type Handlers, json } from '../http/handler.ts'
import { FixedTextError, isStoreError } from '../http/problem.ts'
import type { Services } from '../services.ts'

type Here = 'retryExecution' | 'retryFromDashboard' | 'retryInternally'

export function retryHandlers(services: Services): Handlers<Pick<typeof taskRoutes, Here>> {
  const { maxRetries } = services
  return {
    retryFromDashboard: ({ params, principal }) => retry(services, params.taskId, { principal, maxRetries }),
    retryExecution: async ({ params, body, principal }) =>
      retry(services, await taskOf(services, params.id), { principal, maxRetries, reason: body?.reason }),
    retryInternally: ({ body, principal }) =>
      retry(services, body.taskId, {
        principal,
        maxRetries: body.maxRetries ?? policyRetries(services, body.policy) ?? maxRetries,
        reason: body.reason,
      }),
  }
}

interface RetryRequest {
  readonly principal: Principal
  readonly maxRetries: number
  readonly reason?: string | undefined
}

async function retry(services: Services, id: TaskId, request: RetryRequest): Promise<Answer> {
  try {
    return await retried(services, id, request)
  } catch (error) {
    throw isStoreError(error) ? unreadable(error) : error
  }
}

/** Not that nothing was changed: the answer to the change itself may be what was lost. */
const unreadable = (cause: Error): RequestError =>
  new RequestError('REPRISE_STORE_UNREACHABLE', 'The store did not answer. Look at the task, then try again.', {
    cause,
  })

async function retried(
  { engine }: Services,
  id: TaskId,
  { principal, maxRetries, reason }: RetryRequest,
): Promise<Answer> {
  const task = await engine.task(id)
  visible(principal, id, task)
  const latest = task === null ? null : await engine.execution(id, task.attempt)
  if (latest === null) throw new NotFoundError('execution of task', id)
  const result: RetryResult = await engine.retry(id, { by: byOf(principal, reason), maxRetries })
  switch (result.outcome) {
    case 'queued':
      return json(202, { taskId: id, attempt: result.attempt, status: 'queued' })
    case 'not_found':
      throw new NotFoundError('execution of task', id)
    case 'wrong_status': {
      const error = `cannot retry execution in status '${result.status}'`
      throw new FixedTextError(
        'REPRISE_NOT_RETRYABLE',
        error,
        `The latest attempt of task '${id}' is ${result.status}; only one that has failed can be retried.`,
      )
    }
    case 'exhausted':
      throw new FixedTextError(
        'REPRISE_BUDGET_EXHAUSTED',
        'retry budget exhausted',
        `Task '${id}' has used its ${result.budget} retries. Redrive it to open a new generation with a fresh budget.`,
      )
  }
}

/** An attempt is named `<task>:<attempt>`. A task whose own id looks like that is meant first. */
async function taskOf({ engine }: Services, id: TaskId): Promise<TaskId> {
  const [, task] = /^(.+):\d+$/.exec(id) ?? []
  if (task === undefined) return id
  try {
    return (await engine.task(id)) === null ? taskId(task) : id
  } catch (error) {
    throw isStoreError(error) ? unreadable(error) : error
  }
}

function policyRetries({ policies }: Services, name: string | undefined): number | null {
  if (name === undefined) return null
  const policy = policies.current().policies.find((one) => one.name === name)
  if (policy === undefined) throw new NotFoundError('policy', name)
  return policy.retries ?? 0
}
