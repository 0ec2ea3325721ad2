// Brings the news of handlers to the store: their progress and their log lines, soon after they came. It renews the leases of
// those that have news, a few times a second at the most, and nothing while there is none. If the store can't be told, the
// next renewal of all leases brings it.

import type { Clock, Timer } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'

/** Everybody sees what is new within a second. */
const NEWS_MS = 500

export class LeaseNews {
  readonly #clock: Clock
  readonly #renew: (executions: readonly ActiveExecution[]) => Promise<void>
  readonly #pending = new Set<ActiveExecution>()
  #timer: Timer | null = null
  #closed = false

  constructor(clock: Clock, renew: (executions: readonly ActiveExecution[]) => Promise<void>) {
    this.#clock = clock
    this.#renew = renew
  }

  /** This handler has something to tell. */
  add(execution: ActiveExecution): void {
    if (this.#closed) return
    this.#pending.add(execution)
    this.#timer ??= this.#clock.after(NEWS_MS, () => void this.#bring())
  }

  stop(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#pending.clear()
  }

  async #bring(): Promise<void> {
    const executions = [...this.#pending]
    this.#pending.clear()
    this.#timer = null
    // The renewal of all leases meets the same trouble, and tells of it.
    await this.#renew(executions).catch(() => undefined)
  }
}
