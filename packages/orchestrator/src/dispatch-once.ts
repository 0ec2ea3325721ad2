// One round of directed dispatch (D2, D3): claims from directed pools, picks a worker for each task from a snapshot of the
// registry and hands the leases over. If the store says that a pick is stale, another is made from a fresh snapshot, a few
// times; then the task is put off. When to go round is the dispatcher's business, not this module's.

import {
  type Assignment,
  type AssignResult,
  type Backoff,
  backoffMs,
  type Claimed,
  type ClaimResult,
  HEARTBEAT_LAG_SECONDS,
  healthMatters,
  heartbeatLag,
  launchKey,
  type Meter,
  type Observing,
  type PolicySource,
  type PoolName,
  released,
  type Settlement,
  STALE_WORKER_RETRY_TOTAL,
  selectWorker,
  sleep,
  type Upkeep,
  type Waiting,
  type Work,
  type WorkerId,
  type WorkerView,
  withoutPolicies,
} from '@reprise/core'
import type { RecentAssignments } from './recent-assignments.ts'
import { registrySnapshot } from './registry-snapshot.ts'
import type { Surroundings } from './service.ts'

export interface DispatchRound extends Omit<Surroundings, 'onError'> {
  readonly engine: Upkeep & Work & Observing & Waiting
  readonly meter: Meter
  readonly worker: WorkerId
  readonly epoch: number
  readonly pools: readonly PoolName[]
  readonly limit: number
  readonly leaseMs: number
  readonly inboxTtlMs: number
  /** How often a stale pick is followed by another one. */
  readonly maxDispatchRetries: number
  /** At most so long before each of those. */
  readonly jitterMs: number
  /** The outer backoff, by how often the task was put off already. */
  readonly backoff: Backoff
  /** Say for which actions the health of workers does not matter. */
  readonly policies?: PolicySource | undefined
  /** What was given to workers of late. */
  readonly recent: RecentAssignments
  readonly signal?: AbortSignal
}

export interface DispatchReport {
  readonly claim: ClaimResult
  readonly assigned: number
  /** Picks that the store refused as stale. */
  readonly stale: number
  readonly releasedAs: { readonly stale_worker: number; readonly no_workers: number }
}

export async function dispatchOnce(round: DispatchRound): Promise<DispatchReport> {
  const { engine, worker, epoch, pools, limit, leaseMs } = round
  const claim = await engine.claim({ worker, epoch, pools, actions: null, limit, leaseMs, stage: 'dispatch' })
  const dispatch = new Dispatch(round, claim)
  if (claim.claimed.length > 0) await dispatch.run()
  const { assigned, stale, releasedAs } = dispatch
  return { claim, assigned, stale, releasedAs }
}

interface Item {
  readonly claimed: Claimed
  /** The last pick that turned out stale. */
  stale: WorkerId | null
}

class Dispatch {
  assigned = 0
  stale = 0
  readonly releasedAs = { stale_worker: 0, no_workers: 0 }
  readonly #round: DispatchRound
  readonly #storeNow: () => number
  /** The entries of the registry that were found stale, as they were then. */
  readonly #staleEntries = new Map<WorkerId, WorkerView>()
  #pending: readonly Item[]
  readonly #settlements: Settlement[] = []

  constructor(round: DispatchRound, claim: ClaimResult) {
    this.#round = round
    const receivedAt = round.clock.monotonic()
    this.#storeNow = () => claim.now + (round.clock.monotonic() - receivedAt)
    this.#pending = claim.claimed.map((claimed) => ({ claimed, stale: null }))
  }

