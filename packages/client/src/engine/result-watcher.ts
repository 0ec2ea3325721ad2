// Waits for tasks to end, for any number of waiters in one client with one loop: it takes a mark, looks at the tasks
// somebody waits for, and waits for the engine to say that one of them may have ended. It runs only while somebody
// waits. It never asks the store on a beat, and it spends at most a fifth of its time on looking.

import {
  type Backoff,
  backoffMs,
  type Clock,
  END_STATUSES,
  type Mark,
  NotFoundError,
  type Observing,
  StoreClosedError,
  sleep,
  type Task,
  type TaskId,
  type Waiting,
} from '@reprise/core'
import type { WaitLimits } from '../backend.ts'
import { asError, isPassing, timedOut } from '../waiting.ts'

interface Waiter {
  readonly id: TaskId
  /** Called once, with the ended task or with what went wrong. */
  readonly resolve: (task: Task) => void
  readonly reject: (error: unknown) => void
}

/** Engines come back early when something happens; this only bounds what a lost notification can cost. */
const WAIT_MS = 5_000
/** Reads that are under way at once. */
const READS_MAX = 100
const REST_PER_READ_TIME = 4
const REST_MS_MIN = 2
const REST_MS_MAX = 250
const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 50, maxMs: 2_000 }

export class ResultWatcher {
  readonly #engine: Observing & Waiting
  readonly #clock: Clock
  readonly #waiters = new Map<TaskId, Set<Waiter>>()
  /** Not looked at yet. */
  readonly #fresh = new Set<TaskId>()
  #looping = false
  #closed = false
  #interrupt: AbortController | null = null

  constructor(engine: Observing & Waiting, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** The task, once it has ended in any way. */
  ended(id: TaskId, limits: WaitLimits): Promise<Task> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new StoreClosedError())
      const { timeoutMs, signal } = limits
      if (signal?.aborted === true) return reject(asError(signal.reason))
      const leave = (): void => {
        timer?.cancel()
        signal?.removeEventListener('abort', onAbort)
        this.#remove(waiter)
      }
      const onAbort = (): void => waiter.reject(signal?.reason)
      const waiter: Waiter = {
        id,
        resolve: (task) => {
          leave()
          resolve(task)
        },
        reject: (error) => {
          leave()
          reject(asError(error))
        },
      }
      const timer =
        timeoutMs === null
          ? null
          : this.#clock.after(timeoutMs, () => waiter.reject(timedOut(id, timeoutMs)), { hold: true })
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#add(waiter)
    })
  }

  /** Turns away everybody who still waits. */
  close(): void {
    this.#closed = true
    this.#rejectAll(new StoreClosedError())
    this.#interrupt?.abort()
  }

  #add(waiter: Waiter): void {
    const others = this.#waiters.get(waiter.id)
    if (others === undefined) this.#waiters.set(waiter.id, new Set([waiter]))
    else others.add(waiter)
    this.#fresh.add(waiter.id)
    this.#interrupt?.abort()
    if (this.#looping) return
    this.#looping = true
    void this.#loop()
  }

  #remove(waiter: Waiter): void {
    const others = this.#waiters.get(waiter.id)
    others?.delete(waiter)
    if (others?.size !== 0) return
    this.#waiters.delete(waiter.id)
    this.#fresh.delete(waiter.id)
    if (this.#waiters.size === 0) this.#interrupt?.abort()
  }

  #rejectAll(error: unknown): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.reject(error)
  }

  async #loop(): Promise<void> {
    // The mark is as old as the last look at everything: whatever ended since, the wait comes back for it.
    let mark: Mark | null = null
    let errorsInRow = 0
    while (this.#waiters.size > 0) {
      try {
        if (mark === null) {
          mark = this.#engine.mark()
          await this.#lookAtAll()
        } else {
          await this.#look([...this.#fresh])
        }
        errorsInRow = 0
        if (this.#fresh.size > 0 || this.#waiters.size === 0) continue
        if (await this.#waitFor(mark)) mark = null
      } catch (error) {
        if (!isPassing(error)) {
          this.#rejectAll(error)
          break
        }
        mark = null
        await sleep(this.#clock, backoffMs(ERROR_BACKOFF, errorsInRow++, 0.5), undefined, { hold: true })
      }
    }
    this.#looping = false
  }

  /** False if it was interrupted by a new waiter rather than by something that happened. */
  async #waitFor(mark: Mark): Promise<boolean> {
    const interrupt = new AbortController()
    this.#interrupt = interrupt
    // An engine's own timers let the process end; somebody who awaits a result wants it to go on.
    const hold = this.#clock.after(WAIT_MS * 2, () => {}, { hold: true })
    try {
      await this.#engine.wait({ tasks: [...this.#waiters.keys()], since: mark }, WAIT_MS, interrupt.signal)
      return !interrupt.signal.aborted
    } catch (error) {
      if (interrupt.signal.aborted) return false
      throw error
    } finally {
      hold.cancel()
      this.#interrupt = null
    }
  }

  async #lookAtAll(): Promise<void> {
    const startedAt = this.#clock.monotonic()
    await this.#look([...this.#waiters.keys()])
    const lookMs = this.#clock.monotonic() - startedAt
    // Time stands still on a virtual clock; resting there would wait for a test to move it.
    if (lookMs === 0 || this.#waiters.size === 0) return
    const restMs = Math.min(Math.max(lookMs * REST_PER_READ_TIME, REST_MS_MIN), REST_MS_MAX)
    await sleep(this.#clock, restMs, undefined, { hold: true })
  }

  async #look(ids: readonly TaskId[]): Promise<void> {
    for (let start = 0; start < ids.length; start += READS_MAX) {
      // An embedded store answers at once: without a pause, many waiters would hold up everything else.
      if (start > 0) await new Promise<void>((resolve) => this.#clock.soon(resolve))
      await Promise.all(ids.slice(start, start + READS_MAX).map((id) => this.#lookAt(id)))
    }
  }

  async #lookAt(id: TaskId): Promise<void> {
    const task = await this.#engine.task(id)
    this.#fresh.delete(id)
    const waiters = [...(this.#waiters.get(id) ?? [])]
    if (task === null) for (const waiter of waiters) waiter.reject(new NotFoundError('task', id))
    else if (END_STATUSES.has(task.state.status)) for (const waiter of waiters) waiter.resolve(task)
  }
}
