// How many tasks of a tenant may run at once: a limit on the lanes of the tenant, of the platform's rank, kept in step with
// the policies, the configuration and the slots that workers have. It is set when a tenant is first seen here, and whenever
// what the rules come to for it changes. A document tells what was set last: so what the rules no longer say is lifted, and
// what an operator set by hand stays until it is lifted by hand. Any number of servers may do this: setting a limit twice does no harm.

import {
  allPages,
  type Collection,
  type Engine,
  isRepriseError,
  maxRunning,
  type Service,
  type TenantId,
  type TenantLimits,
} from '@reprise/core'
import { type TenantLimitBook, type TenantSlotsDocument, tenantSlotsIn } from '@reprise/operations'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from '@reprise/orchestrator'

const NEW = { isLimited: false, running: null, byHand: null } as const
const ROUND_MS = 3_000
const TENANTS_MAX = 100_000
const WORKERS_MAX = 10_000
const BY = { actor: 'policies', reason: 'Limits of tenants: running.', rank: 'platform' } as const

export interface TenantSlotsOptions extends ServiceOptions {
  readonly engine: Engine
  readonly limits: TenantLimitBook
}

export class TenantSlots implements Service {
  readonly name = 'tenant-slots'
  readonly #options: TenantSlotsOptions
  readonly #documents: Collection<TenantSlotsDocument>
  readonly #loop: Service
  /** What is known to be set. */
  readonly #set = new Map<TenantId, TenantSlotsDocument>()
  /** Tenants that are looked up at the moment. */
  readonly #seeing = new Map<TenantId, Promise<void>>()
  /** Of all workers together, as far as is known. */
  #slots = 0

  constructor(options: TenantSlotsOptions) {
    this.#options = options
    this.#documents = tenantSlotsIn(options.engine)
    const around = surroundings(this.name, options)
    this.#loop = createLoop(this.name, around, () => ({
      round: async () => {
        await this.follow()
        return jitteredMs(ROUND_MS, around.random)
      },
    }))
  }

  start(): Promise<void> {
    return this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Sees to it that its limit holds before tasks of the tenant come in. Asks the store only when it is news. */
  async see(tenant: TenantId, limits: TenantLimits, isLimited: boolean): Promise<void> {
    const known = this.#set.get(tenant)
    if (known !== undefined && known.byHand !== null) return
    const isNews = known === undefined || (isLimited && !known.isLimited)
    if (!isNews && known.running === maxRunning(limits, this.#slots)) return
    const under = this.#seeing.get(tenant)
    if (under !== undefined) {
      await under
      return this.see(tenant, limits, isLimited)
    }
    const seeing = this.#look(tenant, isLimited || known?.isLimited === true).finally(() => this.#seeing.delete(tenant))
    this.#seeing.set(tenant, seeing)
    return seeing
  }

  async #look(tenant: TenantId, isLimited: boolean): Promise<void> {
    if (this.#slots === 0) await this.#countSlots()
    await this.#bring(tenant, isLimited)
  }

  /** Brings all tenants in step with the rules and with the slots there are now. */
  async follow(): Promise<void> {
    const { engine, limits } = this.#options
    // Without rules only those tenants have a limit that were seen: they have documents.
    const [known, documents] = await Promise.all([
      limits.hasRules ? allPages((page) => engine.tenants(page), TENANTS_MAX) : { items: [] },
      allPages((page) => this.#documents.list(page), TENANTS_MAX),
      this.#countSlots(),
    ])
    for (const { tenant } of known.items) this.#set.set(tenant, { ...NEW, id: tenant })
    for (const { document } of documents.items) this.#set.set(document.id, document)
    for (const { id, isLimited, running, byHand } of this.#set.values()) {
      if (byHand === null && this.#wanted(id, isLimited) !== running) await this.#bring(id, isLimited)
    }
  }

  #wanted(tenant: TenantId, isLimited: boolean): number | null {
    return maxRunning(this.#options.limits.of(tenant, isLimited), this.#slots)
  }

  /** Where none are known, or no more for a moment, what was known counts. */
  async #countSlots(): Promise<void> {
    const { items } = await allPages((page) => this.#options.engine.workers(page), WORKERS_MAX)
    const slots = items.reduce((sum, { concurrency = 0 }) => sum + concurrency, 0)
    if (slots > 0) this.#slots = slots
  }

  async #bring(tenant: TenantId, wasLimited: boolean): Promise<void> {
    const stored = await this.#documents.get(tenant)
    if (stored !== null && stored.document.byHand !== null) {
      this.#set.set(tenant, stored.document)
      return
    }
    const isLimited = wasLimited || stored?.document.isLimited === true
    const document: TenantSlotsDocument = { ...NEW, id: tenant, isLimited, running: this.#wanted(tenant, isLimited) }
    if (stored?.document.running !== document.running || stored.document.isLimited !== isLimited) {
      if ((stored?.document.running ?? null) !== document.running) {
        await this.#options.engine.limit({ tenant }, document.running, BY)
      }
      try {
        await (stored === null ? this.#documents.insert(document) : this.#documents.update(document, stored.version))
      } catch (error) {
        if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
        return this.#giveWay(tenant, document)
      }
    }
    this.#set.set(tenant, document)
  }

  /** Another was faster: a server, mostly with the same, or an operator, whose limit may just have been overwritten. */
  async #giveWay(tenant: TenantId, ours: TenantSlotsDocument): Promise<void> {
    const { document = ours } = (await this.#documents.get(tenant)) ?? {}
    if (document.byHand !== null) await this.#options.engine.limit({ tenant }, document.byHand, BY)
    this.#set.set(tenant, document)
  }
}
