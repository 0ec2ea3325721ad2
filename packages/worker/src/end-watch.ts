// Hears soon when an attempt of this worker ends elsewhere: cancelled, above all. It waits for the end of the tasks that run
// here, as a client waits for results, and renews their leases when one of them may have ended: what is gone is told then.
//
// Only handlers that run for a while are waited for, so that short ones cost nothing. A long one costs an engine out of process one
// registration and one message. An embedded engine can't tell which change of another process concerns this one: it brings
// two renewals a second at the most, while others change the store.

import { type Clock, type Mark, type Service, sleep, type TaskId, type Timer, type Waiting } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'

export interface EndWatchOptions {
  readonly engine: Waiting
  readonly clock: Clock
  readonly active: ReadonlySet<ActiveExecution>
  /** Renews the leases of these, and ends those that are gone. */
  readonly renew: (executions: readonly ActiveExecution[]) => Promise<void>
}

/** A handler that runs for longer than this is waited for. */
const LONG_MS = 300
/** Between two looks, however often something changes. */
const REST_MS = 500
const REST_PER_LOOK_TIME = 4
/** Leases are renewed all the time: nothing is lost if a notification is. */
const WAIT_MS = 60_000

export class EndWatch implements Service {
  readonly name = 'watch of ends'
  readonly #options: EndWatchOptions
  readonly #watched = new Set<ActiveExecution>()
  readonly #stopped = new AbortController()
  #timer: Timer | null = null
  /** Whatever ended since, nobody has looked for yet. */
  #since: Mark | null = null
  #interrupt = new AbortController()
  #waiting: Promise<void> | null = null

  constructor(options: EndWatchOptions) {
    this.#options = options
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#stopped.abort()
    this.#interrupt.abort()
    await this.#waiting
  }

  /** Cheap: one timer for all that start meanwhile. */
  started(): void {
    if (this.#stopped.signal.aborted) return
    this.#timer ??= this.#options.clock.after(LONG_MS, () => this.#collect())
  }

  #collect(): void {
    this.#timer = null
    const { clock, active } = this.#options
    const longSince = clock.monotonic() - LONG_MS
    let isNew = false
    for (const execution of active) {
      if (this.#watched.has(execution)) continue
      if (execution.receivedAt > longSince) {
        this.started()
        continue
      }
      this.#watched.add(execution)
      this.#since = earlier(this.#since, execution.mark)
      isNew = true
    }
    if (!isNew) return
    this.#interrupt.abort()
    this.#waiting ??= this.#watch().finally(() => {
      this.#waiting = null
    })
  }

  async #watch(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      for (const execution of this.#watched) if (execution.ended) this.#watched.delete(execution)
      if (this.#watched.size === 0) return
      if (await this.#mayHaveEnded()) await this.#look()
    }
  }

  /** False if it only has to wait for others as well. */
  async #mayHaveEnded(): Promise<boolean> {
    const interrupt = new AbortController()
    this.#interrupt = interrupt
    const tasks = Array.from(this.#watched, ({ claimed }): TaskId => claimed.taskId)
    const interest = this.#since === null ? { tasks } : { tasks, since: this.#since }
    try {
      await this.#options.engine.wait(interest, WAIT_MS, interrupt.signal)
    } catch {
      // The look that follows meets the same trouble; the renewal of all leases tells of it.
    }
    return !interrupt.signal.aborted
  }

  async #look(): Promise<void> {
    const { engine, clock, renew } = this.#options
    const startedAt = clock.monotonic()
    this.#since = engine.mark()
    await renew([...this.#watched]).catch(() => undefined)
    const lookMs = clock.monotonic() - startedAt
    await sleep(clock, Math.max(REST_MS, lookMs * REST_PER_LOOK_TIME), this.#stopped.signal)
  }
}

const earlier = (one: Mark | null, other: Mark): Mark => (one === null || other < one ? other : one)
