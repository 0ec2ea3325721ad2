// The dispatcher of directed pools: goes round as long as there is work, waits for more, and keeps itself known to the
// store. Any number may run side by side: each claims what it hands over. Store errors never end it.

import {
  BATCH_MAX,
  type Backoff,
  type Engine,
  InvalidError,
  type Meter,
  type PoolName,
  poolName,
  quietly,
  refuseNoEngine,
  type Service,
  silentMeter,
} from '@reprise/core'
import { Claimant, serviceId } from './claimant.ts'
import { type DispatchRound, dispatchOnce } from './dispatch-once.ts'
import { backoff, type Checks, checkOptions, list, ms, msFrom0, SERVICE_CHECKS, text, whole } from './option-checks.ts'
import { RecentAssignments } from './recent-assignments.ts'
import { createLoop, type ServiceOptions, type Surroundings, surroundings } from './service.ts'

export interface DispatchOptions extends ServiceOptions {
  readonly engine: Engine
  /** The directed pools. */
  readonly pools: readonly string[]
  readonly meter?: Meter | undefined
  /** How often a stale pick is followed by another one before the task is put off; 3 if not given (D2). */
  readonly maxDispatchRetries?: number
  /** At most so long before each of those; none if not given. */
  readonly repickJitterMs?: number
  /** How long a task may lie in a worker's inbox; 30 s if not given. */
  readonly inboxTtlMs?: number
  /** How long a dispatcher may take to find a worker; 15 s if not given. */
  readonly leaseMs?: number
  /** How long a task is put off for which no worker was found, by how often that happened. */
  readonly backoff?: Backoff
  /** Unique among all workers of the store, or left out. */
  readonly id?: string
}

export const MAX_DISPATCH_RETRIES = 3
const INBOX_TTL_MS = 30_000
const LEASE_MS = 15_000
const BATCH = 200
const OUTER_BACKOFF: Backoff = { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 30_000, jitter: 0.2 }

type RoundSettings = Omit<DispatchRound, 'worker' | 'epoch' | 'recent' | 'signal'>

/** Those that an orchestrator passes on. */
export const DISPATCH_CHECKS = {
  maxDispatchRetries: whole(0, 100),
  repickJitterMs: msFrom0,
  inboxTtlMs: ms,
  leaseMs: ms,
  backoff,
} as const
const CHECKS: Checks<DispatchOptions> = {
  ...SERVICE_CHECKS,
  ...DISPATCH_CHECKS,
  pools: list,
  id: text,
}

export function createDispatch(options: DispatchOptions): Service {
  checkOptions(options, CHECKS, 'dispatch option', ['pools'])
  refuseNoEngine(options.engine, 'claim', 'createDispatch')
  const around = surroundings('dispatcher', options)
  const settings = roundSettings(options, around)
  const worker = serviceId('dispatcher', options.id)
  return createLoop('dispatch', around, () => {
    const claimant = new Claimant(worker, settings)
    const recent = new RecentAssignments(settings.clock)
    const { pools, limit } = settings
    return {
      round: (signal) =>
        claimant.round(
          pools,
          async (epoch) => {
            const { claim } = await dispatchOnce({ ...settings, worker, epoch, recent, signal })
            return { result: claim, limit }
          },
          signal,
        ),
      leave: () => claimant.leave(),
    }
  })
}

function roundSettings(options: DispatchOptions, around: Surroundings): RoundSettings {
  return {
    engine: options.engine,
    clock: around.clock,
    random: around.random,
    log: around.log,
    meter: guardedMeter(options.meter ?? silentMeter, around.onError),
    pools: directedPools(options.pools),
    limit: Math.min(BATCH, BATCH_MAX),
    leaseMs: options.leaseMs ?? LEASE_MS,
    inboxTtlMs: options.inboxTtlMs ?? INBOX_TTL_MS,
    maxDispatchRetries: options.maxDispatchRetries ?? MAX_DISPATCH_RETRIES,
    jitterMs: options.repickJitterMs ?? 0,
    backoff: options.backoff ?? OUTER_BACKOFF,
  }
}

/** What throws in somebody else's meter must not end the dispatch. */
function guardedMeter(meter: Meter, onError: (error: unknown) => void): Meter {
  return {
    count: (...input) => quietly(() => meter.count(...input), onError),
    observe: (...input) => quietly(() => meter.observe(...input), onError),
  }
}

function directedPools(pools: readonly string[]): readonly PoolName[] {
  if (pools.length === 0) throw new InvalidError('A dispatcher needs at least one directed pool.')
  return [...new Set(pools.map(poolName))]
}
