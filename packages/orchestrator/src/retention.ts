// Deletes what the retention rules no longer keep, a page at a time between two sweeps: a pass over the whole store
// starts every minute, and goes faster only where there is much to delete. Not a service of its own: the sweep calls it.

import { BATCH_MAX, type Clock, type RetentionRules, type Upkeep } from '@reprise/core'

const PASS_EVERY_MS = 60_000
/** The most one step does before the sweep gets its turn again. */
const PAGES_PER_STEP_MAX = 20

export class Retention {
  readonly #engine: Upkeep
  readonly #rules: RetentionRules
  readonly #clock: Clock
  #cursor: string | null = null
  #nextPassAt: number

  constructor(engine: Upkeep, rules: RetentionRules, clock: Clock) {
    this.#engine = engine
    this.#rules = rules
    this.#clock = clock
    this.#nextPassAt = clock.monotonic()
  }

  async step(): Promise<void> {
    if (this.#cursor === null && this.#clock.monotonic() < this.#nextPassAt) return
    for (let page = 0; page < PAGES_PER_STEP_MAX; page++) {
      const result = await this.#engine.retain(this.#rules, {
        limit: BATCH_MAX,
        ...(this.#cursor === null ? {} : { cursor: this.#cursor }),
      })
      this.#cursor = result.next
      if (result.next === null) {
        this.#nextPassAt = this.#clock.monotonic() + PASS_EVERY_MS
        return
      }
      if (result.tasksRemoved + result.entriesRemoved < BATCH_MAX / 2) return
    }
  }
}
