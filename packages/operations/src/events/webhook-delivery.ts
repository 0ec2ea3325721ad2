// The delivery of events to webhooks: which events each of them gets, and how it is spoken to. The service that does it is that of
// delivery-service. While the flag audit-streaming is off nothing is sent and no cursor moves.

import { randomUUID } from 'node:crypto'
import {
  type Clock,
  type Engine,
  type JournalEntry,
  type Random,
  type Service,
  systemClock,
  systemRandom,
  typeFilter,
} from '@reprise/core'
import { type AddressPolicy, HttpCaller } from '@reprise/launchers'
import { createDeliveryService, guarded } from './delivery-service.ts'
import { type EntryTenants, type MakeEvent, pingEvent, type Redact } from './event.ts'
import type { EventFeed } from './feed.ts'
import type { Outlet } from './outlet.ts'
import { type Delivery, WebhookDeliveries } from './webhook-deliveries.ts'
import { WebhookTarget } from './webhook-target.ts'
import type { Sees, Webhook, Webhooks } from './webhooks.ts'

export interface WebhookDeliveryOptions {
  readonly engine: Pick<Engine, 'collection' | 'journal'>
  readonly feed: EventFeed
  readonly webhooks: Webhooks
  readonly tenants: EntryTenants
  readonly makeEvent: MakeEvent
  readonly policy: AddressPolicy
  /** The flag audit-streaming; on if not given. */
  readonly isOn?: () => boolean
  readonly redact?: Redact
  readonly clock?: Clock
  readonly random?: Random
  /** More certificates to trust, for https receivers. */
  readonly ca?: string
  readonly onError?: (error: unknown) => void
}

export interface WebhookDelivery extends Service {
  /** Sends a `reprise.ping` now, and tells what came of it. */
  test(webhookId: string, sees?: Sees): Promise<Delivery>
  /** Sends a delivery again, whatever has come of it. */
  redeliver(webhookId: string, deliveryId: string, sees?: Sees): Promise<Delivery>
  readonly deliveries: WebhookDeliveries
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long to wait after each failed try: 22.6 h in all, then it is given up. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
]
export const SENDS_AT_ONCE = 4

export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { engine, webhooks, isOn = () => true, clock = systemClock, redact = (value) => value } = options
  const { tenants, makeEvent, random = systemRandom } = options
  const onError = guarded(options.onError)
  const target = new WebhookTarget(new HttpCaller(options.policy, clock, options.ca), clock, redact)
  const deliveries = new WebhookDeliveries(engine, tenants)

  const isAbout = async (entry: JournalEntry, actions: readonly string[]): Promise<boolean> => {
    const action = await tenants.actionOf(entry)
    return action !== null && actions.includes(action)
  }
  const outlet: Outlet<Webhook> = {
    kind: 'webhook',
    enabled: async () => (isOn() ? (await webhooks.all()).filter(({ document }) => document.enabled) : []),
    async eventFor({ types, actions = [], tenant }, entry) {
      if (!typeFilter(types)(`reprise.${entry.type}`)) return null
      const whose = await tenants.of(entry)
      if (tenant !== null && whose !== tenant) return null
      if (actions.length > 0 && !(await isAbout(entry, actions))) return null
      return { event: makeEvent(entry, tenant === null ? null : [tenant]), tenant: whose }
    },
    send: ({ url, secret }, { eventId, body }, signal) => target.send({ url, secret, eventId, body, signal }),
    disable: (id, because) => webhooks.disable(id, because),
    nameOf: ({ url }) => new URL(url).origin,
    retryDelaysMs: RETRY_DELAYS_MS,
    sendsAtOnce: SENDS_AT_ONCE,
  }
  const service = createDeliveryService('webhook-delivery', { ...options, outlet, deliveries, clock, random, onError })

  return {
    ...service,
    deliveries,
    async test(webhookId, sees) {
      const { document } = await webhooks.stored(webhookId, sees)
      const event = pingEvent(`ping_${randomUUID()}`, clock.now(), webhookId)
      const body = JSON.stringify(event)
      const { url, secret } = document
      const { signal } = new AbortController()
      const { verdict, log } = await target.send({ url, secret, eventId: event.id, body, signal })
      return deliveries.writeEnded(document, event, verdict === 'delivered' ? 'delivered' : 'given_up', log)
    },
    async redeliver(webhookId, deliveryId, sees) {
      const { document } = await webhooks.stored(webhookId, sees)
      return deliveries.redeliver(document, deliveryId, clock.now())
    },
  }
}
