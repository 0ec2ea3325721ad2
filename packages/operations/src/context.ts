// What operations work with: made once, by a server when it starts, or for a local caller who has the store itself.

import {
  type Clock,
  CompletionWishes,
  type Engine,
  type FeatureFlags,
  type FlagName,
  KnownActions,
  type Logger,
  type OutsideQueue,
  present,
  type Random,
  RequestError,
  silentLogger,
  systemClock,
  systemRandom,
  type TenantRules,
} from '@reprise/core'
import { AddressPolicy, type Resolve } from '@reprise/launchers'
import type { Policies } from '@reprise/policies'
import { MONITORING_THRESHOLDS, type MonitoringThresholds } from '@reprise/telemetry'
import type { z } from 'zod'
import { ApiTokens } from './access/api-tokens.ts'
import { Sessions } from './access/sessions.ts'
import { type ChannelDelivery, createChannelDelivery } from './channels/channel-delivery.ts'
import { Channels } from './channels/channels.ts'
import { EntryTenants, eventMaker, type MakeEvent } from './events/event.ts'
import { EventFeed } from './events/feed.ts'
import { createWebhookDelivery, type WebhookDelivery } from './events/webhook-delivery.ts'
import { Webhooks } from './events/webhooks.ts'
import { LaneRoom } from './lane-room.ts'
import type { Written } from './operation.ts'
import { AtOnce, type AtOnceBounds, type PlaceBounds, Places } from './places.ts'
import type { TaskPage } from './schemas/task.ts'
import { SharedReads } from './shared-reads.ts'
import { TenantLimitBook } from './tenant-limits.ts'
import { TenantUse } from './tenant-use.ts'
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
  /** Which submitted tasks webhooks want to hear the end of. */
  readonly wishes: CompletionWishes
  readonly tokens: ApiTokens
  readonly sessions: Sessions
  readonly events: EventsOut
  /** Pages that several callers ask for at the same moment. */
  readonly pages: SharedReads<Written<z.output<typeof TaskPage>>>
  /** Searches read and write much: a few run at once. */
  readonly searches: AtOnce
  /** Tasks and attempts with a long payload or result: a few are read, redacted and written at once. */
  readonly largeValues: AtOnce
  /** Pages of results and patched payloads, and new redrives and jobs, which read all that their makers have: fewer still. */
  readonly largePages: AtOnce
  /** Lanes and settings that submissions may make. */
  readonly room: LaneRoom
  /** Requests that wait for something to happen. */
  readonly waits: Places
  /** By which tasks come in, and their retries go out; null if there is none. */
  readonly queue: OutsideQueue | null
  /** MAX_RETRIES: how many retries an operator may ask for (A9). */
  readonly maxRetries: number
  /** How long a discard can be taken back. */
  readonly discardUndoMs: number
  readonly version: string
  /** Above which a figure of the monitoring is a warning, or critical. */
  readonly monitoringThresholds: MonitoringThresholds
  readonly tenantLimits: TenantLimitBook
  /** What tenants have of that. */
  readonly use: TenantUse
}

/** What leaves the store as events: read, followed, or sent to webhooks. */
export interface EventsOut {
  readonly feed: EventFeed
  readonly tenants: EntryTenants
  readonly makeEvent: MakeEvent
  readonly webhooks: Webhooks
  readonly delivery: WebhookDelivery
  readonly channels: Channels
  /** Tells channels of alerts. */
  readonly telling: ChannelDelivery
}

const SEARCHES: AtOnceBounds = {
  running: { all: 8, perCaller: 4, perTenant: 4, kept: 2 },
  waiting: { all: 1_000, perCaller: 200, perTenant: 200, kept: 200 },
}

/** Those who wait take no memory: nothing was read for them. */
const LARGE_VALUES: AtOnceBounds = {
  running: { all: 6, perCaller: 2, perTenant: 2, kept: 2 },
  waiting: { all: 5_000, perCaller: 1_000, perTenant: 1_000, kept: 1_000 },
}

const LARGE_PAGES: AtOnceBounds = {
  running: { all: 3, perCaller: 1, perTenant: 1, kept: 1 },
  waiting: { all: 500, perCaller: 50, perTenant: 50, kept: 100 },
}

const DISCARD_UNDO_MS = 7 * 86_400_000

const WAITS: PlaceBounds = { all: 5_000, perCaller: 1_000, perTenant: 500, kept: 1_000 }

export interface ContextOptions {
  readonly engine: Engine
  readonly policies: Policies
  readonly flags: FeatureFlags
  readonly maxRetries: number
  readonly version: string
  readonly queue?: OutsideQueue | null
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Logger
  /** Shows everything if missing. */
  readonly redaction?: Redaction
  readonly catalogue?: KnownActions
  readonly tokens?: ApiTokens
  readonly sessions?: Sessions
  /** Addresses of webhooks that may be called though they are not public: '127.0.0.1:9000', '10.0.0.0/8', 'hooks.internal'. */
  readonly webhookAllow?: readonly string[]
  readonly resolve?: Resolve
  /** Where the console is, for links in alerts; null if that is not known. */
  readonly consoleUrl?: () => string | null
  /** More certificates to trust, of those that alerts are told to. */
  readonly channelCa?: string
  /** How much each tenant may have, where the policies say nothing. */
  readonly tenantRules?: TenantRules
  /** Those that are not the usual ones (C10). */
  readonly monitoringThresholds?: Partial<MonitoringThresholds>
  /** How long a discard can be taken back; 7 days if missing. */
  readonly discardUndoMs?: number | undefined
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
  const webhooks = new Webhooks({ engine, feed, tenants, policy, clock })
  const channels = new Channels({ engine, feed, policy, clock })
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
    wishes: new CompletionWishes(engine, clock),
    tokens: options.tokens ?? new ApiTokens(engine, clock, onError),
    sessions: options.sessions ?? new Sessions(engine, clock),
    events: {
      feed,
      tenants,
      makeEvent,
      webhooks,
      delivery: createWebhookDelivery(shared),
      channels,
      telling: createChannelDelivery({
        ...shared,
        channels,
        ...present({ consoleUrl: options.consoleUrl, ca: options.channelCa }),
      }),
    },
    pages: new SharedReads(clock),
    searches: new AtOnce('searches', SEARCHES),
    largeValues: new AtOnce('looks at large values', LARGE_VALUES),
    largePages: new AtOnce('pages of large values', LARGE_PAGES),
    room: new LaneRoom(engine, clock),
    waits: new Places('waiting requests', WAITS),
    queue: options.queue ?? null,
    maxRetries: options.maxRetries,
    discardUndoMs: options.discardUndoMs ?? DISCARD_UNDO_MS,
    version: options.version,
    monitoringThresholds: { ...MONITORING_THRESHOLDS, ...options.monitoringThresholds },
    tenantLimits: new TenantLimitBook(options.policies, options.tenantRules),
    use: new TenantUse(engine, clock),
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
