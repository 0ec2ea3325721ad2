// What tenants have in the store, for the check of a limit: the store's figures, at most a second old, what stands in documents
// beside the tasks (notes, chunks of jobs that wait), and what this server let in since. So one server never lets in more than a limit allows; what several let in within the same second is not
// known to the others until then.
//
// A task counts as pending from its admission until the store has answered, then as recent. A look at the store has all that
// was answered before it began: so when it comes back, only what was answered since it began is kept beside it.

import { allPages, type Clock, type Engine, type TenantFigures, type TenantId } from '@reprise/core'
import { bytesBeside } from './bytes-beside.ts'

export interface Amount {
  readonly tasks: number
  readonly bytes: number
}

interface Own {
  pending: Amount
  /** Answered since the latest look began. */
  recent: Amount
  /** Answered before the look that is under way began. */
  older: Amount
}

const FRESH_MS = 1_000
const TENANTS_MAX = 100_000
const NONE: Amount = { tasks: 0, bytes: 0 }

export class TenantUse {
  readonly #engine: Pick<Engine, 'tenants' | 'collection'>
  readonly #clock: Clock
  #figures: ReadonlyMap<TenantId, TenantFigures> = new Map()
  #takenAt: number | null = null
  #looking: Promise<void> | null = null
  /** Bytes beside the tasks, of those who were asked about since the latest look. */
  readonly #beside = new Map<TenantId, number | Promise<number>>()
  readonly #own = new Map<TenantId, Own>()

  constructor(engine: Pick<Engine, 'tenants' | 'collection'>, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** Sees to it that the figures of a tenant are fresh: one look a second for all who ask. */
  async refresh(tenant: TenantId): Promise<void> {
    await this.#refreshAll()
    const known = this.#beside.get(tenant)
    if (typeof known === 'number') return
    const looking = known ?? bytesBeside(this.#engine, tenant)
    this.#beside.set(tenant, looking)
    try {
      this.#beside.set(tenant, await looking)
    } catch (error) {
      this.#beside.delete(tenant)
      throw error
    }
  }

  async #refreshAll(): Promise<void> {
    if (this.#looking !== null) return this.#looking
    if (this.#takenAt !== null && this.#clock.monotonic() - this.#takenAt < FRESH_MS) return
    this.#looking = this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Tasks that have not ended, and bytes, with what is on its way. */
  of(tenant: TenantId): Amount {
    const { backlog = 0, bytes = 0 } = this.#figures.get(tenant) ?? {}
    const { pending, recent, older } = this.#own.get(tenant) ?? { pending: NONE, recent: NONE, older: NONE }
    const beside = this.#beside.get(tenant)
    const stored = { tasks: backlog, bytes: bytes + (typeof beside === 'number' ? beside : 0) }
    return [pending, recent, older].reduce(plus, stored)
  }

  /** These are on their way to the store. */
  begin(tenant: TenantId, amount: Amount): void {
    const own = this.#ownOf(tenant)
    own.pending = plus(own.pending, amount)
  }

  /** The store has answered: of what was begun, so much was accepted. */
  end(tenant: TenantId, begun: Amount, accepted: Amount): void {
    const own = this.#ownOf(tenant)
    own.pending = plus(own.pending, { tasks: -begun.tasks, bytes: -begun.bytes })
    own.recent = plus(own.recent, accepted)
  }

  async #look(): Promise<void> {
    for (const own of this.#own.values()) {
      own.older = plus(own.older, own.recent)
      own.recent = NONE
    }
    const beganAt = this.#clock.monotonic()
    const { items } = await allPages((page) => this.#engine.tenants(page), TENANTS_MAX)
    this.#figures = new Map(items.map((figures) => [figures.tenant, figures]))
    this.#takenAt = beganAt
    this.#beside.clear()
    for (const [tenant, own] of this.#own) {
      own.older = NONE
      if (isNothing(own.pending) && isNothing(own.recent)) this.#own.delete(tenant)
    }
  }

  #ownOf(tenant: TenantId): Own {
    const known = this.#own.get(tenant)
    if (known !== undefined) return known
    const own = { pending: NONE, recent: NONE, older: NONE }
    this.#own.set(tenant, own)
    return own
  }
}

const isNothing = ({ tasks, bytes }: Amount): boolean => tasks === 0 && bytes === 0

const plus = (one: Amount, other: Amount): Amount => ({
  tasks: one.tasks + other.tasks,
  bytes: one.bytes + other.bytes,
})
