// The dispatcher of directed pools: goes round as long as there is work, waits for more, and keeps itself known to the
// store. Any number may run side by side: each claims what it hands over. Store errors never end it.

import {
  BATCH_MAX,
  type Backoff,
  check,
  type Engine,
  InvalidError,
  type Meter,
  type PolicySource,
  type PoolName,
  poolName,
  quietly,
  refuseNoEngine,
  type Service,
  silentMeter,
} from '@reprise/core'
import { Claimant, serviceId } from './claimant.ts'
import { dispatchOnce } from './dispatch-once.ts'
import { RecentAssignments } from './recent-assignments.ts'
import { createLoop, type ServiceOptions, surroundings } from './service.ts'
import { backoff, SERVICE_CHECKS } from './service-checks.ts'

export interface DispatchOptions extends ServiceOptions {
  readonly engine: Engine
  /** The directed pools. */
  readonly pools: readonly string[]
  readonly meter?: Meter | undefined
  /** Say for which actions the health of workers does not matter; none if not given. */
  readonly policies?: PolicySource | undefined
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

/** Those that an orchestrator passes on. */
export const DISPATCH_CHECKS = {
  maxDispatchRetries: check.whole(0, 100),
  repickJitterMs: check.msFrom0,
  inboxTtlMs: check.ms,
  leaseMs: check.ms,
  backoff,
} as const
const CHECKS: check.Table<DispatchOptions> = {
  ...SERVICE_CHECKS,
  ...DISPATCH_CHECKS,
  pools: check.list,
  id: check.text,
}

export function createDispatch(options: DispatchOptions): Service {
  check.options(options, CHECKS, 'dispatch option', ['pools'])
  refuseNoEngine(options.engine, 'claim', 'createDispatch')
  const around = surroundings('dispatcher', options)
  const { engine, policies, repickJitterMs: jitterMs = 0, leaseMs = LEASE_MS, inboxTtlMs = INBOX_TTL_MS } = options
  const { maxDispatchRetries = MAX_DISPATCH_RETRIES, backoff: outer = OUTER_BACKOFF } = options
  const pools = directedPools(options.pools)
  const meter = guardedMeter(options.meter ?? silentMeter, around.onError)
  const limit = Math.min(BATCH, BATCH_MAX)
  const times = { leaseMs, inboxTtlMs, jitterMs, backoff: outer }
  const settings = { engine, policies, meter, pools, limit, maxDispatchRetries, ...times }
  const worker = serviceId('dispatcher', options.id)
  return createLoop('dispatch', around, () => {
    const claimant = new Claimant(worker, { engine, ...around })
    const recent = new RecentAssignments(around.clock)
    return {
      round: (signal) =>
        claimant.round(
          pools,
          async (epoch) => {
            const { claim } = await dispatchOnce({ ...around, ...settings, worker, epoch, recent, signal })
            return { result: claim, limit }
          },
          signal,
        ),
      leave: () => claimant.leave(),
    }
  })
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
