// Tasks whose next loss would be their last: they may kill their workers, or may only have run beside one that does. Such a
// suspect runs alone on its worker, one at a time, so that a crash has one possible cause, and nobody else pays for it.
//
// A worker that gets one while something else runs gives it back at once: waiting under a lease, it would be lost with its
// worker before it had begun. The worker then seeks solitude: it claims nothing until all that it runs has ended, and then one
// task at a time, as long as suspects come. It does not wait for ever: after a while it goes on as before, and once it
// has done so a few times a suspect begins beside what still runs. Those have come far, and one loss does not end them.

import type { Clock, Timer } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'

export interface SuspectsOptions {
  readonly clock: Clock
  readonly active: ReadonlySet<ActiveExecution>
  /** What may be claimed now has changed. */
  readonly wake: () => void
}

const WAIT_MS = 30_000
const WAITS_IN_VAIN_MAX = 3
/** Tasks that come one at a time and are no suspects: then these are elsewhere. */
const OTHERS_MAX = 10

export class Suspects {
  readonly #options: SuspectsOptions
  #running: ActiveExecution | null = null
  /** While solitude is sought. */
  #timer: Timer | null = null
  #isSought = false
  #waitsInVain = 0
  #others = 0

  constructor(options: SuspectsOptions) {
    this.#options = options
  }

  /** Whether the worker claims one at a time, or nothing, for their sake. */
  get areSought(): boolean {
    return this.#isSought
  }

  /** How many of this many may be claimed, while claims for `underWay` are on their way. */
  room(most: number, underWay: number): number {
    if (!this.#isSought) return most
    return this.#options.active.size === 0 && underWay === 0 ? Math.min(most, 1) : 0
  }

  /** Whether this one, just claimed, may begin. If not it goes back, for somebody who has nothing else to do. */
  mayBegin(execution: ActiveExecution): boolean {
    if (this.#running?.ended === true) this.#running = null
    const isAlone = this.#options.active.size === 0
    if (!execution.isSuspect) {
      if (this.#running !== null) return false
      if (this.#isSought && ++this.#others >= OTHERS_MAX) this.stop()
      return true
    }
    if (!isAlone && this.#waitsInVain < WAITS_IN_VAIN_MAX) {
      this.#seek()
      return false
    }
    this.#waitsInVain = 0
    this.#running = execution
    this.#seek()
    return true
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#isSought = false
    this.#others = 0
  }

  #seek(): void {
    this.#isSought = true
    this.#others = 0
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(WAIT_MS, () => this.#waited())
  }

  #waited(): void {
    // It runs alone, and may take its time.
    if (this.#running !== null && !this.#running.ended) {
      this.#seek()
      return
    }
    if (this.#options.active.size > 0) this.#waitsInVain++
    this.stop()
    this.#options.wake()
  }
}
