// What a dispatcher assigned to workers in the last minutes. A worker's own figures show it only after a heartbeat; without
// this, all tasks until then would go to the worker that was idle at the last heartbeat. A task that comes back as it was
// assigned was not collected: that worker does not get it again while there is another one.

import type { Clock, WorkerId } from '@reprise/core'

/** As long as a heartbeat takes, usually: by then a worker's own figures tell. */
const LOAD_MS = 5_000
/** For longer than anything lies in an inbox, usually. */
const KEPT_MS = 300_000
const KEPT_MAX = 10_000

interface Assigned {
  readonly worker: WorkerId
  readonly at: number
}

export class RecentAssignments {
  readonly #clock: Clock
  readonly #counts = new Map<WorkerId, number>()
  #assigned: Assigned[] = []
  /** By task and attempt, oldest first. */
  readonly #last = new Map<string, Assigned>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `key` names the task and the attempt. */
  note(worker: WorkerId, key: string): void {
    const assigned = { worker, at: this.#clock.monotonic() }
    this.#assigned.push(assigned)
    this.#counts.set(worker, (this.#counts.get(worker) ?? 0) + 1)
    this.#last.delete(key)
    this.#last.set(key, assigned)
    for (const [oldest, { at }] of this.#last) {
      if (this.#last.size <= KEPT_MAX && assigned.at - at < KEPT_MS) break
      this.#last.delete(oldest)
    }
  }

  /** The worker that had this very attempt before and did not begin it; null if there is none. */
  returnedBy(key: string): WorkerId | null {
    return this.#last.get(key)?.worker ?? null
  }

  /** How many each worker got in the last seconds. */
  counts(): ReadonlyMap<WorkerId, number> {
    const since = this.#clock.monotonic() - LOAD_MS
    const fresh = this.#assigned.findIndex(({ at }) => at > since)
    const old = this.#assigned.splice(0, fresh === -1 ? this.#assigned.length : fresh)
    for (const { worker } of old) {
      const count = (this.#counts.get(worker) ?? 0) - 1
      if (count > 0) this.#counts.set(worker, count)
      else this.#counts.delete(worker)
    }
    return this.#counts
  }
}
