// Routes for events: out by live stream, by reading on, and by webhook; in as CloudEvents.

import { z } from 'zod'
import { routeTable } from '../route.ts'
import { JsonValue, Milliseconds, Moment, PageQuery, pageOf, TaskIdInput, TenantIdInput } from '../schemas/names.ts'

const TypesQuery = z
  .string()
  .max(1_000)
  .optional()
  .meta({ description: 'Types with commas between them, or families such as `reprise.execution.*`; all if missing.' })
const EventTypes = z
  .array(z.string().min(1).max(100))
  .max(50)
  .meta({ description: 'Types, or families such as `reprise.execution.*`; all if empty.' })

const EventView = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string().meta({ description: 'Unique: the same whenever and wherever this event is seen.' }),
    source: z.string(),
    type: z.string().meta({ description: 'Such as `reprise.execution.failed`.' }),
    time: z.string(),
    subject: z.string().optional().meta({ description: 'The task; missing if it is about none.' }),
    datacontenttype: z.literal('application/json'),
    data: JsonValue,
  })
  .meta({ id: 'Event', description: 'An entry of the journal as a CloudEvent.' })

const CloudEventInput = z
  .looseObject({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.string().meta({ description: '`task.execution.failed` is read; others are passed over.' }),
    data: z
      .looseObject({
        errorCode: z.string(),
        errorMessage: z.string().optional(),
        retryable: z.boolean(),
        idempotencyKey: z.string().meta({ description: 'One task for each, of one source.' }),
        taskId: z.string().optional(),
        attempt: z.int().optional(),
        token: z.string().optional().meta({ description: 'Of the running attempt that it ends.' }),
        action: z.string().optional().meta({ description: 'What is to run a task that is not known here.' }),
        payload: JsonValue.optional(),
        tenant: z.string().optional(),
      })
      .optional(),
  })
  .meta({ id: 'CloudEvent' })

