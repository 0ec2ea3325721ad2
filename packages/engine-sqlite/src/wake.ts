// Tells waiters that something may have changed: in this process by a call, across processes by touching a small file
// beside the database that everybody watches. A wake-up is a hint: the one that is woken looks again. Marks close the gap
// between looking and waiting.

import { closeSync, constants, type FSWatcher, openSync, watch, writeSync } from 'node:fs'
import type { Clock, Interest, Mark, PoolName, TaskId, WorkerId } from '@reprise/core'

/** What a committed group may have changed. */
export interface Changed {
  /** Pools in which something may have become claimable. */
  readonly pools: ReadonlySet<PoolName>
  /** A slot of a limit is free, or a breaker changed: those that wait for work look again. */
  readonly everyPool: boolean
  /** Tasks that ended. */
  readonly ended: readonly TaskId[]
  /** Workers that something was assigned to. */
  readonly inboxes: ReadonlySet<WorkerId>
}

interface Waiter {
  readonly pools: readonly PoolName[]
  readonly tasks: ReadonlySet<TaskId>
  readonly inbox: WorkerId | null
  readonly wake: () => void
}

/** Under load the file is touched this often at the most; nobody waits longer for a hint. */
const TOUCH_INTERVAL_MS = 2
const NOTHING: ReadonlySet<TaskId> = new Set()

export class Wake {
  readonly #clock: Clock
  readonly #waiters = new Set<Waiter>()
  readonly #poolMarks = new Map<PoolName, number>()
  #endedMark = 0
  /** Of all inboxes together: workers come and go, and one that looks in vain loses little. */
  #inboxMark = 0
  #everyPoolMark = 0
  #elsewhereMark = 0
  #mark = 0
  #file: number | null = null
  #watcher: FSWatcher | null = null
  #touchedAt = Number.NEGATIVE_INFINITY
  #touchPending = false
  #closed = false

  /**
   * `path` is the database file; null for one that only this process can see. `changedElsewhere` tells whether another
   * connection wrote since it was last asked: this process's own touches come back to it too.
   */
  constructor(path: string | null, clock: Clock, changedElsewhere: () => boolean) {
    this.#clock = clock
    if (path === null) return
    const wakePath = `${path}-wake`
    try {
      this.#file = openSync(wakePath, constants.O_RDWR | constants.O_CREAT)
      this.#watcher = watch(wakePath, { persistent: false }, () => {
        if (!this.#closed && changedElsewhere()) this.#heardFromElsewhere()
      })
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // No right to write beside the database, or no watching here: waiters fall back to their own time-outs.
      this.#watcher = null
    }
  }

  mark(): Mark {
    return this.#mark as Mark
  }

  notify(changed: Changed): void {
    const { pools, ended, everyPool, inboxes } = changed
    if (pools.size === 0 && ended.length === 0 && !everyPool && inboxes.size === 0) return
    this.#mark++
    for (const pool of pools) this.#poolMarks.set(pool, this.#mark)
    if (everyPool) this.#everyPoolMark = this.#mark
    if (ended.length > 0) this.#endedMark = this.#mark
    if (inboxes.size > 0) this.#inboxMark = this.#mark
    for (const waiter of this.#waiters) if (concerns(changed, waiter)) waiter.wake()
    this.#touch()
  }

  wait(interest: Interest, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const wanted = {
      pools: interest.pools ?? [],
      tasks: interest.tasks === undefined ? NOTHING : new Set(interest.tasks),
      inbox: interest.inbox ?? null,
    }
    if (interest.since !== undefined && this.#changedSince(interest.since, wanted)) return Promise.resolve()
    return new Promise((resolve) => {
      if (signal?.aborted === true || this.#closed) return resolve()
      const done = (): void => {
        this.#waiters.delete(waiter)
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const waiter: Waiter = { ...wanted, wake: done }
      const timer = this.#clock.after(timeoutMs, done, { hold: true })
      signal?.addEventListener('abort', done, { once: true })
      this.#waiters.add(waiter)
    })
  }

  close(): void {
    if (this.#touchPending) this.#touchNow()
    this.#watcher?.close()
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
    this.#closed = true
    for (const waiter of this.#waiters) waiter.wake()
  }

  #changedSince(since: number, { pools, tasks, inbox }: Omit<Waiter, 'wake'>): boolean {
    if (this.#elsewhereMark > since) return true
    if (inbox !== null && this.#inboxMark > since) return true
    if (tasks.size > 0 && this.#endedMark > since) return true
    if (pools.length > 0 && this.#everyPoolMark > since) return true
    return pools.some((pool) => (this.#poolMarks.get(pool) ?? 0) > since)
  }

  #heardFromElsewhere(): void {
    this.#elsewhereMark = ++this.#mark
    for (const waiter of this.#waiters) waiter.wake()
  }

  #touch(): void {
    if (this.#file === null || this.#touchPending) return
    const sinceMs = this.#clock.monotonic() - this.#touchedAt
    if (sinceMs >= TOUCH_INTERVAL_MS) {
      this.#touchNow()
      return
    }
    this.#touchPending = true
    this.#clock.after(TOUCH_INTERVAL_MS - sinceMs, () => {
      this.#touchPending = false
      this.#touchNow()
    })
  }

  #touchNow(): void {
    if (this.#file === null) return
    this.#touchedAt = this.#clock.monotonic()
    try {
      writeSync(this.#file, '.', 0)
    } catch {
      // A full disk, say: a hint is lost, and waiters look by themselves after their time-out.
    }
  }
}

function concerns(changed: Changed, waiter: Waiter): boolean {
  if (waiter.pools.length > 0 && changed.everyPool) return true
  if (waiter.pools.some((pool) => changed.pools.has(pool))) return true
  if (waiter.inbox !== null && changed.inboxes.has(waiter.inbox)) return true
  return waiter.tasks.size > 0 && changed.ended.some((id) => waiter.tasks.has(id))
}
