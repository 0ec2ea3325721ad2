// Handlers for the live stream of events, and for reports of failures that come in.

import { isRepriseError, meantIds } from '@reprise/core'
import { type Caller, type eventRoutes, typesOf } from '@reprise/operations'
import type { FastifyRequest } from 'fastify'
import { readCloudEvents } from '../events/cloud-events.ts'
import type { Events } from '../events/index.ts'
import { type Answer, type Handlers, json, TAKEN } from '../http/handler.ts'

export interface EventHandlersOptions {
  /** Who a request is from now: a stream ends within a second or so after its caller lost the right to it. */
  readonly authenticate?: (request: FastifyRequest) => Promise<Caller | null>
}

export function eventHandlers(events: Events, options: EventHandlersOptions = {}): Handlers<typeof eventRoutes> {
  const receive = async (request: FastifyRequest, body: unknown, { actor, tenants }: Caller): Promise<Answer> => {
    const results = await events.failuresIn.receive(readCloudEvents(request.headers, body), { actor, tenants })
    return json(results.some(({ outcome }) => outcome === 'unavailable') ? 503 : 200, { results })
  }
  return {
    streamEvents: async ({ query: { cursor, type, task }, caller, request, reply, signal }) => {
      const last = request.headers['last-event-id']
      const { authenticate } = options
      await events.streams.open(reply, {
        caller,
        cursor: typeof last === 'string' && last !== '' ? last : (cursor ?? null),
        types: typesOf(type),
        taskIds: task === undefined ? null : meantIds(caller.tenants, task),
        signal,
        ...(authenticate === undefined ? {} : { mayStay: () => stillMay(authenticate, request, caller) }),
      })
      return TAKEN
    },
    receiveEvents: ({ request, body, caller }) => receive(request, body, caller),
    receiveEventsAlias: ({ request, body, caller }) => receive(request, body, caller),
  }
}

/** Null if it can't be told now: a store that is away takes nobody's rights. */
async function stillMay(
  authenticate: NonNullable<EventHandlersOptions['authenticate']>,
  request: FastifyRequest,
  { actor, tenants }: Caller,
): Promise<boolean | null> {
  try {
    const now = await authenticate(request)
    if (now === null || now.actor !== actor || !now.scopes.has('read')) return false
    // With other tenants it would be another stream.
    return JSON.stringify(now.tenants) === JSON.stringify(tenants)
  } catch (error) {
    return isRepriseError(error) && (error.status === 401 || error.status === 403) ? false : null
  }
}
