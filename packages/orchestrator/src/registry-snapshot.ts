// The whole registry of workers at one moment.

import { allPages, type Observing, type WorkerView } from '@reprise/core'

/** Nobody has more. */
const WORKERS_MAX = 100_000

export async function registrySnapshot(engine: Observing): Promise<readonly WorkerView[]> {
  return (await allPages((page) => engine.workers(page), WORKERS_MAX)).items
}
