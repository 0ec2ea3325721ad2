// What one process has launched in one pool, or taken over from a process that is gone: each takes one of its slots until
// its end is settled. Kept in memory only; the truth is the store's list of launches, with which it is compared at every
// pass. A limit over all processes is an operator's (`limit`), and the store keeps it.

import {
  type Backoff,
  backoffMs,
  type Claimed,
  type Launch,
  NoAvailableSlotError,
  type PoolName,
  WakeUp,
  type WorkerId,
} from '@reprise/core'

const HOLD_OFF_MS_MAX = 300_000

export class LaunchLedger {
  readonly pool: PoolName
  readonly slots: number
  /** Called when a slot has become free: for the service that claims, and for the one that takes in messages. */
  readonly freed = new WakeUp()
  readonly freedForMessages = new WakeUp()
  /** Told of each launch that has begun. */
  onStarted: ((key: string) => void) | null = null
  /** Reserved here, and the launcher is at it. */
  readonly #launching = new Set<string>()
  readonly #launches = new Map<string, Launch>()
  /** Promised to reservations that are under way. */
  #promised = 0
  #waiting: (() => void)[] = []
  /** How often in a row the platform had no room, and until when it is not asked for some. */
  #refusals = 0
  #heldUntil = 0

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

  /**
   * The same as far as the platform has room, at a moment of the monotonic clock: none while it is left alone, and one at a time
   * from there on, until a launch shows that there is room again.
   */
  freeAt(now: number): number {
    if (this.#refusals === 0) return this.free
    if (now < this.#heldUntil) return 0
    return this.#launching.size + this.#promised > 0 ? 0 : Math.min(this.free, 1)
  }

  /** The platform had no room, and is not asked for some now. */
  isHeldOff(now: number): boolean {
    return this.#refusals > 0 && this.freeAt(now) === 0
  }

  /** The platform has no room: it is left alone for a while, longer from time to time. */
  holdOff(now: number, backoff: Backoff, askedMs: number): void {
    // What was sent off together is refused together.
    if (now >= this.#heldUntil) this.#refusals += 1
    const restMs = Math.max(backoffMs(backoff, this.#refusals - 1, 0.5), askedMs)
    this.#heldUntil = Math.max(this.#heldUntil, now + Math.min(restMs, HOLD_OFF_MS_MAX))
  }

  hasRoom(): void {
    this.#refusals = 0
    this.#heldUntil = 0
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
    if (count > 0) this.tellFreed()
  }

  tellFreed(): void {
    this.freed.call()
    this.freedForMessages.call()
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
    if (this.#launches.delete(key) || had) this.tellFreed()
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
