// Steps that tests about webhooks share.

import type { Engine } from '@reprise/core'
import { vi } from 'vitest'
import type { Events, EventsOptions } from '../../src/events/index.ts'
import type { Delivery, DeliveryStatus } from '../../src/events/webhook-deliveries.ts'
import type { WebhookInput, WebhookWithSecret } from '../../src/events/webhooks.ts'
import { eventsOn, SkippingClock } from './fixture.ts'

export interface Delivering extends Events {
  readonly clock: SkippingClock
}

/** A server that delivers. */
export async function delivering(engine: Engine, change: Partial<EventsOptions> = {}): Promise<Delivering> {
  const clock = new SkippingClock()
  const events = eventsOn(engine, { clock, ...change })
  await events.delivery.start()
  return { ...events, clock }
}

/** Makes a webhook, and lets the service look at once. */
export async function hook(
  events: Delivering,
  url: string,
  input: Partial<WebhookInput> = {},
): Promise<WebhookWithSecret> {
  const made = await events.webhooks.create({ url, ...input }, 'operator:ann')
  events.clock.skip(1_000)
  return made
}

/** Waits until what is checked holds. */
export const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 10_000, interval: 10 })

export async function deliveriesOf(
  events: Events,
  { webhook }: WebhookWithSecret,
  status?: DeliveryStatus,
): Promise<readonly Delivery[]> {
  const page = await events.delivery.deliveries.list(webhook.id, {
    limit: 1_000,
    ...(status === undefined ? {} : { status }),
  })
  return page.items.map(({ document }) => document)
}

/** The delivery of the event with this reason, once it has been tried so often. */
export function tried(events: Events, made: WebhookWithSecret, reason: string, times: number): Promise<Delivery> {
  return vi.waitFor(
    async () => {
      const found = (await deliveriesOf(events, made)).find(({ body }) => body.includes(`"reason":"${reason}"`))
      if (found === undefined || found.log.length < times) throw new Error(`not tried ${times} times yet`)
      return found
    },
    { timeout: 10_000, interval: 10 },
  )
}
