// Handlers that take tasks in: one at a time, or many as lines of JSON.

import { IncomingMessage } from 'node:http'
import { checkedName, isRepriseError, RequestError, reworded, type TaskSpec } from '@reprise/core'
import type { Context, taskRoutes } from '@reprise/operations'
import { traceparentFor } from '@reprise/telemetry'
import type { FastifyRequest } from 'fastify'
import { type Handlers, json, lines } from '../http/handler.ts'
import type { TenantIntake } from '../tenants/intake.ts'
import { submittedLines } from './bulk-submission.ts'
import { conflictError } from './other-tenants.ts'
import { admitted, submittedTask } from './submission.ts'

type Here = 'submitTask' | 'submitTasks'

export function submissionHandlers(context: Context, intake: TenantIntake): Handlers<Pick<typeof taskRoutes, Here>> {
  const { catalogue, wishes } = context
  return {
    submitTask: async ({ body, caller, request }) => {
      const action = catalogue.known(body.action) ?? (await catalogue.find(body.action))
      const idempotencyKey = idempotencyKeyOf(request)
      const look = wishes.look()
      if (look !== null) await look
      const traceparent = traceparentOf(request)
      const spec = submittedTask(body, { caller, action, wishes, idempotencyKey, traceparent })
      const admission = admitted(spec, body, context.room, caller)
      if (admission !== undefined) await admission
      const [result] = await intake.submit(caller, [spec])
      if (result === undefined) throw new RequestError('REPRISE_INTERNAL', 'The store did not answer the submission.')
      if (isRepriseError(result)) throw result
      if (result.outcome === 'conflict') {
        const error = conflictError(result, caller)
        throw idempotencyKey !== null && body.id === undefined && result.id === spec.id
          ? reworded(error, keyUsed(spec))
          : error
      }
      const isNew = result.outcome === 'accepted'
      return json(isNew ? 201 : 200, result, { location: `/api/v1/tasks/${encodeURIComponent(result.id)}` })
    },
    submitTasks: ({ request, caller, signal }) => {
      const { body } = request
      if (!(body instanceof IncomingMessage)) {
        throw new RequestError('REPRISE_UNSUPPORTED_MEDIA', 'Send the tasks as application/x-ndjson, one per line.')
      }
      return lines(submittedLines(context, intake, body, { caller, traceparent: traceparentOf(request), signal }))
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
const keyUsed = ({ id }: TaskSpec): string =>
  `This Idempotency-Key was used for another submission, which is task '${id}'. Use a new key for a new task.`
