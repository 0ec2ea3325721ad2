// The thresholds of health as operators write them (C5, C11): durations for times, names as in the configuration file. Read in
// one place, by the command line and by every process that takes them from its environment.

import { type Duration, durationMs } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { nearMiss } from '../model/near-miss.ts'
import { DEFAULT_HEALTH_THRESHOLDS, type HealthThresholds } from './health.ts'

type Kind = 'duration' | 'count' | 'share' | 'switch'

const FIELDS = {
  enabled: ['enabled', 'switch'],
  heartbeat_ttl: ['heartbeatStaleMs', 'duration'],
  failures_degraded: ['failuresDegraded', 'count'],
  failures_unhealthy: ['failuresUnhealthy', 'count'],
  depth_degraded: ['depthDegraded', 'count'],
  depth_unhealthy: ['depthUnhealthy', 'count'],
  failure_rate_degraded: ['failureRateDegraded', 'share'],
  failure_rate_unhealthy: ['failureRateUnhealthy', 'share'],
  lag_degraded: ['lagMsDegraded', 'duration'],
  lag_unhealthy: ['lagMsUnhealthy', 'duration'],
  probes_degraded: ['probesDegraded', 'count'],
  probes_unhealthy: ['probesUnhealthy', 'count'],
  stuck: ['stuckMs', 'duration'],
  min_outcomes: ['minOutcomes', 'count'],
  cooldown: ['cooldownMs', 'duration'],
  max_degraded_claim: ['maxDegradedClaim', 'count'],
} as const satisfies Record<string, readonly [keyof HealthThresholds, Kind]>

type Name = keyof typeof FIELDS

const COUNT_MAX = 1_000_000_000

/** Complete, with the usual values for what is left out. `InvalidError` naming what is wrong. */
export function readHealthThresholds(given: Readonly<Record<string, unknown>>): HealthThresholds {
  const known = Object.keys(FIELDS)
  const read = Object.entries(given).map(([name, value]) => {
    if (!Object.hasOwn(FIELDS, name)) {
      const near = nearMiss(name, known) || ` Known are: ${known.join(', ')}.`
      throw new InvalidError(`There is no threshold '${name.slice(0, 40)}'.${near}`)
    }
    const [field, kind] = FIELDS[name as Name]
    return [field, readOne(name, value, kind)] as const
  })
  const thresholds: HealthThresholds = { ...DEFAULT_HEALTH_THRESHOLDS, ...Object.fromEntries(read) }
  for (const name of known) {
    if (!name.endsWith('_degraded')) continue
    const above = name.replace('_degraded', '_unhealthy')
    const [at, from] = [thresholds[FIELDS[name as Name][0]], thresholds[FIELDS[above as Name][0]]]
    if (at > from) throw new InvalidError(`'${name}' must not be above '${above}'.`)
  }
  return thresholds
}

function readOne(name: string, value: unknown, kind: Kind): number | boolean {
  if (kind === 'switch') {
    if (typeof value === 'boolean') return value
    throw new InvalidError(`'${name}' must be true or false, not ${JSON.stringify(value)}.`)
  }
  if (kind === 'duration') {
    const ms = durationMs(value as Duration, name)
    if (ms >= 1) return ms
    throw new InvalidError(`'${name}' must be at least 1 ms.`)
  }
  const [from, to] = kind === 'share' ? [0, 1] : [1, COUNT_MAX]
  const isFit = typeof value === 'number' && value >= from && value <= to
  if (isFit && (kind === 'share' || Number.isInteger(value))) return value
  const form = kind === 'share' ? 'a share from 0 to 1' : `a whole number from ${from} to ${to}`
  throw new InvalidError(`'${name}' must be ${form}, not ${JSON.stringify(value)}.`)
}
