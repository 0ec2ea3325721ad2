// What one process has launched in one pool, or taken over from a process that is gone: each takes one of its slots until
// its end is settled. Kept in memory only; the truth is the store's list of launches, with which it is compared at every
// pass. A limit over all processes is an operator's (`limit`), and the store keeps it.

import { type Claimed, type Launch, NoAvailableSlotError, type PoolName, WakeUp, type WorkerId } from '@reprise/core'

export class LaunchLedger {
  readonly pool: PoolName
  readonly slots: number
  /** Called when a slot has become free. */
  readonly freed = new WakeUp()
  /** Told of each launch that has begun. */
  onStarted: ((key: string) => void) | null = null
  /** Reserved here, and the launcher is at it. */
  readonly #launching = new Set<string>()
  readonly #launches = new Map<string, Launch>()
  /** Promised to reservations that are under way. */
  #promised = 0
  #waiting: (() => void)[] = []

  constructor(pool: PoolName, slots: number) {
    this.pool = pool
    this.slots = slots
  }

  get taken(): number {
    return this.#promised + this.#launching.size + this.#launches.size
  }

  get free(): number {
    return Math.max(this.slots - this.taken, 0)
  }

  /** The first step of the funnel (A7): the slots, before anything is reserved. */
  acquire(count: number): void {
    if (count > this.free) throw new NoAvailableSlotError(`pool '${this.pool}' in this process`, this.slots)
    this.#promised += count
  }

  /** The same for one, which waits for slots that are only promised: most of them are given back in a moment. */
  async acquireOne(): Promise<void> {
    while (this.free === 0 && this.#promised > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.acquire(1)
  }

  /** Slots that no reservation came for. */
  giveBack(count: number): void {
    this.#keep(count)
    if (count > 0) this.freed.call()
  }

  /** A slot that was acquired goes to this launch. */
  begin(key: string): void {
    this.#launching.add(key)
    this.#keep(1)
  }

  /** A promise of slots is kept or void. */
  #keep(count: number): void {
    this.#promised -= count
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  isLaunching(key: string): boolean {
    return this.#launching.has(key)
  }

  started(key: string, launch: Launch): void {
    this.#launching.delete(key)
    this.#launches.set(key, launch)
    this.onStarted?.(key)
  }

  /** One that somebody else launched is looked after here from now on. */
  adopt(key: string, launch: Launch): void {
    if (!this.#launching.has(key)) this.#launches.set(key, launch)
  }

  /** Its end is settled, or it never began: the slot is free. */
  done(key: string): void {
    const had = this.#launching.delete(key)
    if (this.#launches.delete(key) || had) this.freed.call()
  }

  get(key: string): Launch | undefined {
    return this.#launches.get(key)
  }

  launches(): readonly (readonly [string, Launch])[] {
    return [...this.#launches]
  }
}

/** What the store would list of it. */
export function launchOf(claimed: Claimed, worker: WorkerId, handle: string | null): Launch {
  const { retryReason: _, ...standing } = claimed
  return { ...standing, worker, handle }
}
