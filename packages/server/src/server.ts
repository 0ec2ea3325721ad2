// The server in one piece: access, events, routes, metrics and what runs beside them, put together from options and started
// and stopped in order. What it serves from, the engine and the policies, is brought by the caller and stays theirs.

import {
  type CataloguedAction,
  type Clock,
  createRedactor,
  type Engine,
  type FeatureFlags,
  KnownActions,
  type Logger,
  type OutsideQueue,
  present,
  type Random,
  type RedactionOptions,
  resolveDefaults,
  type Service,
  type SettingDefaultOptions,
  silentLogger,
  systemClock,
  systemRandom,
  type TenantRules,
  turnsOf,
} from '@reprise/core'
import { createContext } from '@reprise/operations'
import { createSetbackWatch, scalingSignals } from '@reprise/orchestrator'
import type { Policies } from '@reprise/policies'
import {
  createRegistry,
  LoopWatch,
  type MetricsRegistry,
  type MonitoringThresholds,
  metricsText,
  requestObserver,
  storeGauges,
  tenantRefusals,
} from '@reprise/telemetry'
import { type AccessControl, type AccessOptions, openAccess } from './access/index.ts'
import { createApp } from './app.ts'
import { ConsoleFiles } from './console/console-files.ts'
import { createEvents } from './events/index.ts'
import type { RateLimitOptions } from './http/rate-limit.ts'
import { StorePatience } from './store-patience.ts'
import { TenantIntake } from './tenants/intake.ts'
import { TenantSlots } from './tenants/slots.ts'

export interface ServerOptions {
  readonly engine: Engine
  readonly policies: Policies
  readonly flags: FeatureFlags
  readonly version: string
  /** MAX_RETRIES: how many retries an operator may ask for. */
  readonly maxRetries: number
  /** How long a discard can be taken back; 7 days if not given. */
  readonly discardUndoMs?: number
  /** Where it listens; loopback if not given. */
  readonly host?: string
  /** 7440 if not given; 0 for any that is free. */
  readonly port?: number
  /** Where browsers and others reach it; where it listens if not given. */
  readonly publicUrl?: string
  readonly access?: Omit<AccessOptions, 'engine' | 'clock' | 'publicUrl' | 'host' | 'onError' | 'warn'>
  /** Actions that packs declare; those that workers have published are known as well. */
  readonly actions?: readonly CataloguedAction[]
  /** What holds where an action says nothing: time-out, queue TTL, backoff (C11). */
  readonly defaults?: SettingDefaultOptions
  /** Above which a figure of the monitoring is a warning, or critical; the usual ones for what is left out (C10). */
  readonly monitoringThresholds?: Partial<MonitoringThresholds>
  readonly maxBodyBytes?: number
  readonly rateLimit?: RateLimitOptions
  readonly redaction?: RedactionOptions
  /** By which tasks come in, and operators' retries of them go out. */
  readonly queue?: OutsideQueue
  /** How much each tenant may have, where the policies say nothing. */
  readonly tenantRules?: TenantRules
  /** Addresses of webhooks that may be called though they are not public. */
  readonly webhookAllow?: readonly string[]
  /** How long a request waits for a store that is away before it is refused with 503; 1.8 s if not given. */
  readonly storePatienceMs?: number
  /** The folder of the built console; without it, `/` only says what this is. */
  readonly console?: string
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Logger
  /** Where metrics are kept; a registry of its own if not given. */
  readonly metrics?: MetricsRegistry
}

export interface Server extends Service {
  /** Where it is reached. */
  url(): string
  readonly access: AccessControl
  /** How long requests held the event loop, for tests and for those who attack their own server. */
  readonly loop: Pick<LoopWatch, 'read' | 'forget'>
}

export const DEFAULT_HOST = '127.0.0.1'
export const DEFAULT_PORT = 7_440
/** A payload of the largest size, and a little more around it. */
export const DEFAULT_BODY_BYTES_MAX = 2 * 1_048_576
/** Generous: a limit for mistakes and floods, not for work. */
export const DEFAULT_RATE_LIMIT: RateLimitOptions = { perSecond: 1_000, burst: 5_000 }

