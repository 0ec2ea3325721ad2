// The operator's retry at the addresses that other systems know it by (A8, B5). What it does is the operation retryExecution.

import { type Caller, type Context, OPERATIONS, type taskRoutes } from '@reprise/operations'
import type { z } from 'zod'
import { type Answer, type Handlers, json } from '../http/handler.ts'

type Here = 'retryFromDashboard' | 'retryInternally'
type RetryRequest = z.output<typeof OPERATIONS.retryExecution.input>

export function retryHandlers(context: Context): Handlers<Pick<typeof taskRoutes, Here>> {
  const { run } = OPERATIONS.retryExecution
  const retry = async (caller: Caller, request: RetryRequest, signal: AbortSignal): Promise<Answer> =>
    json(202, await run(context, caller, request, signal))
  return {
    retryFromDashboard: ({ params, caller, signal }) => retry(caller, { id: params.taskId }, signal),
    retryInternally: ({ body: { taskId, ...request }, caller, signal }) =>
      retry(caller, { ...request, id: taskId }, signal),
  }
}
