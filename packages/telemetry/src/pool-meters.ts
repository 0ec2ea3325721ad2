// The metrics of one pool, looked up once and then at hand: settling is the busiest path there is, and finding a counter by
// its labels each time would cost more than counting.

import type { SubmitResult } from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import { boundedLabel, counter, type MetricsRegistry } from './registry.ts'
import { tallyHistogram } from './tally-histogram.ts'

type EndStatus = 'succeeded' | 'failed' | 'lost' | 'released'

interface Ends {
  count(by: number): void
  lasted(seconds: number): void
}

export interface PoolMeters {
  /** As it stands in labels. */
  readonly pool: string
  readonly ends: Readonly<Record<EndStatus, Ends>>
  submitted(outcome: SubmitResult['outcome'], by: number): void
  waited(seconds: number): void
}

/** Whose settlement names an attempt that this process knows nothing of. */
export const UNKNOWN_POOL = 'unknown'
const POOLS_MAX = 200

export function poolMetersOf(registry: MetricsRegistry): (pool: string) => PoolMeters {
  const executions = counter(registry, CATALOGUE.executions)
  const durations = tallyHistogram(registry, CATALOGUE.executionDuration)
  const waits = tallyHistogram(registry, CATALOGUE.queueWait)
  const submissions = counter(registry, CATALOGUE.submitted)
  const bounded = boundedLabel(POOLS_MAX)
  const known = new Map<string, PoolMeters>()

  const endsOf = (pool: string, status: EndStatus): Ends => {
    const count = executions.labels({ pool, status })
    const duration = durations.tally({ pool, status })
    return { count: (by) => count.inc(by), lasted: (seconds) => duration.observe(seconds) }
  }
  const made = (pool: string): PoolMeters => {
    const wait = waits.tally({ pool })
    return {
      pool,
      ends: {
        succeeded: endsOf(pool, 'succeeded'),
        failed: endsOf(pool, 'failed'),
        lost: endsOf(pool, 'lost'),
        released: endsOf(pool, 'released'),
      },
      submitted: (outcome, by) => submissions.inc({ pool, outcome }, by),
      waited: (seconds) => wait.observe(seconds),
    }
  }

  return (name) => {
    let meters = known.get(name)
    if (meters !== undefined) return meters
    const pool = bounded(name)
    meters = known.get(pool)
    if (meters !== undefined) return meters
    meters = made(pool)
    known.set(pool, meters)
    return meters
  }
}
