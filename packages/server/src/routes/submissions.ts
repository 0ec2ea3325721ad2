// Handlers that take tasks in: one at a time, or many as lines of JSON.

import { IncomingMessage } from 'node:http'
import { ConflictError, checkedName, RequestError, type SubmitResult, type TaskSpec } from '@reprise/core'
import type { Context, taskRoutes } from '@reprise/operations'
import { traceparentFor } from '@reprise/telemetry'
import type { FastifyRequest } from 'fastify'
import { type Handlers, json, lines } from '../http/handler.ts'
import { submittedLines } from './bulk-submission.ts'
import { idTaken, isTakenElsewhere } from './other-tenants.ts'
import { submittedTask } from './submission.ts'

type Here = 'submitTask' | 'submitTasks'

export function submissionHandlers(context: Context): Handlers<Pick<typeof taskRoutes, Here>> {
  const { engine, catalogue } = context
  return {
    submitTask: async ({ body, caller, request }) => {
      const action = catalogue.known(body.action) ?? (await catalogue.find(body.action))
      const idempotencyKey = idempotencyKeyOf(request)
      const spec = submittedTask(body, { caller, action, idempotencyKey, traceparent: traceparentOf(request) })
      const [result] = await engine.submit([spec])
      if (result === undefined) throw new RequestError('REPRISE_INTERNAL', 'The store did not answer the submission.')
      if (await isTakenElsewhere(engine, spec, result)) throw idTaken()
      if (result.outcome === 'duplicate' && idempotencyKey !== null && body.id === undefined) {
        await refuseOtherUse(context, spec, result)
      }
      const isNew = result.outcome === 'accepted'
      return json(isNew ? 201 : 200, result, { location: `/api/v1/tasks/${encodeURIComponent(result.id)}` })
    },
    submitTasks: ({ request, caller, signal }) => {
      const { body } = request
      if (!(body instanceof IncomingMessage)) {
        throw new RequestError('REPRISE_UNSUPPORTED_MEDIA', 'Send the tasks as application/x-ndjson, one per line.')
      }
      return lines(submittedLines(context, body, { caller, traceparent: traceparentOf(request), signal }))
    },
  }
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  // The header is a structured string in the draft, and a bare one nearly everywhere.
  return checkedName('Idempotency-Key', String(key).replace(/^"(.*)"$/, '$1'))
}

const traceparentOf = ({ headers }: FastifyRequest): string | null => {
  const { traceparent } = headers
  return traceparentFor(typeof traceparent === 'string' ? traceparent : undefined)
}

/** A key that comes again with another task is a mistake that must not go unnoticed. */
async function refuseOtherUse({ engine }: Context, spec: TaskSpec, { id }: SubmitResult): Promise<void> {
  const task = id === spec.id ? await engine.task(id) : null
  if (task === null || (task.action === spec.action && task.payload === spec.payload)) return
  throw new ConflictError(
    `This Idempotency-Key was used for another submission, which is task '${id}'. Use a new key for a new task.`,
  )
}
