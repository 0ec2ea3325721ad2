// What createWorker takes, and the complete, checked, read-only configuration it becomes. Defaults are resolved here,
// once; everything behind deals with whole numbers of milliseconds and checked names.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type ActionName,
  type Clock,
  checkedName,
  type Duration,
  durationMs,
  type Engine,
  InvalidError,
  type Logger,
  type PoolName,
  poolName,
  type Random,
  type RetentionRules,
  silentLogger,
  systemClock,
  systemRandom,
  type WorkerId,
  workerId,
} from '@reprise/core'
import { type ActionRegistry, type AnyAction, actionRegistry } from './action-registry.ts'
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
  readonly retention?: RetentionRules
  readonly log?: Logger
  /** Shown to operators: where this worker runs, and which version of the application. */
  readonly host?: string
  readonly version?: string
  readonly clock?: Clock
  readonly random?: Random
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
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(KNOWN, key)) {
      throw new InvalidError(
        `There is no worker option '${key.slice(0, 40)}'. Known are: ${Object.keys(KNOWN).join(', ')}.`,
      )
    }
  }
  const registry = actionRegistry(options.actions)
  const host = checkedName('host', options.host ?? hostname())
  const { onSettled, onFailed, onError } = options
  return {
    id: workerId(options.id ?? `${host.slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`),
    registry,
    actions: [...registry.keys()],
    pools: poolsOf(options),
    concurrency: checkedConcurrency(options.concurrency ?? CONCURRENCY_DEFAULT),
    leaseMs: atLeast(durationMs(options.lease ?? '15s', 'lease'), LEASE_MS_MIN, 'lease'),
    heartbeatMs: atLeast(durationMs(options.heartbeat ?? '5s', 'heartbeat'), 100, 'heartbeat'),
    stopGraceMs: durationMs(options.stopGrace ?? '30s', 'stopGrace'),
    sweep: options.sweep ?? true,
    retention: options.retention ?? null,
    log: guardedLogger(options.log ?? silentLogger),
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
