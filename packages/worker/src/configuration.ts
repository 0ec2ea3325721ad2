// What createWorker takes, and the complete, checked, read-only configuration it becomes. Defaults are resolved here,
// once; everything behind deals with whole numbers of milliseconds and checked names.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type Clock,
  check,
  checkedName,
  DEFAULT_HEALTH_THRESHOLDS,
  DURATION_MS_MAX,
  type Duration,
  durationMs,
  type Engine,
  type Fetch,
  guardedLogger,
  InvalidError,
  type Logger,
  type PolicySource,
  poolName,
  present,
  type Random,
  type RetentionOptions,
  retentionRules,
  type ServerOptions,
  systemClock,
  systemRandom,
  type TokenSource,
  workerId,
} from '@reprise/core'
import type { HealthAddress } from '@reprise/orchestrator'
import { type AnyAction, actionRegistry } from './action-registry.ts'
import { applicationFolders, applicationVersion } from './application-version.ts'
import { givenPolicies } from './applied-policies.ts'
import { consoleLogger } from './console-logger.ts'
import type { WorkerHooks } from './hooks.ts'

export interface WorkerOptions extends WorkerHooks {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine?: string | Engine
  /** In place of `engine`: a server, as 'https://reprise.example.com'. It judges failures, and sweeps. */
  readonly url?: string
  /** For `url`: an API token with the scope `work`; a function if it has to be renewed. */
  readonly token?: TokenSource
  /** For `url`: sent with every request, for what stands in front of the server. */
  readonly headers?: Readonly<Record<string, string>>
  /** For `url`: in place of the global fetch. */
  readonly fetch?: Fetch
  readonly actions: readonly AnyAction[]
  /** The pools to claim from; those of the actions, without the directed ones, if not given. */
  readonly pools?: readonly string[]
  /** Pools of which this worker takes only what a dispatcher assigns to it; none if not given. */
  readonly directedPools?: readonly string[]
  /** How many executions at once; 10 if not given. */
  readonly concurrency?: number
  /** How long the store waits for a silent worker before it gives its executions to another; 15 s if not given. */
  readonly lease?: Duration
  readonly heartbeat?: Duration
  /** How long stop() waits for running handlers; 30 s if not given. */
  readonly stopGrace?: Duration
  /** Unique among all workers of the store, or left out. */
  readonly id?: string
  /** Whether this process also runs the sweep; true if not given. At least one process must. */
  readonly sweep?: boolean
  /** How long ended tasks are kept; the sweep of this process deletes older ones. */
  readonly retention?: RetentionOptions
  /** What to do with failures, beyond what the actions say; the policies of the store, as they change, if not given. */
  readonly policies?: PolicySource
  /** Serves /healthz here, for probes. */
  readonly health?: HealthOptions
  /** Where this worker can be asked whether it is well; the address of its /healthz, if it serves one, if not given. */
  readonly endpoint?: string
  /** For the worker and its handlers; without one, handlers write to standard error from `info` on, the worker from `warn` on. */
  readonly log?: Logger
  /** Whether failed attempts are logged here; true if not given. Off where an observer of the engine logs them. */
  readonly logFailures?: boolean
  /** Shown to operators, and kept with each attempt: where this worker runs. The name of the host if not given. */
  readonly host?: string
  /** The version of your application, likewise; that of the nearest package.json if not given. */
  readonly version?: string
  readonly clock?: Clock
  readonly random?: Random
}

export interface HealthOptions {
  /** Any that is free if not given. */
  readonly port?: number
  /**
   * The address it listens on; 127.0.0.1 if not given, because the endpoint asks nobody who they are. Probes then work
   * only from the same host. With '0.0.0.0' or '::' it is announced under the worker's `host`, which must resolve there.
   */
  readonly host?: string
}

/** Often enough that the store never takes a live worker for a silent one. */
const HEARTBEAT_MS_MAX = DEFAULT_HEALTH_THRESHOLDS.heartbeatStaleMs / 2

const CHECKS: check.Table<WorkerOptions> = {
  engine: check.anything,
  actions: check.anything,
  url: check.anything,
  token: check.anything,
  headers: check.anything,
  fetch: check.func,
  pools: check.list,
  directedPools: check.list,
  concurrency: check.whole(1, 10_000),
  lease: check.duration(1_000, 3_600_000),
  heartbeat: check.duration(100, HEARTBEAT_MS_MAX),
  stopGrace: check.duration(0, DURATION_MS_MAX),
  id: check.anything,
  sweep: check.flag,
  retention: check.anything,
  policies: check.having('current'),
  health: check.within({ port: check.whole(0, 65_535), host: check.anything }, 'health option'),
  endpoint: refuseEndpoint,
  log: check.having('debug', 'info', 'warn', 'error'),
  logFailures: check.flag,
  host: check.anything,
  version: check.anything,
  clock: check.having('now', 'monotonic', 'after'),
  random: check.having('next'),
  onSettled: check.func,
  onFailed: check.func,
  onError: check.func,
}

