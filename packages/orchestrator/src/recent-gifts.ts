// What a dispatcher gave to workers of late. Their own figures show it only after a heartbeat; without this, all tasks until
// then would go to the one that was idle at the last one. And a task that comes back as it was given away was not collected:
// whoever let it lie is not asked again while there is somebody else.

import type { Clock, WorkerId } from '@reprise/core'

/** As long as a heartbeat takes, usually: by then a worker's own figures tell. */
const LOAD_MS = 5_000
/** For longer than anything lies in an inbox, usually. */
const KEPT_MS = 300_000
const KEPT_MAX = 10_000

interface Gift {
  readonly worker: WorkerId
  readonly at: number
}

export class RecentGifts {
  readonly #clock: Clock
  readonly #counts = new Map<WorkerId, number>()
  #gifts: Gift[] = []
  /** By task and attempt, oldest first. */
  readonly #last = new Map<string, Gift>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `key` names the task and the attempt. */
  give(worker: WorkerId, key: string): void {
    const gift = { worker, at: this.#clock.monotonic() }
    this.#gifts.push(gift)
    this.#counts.set(worker, (this.#counts.get(worker) ?? 0) + 1)
    this.#last.delete(key)
    this.#last.set(key, gift)
    for (const [oldest, { at }] of this.#last) {
      if (this.#last.size <= KEPT_MAX && gift.at - at < KEPT_MS) break
      this.#last.delete(oldest)
    }
  }

  /** Who had this very attempt before, and did not begin it; null if nobody did. */
  returnedBy(key: string): WorkerId | null {
    return this.#last.get(key)?.worker ?? null
  }

  /** What workers got in the last seconds. */
  counts(): ReadonlyMap<WorkerId, number> {
    const since = this.#clock.monotonic() - LOAD_MS
    const fresh = this.#gifts.findIndex(({ at }) => at > since)
    const old = this.#gifts.splice(0, fresh === -1 ? this.#gifts.length : fresh)
    for (const { worker } of old) {
      const rest = (this.#counts.get(worker) ?? 0) - 1
      if (rest > 0) this.#counts.set(worker, rest)
      else this.#counts.delete(worker)
    }
    return this.#counts
  }
}
