// What createWorker takes, and the complete, checked, read-only configuration it becomes. Defaults are resolved here,
// once; everything behind deals with whole numbers of milliseconds and checked names.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type ActionName,
  type Clock,
  checkedName,
  DEFAULT_HEALTH_THRESHOLDS,
  type Duration,
  durationMs,
  type Engine,
  guardedLogger,
  InvalidError,
  type Logger,
  type PolicySource,
  type PoolName,
  poolName,
  type Random,
  type RetentionOptions,
  type RetentionRules,
  refuseUnknownKeys,
  retentionRules,
  systemClock,
  systemRandom,
  type WorkerId,
  withoutPolicies,
  workerId,
} from '@reprise/core'
import { type ActionRegistry, type AnyAction, actionRegistry } from './action-registry.ts'
import { consoleLogger } from './console-logger.ts'
import type { HealthAddress } from './health-endpoint.ts'
import { guardedPolicies, type WorkerHooks } from './hooks.ts'

export interface WorkerOptions extends WorkerHooks {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine: string | Engine
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
  /** What to do with failures, beyond what the actions say; nothing beyond if not given. */
  readonly policies?: PolicySource
  /** Serves /healthz here, for probes. */
  readonly health?: HealthOptions
  /** Where this worker can be asked whether it is well; the address of its /healthz, if it serves one, if not given. */
  readonly endpoint?: string
  readonly log?: Logger
  /** Whether failed attempts are logged here; true if not given. Off where an observer of the engine logs them. */
  readonly logFailures?: boolean
  /** Shown to operators: where this worker runs, and which version of the application. */
  readonly host?: string
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

export interface WorkerConfiguration {
  readonly id: WorkerId
  readonly registry: ActionRegistry
  readonly actions: readonly ActionName[]
  /** Claimed from. With none of them, a claim collects what was assigned and nothing else. */
  readonly pools: readonly PoolName[]
  /** Registered for, besides those, so that dispatchers find this worker. */
  readonly directedPools: readonly PoolName[]
  readonly concurrency: number
  readonly leaseMs: number
  readonly heartbeatMs: number
  readonly stopGraceMs: number
  readonly sweep: boolean
  readonly retention: RetentionRules | null
  readonly policies: PolicySource
  readonly health: HealthAddress | null
  readonly endpoint: string | null
  readonly log: Logger
  readonly logFailures: boolean
  readonly host: string
  readonly version: string
  readonly clock: Clock
  readonly random: Random
  readonly hooks: WorkerHooks
}

const CONCURRENCY_DEFAULT = 10
const CONCURRENCY_MAX = 10_000
const LEASE_MS_MIN = 1_000

// Typed so that a new option can't be forgotten here.
const KNOWN: Readonly<Record<keyof WorkerOptions, true>> = {
  engine: true,
  actions: true,
  pools: true,
  directedPools: true,
  concurrency: true,
  lease: true,
  heartbeat: true,
  stopGrace: true,
  id: true,
  sweep: true,
  retention: true,
  policies: true,
  health: true,
  endpoint: true,
  log: true,
  logFailures: true,
  host: true,
  version: true,
  clock: true,
  random: true,
  onSettled: true,
  onFailed: true,
  onError: true,
}

export function workerConfiguration(options: WorkerOptions): WorkerConfiguration {
  refuseUnknownKeys(options, Object.keys(KNOWN), 'worker option')
  const registry = actionRegistry(options.actions)
  const host = checkedName('host', options.host ?? hostname())
  const { onSettled, onFailed, onError } = options
  const log = guardedLogger(options.log ?? consoleLogger({ level: 'warn' }))
  return {
    id: workerId(options.id ?? `${host.slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`),
    registry,
    actions: [...registry.keys()],
    ...poolsOf(options),
    concurrency: checkedConcurrency(options.concurrency ?? CONCURRENCY_DEFAULT),
    leaseMs: leaseMs(options.lease ?? '15s'),
    heartbeatMs: heartbeatMs(options.heartbeat ?? '5s'),
    stopGraceMs: durationMs(options.stopGrace ?? '30s', 'stopGrace'),
    sweep: checkedFlag(options.sweep ?? true, 'sweep'),
    retention: options.retention === undefined ? null : retentionRules(options.retention),
    policies: guardedPolicies(checkedPolicies(options.policies), log),
    health: options.health === undefined ? null : healthAddress(options.health),
    endpoint: options.endpoint === undefined ? null : checkedEndpoint(options.endpoint),
    log,
    logFailures: checkedFlag(options.logFailures ?? true, 'logFailures'),
    host,
    version: checkedName('version', options.version ?? 'unknown'),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    hooks: {
      ...(onSettled === undefined ? {} : { onSettled }),
      ...(onFailed === undefined ? {} : { onFailed }),
      ...(onError === undefined ? {} : { onError }),
    },
  }
}

function poolsOf(options: WorkerOptions): Pick<WorkerConfiguration, 'pools' | 'directedPools'> {
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

function checkedConcurrency(value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > CONCURRENCY_MAX) {
    throw new InvalidError(`concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}, not ${value}.`)
  }
  return value
}

function atLeast(ms: number, msMin: number, what: string): number {
  if (ms < msMin) throw new InvalidError(`The ${what} must be at least ${msMin} ms, not ${ms}.`)
  return ms
}

/** Often enough that the store never takes a live worker for a silent one. */
const HEARTBEAT_MS_MAX = DEFAULT_HEALTH_THRESHOLDS.heartbeatStaleMs / 2

function heartbeatMs(value: Duration): number {
  const ms = atLeast(durationMs(value, 'heartbeat'), 100, 'heartbeat')
  if (ms > HEARTBEAT_MS_MAX) throw new InvalidError(`The heartbeat must be at most ${HEARTBEAT_MS_MAX} ms, not ${ms}.`)
  return ms
}

const LEASE_MS_MAX = 3_600_000

function leaseMs(value: Duration): number {
  const ms = atLeast(durationMs(value, 'lease'), LEASE_MS_MIN, 'lease')
  if (ms > LEASE_MS_MAX) throw new InvalidError(`The lease must be at most ${LEASE_MS_MAX} ms, not ${ms}.`)
  return ms
}

function checkedFlag(value: boolean, what: string): boolean {
  if (typeof value !== 'boolean') throw new InvalidError(`${what} must be true or false, not ${typeof value}.`)
  return value
}

function checkedPolicies(source: PolicySource = withoutPolicies): PolicySource {
  if (typeof source !== 'object' || source === null || typeof source.current !== 'function') {
    throw new InvalidError('policies is a source of policies, with a function current().')
  }
  return source
}

const PORT_MAX = 65_535

function healthAddress(options: HealthOptions): HealthAddress {
  refuseUnknownKeys(options, ['port', 'host'], 'health option')
  const port = options.port ?? 0
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw new InvalidError(`The port of health must be a whole number from 0 to ${PORT_MAX}, not ${port}.`)
  }
  return { port, host: checkedName('host of health', options.host ?? '127.0.0.1') }
}

function checkedEndpoint(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  // The text itself is kept out of the message: an address may hold a password.
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidError('The endpoint must be an http or https address, such as http://10.0.0.7:9320/healthz.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidError('The endpoint is shown to operators: it must not hold a user or a password.')
  }
  return value
}
