// The options of a launch pool's two services, checked and completed once. The launch service and the reconciliation of one
// pool are given the same options, and each uses its part.

import {
  type Backoff,
  check,
  DEFAULT_MAX_RETRIES,
  type Engine,
  type Launcher,
  type PolicySource,
  present,
  refuseNoEngine,
  withoutPolicies,
} from '@reprise/core'
import { LaunchLedger } from './launch-ledger.ts'
import { type ServiceOptions, surroundings } from './service.ts'
import { backoff, SERVICE_CHECKS } from './service-checks.ts'

/** Moments at which a test may let the process crash. */
export type LaunchPoint = 'reserved' | 'launched' | 'noted'
export type AtLaunchPoint = (point: LaunchPoint, key: string) => void | Promise<void>

export interface LaunchOptions extends ServiceOptions {
  readonly engine: Engine
  readonly launcher: Launcher
  /** The pool and its slots, shared by the two services: what this process launched in it. */
  readonly ledger: LaunchLedger
  readonly policies?: PolicySource | undefined
  /** MAX_RETRIES (A14): a message for an attempt above `maxRetries + 1` is dropped, whatever it says (A6); 1 if not given. */
  readonly maxRetries?: number
  /** 15 s if not given. */
  readonly leaseMs?: number
  /** How long a task is put off whose launch failed, by how often that happened. */
  readonly backoff?: Backoff
  /** How many launches of one attempt may fail before the attempt does; 10 if not given. */
  readonly maxLaunchFailures?: number
  /** How long a worker that must end may take; 5 s if not given. */
  readonly endGraceMs?: number
  /** The system-wide monotonic clock, in ms. */
  readonly systemMonotonic?: () => number
  /** For tests that crash the process. */
  readonly at?: AtLaunchPoint
  /** How often all launches are looked at; 1 s if not given. */
  readonly intervalMs?: number
  /** How long other processes get to renew after a pause, a clock jump or trouble with the store; 5 s if not given. */
  readonly graceMs?: number
  /** Unique among all workers of the store, or left out. */
  readonly id?: string
}

/** The same, complete. */
export type LaunchSettings = {
  readonly [Key in Exclude<keyof LaunchOptions, 'id'>]-?: NonNullable<LaunchOptions[Key]>
}

const DEFAULTS = {
  policies: withoutPolicies,
  maxRetries: DEFAULT_MAX_RETRIES,
  leaseMs: 15_000,
  backoff: { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 60_000, jitter: 0.2 },
  maxLaunchFailures: 10,
  endGraceMs: 5_000,
  // Every process of this machine reads it alike: what an order says it is void by.
  systemMonotonic: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  at: () => undefined,
  intervalMs: 1_000,
  graceMs: 5_000,
} as const satisfies Partial<LaunchOptions>

/** Those that an orchestrator passes on. */
export const LAUNCH_CHECKS = {
  leaseMs: check.ms,
  backoff,
  maxLaunchFailures: check.whole(1),
  endGraceMs: check.msFrom0,
  systemMonotonic: check.func,
  at: check.func,
  intervalMs: check.ms,
  graceMs: check.msFrom0,
} as const

export const isLauncher = check.having('launch', 'look', 'end', 'forget')

const CHECKS: check.Table<LaunchOptions> = {
  ...SERVICE_CHECKS,
  ...LAUNCH_CHECKS,
  launcher: isLauncher,
  maxRetries: check.whole(0),
  ledger: (value) => (value instanceof LaunchLedger ? null : 'a LaunchLedger'),
  id: check.text,
}

/** `service` is how the log calls it, `maker` the function that was called. */
export function launchSettings(options: LaunchOptions, service: string, maker: string): LaunchSettings {
  check.options(options, CHECKS, 'launch option', ['launcher', 'ledger'])
  refuseNoEngine(options.engine, 'launches', maker)
  const { engine, launcher, ledger } = options
  return { ...DEFAULTS, ...present(options), engine, launcher, ledger, ...surroundings(service, options) }
}
