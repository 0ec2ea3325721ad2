// How much each tenant may have, as it counts now: by the policies, then by the server's configuration, then by what holds
// for callers who are limited to tenants.

import {
  DEFAULT_TENANT_LIMITS,
  NO_LIMITS,
  type PolicySource,
  type TenantId,
  type TenantLimits,
  type TenantRules,
  tenantLimits,
} from '@reprise/core'

const KEPT_MAX = 10_000

export class TenantLimitBook {
  readonly #policies: PolicySource
  readonly #configured: TenantRules
  #inForce: TenantRules | undefined
  /** What was worked out under the rules in force, by whether the caller is limited to tenants. */
  readonly #known = { limited: new Map<TenantId, TenantLimits>(), whole: new Map<TenantId, TenantLimits>() }

  constructor(policies: PolicySource, configured: TenantRules = {}) {
    this.#policies = policies
    this.#configured = configured
  }

  /** Whether anybody has said anything about tenants. */
  get hasRules(): boolean {
    return [this.#policies.current().tenants ?? {}, this.#configured].some((rules) => Object.keys(rules).length > 0)
  }

  /** For submissions of a caller who is limited to tenants, or of one for the whole store. */
  of(tenant: TenantId, isLimited: boolean): TenantLimits {
    const { tenants } = this.#policies.current()
    if (tenants !== this.#inForce) {
      this.#inForce = tenants
      this.#known.limited.clear()
      this.#known.whole.clear()
    }
    const known = isLimited ? this.#known.limited : this.#known.whole
    const before = known.get(tenant)
    if (before !== undefined) return before
    const otherwise = isLimited ? DEFAULT_TENANT_LIMITS : NO_LIMITS
    const limits = tenantLimits(tenant, [tenants ?? {}, this.#configured], otherwise)
    if (known.size >= KEPT_MAX) known.clear()
    known.set(tenant, limits)
    return limits
  }
}
