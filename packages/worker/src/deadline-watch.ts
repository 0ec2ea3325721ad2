// Ends executions that run past their timeout, and asks those to stop whose lease has ended unrenewed: with one timer for all
// of them rather than one each. It is set for the earliest of these, and never fires more often than every 50 ms: timeouts are
// coarse on purpose.

import type { Clock, Timer } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'

const TICK_MS = 50
const LOOK_AGAIN_MS = 1_000

export class DeadlineWatch {
  readonly #clock: Clock
  readonly #active: ReadonlySet<ActiveExecution>
  #timer: Timer | null = null
  #firesAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock, active: ReadonlySet<ActiveExecution>) {
    this.#clock = clock
    this.#active = active
  }

  /** Cheap when an earlier deadline is watched already, which is nearly always so. */
  watch(execution: ActiveExecution): void {
    const at = Math.min(execution.deadlineAt, execution.leaseEndsAt)
    if (at < this.#firesAt) this.#arm(at)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#firesAt = Number.POSITIVE_INFINITY
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    const now = this.#clock.monotonic()
    const delayMs = Math.max(at - now, TICK_MS)
    this.#firesAt = now + delayMs
    this.#timer = this.#clock.after(delayMs, () => this.#tick())
  }

  #tick(): void {
    this.stop()
    const now = this.#clock.monotonic()
    let earliest = Number.POSITIVE_INFINITY
    for (const execution of this.#active) {
      if (execution.deadlineAt <= now) {
        execution.timeOut()
        continue
      }
      execution.checkLease()
      // One that has ended may be renewed yet; then its next end counts.
      const leaseEndsAt = execution.leaseEndsAt > now ? execution.leaseEndsAt : now + LOOK_AGAIN_MS
      earliest = Math.min(earliest, execution.deadlineAt, leaseEndsAt)
    }
    if (earliest !== Number.POSITIVE_INFINITY) this.#arm(earliest)
  }
}
