// The settings of each kind of channel: what there is to set, what of it is secret, and where it sends to. Secrets are stored as they
// are given, since every message needs them, and never shown.

import type { Channel, ChannelKind } from '@reprise/core'
import { z } from 'zod'

const url = z.string().min(1).max(2_000)
const secret = z.string().min(1).max(1_000)
const address = z
  .string()
  .min(3)
  .max(320)
  .regex(/^[^\s<>@]+@[^\s<>@]+$/, 'An e-mail address, such as ops@example.com.')
/** These say where a request begins, ends and goes: that is ours to say. */
const OUR_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that somebody wants to be sent with each request. */
export const headersWith = (value: z.ZodString) =>
  z.record(z.string().max(100), value).superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (!/^[\w-]+$/.test(name))
        context.addIssue({ code: 'custom', message: `'${name}' is not the name of a header.` })
      if (OUR_HEADERS.has(name.toLowerCase()))
        context.addIssue({ code: 'custom', message: `The header '${name}' is made for each request: leave it out.` })
    }
  })

const headers = headersWith(
  z
    .string()
    .max(4_000)
    .regex(/^[\x20-\x7e]*$/),
)
  .optional()
  .meta({ description: 'Sent with each request; their values are not shown.' })
const template = z
  .unknown()
  .optional()
  .meta({ description: 'Any JSON. In its texts, {{says}}, {{severity}}, {{alert}} and others are filled in.' })

const path = z
  .string()
  .min(1)
  .max(500)
  .regex(/^\/[\x21-\x7e]*$/, 'It begins with /.')
const field = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'Where it stands in an answer, such as id or fields.status.name.' })

export const SETTINGS = {
  pagerduty: z.strictObject({
    routingKey: secret.meta({ description: 'The integration key of a service (Events API v2).' }),
    url: url.default('https://events.pagerduty.com/v2/enqueue'),
  }),
  slack: z.strictObject({ url: url.meta({ description: 'Of an incoming webhook; it is not shown.' }) }),
  email: z.strictObject({
    host: z.string().min(1).max(255),
    port: z.int().min(1).max(65_535).default(587),
    security: z.enum(['starttls', 'tls', 'none']).default('starttls'),
    user: z.string().max(320).optional(),
    password: secret.optional(),
    from: address,
    to: z.array(address).min(1).max(20),
  }),
  webhook: z.strictObject({ url, headers, template }),
  retry_alert: z.strictObject({
    url: url.meta({ description: 'Of the service; /notifications/retry-alert is added.' }),
    headers,
  }),
  tenants: z.strictObject({
    perHour: z.int().min(1).max(60).default(2).meta({ description: 'Events for one tenant in an hour, at the most.' }),
  }),
  work_orders: z.strictObject({
    url: url
      .refine((address) => !address.includes('?'), 'Without a query: findPath has that.')
      .meta({ description: 'Of the system that has a ticket for each work order; the paths are added.' }),
    headers,
    template: template.meta({ description: 'The body that makes a ticket; what is known, if missing.' }),
    updateTemplate: template.meta({
      description: 'The body that tells of a change; key, status and result, if missing.',
    }),
    createPath: path.default('/ops/workorders'),
    findPath: path.default('/ops/workorders?key={{key}}').meta({ description: 'Answers the ticket with our key.' }),
    updatePath: z
      .union([z.literal('none'), path])
      .default('/ops/workorders/{{id}}')
      .meta({ description: 'Where a change of ours is told by PATCH; none if it is not to be told.' }),
    fields: z
      .strictObject({
        items: field.default('items'),
        id: field.default('id'),
        key: field.default('key'),
        status: field.default('status'),
        url: field.default('url'),
      })
      .prefault({})
      .meta({ description: 'Where the answers have what we look for.' }),
    closed: z
      .array(z.string().min(1).max(100))
      .min(1)
      .max(50)
      .default(['closed', 'resolved', 'done', 'completed', 'cancelled', 'wont_fix'])
      .meta({ description: 'The statuses of a ticket that is closed.' }),
    pollSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(60)
      .meta({ description: 'How often the state of open tickets is read; 0 for never.' }),
  }),
} as const satisfies Readonly<Record<ChannelKind, z.ZodType>>

export type SettingsOf<Kind extends ChannelKind> = z.output<(typeof SETTINGS)[Kind]>

/** Of a channel whose kind is known: they were checked when they were set. */
export const settingsOf = <Kind extends ChannelKind>({ settings }: Channel, _kind: Kind): SettingsOf<Kind> =>
  settings as SettingsOf<Kind>

/** The web address that it sends to; null for kinds that have none. */
export function addressOf({ kind, settings }: Pick<Channel, 'kind' | 'settings'>): string | null {
  if (kind === 'email') {
    const { host, port } = settings as SettingsOf<'email'>
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  }
  return typeof settings.url === 'string' ? settings.url : null
}

/** Where it sends to, for people: without a path, which is often the secret. */
export function destinationOf(channel: Pick<Channel, 'kind' | 'settings'>): string {
  if (channel.kind === 'email') {
    const { host, port } = channel.settings as SettingsOf<'email'>
    return `smtp ${host}:${port}`
  }
  const found = addressOf(channel)
  return found === null ? 'tenants' : new URL(found).origin
}

const HIDDEN = '(hidden)'
const SECRETS: Readonly<Record<ChannelKind, readonly string[]>> = {
  pagerduty: ['routingKey'],
  slack: ['url'],
  email: ['password'],
  webhook: ['url'],
  retry_alert: ['url'],
  tenants: [],
  work_orders: [],
}

/** The settings that are secret, of those that are there. An address that is secret is where it sends to. */
export const secretsOf = ({ kind, settings }: Pick<Channel, 'kind' | 'settings'>): readonly string[] =>
  [...SECRETS[kind].filter((name) => name !== 'url'), 'headers'].filter((name) => settings[name] !== undefined)

/** Without what nobody may see. */
export function shownSettings({ kind, settings }: Pick<Channel, 'kind' | 'settings'>): Record<string, unknown> {
  const shown = Object.entries(settings).map(([name, value]) => {
    if (SECRETS[kind].includes(name)) return [name, HIDDEN] as const
    if (name !== 'headers' || typeof value !== 'object' || value === null) return [name, value] as const
    return [name, Object.fromEntries(Object.keys(value).map((header) => [header, HIDDEN]))] as const
  })
  return Object.fromEntries(shown)
}
