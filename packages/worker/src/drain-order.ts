// Asks the store now and then whether an operator wants this worker to take nothing new. It rides along with the heartbeat and
// asks less often than that: an order may take a few seconds to arrive, and a question costs the store something.

import { type Clock, isRepriseError, type Logger, type WorkerId } from '@reprise/core'
import type { WorkerStore } from './store/worker-store.ts'

export interface DrainOrderOptions {
  readonly engine: Pick<WorkerStore, 'isDrainOrdered'>
  readonly clock: Clock
  readonly log: Logger
  readonly worker: WorkerId
  readonly onOrdered: () => void
}

const ASK_EVERY_MS = 5_000

/** Looks for an order to the worker of this epoch. Never rejects: a store that does not answer is asked again. */
export function drainOrder({ engine, clock, log, worker, onOrdered }: DrainOrderOptions) {
  let askedAt: number | null = null
  return async (epoch: number): Promise<void> => {
    const now = clock.monotonic()
    if (askedAt !== null && now - askedAt < ASK_EVERY_MS) return
    askedAt = now
    try {
      if (await engine.isDrainOrdered(worker, epoch)) onOrdered()
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
      log.warn('The store did not say whether this worker is to drain; asking again.', { worker, error })
    }
  }
}
