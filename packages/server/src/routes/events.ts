// Handlers for events: the live stream, the journal read as events, reports of failures, and webhooks.

import type { eventRoutes } from '@reprise/contract'
import {
  CLOCK_STEP_BACK_MS,
  durationMs,
  type Engine,
  InvalidError,
  isRepriseError,
  type JournalPage,
} from '@reprise/core'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../access/principal.ts'
import { readCloudEvents } from '../events/cloud-events.ts'
import { typeFilter } from '../events/event.ts'
import type { Events } from '../events/index.ts'
import type { Delivery } from '../events/webhook-deliveries.ts'
import { type Answer, empty, type Handlers, json, TAKEN } from '../http/handler.ts'

const PAGE_ENTRIES = 100

export interface EventHandlersOptions {
  /** Who a request is from now: a stream ends within a second or so after its caller lost the right to it. */
  readonly authenticate?: (request: FastifyRequest) => Promise<Principal | null>
}

export function eventHandlers(events: Events, options: EventHandlersOptions = {}): Handlers<typeof eventRoutes> {
  const { engine, webhooks, delivery } = events
  const receive = async (request: FastifyRequest, body: unknown, { actor, tenants }: Principal): Promise<Answer> => {
    const results = await events.failuresIn.receive(readCloudEvents(request.headers, body), { actor, tenants })
    return json(results.some(({ outcome }) => outcome === 'unavailable') ? 503 : 200, { results })
  }
  return {
    streamEvents: async ({ query: { cursor, type, task }, principal, request, reply, signal }) => {
      const last = request.headers['last-event-id']
      const { authenticate } = options
      await events.streams.open(reply, {
        actor: principal.actor,
        tenants: principal.tenants,
        cursor: typeof last === 'string' && last !== '' ? last : (cursor ?? null),
        types: typesOf(type),
        taskId: task ?? null,
        signal,
        ...(authenticate === undefined ? {} : { mayStay: () => stillMay(authenticate, request, principal) }),
      })
      return TAKEN
    },
    listEvents: async ({ query: { limit = PAGE_ENTRIES, cursor, since, newest, type, task }, principal }) => {
      const isBack = newest === 'true'
      const from = since === undefined ? Number.NEGATIVE_INFINITY : await momentOf(engine, since)
      const start = cursor ?? (since === undefined || isBack ? undefined : await engine.journal.from(from))
      const page: JournalPage = await engine.journal.read({
        limit,
        ...(start === undefined ? {} : { cursor: start }),
        ...(task === undefined ? {} : { taskId: task }),
        ...(isBack ? { newest: true } : {}),
      })
      const isWanted = typeFilter(typesOf(type))
      const items = []
      for (const entry of page.entries) {
        if (entry.at < from || !isWanted(`reprise.${entry.type}`)) continue
        if (await events.tenants.maySee(entry, principal.tenants)) items.push(events.makeEvent(entry))
      }
      const isPast = isBack && (page.entries.at(-1)?.at ?? from) < from - CLOCK_STEP_BACK_MS
      return json(200, { items, cursor: page.cursor, more: page.entries.length === limit && !isPast })
    },
    receiveEvents: ({ request, body, principal }) => receive(request, body, principal),
    receiveEventsAlias: ({ request, body, principal }) => receive(request, body, principal),
    listWebhooks: async ({ query: { limit, cursor }, principal }) =>
      json(200, await webhooks.list(pageOf(limit, cursor), principal.tenants)),
    createWebhook: async ({ body, principal }) =>
      json(201, await webhooks.create(body, principal.actor, principal.tenants)),
    getWebhook: async ({ params, principal }) => json(200, await webhooks.get(params.id, principal.tenants)),
    updateWebhook: async ({ params, body, principal }) =>
      json(200, await webhooks.update(params.id, body, principal.actor, principal.tenants)),
    removeWebhook: async ({ params, principal }) => {
      await webhooks.remove(params.id, principal.actor, principal.tenants)
      return empty()
    },
    listDeliveries: async ({ params, query: { limit, cursor, status }, principal }) => {
      await webhooks.stored(params.id, principal.tenants)
      const page = await delivery.deliveries.list(params.id, {
        ...pageOf(limit, cursor),
        ...(status === undefined ? {} : { status }),
      })
      return json(200, { items: page.items.map(({ document }) => shown(document)), next: page.next })
    },
    redeliver: async ({ params, principal }) =>
      json(202, shown(await delivery.redeliver(params.id, params.delivery, principal.tenants))),
    testWebhook: async ({ params, principal }) => json(200, shown(await delivery.test(params.id, principal.tenants))),
  }
}

/** How long ago by the store's clock, or a moment. A time span has a unit, so digits alone are a moment. */
async function momentOf(engine: Pick<Engine, 'now'>, since: string): Promise<number> {
  if (/^\d+$/.test(since)) return Number(since)
  if (/^\d{4}-\d\d-\d\dT/.test(since)) {
    const moment = Date.parse(since)
    if (!Number.isNaN(moment)) return moment
    throw new InvalidError(`since is not a moment: write it as in 2030-01-01T12:00:00Z.`)
  }
  const agoMs = durationMs(since, 'since')
  return (await engine.now()) - agoMs
}

const typesOf = (type: string | undefined): string[] => (type ?? '').split(',').filter((one) => one !== '')

const pageOf = (limit: number | undefined, cursor: string | undefined) => ({
  ...(limit === undefined ? {} : { limit }),
  ...(cursor === undefined ? {} : { cursor }),
})

/** The text that is sent, as the JSON that it is. */
function shown({ body, ...delivery }: Delivery) {
  return { ...delivery, event: JSON.parse(body) as unknown }
}

/** Null if it can't be told now: a store that is away takes nobody's rights. */
async function stillMay(
  authenticate: NonNullable<EventHandlersOptions['authenticate']>,
  request: FastifyRequest,
  { actor, tenants }: Principal,
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