  async run(): Promise<void> {
    const { engine, maxDispatchRetries, signal } = this.#round
    for (let repicks = 0; ; repicks++) {
      await this.#pickAndAssign(await registrySnapshot(engine))
      if (this.#pending.length === 0) break
      if (repicks >= maxDispatchRetries || signal?.aborted === true) {
        for (const item of this.#pending) this.#putOff(item, 'stale_worker')
        break
      }
      await this.#beforeRepick(repicks + 1)
    }
    if (this.#settlements.length > 0) await engine.settle(this.#settlements)
  }

  async #pickAndAssign(workers: readonly WorkerView[]): Promise<void> {
    this.#observe(workers)
    const exclude = this.#stillStale(workers)
    const picked: { readonly item: Item; readonly worker: WorkerView }[] = []
    const rest: Item[] = []
    for (const item of this.#pending) {
      const worker = this.#pick(item, workers, exclude)
      if (worker !== null) picked.push({ item, worker })
      // After a stale pick a worker may still turn up; without one, nothing speaks for it.
      else if (item.stale !== null) rest.push(item)
      else this.#putOff(item, 'no_workers')
    }
    const results = await this.#assign(picked.map(({ item, worker }) => ({ item, worker: worker.worker })))
    for (const [index, { item, worker }] of picked.entries()) {
      if (results[index]?.outcome === 'assigned') this.assigned++
      if (results[index]?.outcome !== 'stale') continue
      this.stale++
      this.#staleEntries.set(worker.worker, worker)
      item.stale = worker.worker
      rest.push(item)
    }
    this.#pending = rest
  }

  #pick({ claimed }: Item, workers: readonly WorkerView[], exclude: ReadonlySet<WorkerId>): WorkerView | null {
    const { engine, recent, log } = this.#round
    const key = launchKey(claimed)
    const request = {
      task: claimed.snapshot,
      workers,
      now: this.#storeNow(),
      heartbeatStaleMs: engine.healthThresholds.heartbeatStaleMs,
      givenSince: recent.counts(),
      regardless: this.#isAnyHealth(claimed),
    }
    const returnedBy = recent.returnedBy(key)
    const wary = returnedBy === null ? exclude : new Set([...exclude, returnedBy])
    let { worker, leftOut } = selectWorker({ ...request, exclude: wary })
    // Better the one who let it lie than nobody.
    if (worker === null && returnedBy !== null) ({ worker, leftOut } = selectWorker({ ...request, exclude }))
    if (worker !== null) recent.note(worker.worker, key)
    else {
      const words = `No worker can take ${claimed.snapshot.action} now.`
      log.debug(words, { task: claimed.taskId, leftOut: leftOut.slice(0, 20) })
    }
    return worker
  }

  async #assign(
    picks: readonly { readonly item: Item; readonly worker: WorkerId }[],
  ): Promise<readonly AssignResult[]> {
    if (picks.length === 0) return []
    const { engine, inboxTtlMs } = this.#round
    const assignments = picks.map(({ item: { claimed }, worker }): Assignment => {
      const { taskId, attempt, token } = claimed
      const assignment = { taskId, attempt, token, worker, ttlMs: inboxTtlMs }
      return this.#isAnyHealth(claimed) ? { ...assignment, regardless: true } : assignment
    })
    return engine.assign(assignments)
  }

  #isAnyHealth({ snapshot }: Claimed): boolean {
    const { engine, policies = withoutPolicies } = this.#round
    return !engine.healthThresholds.enabled || !healthMatters(policies.current(), snapshot)
  }

  /** A worker that was found stale and has not been heard of since. */
  #stillStale(workers: readonly WorkerView[]): ReadonlySet<WorkerId> {
    return new Set(
      workers
        .filter(({ worker, epoch, lastBeatAt }) => {
          const found = this.#staleEntries.get(worker)
          return found !== undefined && found.epoch === epoch && found.lastBeatAt === lastBeatAt
        })
        .map(({ worker }) => worker),
    )
  }

  async #beforeRepick(repick: number): Promise<void> {
    const { clock, random, log, meter, jitterMs, signal, maxDispatchRetries: limit } = this.#round
    for (const { claimed, stale } of this.#pending) {
      const { taskId, attempt: execution, snapshot } = claimed
      const where = { topic: snapshot.action, worker: stale ?? '' }
      meter.count(STALE_WORKER_RETRY_TOTAL, where)
      // Words and fields that operators look for (D7): the attempt is that of the dispatch.
      log.info('stale worker detected, retrying dispatch', {
        ...where,
        attempt: repick,
        limit,
        task: taskId,
        execution,
      })
    }
    if (jitterMs > 0) await sleep(clock, Math.round(jitterMs * random.next()), signal)
  }

  #putOff({ claimed, stale }: Item, reason: 'stale_worker' | 'no_workers'): void {
    const { backoff, random, log } = this.#round
    const { taskId, attempt, token, deferrals } = claimed
    const delayMs = backoffMs(backoff, deferrals, random.next())
    this.releasedAs[reason]++
    const words =
      reason === 'no_workers'
        ? 'No worker could take it.'
        : `Every worker that was picked had gone stale, the last one was '${stale}'.`
    log.warn(`${claimed.snapshot.action} is put off. ${words}`, { task: taskId, attempt, reason, delayMs })
    this.#settlements.push(released({ taskId, attempt, token }, words, { delayMs, reason }))
  }

  #observe(workers: readonly WorkerView[]): void {
    const lag = heartbeatLag(
      workers.filter(({ pools }) => pools.some((pool) => this.#round.pools.includes(pool))),
      this.#storeNow(),
    )
    if (lag.count === 0) return
    for (const statistic of ['p50', 'p90', 'p99', 'max'] as const) {
      this.#round.meter.observe(HEARTBEAT_LAG_SECONDS, { statistic }, lag[statistic] / 1_000)
    }
  }
}
