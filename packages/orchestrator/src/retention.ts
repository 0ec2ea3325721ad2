// Deletes what the retention rules no longer keep, a page at a time between two sweeps: a pass over the whole store
// starts every minute, and goes faster only where there is much to delete. Not a service of its own: the sweep calls it.

import { BATCH_MAX, type Clock, present, type RetentionRules, type Upkeep } from '@reprise/core'

const PASS_EVERY_MS = 60_000
/** The most one step does before the sweep gets its turn again. */
const PAGES_PER_STEP_MAX = 20

/** Gives the next step. */
export function retentionSteps(engine: Upkeep, rules: RetentionRules, clock: Clock): () => Promise<void> {
  let cursor: string | null = null
  let nextPassAt = clock.monotonic()
  return async () => {
    if (cursor === null && clock.monotonic() < nextPassAt) return
    for (let page = 0; page < PAGES_PER_STEP_MAX; page++) {
      const result = await engine.retain(rules, { limit: BATCH_MAX, ...present({ cursor }) })
      cursor = result.next
      if (cursor === null) {
        nextPassAt = clock.monotonic() + PASS_EVERY_MS
        return
      }
      if (result.tasksRemoved + result.entriesRemoved < BATCH_MAX / 2) return
    }
  }
}
