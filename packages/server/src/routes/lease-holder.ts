// The lease of a worker that shows nothing but the credential of its attempt: found in the head of its request before a body is
// read, or by what its body says.

import { InvalidError, isRepriseError, type LeaseRef, RequestError, type TaskId } from '@reprise/core'
import { type Context, workRoutes } from '@reprise/operations'
import { type GivenCredential, openLeaseCredentials } from '@reprise/orchestrator'
import type { FastifyRequest } from 'fastify'
import type { AccessControl } from '../access/index.ts'
import { leaseHeldBy } from '../http/route-registration.ts'

/** The lease of an ephemeral worker: found by the head of its request, or by what its body says. */
export async function callerLease(
  context: Context,
  access: AccessControl,
  request: FastifyRequest,
  { taskId, attempt, token: credential = '' }: Called,
): Promise<LeaseRef> {
  const held = leaseHeldBy(request)
  if (held === null) return holder(context, access, request, { taskId, attempt, credential })
  if (held.taskId === taskId && held.attempt === attempt) return held
  throw new InvalidError('The body names another attempt than the query does.')
}

interface Called {
  readonly taskId: TaskId
  readonly attempt: number
  readonly token?: string | undefined
}

/**
 * The lease whose credential an outsider brings. A wrong one gets the same answer whether or not there is such a task or
 * attempt, without a look at the store, and counts as a failed sign-in.
 */
export async function holder(
  { engine, clock }: Context,
  access: AccessControl,
  request: FastifyRequest,
  given: GivenCredential,
): Promise<LeaseRef> {
  const credentials = await openLeaseCredentials(engine, clock)
  try {
    return await access.guarded(request, { kind: 'lease', credential: given.credential }, async () => {
      const ref = credentials.read(given)
      if (ref === null) throw new RequestError('REPRISE_UNAUTHENTICATED', WRONG)
      return ref
    })
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_UNAUTHENTICATED')) throw error
    throw new RequestError('REPRISE_FORBIDDEN', WRONG, { cause: error })
  }
}

/** Looked for before the body of a call-back is read. Null where the head of the request names no attempt or brings no token. */
export async function leaseOf(
  context: Context,
  access: AccessControl,
  request: FastifyRequest,
): Promise<LeaseRef | null> {
  const credential = bearerOf(request)
  const { task, attempt } = AttemptQuery.safeParse(request.query).data ?? {}
  if (credential === null || task === undefined || attempt === undefined) return null
  return holder(context, access, request, { taskId: task, attempt, credential })
}

const AttemptQuery = workRoutes.taskComplete.query

export const bearerOf = ({ headers }: FastifyRequest): string | null =>
  /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? null

const WRONG = 'This is not the token of that attempt. Send the one that came with it.'
