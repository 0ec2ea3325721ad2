// Asks the store now and then whether an operator wants this worker to take nothing new. It rides along with the heartbeat and
// asks less often than that: an order may take a few seconds to arrive, and a question costs the store something.

import { type Clock, type Engine, isDrainOrdered, isRepriseError, type Logger, type WorkerId } from '@reprise/core'

export interface DrainOrderOptions {
  readonly engine: Pick<Engine, 'collection'>
  readonly clock: Clock
  readonly log: Logger
  readonly worker: WorkerId
  readonly onOrdered: () => void
}

const ASK_EVERY_MS = 5_000

export class DrainOrder {
  readonly #options: DrainOrderOptions
  #askedAt: number | null = null

  constructor(options: DrainOrderOptions) {
    this.#options = options
  }

  /** Never rejects: a store that does not answer is asked again. */
  async look(epoch: number): Promise<void> {
    const { engine, clock, log, worker, onOrdered } = this.#options
    const now = clock.monotonic()
    if (this.#askedAt !== null && now - this.#askedAt < ASK_EVERY_MS) return
    this.#askedAt = now
    try {
      if (await isDrainOrdered(engine, worker, epoch)) onOrdered()
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
      log.warn('The store did not say whether this worker is to drain; asking again.', { worker, error })
    }
  }
}
