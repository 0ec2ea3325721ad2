// Tasks on their way into the store, held against the limits of their tenants: how many per second, how many that have not
// ended, how many bytes. A task over a limit is refused by itself and by name of the limit; one that is in the store already
// is let through, so that a repeated submission hears of its task. Where a tenant has no limits this costs a look into a map.

import {
  type Clock,
  type Engine,
  type RepriseError,
  RequestError,
  type SubmitResult,
  sleep,
  type TaskSpec,
  TenantBacklogError,
  TenantBytesError,
  type TenantId,
  type TenantLimits,
} from '@reprise/core'
import type { Amount, Caller, TenantLimitBook, TenantUse } from '@reprise/operations'
import { TenantRate } from './rate.ts'
import type { TenantSlots } from './slots.ts'

export type LimitName = 'rate' | 'backlog' | 'bytes'

export interface TenantIntakeOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly limits: TenantLimitBook
  readonly slots: Pick<TenantSlots, 'see'>
  readonly use: TenantUse
  /** Told of each task that was refused. */
  readonly onRefused?: (limit: LimitName) => void
}

type Submitter = Pick<Caller, 'tenants'>

/** Tasks of one tenant, by their places among those that were submitted. */
interface Share {
  readonly tenant: TenantId
  readonly limits: TenantLimits
  readonly places: number[]
}

/** What of a share is on its way to the store. */
interface Begun {
  readonly share: Share
  readonly amount: Amount
}

const LOOKUPS_AT_ONCE = 10

export class TenantIntake {
  readonly #options: TenantIntakeOptions
  readonly #rate: TenantRate
  readonly #use: TenantUse

  constructor(options: TenantIntakeOptions) {
    this.#options = options
    this.#rate = new TenantRate(options.clock)
    this.#use = options.use
  }

  /**
   * In the order of the tasks: what the store says of each, or why it was refused. With a signal, tasks wait for their rate
   * until it fires, in place of being refused.
   */
  async submit(
    caller: Submitter,
    specs: readonly TaskSpec[],
    waiting: AbortSignal | null = null,
  ): Promise<readonly (SubmitResult | RepriseError)[]> {
    const shares = this.#sharesOf(caller, specs)
    const { engine } = this.#options
    if (shares.length === 0) return engine.submit(specs)
    const refusals = new Map<number, RepriseError>()
    const begun: Begun[] = []
    try {
      for (const share of shares) {
        await this.#options.slots.see(share.tenant, share.limits, caller.tenants !== null)
        // Nobody waits for what is refused anyway; and a flood of single tasks is stopped before the store is asked.
        if (waiting === null) await this.#takeRate(share, null, refusals)
        await this.#takeRoom(share, specs, refusals, begun)
        if (waiting !== null) await this.#takeRate(share, waiting, refusals)
      }
      const going = specs.filter((_, place) => !refusals.has(place))
      const results = going.length === 0 ? [] : await engine.submit(going)
      let next = 0
      const outcomes = specs.map((_, place) => refusals.get(place) ?? (results[next++] as SubmitResult))
      for (const { share, amount } of begun.splice(0))
        this.#use.end(share.tenant, amount, acceptedOf(share, specs, outcomes))
      return outcomes
    } finally {
      // Whether the store has them is not known: its next figures tell.
      for (const { share, amount } of begun) this.#use.end(share.tenant, amount, amount)
    }
  }

  /** Throws unless one task may come in by another way than `submit`. */
  async check(caller: Submitter, spec: TaskSpec): Promise<void> {
    for (const share of this.#sharesOf(caller, [spec])) {
      const refusals = new Map<number, RepriseError>()
      await this.#options.slots.see(share.tenant, share.limits, caller.tenants !== null)
      await this.#takeRate(share, null, refusals)
      const begun: Begun[] = []
      try {
        await this.#takeRoom(share, [spec], refusals, begun)
      } finally {
        for (const { amount } of begun) this.#use.end(share.tenant, amount, amount)
      }
      for (const refusal of refusals.values()) throw refusal
    }
  }

  /** Throws unless a tenant may write one more note now: to its rate, a note is a task. */
  takeNote({ tenants }: Submitter, tenant: TenantId): void {
    const { submitsPerSecond } = this.#options.limits.of(tenant, tenants !== null)
    if (submitsPerSecond === null) return
    const retryAfterMs = this.#rate.take(tenant, 1, submitsPerSecond)
    if (retryAfterMs === 0) return
    this.#options.onRefused?.('rate')
    throw overRate(tenant, submitsPerSecond, retryAfterMs)
  }