/** Where nothing tells the version of the application. */
export const UNKNOWN_VERSION = 'unknown'

export type WorkerConfiguration = Readonly<ReturnType<typeof workerConfiguration>>

export function workerConfiguration(options: WorkerOptions) {
  check.options(options, CHECKS, 'worker option')
  const registry = actionRegistry(options.actions)
  const host = checkedName('host', options.host ?? hostname())
  const { onSettled, onFailed, onError } = options
  const log = guardedLogger(options.log ?? consoleLogger({ level: 'warn' }))
  // What handlers say is meant to be read, and why an attempt failed, also where the worker says little of itself.
  const handlerLog = options.log === undefined ? guardedLogger(consoleLogger()) : log
  return {
    id: workerId(options.id ?? `${host.slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`),
    registry,
    server: serverOf(options),
    actions: [...registry.keys()],
    ...poolsOf(options),
    concurrency: options.concurrency ?? 10,
    leaseMs: durationMs(options.lease ?? '15s'),
    heartbeatMs: durationMs(options.heartbeat ?? '5s'),
    stopGraceMs: durationMs(options.stopGrace ?? '30s'),
    sweep: options.sweep ?? options.url === undefined,
    retention: options.retention === undefined ? null : retentionRules(options.retention),
    /** Null: those of the store. */
    policies: options.policies === undefined ? null : givenPolicies(options.policies, log),
    health: options.health === undefined ? null : healthAddress(options.health),
    endpoint: options.endpoint ?? null,
    log,
    handlerLog,
    logFailures: options.logFailures ?? true,
    host,
    version: checkedName('version', options.version ?? applicationVersion(applicationFolders()) ?? UNKNOWN_VERSION),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    hooks: present({ onSettled, onFailed, onError }) as WorkerHooks,
  }
}

/** What only somebody with the store itself can do. */
const ENGINE_ONLY = ['sweep', 'retention', 'policies', 'endpoint'] as const satisfies (keyof WorkerOptions)[]
const SERVER_ONLY = ['token', 'headers', 'fetch'] as const satisfies (keyof WorkerOptions)[]

/** Null for a worker on an engine. */
function serverOf(options: WorkerOptions): ServerOptions | null {
  const { url, token, headers, fetch, clock, random } = options
  const isHttp = url !== undefined
  if (isHttp === (options.engine !== undefined)) {
    throw new InvalidError('A worker needs either an engine or the url of a server, and not both.')
  }
  const wrong = (isHttp ? ENGINE_ONLY : SERVER_ONLY).find(
    (name) => options[name] !== undefined && options[name] !== false,
  )
  if (wrong !== undefined) {
    throw new InvalidError(
      isHttp
        ? `The option ${wrong} needs an engine. With url, the server does that.`
        : `The option ${wrong} is for a worker with the url of a server.`,
    )
  }
  return isHttp ? { url, ...present({ token, headers, fetch, clock, random }) } : null
}

/**
 * `pools` are claimed from. With none of them, a claim collects what was assigned and nothing else. `directedPools` are
 * registered for besides those, so that dispatchers find this worker.
 */
function poolsOf(options: WorkerOptions) {
  const directed = new Set((options.directedPools ?? []).map(poolName))
  if (options.pools === undefined) {
    const pools = new Set(options.actions.map(({ pool }) => pool)).difference(directed)
    return { pools: [...pools], directedPools: [...directed] }
  }
  const pools = new Set(options.pools.map(poolName))
  if (pools.size === 0 && directed.size === 0) {
    throw new InvalidError('pools is empty. Name at least one, or leave it out.')
  }
  const [both] = pools.intersection(directed)
  if (both !== undefined) {
    throw new InvalidError(
      `Pool '${both}' is named in pools and in directedPools: a worker that claims from a pool takes what a dispatcher would give to another. Name it in one of them.`,
    )
  }
  return { pools: [...pools], directedPools: [...directed] }
}

function healthAddress({ port = 0, host = '127.0.0.1' }: HealthOptions): HealthAddress {
  return { port, host: checkedName('host of health', host) }
}

/** The text itself is kept out of the message: an address may hold a password. */
function refuseEndpoint(value: unknown): null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidError('The endpoint must be an http or https address, such as http://10.0.0.7:9320/healthz.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidError('The endpoint is shown to operators: it must not hold a user or a password.')
  }
  return null
}