/** What the gauges of scaling aim at. */
const TARGET_WAIT_MS = 10_000

export async function createServer(options: ServerOptions): Promise<Server> {
  const { policies, host = DEFAULT_HOST, port = DEFAULT_PORT, clock = systemClock } = options
  const engine = new StorePatience(options.engine, options.storePatienceMs).watched()
  const { log = silentLogger, random = systemRandom, metrics = createRegistry(), publicUrl } = options
  const onError = (error: unknown): void =>
    log.error('Something beside a request failed.', { error: error instanceof Error ? error.message : String(error) })
  // Known once it listens, if any free port will do.
  const url = (): string => publicUrl ?? `http://${authority(host, app.address()?.port ?? port)}`
  const warn = (message: string): void => log.warn(message)
  const access = await openAccess({
    ...options.access,
    engine,
    clock,
    publicUrl: publicUrl ?? url,
    host,
    onError,
    warn,
  })
  const loop = new LoopWatch({ metrics, log })
  loop.watchTurns(turnsOf(clock))
  const context = createContext({
    engine: loop.watched(engine),
    clock,
    random,
    log,
    redaction: createRedactor(options.redaction),
    policies,
    flags: options.flags,
    catalogue: new KnownActions(engine, clock, options.actions, resolveDefaults(options.defaults ?? {})),
    tokens: access.tokens,
    sessions: access.sessions,
    maxRetries: options.maxRetries,
    discardUndoMs: options.discardUndoMs,
    version: options.version,
    consoleUrl: () => (options.console === undefined ? null : url()),
    onError,
    ...present({ monitoringThresholds: options.monitoringThresholds, queue: options.queue }),
    ...(options.webhookAllow === undefined ? {} : { webhookAllow: options.webhookAllow }),
    ...(options.tenantRules === undefined ? {} : { tenantRules: options.tenantRules }),
  })
  const { tenantLimits: limits } = context
  const slots = new TenantSlots({ engine, limits, clock, random, log, onError })
  const intake = new TenantIntake({
    engine,
    clock,
    limits,
    slots,
    use: context.use,
    onRefused: tenantRefusals(metrics),
  })
  const events = createEvents(context, onError, intake)
  const { delivery, telling } = context.events
  const setbacks = createSetbackWatch({ engine, clock, log, random: options.random, actor: 'server' })
  const { monitoringThresholds: thresholds } = context
  storeGauges(engine, {
    metrics,
    clock,
    thresholds,
    scaling: (pools) => scalingSignals(engine, pools, { targetWaitMs: TARGET_WAIT_MS }),
  })
  const app = createApp({
    context,
    access,
    events,
    intake,
    console: consoleOf(options.console, access),
    host,
    port,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_BODY_BYTES_MAX,
    rateLimit: options.rateLimit ?? DEFAULT_RATE_LIMIT,
    url,
    isSecure: publicUrl?.startsWith('https:') ?? false,
    metricsText: () => metricsText(metrics),
    onAnswered: requestObserver({ metrics, log }),
    loop,
  })
  return {
    name: 'server',
    access,
    url,
    loop,
    start: async () => {
      loop.open()
      await app.start()
      for (const warning of access.warnings) log.warn(warning)
      await Promise.all([delivery.start(), telling.start(), slots.start(), setbacks.start()])
    },
    stop: async () => {
      // Streams have no end of their own: they are told to come back elsewhere.
      const services = [delivery, telling, slots, setbacks].map((service) => service.stop())
      await Promise.all([events.streams.close(), app.stop(), ...services])
      await access.close()
      loop.close()
    },
  }
}

const consoleOf = (folder: string | undefined, { signIn }: AccessControl): ConsoleFiles | null =>
  folder === undefined ? null : ConsoleFiles.read(folder, signIn === null ? 'link' : 'issuer')

/** An IPv6 address stands in brackets; one that means every address is reached by name. */
function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`
}
