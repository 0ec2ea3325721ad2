// Bounded looks at a store that several figures need: its registry of workers, and its time.

import { DEFAULT_POOL, type Engine, PAGE_LIMIT_MAX, type WorkerView } from '@reprise/core'

const PAGES_MAX = 10

export interface RegisteredWorkers {
  readonly workers: readonly WorkerView[]
  readonly isComplete: boolean
}

export async function registeredWorkers(engine: Pick<Engine, 'workers'>): Promise<RegisteredWorkers> {
  const workers: WorkerView[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, next } = await engine.workers({ limit: PAGE_LIMIT_MAX, ...(cursor === undefined ? {} : { cursor }) })
    workers.push(...items)
    if (next === null) return { workers, isComplete: true }
    cursor = next
  }
  return { workers, isComplete: false }
}

/** The cheapest answer that has the store's time in it. */
export async function storeNow(engine: Pick<Engine, 'launches'>): Promise<number> {
  return (await engine.launches({ pool: DEFAULT_POOL, limit: 1 })).now
}
