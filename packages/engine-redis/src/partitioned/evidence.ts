// What the store knows of a worker's health, over all partitions. The home keeps the evidence and is told what the others
// saw: failures at once, successes only when they change a verdict or the worker reports; until then they are counted here
// (should this process die, the worker registers again, and nothing of it counts any more). Claims are judged here, by the
// home's evidence, with which they also learn whether the worker is still registered.

import {
  type Assignment,
  type ClaimRequest,
  type HealthStatus,
  type HealthThresholds,
  isAlive,
  NotFoundError,
  PAGE_LIMIT_MAX,
  type Settlement,
  type TenantId,
  WorkerFencedError,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { assessHealth, NO_OUTCOMES, type Outcome, RECENT_OUTCOMES_MAX } from '@reprise/core/engine'
import { findWorkers } from '../registry.ts'
import { witnessScript } from '../scripts.generated.ts'
import { isBlamed, type Settled } from '../settle.ts'
import type { Partitions } from './partitions.ts'
import { allWorkers, findAllWorkers } from './registry.ts'

export interface Verdict {
  readonly status: HealthStatus
  readonly now: number
}

/** More successes than these say no more. */
const PENDING_MAX = 2 * RECENT_OUTCOMES_MAX

export class Evidence {
  readonly #store: Partitions
  readonly #thresholds: HealthThresholds
  /** Without a stain: nothing speaks against these workers, as far as this engine has heard. */
  readonly #spotless = new Set<WorkerId>()
  /** By tenant, the one that was served last behind the others. */
  readonly #successes = new Map<WorkerId, Map<TenantId, number>>()

  constructor(store: Partitions) {
    this.#store = store
    this.#thresholds = store.home.thresholds
  }

  /** Whether a claim may go together with these settlements, without a look at the evidence before. */
  isSpotless(worker: WorkerId, settlements: readonly Settlement[]): boolean {
    return this.#spotless.has(worker) && !settlements.some(isBlamed)
  }

  /** How a claim treats the worker. Refused if it is not registered with this epoch. */
  async judge({ worker, epoch, regardless }: Pick<ClaimRequest, 'worker' | 'epoch' | 'regardless'>): Promise<Verdict> {
    const { found, inboxes, now } = await findWorkers(this.#store.home, [worker])
    const [view] = found
    const [inbox = 0] = inboxes
    if (view === undefined) throw new NotFoundError('worker', worker)
    if (view.epoch !== epoch) throw new WorkerFencedError(worker, epoch)
    if (regardless === true || !this.#thresholds.enabled) return { status: 'healthy', now }
    // A claim is a sign of life, and takes what lies in the inbox first.
    const evidence = { ...view, lastBeatAt: now, queueDepth: view.queueDepth - inbox }
    const status = await this.#statusOf(evidence, now)
    if (status === 'healthy' && evidence.consecutiveFailures === 0) this.#spotless.add(worker)
    else this.#spotless.delete(worker)
    return { status, now }
  }

  /** Somebody must go on: who is unhealthy because of its failures, and has no help, counts as degraded. */
  async #statusOf(known: WorkerView, now: number): Promise<HealthStatus> {
    const first = assessHealth(known, now, this.#thresholds).status
    if (first !== 'unhealthy') return first
    // What it finished in other partitions speaks for it.
    const [seen = known] = await findAllWorkers(this.#store, [known.worker])
    const evidence = { ...known, lastProgressAt: seen.lastProgressAt }
    const { status } = assessHealth(evidence, now, this.#thresholds)
    if (status !== 'unhealthy') return status
    const faultless = { ...evidence, ...NO_OUTCOMES }
    if (assessHealth(faultless, now, this.#thresholds).status === 'unhealthy') return status
    const workers = await allWorkers(this.#store, PAGE_LIMIT_MAX)
    const pools = new Set(known.pools)
    const hasHelp = workers.some(
      (other) =>
        other.worker !== known.worker && other.health.status !== 'unhealthy' && other.pools.some((it) => pools.has(it)),
    )
    return hasHelp ? status : 'degraded'
  }

  /** Whether a worker may be given this: it is registered, not draining and not unhealthy, or alive where its health does not matter. */
  async fit(assignments: readonly Assignment[]): Promise<(assignment: Assignment) => boolean> {
    const ids = [...new Set(assignments.map(({ worker }) => worker))]
    const [found, now] = await Promise.all([findAllWorkers(this.#store, ids), this.#store.home.now()])
    const known = new Map(found.map((view) => [view.worker, view]))
    const { enabled, heartbeatStaleMs } = this.#thresholds
    return ({ worker, regardless }) => {
      const view = known.get(worker)
      if (view === undefined || view.draining) return false
      const isAny = regardless === true || !enabled
      return isAny ? isAlive(view, now, heartbeatStaleMs) : view.health.status !== 'unhealthy'
    }
  }

  /** What became of settlements. The home has counted its own. If it can't be reached, the settlements stand all the same. */
  async settled(settlements: readonly Settlement[], answers: readonly Settled[]): Promise<void> {
    const endings = new Map<WorkerId, Ending[]>()
    settlements.forEach((settlement, index) => {
      const { result, isSeen = false } = answers[index] ?? {}
      if (result?.outcome !== 'settled' || result.repeated || !isSeen) return
      if (settlement.kind === 'expired' || (settlement.kind !== 'succeeded' && !isBlamed(settlement))) return
      // Parked: the outage is to blame.
      if (result.status === 'queued') return
      const { lane, worker } = partsOf(settlement.ref.token)
      const ok = settlement.kind === 'succeeded'
      const isLost = settlement.kind === 'lost'
      const place = this.#store.placeOf(settlement.ref.taskId)
      if (!ok) this.#spotless.delete(worker)
      if (place === 0) return
      const known = endings.get(worker)
      if (known === undefined) endings.set(worker, [{ place, lane, ok, isLost }])
      else known.push({ place, lane, ok, isLost })
    })
    await Promise.allSettled(
      [...endings].map(async ([worker, list]) => this.#witness(worker, await this.#outcomesOf(list))),
    )
  }

  /** Whose tasks they were: that stands with the lanes of each partition. */
  async #outcomesOf(endings: readonly Ending[]): Promise<readonly Told[]> {
    const names = await this.#store.each((partition, place) =>
      partition.learn(endings.filter((ending) => ending.place === place)),
    )
    return endings.map(({ place, lane, ok, isLost }) => {
      return { tenant: names[place]?.lane(lane).tenant as TenantId, ok, isLost }
    })
  }

  /** Tells the home all that is still counted here; of one worker, or of all. */
  async flush(worker?: WorkerId): Promise<void> {
    const workers = worker === undefined ? [...this.#successes.keys()] : [worker]
    await Promise.allSettled(workers.map((one) => this.#tell(one, [])))
  }

  /** It begins anew. */
  forget(worker: WorkerId): void {
    this.#spotless.delete(worker)
    this.#successes.delete(worker)
  }

  /** Something else about it may have changed. */
  doubt(worker: WorkerId): void {
    this.#spotless.delete(worker)
  }

  async #witness(worker: WorkerId, list: readonly Told[]): Promise<void> {
    if (!list.every(({ ok }) => ok) || !this.#spotless.has(worker)) return this.#tell(worker, list)
    const counts = this.#successes.get(worker) ?? new Map<TenantId, number>()
    this.#successes.set(worker, counts)
    for (const { tenant } of list) {
      const count = Math.min((counts.get(tenant) ?? 0) + 1, PENDING_MAX)
      counts.delete(tenant)
      counts.set(tenant, count)
    }
  }

  async #tell(worker: WorkerId, list: readonly Told[]): Promise<void> {
    const runs: (Told & { count: number })[] = []
    for (const [tenant, count] of this.#successes.get(worker) ?? [])
      runs.push({ tenant, ok: true, isLost: false, count })
    this.#successes.delete(worker)
    for (const { tenant, ok, isLost } of list) {
      const last = runs.at(-1)
      if (last?.tenant === tenant && last.ok === ok && last.isLost === isLost) last.count++
      else runs.push({ tenant, ok, isLost, count: 1 })
    }
    if (runs.length === 0) return
    const args = runs.flatMap(({ tenant, ok, isLost, count }) => [tenant, ok ? '1' : isLost ? '' : '0', String(count)])
    await this.#store.home.once(witnessScript, [worker, ...args])
  }
}

/** What the home hears of an attempt. */
type Told = Outcome & { readonly isLost: boolean }

/** An attempt that ended in a partition other than the home. */
interface Ending {
  readonly place: number
  readonly lane: number
  readonly ok: boolean
  readonly isLost: boolean
}

/** A token ends in the number of its lane and the worker's id, after one part that contains no dot. */
function partsOf(token: string): { readonly lane: number; readonly worker: WorkerId } {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  return { lane: Number(token.slice(first + 1, second)), worker: token.slice(second + 1) as WorkerId }
}
