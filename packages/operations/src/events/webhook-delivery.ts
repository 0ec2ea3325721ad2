// The service that delivers events to webhooks: it looks which webhooks there are, takes the lease of those that nobody is at,
// and runs each in a loop of its own, so that a receiver which hangs holds up nobody else. Any number of servers may run it;
// each webhook is delivered by one of them at a time. While the flag audit-streaming is off nothing is sent and no cursor moves.

import { randomUUID } from 'node:crypto'
import {
  type Clock,
  createService,
  type Engine,
  isRepriseError,
  type Random,
  type Service,
  type Stored,
  sleep,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { type AddressPolicy, HttpCaller } from '@reprise/launchers'
import { type EntryTenants, type MakeEvent, pingEvent, type Redact } from './event.ts'
import type { EventFeed } from './feed.ts'
import { type Delivery, WebhookDeliveries } from './webhook-deliveries.ts'
import { LeaseLost, LeaseTaker, progressCollection, type WebhookLease } from './webhook-lease.ts'
import { type RunnerPorts, WebhookRunner } from './webhook-runner.ts'
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

const LOOK_MS = 1_000
const ERROR_REST_MS = 5_000

/** A webhook that this server is at. */
interface Running {
  readonly version: number
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { engine, webhooks, isOn = () => true, clock = systemClock, redact = (value) => value } = options
  const onError = guarded(options.onError)
  const caller = new HttpCaller(options.policy, clock, options.ca)
  const target = new WebhookTarget(caller, clock, redact)
  const deliveries = new WebhookDeliveries(engine, options.tenants)
  const ports: RunnerPorts = { ...options, deliveries, target, clock, random: options.random ?? systemRandom, onError }

  const service = createService(
    'webhook-delivery',
    async (signal) => {
      const taker = new LeaseTaker(progressCollection(engine), clock, randomUUID())
      const running = new Map<string, Running>()
      while (!signal.aborted) {
        try {
          await look(ports, taker, running, isOn() ? await webhooks.all() : [])
        } catch (error) {
          if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) break
          onError(error)
        }
        await sleep(clock, LOOK_MS, signal)
      }
      for (const { stop } of running.values()) stop.abort()
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
    onError,
  )

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

/** Ends what should not run any more or was changed, and begins what nobody is at. */
async function look(
  ports: RunnerPorts,
  taker: LeaseTaker,
  running: Map<string, Running>,
  all: readonly Stored<Webhook>[],
): Promise<void> {
  const wanted = new Map(all.filter(({ document }) => document.enabled).map((stored) => [stored.document.id, stored]))
  for (const [id, { version, stop }] of running) if (wanted.get(id)?.version !== version) stop.abort()
  for (const [id, { document, version }] of wanted) {
    // One that was told to end is begun anew when it has come to rest.
    if (running.has(id)) continue
    const lease = await taker.take(id)
    if (lease === null) continue
    const stop = new AbortController()
    const ended = deliver(ports, document, lease, stop.signal).finally(() => running.delete(id))
    running.set(id, { version, stop, ended })
  }
}

async function deliver(ports: RunnerPorts, webhook: Webhook, lease: WebhookLease, signal: AbortSignal): Promise<void> {
  try {
    await new WebhookRunner(ports, webhook, lease).run(signal)
    await lease.release()
  } catch (error) {
    // Another server has it, or the store was away for so long that one may have taken it: either way, look again.
    if (error instanceof LeaseLost || isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
    ports.onError(error)
    await sleep(ports.clock, ERROR_REST_MS, signal)
  }
}

function guarded(onError: (error: unknown) => void = () => undefined): (error: unknown) => void {
  return (error) => {
    try {
      onError(error)
    } catch {
      // The listener threw; deliveries go on.
    }
  }
}
