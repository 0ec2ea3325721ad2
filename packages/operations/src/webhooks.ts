// Operations about webhooks: where events are sent to, and what was sent.

import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import type { Delivery, DeliveryTry } from './events/webhook-deliveries.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { listOf, Milliseconds, Moment, NewActionName, NewTenantId, PageQuery, pageOf } from './schemas/names.ts'

const EventTypes = z.array(z.string().min(1).max(100)).max(50).meta({
  description:
    'Types, or families such as `reprise.execution.*`; all if empty. Naming `reprise.task.succeeded` or `reprise.task.dead` makes the ends of tasks events that are submitted from then on.',
})

const WebhookView = z
  .object({
    id: z.string(),
    url: z.string(),
    types: listOf(z.string()),
    actions: listOf(z.string()),
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
export const DeliveryView = z
  .object({
    id: z.string(),
    webhookId: z.string(),
    eventId: z.string(),
    type: z.string(),
    taskId: z.string().nullable(),
    tenant: z.string().nullable().optional().meta({ description: 'Whose event it is; null for what concerns all.' }),
    status: DeliveryStatus,
    tries: z.int(),
    nextAt: Moment.nullable(),
    log: listOf(
      z.object({
        at: Moment,
        durationMs: Milliseconds,
        status: z.int().nullable(),
        error: z.string().nullable(),
        answer: z.string().meta({ description: 'How the answer begins.' }),
      }),
    ),
    event: z.looseObject({ type: z.string() }).meta({ description: 'As it is sent.' }),
  })
  .meta({ id: 'Delivery' })

const WebhookParams = z.object({ id: z.string().min(1).max(100) })
const webhookFields = {
  url: z.string().min(1).max(2_000),
  types: EventTypes.optional(),
  actions: z
    .array(NewActionName)
    .max(50)
    .optional()
    .meta({ description: 'Only events about tasks of these actions; all if empty.' }),
  tenant: NewTenantId.nullable().optional().meta({ description: 'Only events of this tenant; all if null.' }),
  description: z.string().max(1_000).optional(),
  enabled: z.boolean().optional(),
}

const common = { tag: 'webhooks', right: 'configure', tenants: 'own' } as const

export const webhookOperations = {
  listWebhooks: operation({
    ...common,
    route: 'GET /api/v1/webhooks',
    summary: 'List webhooks',
    input: PageQuery,
    output: pageOf(WebhookView, 'WebhookPage'),
    answer: 'Oldest first.',
    run: ({ events }, { tenants }, page) => events.webhooks.list(given(page), tenants),
  }),
  createWebhook: operation({
    ...common,
    route: 'POST /api/v1/webhooks',
    summary: 'Have events sent to an address',
    description: 'From now on. Requests are signed as Standard Webhooks describes.',
    input: z.object(webhookFields),
    output: WebhookWithSecret,
    answer: 'The webhook and its secret.',
    status: 201,
    problems: [409],
    run: ({ events }, { actor, tenants }, fields) => events.webhooks.create(fields, actor, tenants),
  }),
  getWebhook: operation({
    ...common,
    route: 'GET /api/v1/webhooks/{id}',
    summary: 'Get a webhook',
    input: WebhookParams,
    output: WebhookView,
    answer: 'The webhook.',
    problems: [404],
    run: ({ events }, { tenants }, { id }) => events.webhooks.get(id, tenants),
  }),
  updateWebhook: operation({
    ...common,
    route: 'PATCH /api/v1/webhooks/{id}',
    summary: 'Change a webhook',
    description: 'One that is enabled again goes on where it stopped.',
    input: z.object({
      ...WebhookParams.shape,
      ...webhookFields,
      url: webhookFields.url.optional(),
      renewSecret: z.boolean().optional().meta({ description: 'Draws a new secret; the old one counts no more.' }),
    }),
    output: WebhookWithSecret,
    answer: 'As it is now.',
    problems: [404, 409],
    run: ({ events }, { actor, tenants }, { id, ...fields }) => events.webhooks.update(id, fields, actor, tenants),
  }),
  removeWebhook: operation({
    ...common,
    route: 'DELETE /api/v1/webhooks/{id}',
    summary: 'Remove a webhook',
    input: WebhookParams,
    output: z.null(),
    answer: 'It is gone, with its deliveries.',
    status: 204,
    problems: [404],
    run: async ({ events }, { actor, tenants }, { id }) => {
      await events.webhooks.remove(id, actor, tenants)
      return null
    },
  }),
  listDeliveries: operation({
    ...common,
    route: 'GET /api/v1/webhooks/{id}/deliveries',
    summary: 'List what was sent to a webhook',
    input: WebhookParams.extend(PageQuery.shape).extend({ status: DeliveryStatus.optional() }),
    output: pageOf(DeliveryView, 'DeliveryPage'),
    description: 'What is about other tenants than the webhook is now is neither shown nor sent again.',
    answer: 'Oldest first.',
    problems: [404],
    run: async ({ events }, caller, { id, ...query }) => {
      const { document: webhook } = await events.webhooks.stored(id, caller.tenants)
      const { items, next } = await events.delivery.deliveries.shown(webhook, given(query))
      return { items: items.map(({ document }) => shownDelivery(document, caller)), next }
    },
  }),
  redeliver: operation({
    ...common,
    route: 'POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver',
    summary: 'Send a delivery again',
    input: WebhookParams.extend({ delivery: z.string().min(1).max(200) }),
    output: DeliveryView,
    answer: 'It is pending again.',
    status: 202,
    problems: [404],
    run: async ({ events }, caller, { id, delivery }) =>
      shownDelivery(await events.delivery.redeliver(id, delivery, caller.tenants), caller),
  }),
  testWebhook: operation({
    ...common,
    route: 'POST /api/v1/webhooks/{id}/test',
    summary: 'Send a `reprise.ping` now',
    input: WebhookParams,
    output: DeliveryView,
    answer: 'What came of it.',
    problems: [404],
    run: async ({ events }, caller, { id }) => shownDelivery(await events.delivery.test(id, caller.tenants), caller),
  }),
}

/** The text that is sent, as the JSON that it is. */
export function shownDelivery({ body, ...delivery }: Delivery, { tenants }: Caller): z.output<typeof DeliveryView> {
  return {
    ...delivery,
    log: tenants === null ? delivery.log : delivery.log.map(withoutAddresses),
    event: JSON.parse(body) as z.output<typeof DeliveryView>['event'],
  }
}

/** What a connection that failed says of itself may name addresses inside. */
const withoutAddresses = (one: DeliveryTry): DeliveryTry =>
  one.status === null && one.error !== null ? { ...one, error: 'It could not be called, or did not answer.' } : one
