// A bounded look at a store that several figures need: its registry of workers.

import { type Engine, PAGE_LIMIT_MAX, type WorkerView } from '@reprise/core'

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
