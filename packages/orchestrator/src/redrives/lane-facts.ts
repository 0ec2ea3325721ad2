// What stands in the way of a lane now: gates of the store, and workers. Read once for a moment, and asked about many lanes.

import {
  allPages,
  compareVersions,
  type Engine,
  type Gate,
  isAlive,
  type LaneView,
  type WorkerView,
} from '@reprise/core'
import type { RedriveDocument, RedriveLane } from './redrive.ts'

const WORKERS_MAX = 1_000

/** A few may try a lane whose breaker is being tried. */
export const TRIAL_ROOM = 10

export type BreakerGate = Extract<Gate, { readonly kind: 'breaker' }>

export class LaneFacts {
  readonly #engine: Engine
  /** Whether it is for a caller limited to tenants: they are told no names of workers and breakers. */
  readonly #isLimited: boolean
  readonly #lanes = new Map<string, readonly Gate[]>()
  #workers: readonly WorkerView[] | null = null

  constructor(engine: Engine, { tenants }: Pick<RedriveDocument, 'tenants'>) {
    this.#engine = engine
    this.#isLimited = tenants !== null
  }

  async gates({ pool, action, tenant }: RedriveLane): Promise<readonly Gate[]> {
    const key = JSON.stringify([pool, action, tenant])
    const known = this.#lanes.get(key)
    if (known !== undefined) return known
    const [lane]: readonly LaneView[] = (await this.#engine.lanes({ pool, action, tenant, limit: 1 })).items
    const gates = lane?.gates ?? []
    this.#lanes.set(key, gates)
    return gates
  }

  async breaker(lane: RedriveLane): Promise<BreakerGate | null> {
    return (await this.gates(lane)).find((gate) => gate.kind === 'breaker') ?? null
  }

  /** What a breaker that is not closed means, in words. */
  heldBy({ name, status }: BreakerGate, { action }: RedriveLane): string {
    const which = this.#isLimited ? 'A breaker' : `Breaker '${name}'`
    return `${which} is ${status.replace('_', ' ')}: ${action} goes as fast as it lets through.`
  }

  async isPaused(lane: RedriveLane): Promise<boolean> {
    return (await this.gates(lane)).some(({ kind }) => kind === 'paused')
  }

  /** Those that would take a task of this lane now. */
  async workers({ pool, action }: Pick<RedriveLane, 'pool' | 'action'>): Promise<readonly WorkerView[]> {
    if (this.#workers === null) {
      const now = await this.#engine.now()
      const { heartbeatStaleMs } = this.#engine.healthThresholds
      const { items } = await allPages((page) => this.#engine.workers(page), WORKERS_MAX)
      this.#workers = items.filter(
        (worker) => !worker.draining && worker.health.status !== 'unhealthy' && isAlive(worker, now, heartbeatStaleMs),
      )
    }
    return this.#workers.filter(
      ({ pools, actions }) => pools.includes(pool) && (actions === null || actions.includes(action)),
    )
  }

  /** Whether a worker of before this version would take tasks of the lane. */
  async hasOlder(lane: RedriveLane, version: string): Promise<boolean> {
    return (await this.workers(lane)).some((worker) => compareVersions(worker.version, version) < 0)
  }

  /** Why tasks of this lane would not run on the fix alone; null if they would. */
  async unfixed(lane: RedriveLane, version: string): Promise<string | null> {
    const workers = await this.workers(lane)
    const older = workers.find((worker) => compareVersions(worker.version, version) < 0)
    if (older !== undefined && this.#isLimited) {
      return `An older worker still takes ${lane.action}: it waits until only version ${version} or newer is there.`
    }
    if (older !== undefined) {
      return `Worker '${older.worker}' of version ${older.version} still takes ${lane.action}: it waits until only version ${version} or newer is there.`
    }
    if (workers.length > 0) return null
    return `No healthy worker of version ${version} or newer takes ${lane.action} in pool '${lane.pool}' yet.`
  }
}
