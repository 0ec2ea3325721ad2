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
  InvalidError,
  type Logger,
  type PoolName,
  poolName,
  type Random,
  type RetentionRules,
  refuseUnknownKeys,
  systemClock,
  systemRandom,
  type WorkerId,
  workerId,
} from '@reprise/core'
import { type ActionRegistry, type AnyAction, actionRegistry } from './action-registry.ts'
import { consoleLogger } from './console-logger.ts'
import { guardedLogger, type WorkerHooks } from './hooks.ts'

export interface WorkerOptions extends WorkerHooks {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine: string | Engine
  readonly actions: readonly AnyAction[]
  /** The pools to claim from; those of the actions if not given. */
  readonly pools?: readonly string[]
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
  readonly log?: Logger
  /** Shown to operators: where this worker runs, and which version of the application. */
  readonly host?: string
  readonly version?: string
  readonly clock?: Clock
  readonly random?: Random
}

/** How long ended tasks and old entries are kept; for ever what is not named. Dead letters are never deleted. */
export interface RetentionOptions {
  readonly succeeded?: Duration
  readonly cancelled?: Duration
  readonly discarded?: Duration
  readonly journal?: Duration
  readonly series?: Duration
}

export interface WorkerConfiguration {
  readonly id: WorkerId
  readonly registry: ActionRegistry
  readonly actions: readonly ActionName[]
  readonly pools: readonly PoolName[]
  readonly concurrency: number
  readonly leaseMs: number
  readonly heartbeatMs: number
  readonly stopGraceMs: number
  readonly sweep: boolean
  readonly retention: RetentionRules | null
  readonly log: Logger
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
  concurrency: true,
  lease: true,
  heartbeat: true,
  stopGrace: true,
  id: true,
  sweep: true,
  retention: true,
  log: true,
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
  return {
    id: workerId(options.id ?? `${host.slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`),
    registry,
    actions: [...registry.keys()],
    pools: poolsOf(options),
    concurrency: checkedConcurrency(options.concurrency ?? CONCURRENCY_DEFAULT),
    leaseMs: leaseMs(options.lease ?? '15s'),
    heartbeatMs: heartbeatMs(options.heartbeat ?? '5s'),
    stopGraceMs: durationMs(options.stopGrace ?? '30s', 'stopGrace'),
    sweep: checkedFlag(options.sweep ?? true, 'sweep'),
    retention: options.retention === undefined ? null : retentionRules(options.retention),
    log: guardedLogger(options.log ?? consoleLogger({ level: 'warn' })),
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

function poolsOf({ pools, actions }: WorkerOptions): readonly PoolName[] {
  if (pools === undefined) return [...new Set(actions.map(({ pool }) => pool))]
  if (pools.length === 0) throw new InvalidError('pools is empty. Name at least one, or leave it out.')
  return [...new Set(pools.map(poolName))]
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

function retentionRules(options: RetentionOptions): RetentionRules {
  refuseUnknownKeys(options, ['succeeded', 'cancelled', 'discarded', 'journal', 'series'], 'retention rule')
  return Object.fromEntries(
    Object.entries(options).map(([what, value]: [string, Duration]) => [
      `${what}Ms`,
      durationMs(value, `retention of ${what}`),
    ]),
  )
}
