// Waiting for a change. Every opened engine listens on one channel of its own in each partition. Before it waits, it registers
// that channel with the pools or tasks it waits for, in the store; a change then wakes as many waiters as it brings work
// for. A mark counts what this engine has heard of, in all partitions together. A wake-up is a hint.

import type { ClaimRequest, Clock, Interest, Mark } from '@reprise/core'
import type { Partition } from './partition.ts'
import { inboxPlace, WakeSource } from './wake-source.ts'

interface Waiter {
  readonly pools: ReadonlySet<string>
  /** Null: whatever there is in them. */
  readonly actions: ReadonlySet<string> | null
  readonly tasks: ReadonlySet<string>
  /** The worker whose inbox it waits for. */
  readonly inbox: string | undefined
  readonly wake: () => void
}

const NOTHING: ReadonlySet<string> = new Set()

export class Wake {
  readonly #sources: readonly WakeSource[]
  readonly #placeOf: (id: string) => number
  readonly #clock: Clock
  readonly #waiters = new Set<Waiter>()
  #mark = 0
  #closed = false

  /** `placeOf` tells the partition of a task, by its place in the list. */
  constructor(partitions: readonly Partition[], channel: string, clock: Clock, placeOf: (id: string) => number) {
    this.#clock = clock
    this.#placeOf = placeOf
    const listener = {
      drawMark: () => ++this.#mark,
      work: (pool: string, action: string) =>
        this.#wakeAll(({ pools, actions }) => pools.has(pool) && (actions?.has(action) ?? true)),
      assigned: (worker: string) => this.#wakeAll(({ inbox }) => inbox === worker),
      ended: (ids: readonly string[]) => this.#wakeAll(({ tasks }) => ids.some((id) => tasks.has(id))),
      gap: () => this.#wakeAll(() => true),
    }
    this.#sources = partitions.map((partition) => new WakeSource(partition, channel, listener))
  }

  /** Starts to listen. */
  async open(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.open()))
  }

  mark(): Mark {
    return this.#mark as Mark
  }

  /** A claim tells the versions of its pools, and of its worker's inbox, as it found them in a partition. */
  saw({ pools, worker }: Pick<ClaimRequest, 'pools' | 'worker'>, versions: readonly string[], place = 0): void {
    this.#sources[place]?.saw(pools, worker, versions)
  }

  wait(interest: Interest, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { inbox } = interest
    const pools = new Set<string>(interest.pools)
    const places = inbox === undefined ? pools : new Set([...pools, inboxPlace(inbox)])
    const actions = interest.actions == null ? null : new Set<string>(interest.actions)
    const tasks = interest.tasks === undefined ? NOTHING : new Set<string>(interest.tasks)
    const shares = this.#byPlace(tasks)
    const { since } = interest
    if (since !== undefined && this.#sources.some((source, place) => source.changed(since, places, shares[place]))) {
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      if (signal?.aborted === true || this.#closed) return resolve()
      const done = (): void => {
        this.#waiters.delete(waiter)
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const waiter: Waiter = { pools, actions, tasks, inbox, wake: done }
      const timer = this.#clock.after(timeoutMs, done, { hold: true })
      signal?.addEventListener('abort', done, { once: true })
      this.#waiters.add(waiter)
      void this.#register(waiter, interest, places, shares)
    })
  }

  /** Registers a waiter everywhere; it need not wait where something changed already. */
  async #register(
    waiter: Waiter,
    interest: Interest,
    places: ReadonlySet<string>,
    shares: readonly (ReadonlySet<string> | undefined)[],
  ): Promise<void> {
    try {
      const answers = await Promise.all(
        this.#sources.map((source, place) => source.register(interest, places, shares[place] ?? NOTHING)),
      )
      if (!answers.every(Boolean)) waiter.wake()
    } catch {
      // The look that follows will say why.
      this.#clock.after(REGISTER_RETRY_MS, waiter.wake, { hold: true })
    }
  }

  close(): void {
    this.#closed = true
    this.#wakeAll(() => true)
  }

  /** The tasks of each partition; nothing is copied where there is only one. */
  #byPlace(tasks: ReadonlySet<string>): readonly (ReadonlySet<string> | undefined)[] {
    if (tasks.size === 0) return []
    if (this.#sources.length === 1) return [tasks]
    const shares: Set<string>[] = this.#sources.map(() => new Set())
    for (const id of tasks) shares[this.#placeOf(id)]?.add(id)
    return shares
  }

  /** False if nobody was woken. */
  #wakeAll(isMeant: (waiter: Waiter) => boolean): boolean {
    const meant = [...this.#waiters].filter(isMeant)
    for (const waiter of meant) waiter.wake()
    return meant.length > 0
  }
}

/** After a failure to register, a waiter looks again this much later. */
const REGISTER_RETRY_MS = 250
