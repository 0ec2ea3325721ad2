// Everything about events, put together once when a server starts: one feed of the journal, live streams, webhooks and what
// comes in. The caller starts and stops the delivery like any service, and closes the streams when it stops.

import type { Clock, Engine, PolicySource, Random } from '@reprise/core'
import { AddressPolicy, type Resolve } from '@reprise/launchers'
import { EntryTenants, eventMaker, type MakeEvent, type Redact } from './event.ts'
import { FailuresIn, type FailuresInOptions } from './failures-in.ts'
import { EventFeed } from './feed.ts'
import { LiveStreams } from './live-stream.ts'
import { createWebhookDelivery, type WebhookDelivery } from './webhook-delivery.ts'
import { Webhooks } from './webhooks.ts'

export interface EventsOptions {
  readonly engine: Engine
  readonly policies: PolicySource
  readonly clock: Clock
  readonly random: Random
  readonly redact?: Redact
  /** Which Reprise events say that they come from; `reprise` if not given. */
  readonly source?: string
  /** The flag audit-streaming; on if not given. */
  readonly isStreamingOn?: () => boolean
  /** Addresses of webhooks that may be called though they are not public: '127.0.0.1:9000', '10.0.0.0/8', 'hooks.internal'. */
  readonly webhookAllow?: readonly string[]
  readonly resolve?: Resolve
  readonly actionOf?: FailuresInOptions['actionOf']
  readonly onError?: (error: unknown) => void
}

export interface Events {
  readonly engine: Engine
  readonly feed: EventFeed
  readonly tenants: EntryTenants
  readonly makeEvent: MakeEvent
  readonly streams: LiveStreams
  readonly webhooks: Webhooks
  readonly delivery: WebhookDelivery
  readonly failuresIn: FailuresIn
}

export function createEvents(options: EventsOptions): Events {
  const { engine, clock, random, redact, source, isStreamingOn: isOn = () => true, onError = () => undefined } = options
  const feed = new EventFeed({ engine, clock, onError })
  const tenants = new EntryTenants(engine, clock)
  const makeEvent = eventMaker({
    ...(source === undefined ? {} : { source }),
    ...(redact === undefined ? {} : { redact }),
  })
  const policy = new AddressPolicy(options.webhookAllow ?? [], options.resolve)
  const webhooks = new Webhooks({ engine, feed, policy, clock })
  const shared = { feed, tenants, makeEvent, isOn, clock, onError }
  return {
    engine,
    feed,
    tenants,
    makeEvent,
    webhooks,
    streams: new LiveStreams(shared),
    delivery: createWebhookDelivery({
      ...shared,
      engine,
      webhooks,
      policy,
      random,
      ...(redact === undefined ? {} : { redact }),
    }),
    failuresIn: new FailuresIn({
      engine,
      policies: options.policies,
      clock,
      random,
      ...(options.actionOf === undefined ? {} : { actionOf: options.actionOf }),
    }),
  }
}
