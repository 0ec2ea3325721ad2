// What the store knows of a worker's health, over all partitions. The home keeps the evidence and is told what the others
// saw: failures at once, successes only when they change a verdict or the worker reports; until then they are counted here
// (should this process die, the worker registers again, and nothing of it counts any more). Claims are judged here, by the
// home's evidence, with which they also learn whether the worker is still registered.

import {
  blamesWorker,
  type ClaimRequest,
  type HealthStatus,
  type HealthThresholds,
  NotFoundError,
  PAGE_LIMIT_MAX,
  type Settlement,
  WorkerFencedError,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { assessHealth, RECENT_OUTCOMES_MAX } from '@reprise/core/engine'
import { findWorkers } from '../registry.ts'
import { witnessScript } from '../scripts.generated.ts'
import type { Settled } from '../settle.ts'
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
  readonly #successes = new Map<WorkerId, number>()

  constructor(store: Partitions) {
    this.#store = store
    this.#thresholds = store.home.thresholds
  }

  /** Whether a claim may go together with these settlements, without a look at the evidence before. */
  isSpotless(worker: WorkerId, settlements: readonly Settlement[]): boolean {
    return this.#spotless.has(worker) && !settlements.some(isBlamed)
  }

  /** How a claim treats the worker. Refused if it is not registered with this epoch. */
  async judge({ worker, epoch }: Pick<ClaimRequest, 'worker' | 'epoch'>): Promise<Verdict> {
    const { found, now } = await findWorkers(this.#store.home, [worker])
    const [view] = found
    if (view === undefined) throw new NotFoundError('worker', worker)
    if (view.epoch !== epoch) throw new WorkerFencedError(worker, epoch)
    // A claim is a sign of life.
    const evidence = { ...view, lastBeatAt: now }
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
    const faultless = { ...evidence, consecutiveFailures: 0, recentOutcomes: 0, recentFailures: 0, lastFailureAt: null }
    if (assessHealth(faultless, now, this.#thresholds).status === 'unhealthy') return status
    const workers = await allWorkers(this.#store, PAGE_LIMIT_MAX)
    const pools = new Set(known.pools)
    const hasHelp = workers.some(
      (other) =>
        other.worker !== known.worker && other.health.status !== 'unhealthy' && other.pools.some((it) => pools.has(it)),
    )
    return hasHelp ? status : 'degraded'
  }

  /** Which of these workers may be given work: those that are registered, not draining and not unhealthy. */
  async fit(workers: readonly WorkerId[]): Promise<ReadonlySet<WorkerId>> {
    const found = await findAllWorkers(this.#store, [...new Set(workers)])
    return new Set(
      found.flatMap(({ worker, draining, health }) => (draining || health.status === 'unhealthy' ? [] : [worker])),
    )
  }

  /** What became of settlements. The home has counted its own. If it can't be reached, the settlements stand all the same. */
  async settled(settlements: readonly Settlement[], answers: readonly Settled[]): Promise<void> {
    const endings = new Map<WorkerId, boolean[]>()
    settlements.forEach((settlement, index) => {
      const { result, isSeen = false } = answers[index] ?? {}
      if (result?.outcome !== 'settled' || result.repeated || !isSeen) return
      if (settlement.kind !== 'succeeded' && !isBlamed(settlement)) return
      // Parked: the outage is to blame.
      if (result.status === 'queued') return
      const worker = workerOf(settlement.ref.token)
      const ok = settlement.kind === 'succeeded'
      if (this.#store.placeOf(settlement.ref.taskId) === 0) {
        if (!ok) this.#spotless.delete(worker)
        return
      }
      endings.set(worker, [...(endings.get(worker) ?? []), ok])
    })
    await Promise.allSettled([...endings].map(([worker, list]) => this.#witness(worker, list)))
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

  async #witness(worker: WorkerId, list: readonly boolean[]): Promise<void> {
    if (list.every(Boolean) && this.#spotless.has(worker)) {
      this.#successes.set(worker, Math.min((this.#successes.get(worker) ?? 0) + list.length, PENDING_MAX))
      return
    }
    await this.#tell(worker, list)
  }

  async #tell(worker: WorkerId, list: readonly boolean[]): Promise<void> {
    const runs = [this.#successes.get(worker) ?? 0]
    this.#successes.delete(worker)
    for (const ok of list) {
      const isGood = runs.length % 2 === 1
      if (ok === isGood) runs.push((runs.pop() ?? 0) + 1)
      else runs.push(1)
    }
    if (runs.length === 1 && runs[0] === 0) return
    if (list.includes(false)) this.#spotless.delete(worker)
    await this.#store.home.once(witnessScript, [worker, ...runs.map(String)])
  }
}

type Blamed = Extract<Settlement, { readonly kind: 'failed' | 'lost' }>

const isBlamed = (settlement: Settlement): settlement is Blamed =>
  settlement.kind === 'lost' || (settlement.kind === 'failed' && blamesWorker(settlement.failure))

/** A token ends in the worker's id, after two parts that contain no dot. */
function workerOf(token: string): WorkerId {
  return token.slice(token.indexOf('.', token.indexOf('.') + 1) + 1) as WorkerId
}
