// What operations work with: made once, by a server when it starts, or for a local caller who has the store itself.

import {
  type Clock,
  type Engine,
  type FeatureFlags,
  type FlagName,
  KnownActions,
  type Logger,
  type Random,
  RequestError,
  silentLogger,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { AddressPolicy, type Resolve } from '@reprise/launchers'
import type { Policies } from '@reprise/policies'
import { ApiTokens } from './access/api-tokens.ts'
import { EntryTenants, eventMaker, type MakeEvent } from './events/event.ts'
import { EventFeed } from './events/feed.ts'
import { createWebhookDelivery, type WebhookDelivery } from './events/webhook-delivery.ts'
import { Webhooks } from './events/webhooks.ts'
import { SharedReads } from './shared-reads.ts'
import { NO_REDACTION, type Redaction } from './views.ts'

export interface Context {
  readonly engine: Engine
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly redaction: Redaction
  readonly policies: Policies
  readonly flags: FeatureFlags
  readonly catalogue: KnownActions
  readonly tokens: ApiTokens
  readonly events: EventsOut
  /** Pages that several callers ask for at the same moment. */
  readonly pages: SharedReads<string>
  /** MAX_RETRIES: how many retries an operator may ask for (A9). */
  readonly maxRetries: number
  readonly version: string
}

/** What leaves the store as events: read, followed, or sent to webhooks. */
export interface EventsOut {
  readonly feed: EventFeed
  readonly tenants: EntryTenants
  readonly makeEvent: MakeEvent
  readonly webhooks: Webhooks
  readonly delivery: WebhookDelivery
}

export interface ContextOptions {
  readonly engine: Engine
  readonly policies: Policies
  readonly flags: FeatureFlags
  readonly maxRetries: number
  readonly version: string
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Logger
  /** Shows everything if missing. */
  readonly redaction?: Redaction
  readonly catalogue?: KnownActions
  readonly tokens?: ApiTokens
  /** Addresses of webhooks that may be called though they are not public: '127.0.0.1:9000', '10.0.0.0/8', 'hooks.internal'. */
  readonly webhookAllow?: readonly string[]
  readonly resolve?: Resolve
  readonly onError?: (error: unknown) => void
}

export function createContext(options: ContextOptions): Context {
  const { engine, clock = systemClock, random = systemRandom, onError = () => undefined, flags } = options
  const redaction = options.redaction ?? NO_REDACTION
  const redact = (value: unknown): unknown => redaction.value(value)
  const feed = new EventFeed({ engine, clock, onError })
  const tenants = new EntryTenants(engine, clock)
  const makeEvent = eventMaker(redact)
  const policy = new AddressPolicy(options.webhookAllow ?? [], options.resolve)
  const webhooks = new Webhooks({ engine, feed, policy, clock })
  const isOn = (): boolean => flags.current()['audit-streaming']
  const shared = { engine, feed, tenants, makeEvent, webhooks, policy, redact, isOn, clock, random, onError }
  return {
    engine,
    clock,
    random,
    log: options.log ?? silentLogger,
    redaction,
    policies: options.policies,
    flags,
    catalogue: options.catalogue ?? new KnownActions(engine, clock),
    tokens: options.tokens ?? new ApiTokens(engine, clock, onError),
    events: { feed, tenants, makeEvent, webhooks, delivery: createWebhookDelivery(shared) },
    pages: new SharedReads(clock),
    maxRetries: options.maxRetries,
    version: options.version,
  }
}

/** Features that an administrator can switch off (B12): what belongs to one is refused while it is off. */
export async function refuseUnlessOn({ flags }: Pick<Context, 'flags'>, name: FlagName): Promise<void> {
  await flags.look()
  if (flags.current()[name]) return
  throw new RequestError(
    'REPRISE_FEATURE_OFF',
    `The feature '${name}' is switched off. An administrator can switch it on.`,
  )
}
