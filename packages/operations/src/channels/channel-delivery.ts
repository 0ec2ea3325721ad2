// The delivery of alerts to channels: the outlet that the delivery service serves beside webhooks, with the same leases, retries and
// log. Channels that are outside systems of work orders have an outlet of their own, work-order-delivery, which runs beside it. A channel is spoken to one message at a time, so that the end of an alert never overtakes its beginning; and a message about
// something that is over is not sent any more.

import { randomUUID } from 'node:crypto'
import {
  alertsIn,
  type Channel,
  type Clock,
  type Engine,
  type Random,
  type Service,
  type Severity,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { type AddressPolicy, HttpCaller } from '@reprise/launchers'
import { createDeliveryService, guarded } from '../events/delivery-service.ts'
import type { EntryTenants, MakeEvent, Redact, SentEvent } from '../events/event.ts'
import type { EventFeed } from '../events/feed.ts'
import type { Outlet } from '../events/outlet.ts'
import { type Delivery, type DeliveryTry, WebhookDeliveries } from '../events/webhook-deliveries.ts'
import { type SendResult, WebhookTarget } from '../events/webhook-target.ts'
import type { Channels } from './channels.ts'
import { type AlertNotice, emailMessage, factsOf, filled, pagerDutyEvent, slackMessage } from './messages.ts'
import { destinationOf, settingsOf } from './settings.ts'
import { sendMail } from './smtp.ts'
import { noticeTenants } from './tenant-notices.ts'
import { workOrderOutlet } from './work-order-delivery.ts'

export interface ChannelDeliveryOptions {
  readonly engine: Engine
  readonly feed: EventFeed
  readonly channels: Channels
  readonly tenants: EntryTenants
  readonly makeEvent: MakeEvent
  readonly policy: AddressPolicy
  /** Where the console is, for links; null if that is not known. */
  readonly consoleUrl?: () => string | null
  readonly redact?: Redact
  readonly clock?: Clock
  readonly random?: Random
  /** More certificates to trust. */
  readonly ca?: string | undefined
  readonly onError?: (error: unknown) => void
}

export interface ChannelDelivery extends Service {
  /** Sends a message that says it is a test, now, and tells what came of it. */
  test(id: string): Promise<Delivery>
  readonly deliveries: WebhookDeliveries
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** A process that stood still for so long after its look must look again: another one may have told the end meanwhile. */
const STOOD_STILL_MS = 10 * SECOND

/** How long to wait after each failed try: an hour in all. Older news help nobody. */
export const CHANNEL_RETRY_DELAYS_MS: readonly number[] = [
  2 * SECOND,
  5 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  3 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  20 * MINUTE,
  20 * MINUTE,
]

/** A channel as deliveries know it: what it hears concerns all tenants. */
type Receiver = Channel & { readonly tenant: null }

export function createChannelDelivery(options: ChannelDeliveryOptions): ChannelDelivery {
  const { engine, channels, makeEvent, policy, clock = systemClock, random = systemRandom } = options
  const { redact = (value) => value, consoleUrl = () => null, ca } = options
  const onError = guarded(options.onError)
  const target = new WebhookTarget(new HttpCaller(policy, clock, ca), clock, redact)
  const deliveries = new WebhookDeliveries(engine, options.tenants)
  const smtp = { policy, clock, ca }

  const tracking = workOrderOutlet({ engine, channels, target, makeEvent, redact, consoleUrl, clock })

  /** What became of something that is no HTTP request, in the same words. */
  const attempt = async (step: () => Promise<string>): Promise<SendResult> => {
    const at = clock.now()
    const startedAt = clock.monotonic()
    const log = (error: string | null, answer: string): DeliveryTry => ({
      at,
      durationMs: Math.round(clock.monotonic() - startedAt),
      status: null,
      error,
      answer: String(redact(answer)).slice(0, 500),
    })
    try {
      return { verdict: 'delivered', retryAfterMs: null, log: log(null, await step()) }
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      return { verdict: 'failed', retryAfterMs: null, log: log(String(redact(words)).slice(0, 500), '') }
    }
  }

  const tell = (channel: Channel, notice: AlertNotice, event: SentEvent, signal: AbortSignal): Promise<SendResult> => {
    const console = consoleUrl()
    const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<SendResult> =>
      target.post({ url, body: JSON.stringify(body), headers: () => headers, signal })
    switch (channel.kind) {
      case 'pagerduty': {
        const { url, routingKey } = settingsOf(channel, 'pagerduty')
        return post(url, pagerDutyEvent(notice, routingKey, console))
      }
      case 'slack':
        return post(settingsOf(channel, 'slack').url, slackMessage(notice, console))
      case 'webhook': {
        const { url, headers, template } = settingsOf(channel, 'webhook')
        return post(url, template === undefined ? event : filled(template, factsOf(notice)), headers)
      }
      case 'retry_alert': {
        const { url, headers } = settingsOf(channel, 'retry_alert')
        return post(
          `${url.replace(/\/+$/, '')}/notifications/retry-alert`,
          { id: event.id, ...factsOf(notice) },
          headers,
        )
      }
      case 'email': {
        const settings = settingsOf(channel, 'email')
        const ids = { id: event.id, thread: `${notice.alert}.${notice.episode}` }
        return attempt(() => sendMail({ settings, ...emailMessage(notice, console), ...ids }, smtp, signal))
      }
      case 'tenants':
        return attempt(async () => {
          const told = await noticeTenants(engine, notice, settingsOf(channel, 'tenants').perHour)
          return `${told} ${told === 1 ? 'tenant was' : 'tenants were'} told.`
        })
      case 'work_orders':
        return tracking.test(channel, notice.alert)
    }
  }

  /** It would call somebody for nothing, reopen what is closed, or call again where somebody is at it. */
  const isPast = async ({ what, alert, episode }: AlertNotice): Promise<boolean> => {
    if (what !== 'firing') return false
    const known = (await alertsIn(engine).get(alert))?.document
    return known === undefined || known.episode !== episode || known.state.status !== 'firing'
  }

  const outlet: Outlet<Receiver> = {
    kind: 'channel',
    async enabled() {
      const all = await channels.all()
      return all
        .filter(({ document }) => document.enabled && document.kind !== 'work_orders')
        .map((stored) => ({ ...stored, document: { ...stored.document, tenant: null } }))
    },
    async eventFor({ id }, entry) {
      if (entry.type !== 'alert.told' || entry.data.channel !== id) return null
      // Under the name of the notice: an entry that was written twice is one delivery.
      return { event: { ...makeEvent(entry, null), id: String(entry.data.notice) }, tenant: null }
    },
    async send(channel, { body }, signal) {
      const event = JSON.parse(body) as SentEvent & { readonly data: { readonly details: AlertNotice } }
      const notice = event.data.details
      let lookedAt: number
      do {
        lookedAt = clock.monotonic()
        if (await isPast(notice))
          return attempt(() => Promise.resolve('Not sent: it was over, or acknowledged, before it could be told.'))
      } while (!signal.aborted && clock.monotonic() - lookedAt >= STOOD_STILL_MS)
      return tell(channel, notice, event, signal)
    },
    disable: (id, because) => channels.disable(id, because),
    nameOf: (channel) => `${channel.name} (${destinationOf(channel)})`,
    retryDelaysMs: CHANNEL_RETRY_DELAYS_MS,
    sendsAtOnce: 1,
  }
  const shared = { ...options, deliveries, clock, random, onError }
  const services = [
    createDeliveryService('channel-delivery', { ...shared, outlet }),
    createDeliveryService('work-order-delivery', { ...shared, outlet: tracking }),
  ]

  return {
    name: 'channel-delivery',
    start: async () => void (await Promise.all(services.map((service) => service.start()))),
    stop: async () => void (await Promise.all(services.map((service) => service.stop()))),
    deliveries,
    async test(id) {
      const { document } = await channels.stored(id)
      const notice = testNotice(clock.now())
      const event: SentEvent = {
        specversion: '1.0',
        id: notice.notice,
        source: 'reprise',
        type: 'reprise.alert.told',
        time: new Date(clock.now()).toISOString(),
        datacontenttype: 'application/json',
        data: { details: notice },
      }
      const { signal } = new AbortController()
      const { verdict, log } = await tell(document, notice, event, signal)
      // Nobody is to be kept awake by a test.
      if (document.kind === 'pagerduty' && verdict === 'delivered') {
        await tell(document, { ...notice, what: 'resolved' }, event, signal)
      }
      const status = verdict === 'delivered' ? 'delivered' : 'given_up'
      return deliveries.writeEnded({ id, tenant: null }, event, status, log)
    },
  }
}

function testNotice(now: number): AlertNotice {
  const alert = `test-${randomUUID()}`
  return {
    alert,
    episode: 1,
    rule: 'test',
    what: 'firing',
    count: 1,
    notice: `${alert}.1.1`,
    severity: 'low' satisfies Severity,
    says: 'This is a test of the channel. Nothing is wrong.',
    value: 0,
    firedAt: now,
    runbook: null,
  }
}
