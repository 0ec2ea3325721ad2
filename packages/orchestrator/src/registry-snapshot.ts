// The whole registry of workers at one moment, page by page.

import { type Observing, PAGE_LIMIT_MAX, type WorkerView } from '@reprise/core'

/** A hundred thousand workers: nobody has more, and no loop is endless. */
const PAGES_MAX = 100

export async function registrySnapshot(engine: Observing): Promise<readonly WorkerView[]> {
  const workers: WorkerView[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, next } = await engine.workers({ limit: PAGE_LIMIT_MAX, ...(cursor === undefined ? {} : { cursor }) })
    workers.push(...items)
    if (next === null) return workers
    cursor = next
  }
  return workers
}