  /** Only tenants that have a limit. */
  #sharesOf({ tenants }: Submitter, specs: readonly TaskSpec[]): readonly Share[] {
    const shares = new Map<TenantId, Share | null>()
    for (const [place, { tenant }] of specs.entries()) {
      let share = shares.get(tenant)
      if (share === undefined) {
        const limits = this.#options.limits.of(tenant, tenants !== null)
        share = Object.values(limits).every((limit) => limit === null) ? null : { tenant, limits, places: [] }
        shares.set(tenant, share)
      }
      share?.places.push(place)
    }
    return [...shares.values()].filter((share) => share !== null)
  }

  async #takeRate(
    { tenant, limits: { submitsPerSecond }, places: all }: Share,
    waiting: AbortSignal | null,
    refusals: Map<number, RepriseError>,
  ): Promise<void> {
    const places = all.filter((place) => !refusals.has(place))
    if (submitsPerSecond === null || places.length === 0) return
    for (;;) {
      const retryAfterMs = this.#rate.take(tenant, places.length, submitsPerSecond)
      if (retryAfterMs === 0) return
      if (waiting !== null && !waiting.aborted) {
        await sleep(this.#options.clock, retryAfterMs, waiting)
        continue
      }
      const refusal = overRate(tenant, submitsPerSecond, retryAfterMs)
      for (const place of places) this.#refuse(place, refusal, 'rate', refusals)
      return
    }
  }

  /** Notes what is let in; the rest is refused. */
  async #takeRoom(
    share: Share,
    specs: readonly TaskSpec[],
    refusals: Map<number, RepriseError>,
    begun: Begun[],
  ): Promise<void> {
    const { tenant, limits, places } = share
    if (limits.backlog === null && limits.bytes === null) return
    await this.#use.refresh(tenant)
    const before = this.#use.of(tenant)
    const taken = { tasks: 0, bytes: 0 }
    const over: { readonly place: number; readonly refusal: RepriseError; readonly limit: LimitName }[] = []
    for (const place of places) {
      const spec = specs[place]
      if (spec === undefined || refusals.has(place)) continue
      const bytes = Buffer.byteLength(spec.payload)
      const use = { tasks: before.tasks + taken.tasks, bytes: before.bytes + taken.bytes }
      if (limits.backlog !== null && use.tasks + 1 > limits.backlog) {
        over.push({ place, refusal: new TenantBacklogError(tenant, use.tasks, limits.backlog), limit: 'backlog' })
      } else if (limits.bytes !== null && use.bytes + bytes > limits.bytes) {
        over.push({ place, refusal: new TenantBytesError(tenant, use.bytes, bytes, limits.bytes), limit: 'bytes' })
      } else {
        taken.tasks++
        taken.bytes += bytes
      }
    }
    // Before anything is waited for: the next submitter must see it.
    this.#use.begin(tenant, taken)
    begun.push({ share, amount: taken })
    for (let at = 0; at < over.length; at += LOOKUPS_AT_ONCE) {
      await Promise.all(
        over.slice(at, at + LOOKUPS_AT_ONCE).map(async ({ place, refusal, limit }) => {
          const spec = specs[place]
          const known = spec === undefined ? null : await this.#options.engine.task(spec.id)
          if (known === null) this.#refuse(place, refusal, limit, refusals)
        }),
      )
    }
  }

  #refuse(place: number, refusal: RepriseError, limit: LimitName, refusals: Map<number, RepriseError>): void {
    refusals.set(place, refusal)
    this.#options.onRefused?.(limit)
  }
}

const overRate = (tenant: TenantId, perSecond: number, retryAfterMs: number): RequestError =>
  new RequestError(
    'REPRISE_RATE_LIMITED',
    `Tenant '${tenant}' may submit ${perSecond} tasks per second, and more came. Wait, then go on more slowly; the limit is submits_per_second in the policies.`,
    { retryAfterMs },
  )

function acceptedOf(
  { places }: Share,
  specs: readonly TaskSpec[],
  outcomes: readonly (SubmitResult | RepriseError)[],
): Amount {
  let [tasks, bytes] = [0, 0]
  for (const place of places) {
    const outcome = outcomes[place]
    if (outcome === undefined || !('outcome' in outcome) || outcome.outcome !== 'accepted') continue
    tasks++
    bytes += Buffer.byteLength(specs[place]?.payload ?? '')
  }
  return { tasks, bytes }
}
