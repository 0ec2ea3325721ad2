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
  type Random,
  type RedactionOptions,
  type Service,
  silentLogger,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { createContext } from '@reprise/operations'
import type { Policies } from '@reprise/policies'
import { createRegistry, type MetricsRegistry, metricsText, requestObserver, storeGauges } from '@reprise/telemetry'
import { type AccessControl, type AccessOptions, openAccess } from './access/index.ts'
import { createApp } from './app.ts'
import { createEvents } from './events/index.ts'
import type { RateLimitOptions } from './http/rate-limit.ts'

export interface ServerOptions {
  readonly engine: Engine
  readonly policies: Policies
  readonly flags: FeatureFlags
  readonly version: string
  /** MAX_RETRIES: how many retries an operator may ask for. */
  readonly maxRetries: number
  /** Where it listens; loopback if not given. */
  readonly host?: string
  /** 7440 if not given; 0 for any that is free. */
  readonly port?: number
  /** Where browsers and others reach it; where it listens if not given. */
  readonly publicUrl?: string
  readonly access?: Omit<AccessOptions, 'engine' | 'clock' | 'publicUrl' | 'onError'>
  /** Actions that packs declare; those that workers have published are known as well. */
  readonly actions?: readonly CataloguedAction[]
  readonly bodyBytesMax?: number
  readonly rateLimit?: RateLimitOptions
  readonly redaction?: RedactionOptions
  /** Addresses of webhooks that may be called though they are not public. */
  readonly webhookAllow?: readonly string[]
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
}

export const DEFAULT_HOST = '127.0.0.1'
export const DEFAULT_PORT = 7_440
/** A payload of the largest size, and a little more around it. */
export const DEFAULT_BODY_BYTES_MAX = 2 * 1_048_576
/** Generous: a limit for mistakes and floods, not for work. */
export const DEFAULT_RATE_LIMIT: RateLimitOptions = { perSecond: 1_000, burst: 5_000 }

export async function createServer(options: ServerOptions): Promise<Server> {
  const { engine, policies, host = DEFAULT_HOST, port = DEFAULT_PORT, clock = systemClock } = options
  const { log = silentLogger, random = systemRandom, metrics = createRegistry(), publicUrl } = options
  const onError = (error: unknown): void =>
    log.error('Something beside a request failed.', { error: error instanceof Error ? error.message : String(error) })
  // Known once it listens, if any free port will do.
  const url = (): string => publicUrl ?? `http://${authority(host, app.address()?.port ?? port)}`
  const access = await openAccess({ ...options.access, engine, clock, publicUrl: publicUrl ?? url, onError })
  const context = createContext({
    engine,
    clock,
    random,
    log,
    redaction: createRedactor(options.redaction),
    policies,
    flags: options.flags,
    catalogue: new KnownActions(engine, clock, options.actions),
    tokens: access.tokens,
    maxRetries: options.maxRetries,
    version: options.version,
    onError,
    ...(options.webhookAllow === undefined ? {} : { webhookAllow: options.webhookAllow }),
  })
  const events = createEvents(context, onError)
  const { delivery } = context.events
  storeGauges(engine, { metrics, clock })
  const app = createApp({
    context,
    access,
    events,
    host,
    port,
    bodyBytesMax: options.bodyBytesMax ?? DEFAULT_BODY_BYTES_MAX,
    rateLimit: options.rateLimit ?? DEFAULT_RATE_LIMIT,
    isSecure: publicUrl?.startsWith('https:') ?? false,
    metricsText: () => metricsText(metrics),
    onAnswered: requestObserver({ metrics, log }),
  })
  return {
    name: 'server',
    access,
    url,
    start: async () => {
      await app.start()
      for (const warning of access.warnings) log.warn(warning)
      await delivery.start()
    },
    stop: async () => {
      // Streams have no end of their own: they are told to come back elsewhere.
      await Promise.all([events.streams.close(), app.stop(), delivery.stop()])
      await access.close()
    },
  }
}

/** An IPv6 address stands in brackets; one that means every address is reached by name. */
function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`
}
