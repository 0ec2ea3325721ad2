// How many lanes and kinds of settings a tenant may make by submitting. A lane is made by its first task and stays, and so are
// settings that no task had before: without a bound, one caller who thinks up names could make them without end. Each server
// keeps in mind what it has seen, and asks the store once for each tenant.

import {
  type Clock,
  ConflictError,
  type Engine,
  LANES_PER_TENANT_MAX,
  LANES_PER_TENANT_OF_ALL_MAX,
  OWN_SETTINGS_PER_TENANT_MAX,
  PAGE_LIMIT_MAX,
  type TaskSpec,
  type TenantId,
} from '@reprise/core'
import type { Caller } from './access/caller.ts'

const TENANTS_KEPT_MAX = 10_000
/** Settings are counted for this long. */
const SETTINGS_MS = 86_400_000

type Lane = Pick<TaskSpec, 'pool' | 'action' | 'tenant'>

export class LaneRoom {
  readonly #engine: Pick<Engine, 'lanes'>
  readonly #clock: Clock
  readonly #lanes = new Map<TenantId, Promise<Set<string>> | Set<string>>()
  readonly #settings = new Map<TenantId, Set<string>>()
  #settingsSince: number

  constructor(engine: Pick<Engine, 'lanes'>, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
    this.#settingsSince = clock.monotonic()
  }

  /** Comes back at once for a lane that is known. `ConflictError` for one that the tenant has no room for. */
  admit(lane: Lane, { tenants }: Pick<Caller, 'tenants'>): Promise<void> | undefined {
    const known = this.#lanes.get(lane.tenant)
    if (known instanceof Set && known.has(nameOf(lane))) return undefined
    return this.#admitNew(lane, tenants === null ? LANES_PER_TENANT_OF_ALL_MAX : LANES_PER_TENANT_MAX)
  }

  /** `ConflictError` for settings of its own that go beyond what a tenant may think up. */
  admitSettings({ tenant, settings }: Pick<TaskSpec, 'tenant' | 'settings'>): void {
    const now = this.#clock.monotonic()
    if (now - this.#settingsSince >= SETTINGS_MS || this.#settings.size > TENANTS_KEPT_MAX) {
      this.#settings.clear()
      this.#settingsSince = now
    }
    const known = this.#settings.get(tenant) ?? new Set()
    const text = JSON.stringify(settings)
    if (!known.has(text) && known.size >= OWN_SETTINGS_PER_TENANT_MAX) {
      throw new ConflictError(
        `Submissions of tenant '${tenant}' came with ${known.size} different settings already. Declare them with the action, or use the same ones again.`,
      )
    }
    this.#settings.set(tenant, known.add(text))
  }

  async #admitNew(lane: Lane, maxLanes: number): Promise<void> {
    const { tenant } = lane
    const lanes = await this.#lanesOf(tenant)
    if (!lanes.has(nameOf(lane)) && lanes.size >= maxLanes) {
      throw new ConflictError(
        `Tenant '${tenant}' has ${lanes.size} lanes already: one for each pool and action that it ever used. Use an action that it has, and put what varies into labels or the payload.`,
      )
    }
    lanes.add(nameOf(lane))
  }

  async #lanesOf(tenant: TenantId): Promise<Set<string>> {
    const known = this.#lanes.get(tenant)
    if (known !== undefined) return known
    if (this.#lanes.size >= TENANTS_KEPT_MAX) this.#lanes.clear()
    const reading = this.#read(tenant)
    this.#lanes.set(tenant, reading)
    try {
      const lanes = await reading
      this.#lanes.set(tenant, lanes)
      return lanes
    } catch (error) {
      this.#lanes.delete(tenant)
      throw error
    }
  }

  async #read(tenant: TenantId): Promise<Set<string>> {
    const lanes = new Set<string>()
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<Engine['lanes']>> = await this.#engine.lanes({
        tenant,
        limit: PAGE_LIMIT_MAX,
        ...(cursor === null ? {} : { cursor }),
      })
      for (const lane of page.items) lanes.add(nameOf(lane))
      cursor = page.next
    } while (cursor !== null && lanes.size < LANES_PER_TENANT_OF_ALL_MAX)
    return lanes
  }
}

// Names hold no line feed.
const nameOf = ({ pool, action }: Pick<Lane, 'pool' | 'action'>): string => `${pool}\n${action}`
