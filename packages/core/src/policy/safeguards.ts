// Breakers and quotas as people write them, with durations and defaults, resolved into what is stored with a task. For
// actions and policies alike. What they do is in breaker.ts and quota.ts.

import { type Duration, durationMs } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { type ActionName, knownName } from '../model/ids.ts'
import { refuseUnknownKeys } from '../model/options.ts'
import { type BreakerRef, type BreakerSettings, breakerName, checkedBreaker, DEFAULT_BREAKER } from './breaker.ts'
import { checkedQuota, type RetryQuota } from './quota.ts'

export interface BreakerOptions {
  readonly window?: Duration
  readonly minFailures?: number
  readonly failureRate?: number
  readonly open?: Duration
  readonly maxOpen?: Duration
  readonly probes?: number
  readonly maxRamp?: number
}

export interface QuotaOptions {
  /** Whose quotas have one name share it. */
  readonly name?: string
  readonly window: Duration
  readonly limit?: number
  readonly share?: number
  /** Whether all tenants share it. Otherwise each has it for itself. */
  readonly allTenants?: boolean
}

const DEPENDENCIES_MAX = 10

const BREAKER_FIELDS = [
  'window',
  'minFailures',
  'failureRate',
  'open',
  'maxOpen',
  'probes',
  'maxRamp',
] as const satisfies (keyof BreakerOptions)[]
const QUOTA_FIELDS = ['name', 'window', 'limit', 'share', 'allTenants'] as const satisfies (keyof QuotaOptions)[]

export function resolveBreaker(options: BreakerOptions): BreakerSettings {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidError('breaker is true, false, or its settings: { window, minFailures, … }.')
  }
  refuseUnknownKeys(options, BREAKER_FIELDS, 'breaker setting')
  const { window, minFailures, failureRate, open, maxOpen, probes, maxRamp } = options
  const openMs = open === undefined ? DEFAULT_BREAKER.openMs : durationMs(open, "breaker's open time")
  return checkedBreaker({
    windowMs: window === undefined ? DEFAULT_BREAKER.windowMs : durationMs(window, "breaker's window"),
    minFailures: minFailures ?? DEFAULT_BREAKER.minFailures,
    failureRate: failureRate ?? DEFAULT_BREAKER.failureRate,
    openMs,
    // A first open time above the usual longest one is its own longest.
    maxOpenMs:
      maxOpen === undefined
        ? Math.max(DEFAULT_BREAKER.maxOpenMs, openMs)
        : durationMs(maxOpen, "breaker's longest open time"),
    probes: probes ?? DEFAULT_BREAKER.probes,
    maxRamp: maxRamp ?? DEFAULT_BREAKER.maxRamp,
  })
}

export function resolveQuota(options: QuotaOptions, defaultName: string): RetryQuota {
  refuseUnknownKeys(options, QUOTA_FIELDS, 'retry quota setting')
  return checkedQuota({
    name: knownName('name of a retry quota', options.name ?? defaultName),
    windowMs: durationMs(options.window, 'window of a retry quota'),
    limit: options.limit ?? null,
    share: options.share ?? null,
    ...(options.allTenants === undefined ? {} : { allTenants: options.allTenants }),
  })
}

/**
 * The breakers of an action: one for each thing it depends on, or one for the action itself if it names none and asks for one.
 * Undefined if it has none.
 */
export function resolveBreakers(
  action: ActionName,
  uses: readonly string[] | undefined,
  breaker: boolean | BreakerOptions | undefined,
): readonly BreakerRef[] | undefined {
  const names = dependencyNames(uses)
  if (breaker === false || (breaker === undefined && names.length === 0)) return undefined
  const settings = breaker === true || breaker === undefined ? DEFAULT_BREAKER : resolveBreaker(breaker)
  if (names.length === 0) return [{ name: breakerName('action', action), settings }]
  return names.map((name) => ({ name: breakerName('dependency', name), settings }))
}

function dependencyNames(uses: readonly string[] | undefined): readonly string[] {
  if (uses === undefined) return []
  if (!Array.isArray(uses)) throw new InvalidError("uses is a list of names, such as ['stripe'].")
  if (uses.length > DEPENDENCIES_MAX) {
    throw new InvalidError(`uses names ${uses.length} things; at most ${DEPENDENCIES_MAX} are allowed.`)
  }
  return [...new Set(uses as readonly string[])]
}