const ReceivedView = z
  .object({
    results: z.array(
      z.object({
        outcome: z
          .enum(['settled', 'superseded', 'noted', 'retrying', 'dead', 'ignored', 'refused', 'unavailable'])
          .meta({ description: 'Only `unavailable` is worth sending again.' }),
        taskId: z.string().optional(),
        attempt: z.int().optional(),
        status: z.string().optional(),
        detail: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'ReceivedEvents', description: 'One result for each event, in their order.' })

const receive = {
  method: 'POST',
  summary: 'Report failures',
  description:
    'CloudEvents of type `task.execution.failed`: one (`application/cloudevents+json`), several (`application/cloudevents-batch+json`), or one with its attributes in `ce-` headers (`application/json`). For a task of ours with `attempt` and `token` it ends that attempt; a task of others becomes one of ours. An event that comes again is answered as the first time.',
  tag: 'events',
  access: 'submit',
  consumes: 'application/cloudevents+json',
  body: z.union([CloudEventInput, z.array(z.looseObject({})), z.looseObject({})]),
  answers: {
    200: { kind: 'json', schema: ReceivedView, description: 'What came of each.' },
    503: { kind: 'json', schema: ReceivedView, description: 'Some could not be taken now: send all of them again.' },
  },
  problems: [415],
} as const

const WebhookView = z
  .object({
    id: z.string(),
    url: z.string(),
    types: z.array(z.string()),
    tenant: z.string().nullable(),
    enabled: z.boolean(),
    disabledBecause: z.string().nullable().meta({ description: 'If it was not switched off by hand.' }),
    description: z.string(),
    createdBy: z.string(),
    createdAt: Moment,
    updatedAt: Moment,
  })
  .meta({ id: 'Webhook' })
const WebhookWithSecret = z
  .object({
    webhook: WebhookView,
    secret: z.string().nullable().meta({ description: 'Shown when it is drawn, and never again.' }),
  })
  .meta({ id: 'WebhookWithSecret' })

const DeliveryStatus = z.enum(['pending', 'delivered', 'given_up'])
const DeliveryView = z
  .object({
    id: z.string(),
    webhookId: z.string(),
    eventId: z.string(),
    type: z.string(),
    taskId: z.string().nullable(),
    status: DeliveryStatus,
    tries: z.int(),
    nextAt: Moment.nullable(),
    log: z.array(
      z.object({
        at: Moment,
        durationMs: Milliseconds,
        status: z.int().nullable(),
        error: z.string().nullable(),
        answer: z.string().meta({ description: 'How the answer begins.' }),
      }),
    ),
    event: EventView,
  })
  .meta({ id: 'Delivery' })

const WebhookParams = z.object({ id: z.string().min(1).max(100) })
const webhookFields = {
  url: z.string().min(1).max(2_000),
  types: EventTypes.optional(),
  tenant: TenantIdInput.nullable().optional().meta({ description: 'Only events of this tenant; all if null.' }),
  description: z.string().max(1_000).optional(),
  enabled: z.boolean().optional(),
}

export const eventRoutes = routeTable({
  streamEvents: {
    method: 'GET',
    path: '/api/v1/events/stream',
    summary: 'Follow events live',
    description:
      'Server-sent events. `id:` is the cursor: come back with it as `Last-Event-ID` or `cursor`, and nothing is missed. From now on if there is none.',
    tag: 'events',
    access: 'read',
    query: z.object({ cursor: z.string().max(2_000).optional(), type: TypesQuery, task: TaskIdInput.optional() }),
    answers: { 200: { kind: 'sse', description: 'Events as they happen.' } },
    problems: [403, 429],
  },
  listEvents: {
    method: 'GET',
    path: '/api/v1/events',
    summary: 'Read events on from a cursor',
    tag: 'events',
    access: 'read',
    query: PageQuery.extend({
      cursor: z
        .string()
        .max(2_000)
        .optional()
        .meta({ description: '`cursor` of the page before, in the same direction.' }),
      since: z.string().min(1).max(40).optional().meta({
        description:
          "Nothing earlier: how long ago, such as '15m', or a moment, in milliseconds since 1970 or as an ISO 8601 time. Reading begins there if no cursor is given.",
      }),
      newest: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Newest first, and with `cursor` further back.' }),
      type: TypesQuery,
      task: TaskIdInput.optional(),
    }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            items: z.array(EventView),
            cursor: z.string().meta({ description: 'Read on from here, also when nothing follows yet.' }),
            more: z
              .boolean()
              .meta({ description: 'Whether more may follow at once: a page may be empty and have more.' }),
          })
          .meta({ id: 'EventPage' }),
        description: 'Oldest first, if not asked for the newest.',
      },
    },
  },
  receiveEvents: { ...receive, path: '/api/v1/events' },
  receiveEventsAlias: { ...receive, path: '/events', summary: 'Report failures, at a short path' },
  listWebhooks: {
    method: 'GET',
    path: '/api/v1/webhooks',
    summary: 'List webhooks',
    tag: 'webhooks',
    access: 'configure',
    query: PageQuery,
    answers: { 200: { kind: 'json', schema: pageOf(WebhookView, 'WebhookPage'), description: 'Oldest first.' } },
  },
  createWebhook: {
    method: 'POST',
    path: '/api/v1/webhooks',
    summary: 'Have events sent to an address',
    description: 'From now on. Requests are signed as Standard Webhooks describes.',
    tag: 'webhooks',
    access: 'configure',
    body: z.strictObject(webhookFields),
    answers: { 201: { kind: 'json', schema: WebhookWithSecret, description: 'The webhook and its secret.' } },
    problems: [409],
  },
  getWebhook: {
    method: 'GET',
    path: '/api/v1/webhooks/{id}',
    summary: 'Get a webhook',
    tag: 'webhooks',
    access: 'configure',
    params: WebhookParams,
    answers: { 200: { kind: 'json', schema: WebhookView, description: 'The webhook.' } },
    problems: [404],
  },
  updateWebhook: {
    method: 'PATCH',
    path: '/api/v1/webhooks/{id}',
    summary: 'Change a webhook',
    description: 'One that is enabled again goes on where it stopped.',
    tag: 'webhooks',
    access: 'configure',
    params: WebhookParams,
    body: z.strictObject({
      ...webhookFields,
      url: webhookFields.url.optional(),
      renewSecret: z.boolean().optional().meta({ description: 'Draws a new secret; the old one counts no more.' }),
    }),
    answers: { 200: { kind: 'json', schema: WebhookWithSecret, description: 'As it is now.' } },
    problems: [404, 409],
  },
  removeWebhook: {
    method: 'DELETE',
    path: '/api/v1/webhooks/{id}',
    summary: 'Remove a webhook',
    tag: 'webhooks',
    access: 'configure',
    params: WebhookParams,
    answers: { 204: { kind: 'empty', description: 'It is gone, with its deliveries.' } },
    problems: [404],
  },
  listDeliveries: {
    method: 'GET',
    path: '/api/v1/webhooks/{id}/deliveries',
    summary: 'List what was sent to a webhook',
    tag: 'webhooks',
    access: 'configure',
    params: WebhookParams,
    query: PageQuery.extend({ status: DeliveryStatus.optional() }),
    answers: { 200: { kind: 'json', schema: pageOf(DeliveryView, 'DeliveryPage'), description: 'Oldest first.' } },
    problems: [404],
  },
  redeliver: {
    method: 'POST',
    path: '/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver',
    summary: 'Send a delivery again',
    tag: 'webhooks',
    access: 'configure',
    params: WebhookParams.extend({ delivery: z.string().min(1).max(200) }),
    answers: { 202: { kind: 'json', schema: DeliveryView, description: 'It is pending again.' } },
    problems: [404],
  },
  testWebhook: {
    method: 'POST',
    path: '/api/v1/webhooks/{id}/test',
    summary: 'Send a `reprise.ping` now',
    tag: 'webhooks',
    access: 'configure',
    params: WebhookParams,
    answers: { 200: { kind: 'json', schema: DeliveryView, description: 'What came of it.' } },
    problems: [404],
  },
})
