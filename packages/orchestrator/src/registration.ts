// How a service that claims is known to the store: by an id of its own, with heartbeats, like a worker, but for no pool, so
// that nobody takes it for one. It registers again when the store has forgotten it or somebody else took its id.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, type Engine, isRepriseError, type Logger, type WorkerId, workerId } from '@reprise/core'

/** Well below the liveness TTL. */
const BEAT_MS = 5_000

export const serviceId = (kind: string, given?: string): WorkerId =>
  workerId(given ?? `${kind}-${hostname().slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`)

export class Registration {
  readonly worker: WorkerId
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #log: Logger
  #epoch: number | null = null
  #beatAt = 0

  constructor(worker: WorkerId, { engine, clock, log }: { engine: Engine; clock: Clock; log: Logger }) {
    this.worker = worker
    this.#engine = engine
    this.#clock = clock
    this.#log = log
  }

  /** The epoch to claim with. Registers first if need be, and gives a sign of life if one is due. */
  async epoch(): Promise<number> {
    if (this.#epoch !== null && this.#clock.monotonic() - this.#beatAt >= BEAT_MS) await this.#beat(this.#epoch)
    return this.#epoch ?? (await this.#register())
  }

  /** Whether the error says that this registration is void: the next epoch() makes a new one. */
  isVoid(error: unknown): boolean {
    const isVoid = isRepriseError(error, 'REPRISE_WORKER_FENCED') || isRepriseError(error, 'REPRISE_NOT_FOUND')
    if (isVoid) this.#epoch = null
    return isVoid
  }

  async leave(): Promise<void> {
    const epoch = this.#epoch
    this.#epoch = null
    if (epoch !== null) await this.#engine.deregister(this.worker, epoch)
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
      quietMsMax: 0,
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
