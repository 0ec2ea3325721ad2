// A service that claims, as the store knows it: by an id of its own, with heartbeats, like a worker, but for no pool, so that
// nobody takes it for one. It registers again when the store has forgotten it or somebody else took its id.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type ClaimResult,
  type Clock,
  idleAfter,
  isRepriseError,
  type Logger,
  type PoolName,
  untilClaimable,
  type Waiting,
  type Work,
  type WorkerId,
  workerId,
} from '@reprise/core'

/** Well below the liveness TTL. */
const BEAT_MS = 5_000
/** Between a claim that was refused for its epoch and the next. */
const FENCED_MS = 5

export const serviceId = (kind: string, given?: string): WorkerId =>
  workerId(given ?? `${kind}-${hostname().slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`)

/** What a round of claiming came to; null if there was no room for any task. */
export type Claim = { readonly result: ClaimResult; readonly limit: number } | null

export class Claimant {
  readonly worker: WorkerId
  readonly #engine: Work & Waiting
  readonly #clock: Clock
  readonly #log: Logger
  #epoch: number | null = null
  #beatAt = 0

  constructor(worker: WorkerId, { engine, clock, log }: { engine: Work & Waiting; clock: Clock; log: Logger }) {
    this.worker = worker
    this.#engine = engine
    this.#clock = clock
    this.#log = log
  }

  /** A round of a service: registers if need be, claims by `claim`, and waits if that found less than it asked for. */
  async round(
    pools: readonly PoolName[],
    claim: (epoch: number) => Promise<Claim>,
    signal: AbortSignal,
  ): Promise<number> {
    const clock = this.#clock
    const epoch = await this.#currentEpoch()
    if (signal.aborted) return 0
    const mark = this.#engine.mark()
    try {
      const found = await claim(epoch)
      if (found === null || found.result.claimed.length >= found.limit) return 0
      await untilClaimable(this.#engine, idleAfter(found.result, mark, clock), { pools, clock, signal })
      return 0
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_WORKER_FENCED') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
      // This registration is void: the next round makes a new one.
      this.#epoch = null
      return FENCED_MS
    }
  }

  async leave(): Promise<void> {
    const epoch = this.#epoch
    this.#epoch = null
    if (epoch !== null) await this.#engine.deregister(this.worker, epoch)
  }

  async #currentEpoch(): Promise<number> {
    if (this.#epoch !== null && this.#clock.monotonic() - this.#beatAt >= BEAT_MS) await this.#beat(this.#epoch)
    return this.#epoch ?? (await this.#register())
  }

  async #register(): Promise<number> {
    const { epoch } = await this.#engine.register({
      worker: this.worker,
      pools: [],
      actions: [],
      host: hostname().slice(0, 100),
      version: 'orchestrator',
      runtimes: [],
      endpoint: null,
    })
    this.#epoch = epoch
    this.#beatAt = this.#clock.monotonic()
    return epoch
  }

  async #beat(epoch: number): Promise<void> {
    const { outcome } = await this.#engine.beat({
      worker: this.worker,
      epoch,
      inFlight: 0,
      queueDepth: 0,
      loopLagMs: 0,
      memoryBytes: process.memoryUsage.rss(),
      draining: false,
      maxQuietMs: 0,
      outlook: null,
    })
    this.#beatAt = this.#clock.monotonic()
    if (outcome === 'current') return
    this.#log.warn('The store does not know this service any more; it registers again.', {
      worker: this.worker,
      outcome,
    })
    this.#epoch = null
  }
}
