// Operations about webhooks: where events are sent to, and what was sent.

import { z } from 'zod'
import type { Delivery } from './events/webhook-deliveries.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { listOf, Milliseconds, Moment, PageQuery, pageOf, TenantIdInput } from './schemas/names.ts'

const EventTypes = z
  .array(z.string().min(1).max(100))
  .max(50)
  .meta({ description: 'Types, or families such as `reprise.execution.*`; all if empty.' })

const WebhookView = z
  .object({
    id: z.string(),
    url: z.string(),
    types: listOf(z.string()),
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
  tenant: TenantIdInput.nullable().optional().meta({ description: 'Only events of this tenant; all if null.' }),
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
    answer: 'Oldest first.',
    problems: [404],
    run: async ({ events }, { tenants }, { id, ...query }) => {
      await events.webhooks.stored(id, tenants)
      const { items, next } = await events.delivery.deliveries.list(id, given(query))
      return { items: items.map(({ document }) => shown(document)), next }
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
    run: async ({ events }, { tenants }, { id, delivery }) =>
      shown(await events.delivery.redeliver(id, delivery, tenants)),
  }),
  testWebhook: operation({
    ...common,
    route: 'POST /api/v1/webhooks/{id}/test',
    summary: 'Send a `reprise.ping` now',
    input: WebhookParams,
    output: DeliveryView,
    answer: 'What came of it.',
    problems: [404],
    run: async ({ events }, { tenants }, { id }) => shown(await events.delivery.test(id, tenants)),
  }),
}

/** The text that is sent, as the JSON that it is. */
function shown({ body, ...delivery }: Delivery): z.output<typeof DeliveryView> {
  return { ...delivery, event: JSON.parse(body) as z.output<typeof DeliveryView>['event'] }
}
