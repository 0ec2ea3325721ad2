// Operations about channels: where alerts are told, whether that works, and what was told.

import { CHANNEL_KINDS, type Channel, durationMs } from '@reprise/core'
import { z } from 'zod'
import { SeverityView } from './alerts.ts'
import type { ChannelChange } from './channels/channels.ts'
import { destinationOf, shownSettings } from './channels/settings.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import {
  DurationInput,
  listOf,
  Milliseconds,
  NameInput,
  NewName,
  PageQuery,
  pageOf,
  wholePage,
} from './schemas/names.ts'
import { DeliveryView, shownDelivery } from './webhooks.ts'

const Quiet = z
  .object({
    from: z.string().max(5),
    to: z.string().max(5),
    zone: z.string().min(1).max(100),
    butFrom: SeverityView.meta({ description: 'What is at least as severe is told all the same.' }),
  })
  .meta({
    id: 'QuietHours',
    description: 'Times of the day, such as 22:00 and 07:00, at which only severe alerts are told.',
  })

const ChannelView = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    enabled: z.boolean(),
    disabledBecause: z.string().nullable().meta({ description: 'If it was not switched off by hand.' }),
    rules: listOf(z.string()),
    minSeverity: SeverityView,
    afterMs: Milliseconds.meta({ description: 'How long an alert goes unacknowledged before it is told here.' }),
    remindMs: Milliseconds.nullable(),
    quiet: Quiet.nullable(),
    destination: z.string().meta({ description: 'Where it sends to, without a path.' }),
    settings: z.record(z.string(), z.unknown()).meta({ description: 'Without secrets.' }),
    createdBy: z.string(),
  })
  .meta({ id: 'Channel', description: 'Where alerts are told.' })

const routeFields = {
  enabled: z.boolean().optional(),
  rules: z
    .array(z.string().min(1).max(200))
    .max(50)
    .optional()
    .meta({ description: 'Only alerts of these; * as ever.' }),
  minSeverity: SeverityView.optional().meta({ description: 'normal if missing.' }),
  after: DurationInput.optional().meta({ description: 'Told here only after nobody acknowledged it for so long.' }),
  remind: DurationInput.nullable().optional().meta({ description: 'Told again while nobody acknowledges it.' }),
  quiet: Quiet.nullable().optional(),
  settings: z.record(z.string(), z.unknown()).optional().meta({ description: 'Of its kind: see docs/alerts.md.' }),
}
const ChannelId = z.object({ id: NameInput.meta({ description: 'The id or the name of a channel.' }) })

const common = { tag: 'alerts', right: 'configure', tenants: 'all' } as const

export const channelOperations = {
  listChannels: operation({
    ...common,
    route: 'GET /api/v1/channels',
    summary: 'List the channels of alerts',
    right: 'read',
    input: z.object({}),
    output: pageOf(ChannelView, 'ChannelPage'),
    answer: 'All channels, oldest first.',
    run: async ({ events }) => wholePage((await events.channels.all()).map(({ document }) => viewOf(document))),
  }),
  createChannel: operation({
    ...common,
    route: 'POST /api/v1/channels',
    summary: 'Have alerts told to somebody',
    description: 'From now on. Secrets in its settings are not shown again.',
    input: z.object({ name: NewName, kind: z.enum(CHANNEL_KINDS), ...routeFields }),
    output: ChannelView,
    answer: 'The channel.',
    status: 201,
    problems: [409],
    run: async ({ events }, { actor }, { name, kind, ...fields }) =>
      viewOf(await events.channels.create(name, kind, changeOf(fields), actor)),
  }),
  updateChannel: operation({
    ...common,
    route: 'PATCH /api/v1/channels/{id}',
    summary: 'Change a channel',
    input: ChannelId.extend(routeFields),
    output: ChannelView,
    answer: 'As it is now.',
    problems: [404, 409],
    run: async ({ events }, { actor }, { id, ...fields }) =>
      viewOf(await events.channels.update(id, changeOf(fields), actor)),
  }),
  removeChannel: operation({
    ...common,
    route: 'DELETE /api/v1/channels/{id}',
    summary: 'Remove a channel',
    input: ChannelId,
    output: z.null(),
    answer: 'It is gone, with its deliveries.',
    status: 204,
    problems: [404],
    run: async ({ events }, { actor }, { id }) => {
      const { document } = await events.channels.stored(id)
      await events.channels.remove(document.id, actor)
      return null
    },
  }),
  testChannel: operation({
    ...common,
    route: 'POST /api/v1/channels/{id}/test',
    summary: 'Tell a channel that this is a test',
    description: 'Now, and once. An incident at PagerDuty is resolved at once.',
    right: 'operate',
    input: ChannelId,
    output: DeliveryView,
    answer: 'What came of it.',
    problems: [404],
    run: async ({ events }, caller, { id }) => {
      const { document } = await events.channels.stored(id)
      return shownDelivery(await events.telling.test(document.id), caller)
    },
  }),
  listChannelDeliveries: operation({
    ...common,
    route: 'GET /api/v1/channels/{id}/deliveries',
    summary: 'What a channel was told',
    right: 'read',
    input: PageQuery.extend(ChannelId.shape),
    output: pageOf(DeliveryView, 'ChannelDeliveryPage'),
    answer: 'Oldest first.',
    problems: [404],
    run: async ({ events }, caller, { id, ...page }) => {
      const { document } = await events.channels.stored(id)
      const { items, next } = await events.telling.deliveries.list(document.id, given(page))
      return { items: items.map((stored) => shownDelivery(stored.document, caller)), next }
    },
  }),
}

type Fields = z.output<z.ZodObject<typeof routeFields>>

function changeOf({ after, remind, quiet, ...fields }: Fields): ChannelChange {
  return {
    ...given(fields),
    ...(after === undefined ? {} : { afterMs: durationMs(after, 'after') }),
    ...(remind === undefined ? {} : { remindMs: remind === null ? null : durationMs(remind, 'remind') }),
    ...(quiet === undefined ? {} : { quiet }),
  }
}

function viewOf(channel: Channel): z.output<typeof ChannelView> {
  const { id, name, kind, enabled, disabledBecause, rules, minSeverity, afterMs, remindMs, quiet, createdBy } = channel
  const route = { enabled, disabledBecause, rules, minSeverity, afterMs, remindMs, quiet, createdBy }
  return { id, name, kind, ...route, destination: destinationOf(channel), settings: shownSettings(channel) }
}
