// Steps that tests about webhooks share.

import type { Engine } from '@reprise/core'
import { vi } from 'vitest'
import type { Context, EventsOut } from '../../src/context.ts'
import type { Delivery, DeliveryStatus } from '../../src/events/webhook-deliveries.ts'
import type { WebhookInput, WebhookWithSecret } from '../../src/events/webhooks.ts'
import { type ContextChange, contextOn, SkippingClock } from './fixture.ts'

export interface Delivering extends EventsOut {
  readonly clock: SkippingClock
  readonly context: Context
}

/** A server that delivers. */
export async function delivering(engine: Engine, change: ContextChange = {}): Promise<Delivering> {
  const clock = new SkippingClock()
  const context = await contextOn(engine, { clock, ...change })
  await context.events.delivery.start()
  return { ...context.events, context, clock }
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
export const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 60_000, interval: 10 })

export async function deliveriesOf(
  events: EventsOut,
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
export function tried(events: EventsOut, made: WebhookWithSecret, reason: string, times: number): Promise<Delivery> {
  return vi.waitFor(
    async () => {
      const found = (await deliveriesOf(events, made)).find(({ body }) => body.includes(`"reason":"${reason}"`))
      if (found === undefined || found.log.length < times) throw new Error(`not tried ${times} times yet`)
      return found
    },
    { timeout: 60_000, interval: 10 },
  )
}
