// How much one tenant may have: said by the policies, by the configuration of a server, or by neither. What a more special
// place says counts, limit by limit.

import type { TenantId } from '../model/ids.ts'

/** Null where there is no limit. */
export interface TenantLimits {
  /** Payloads of tasks that were not removed, notes on them, and chunks of jobs that wait, in bytes. */
  readonly bytes: number | null
  /** Tasks that have not ended. */
  readonly backlog: number | null
  readonly submitsPerSecond: number | null
  /** Tasks that run at once; or so much of the slots that all workers have together. */
  readonly running: number | SlotShare | null
}

export type SlotShare = `${number}%`

/** By tenant. What stands under `default` holds for every tenant, where its own entry says nothing. */
export type TenantRules = Readonly<Record<string, Partial<TenantLimits>>>

/** The name under which rules for every tenant stand. It is also a tenant, which has no other rules than these. */
const EVERY_TENANT = 'default'

export const NO_LIMITS: TenantLimits = { bytes: null, backlog: null, submitsPerSecond: null, running: null }

/**
 * What holds for callers who are limited to tenants where nobody has said anything. Callers for the whole store have no limit
 * then: a newcomer with one tenant meets none.
 */
export const DEFAULT_TENANT_LIMITS: TenantLimits = {
  bytes: 250_000_000,
  backlog: 10_000,
  submitsPerSecond: 200,
  running: '80%',
}

/** How many may run where the workers have so many slots; null for no limit, also while no slots are known. */
export function maxRunning({ running }: TenantLimits, slots: number): number | null {
  if (typeof running !== 'string') return running
  return slots === 0 ? null : Math.max(Math.floor((slots * Number.parseInt(running, 10)) / 100), 1)
}

/** The limits of a tenant by several sets of rules, the most important first, and by what holds where none of them says anything. */
export function tenantLimits(tenant: TenantId, rules: readonly TenantRules[], otherwise: TenantLimits): TenantLimits {
  let limits = otherwise
  for (const one of rules.toReversed()) limits = { ...limits, ...ruleFor(one, EVERY_TENANT), ...ruleFor(one, tenant) }
  return limits
}

const ruleFor = (rules: TenantRules, name: string): Partial<TenantLimits> =>
  Object.hasOwn(rules, name) ? (rules[name] ?? {}) : {}
