// Time as a port. Engines, services and SDKs never ask the host directly, so a test can move time by hand: the
// virtual clock fires timers in order and lets promises settle between two of them.

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the epoch. Only a store's clock decides about leases and due times. */
  now(): number
  /** Milliseconds that never go backwards and do not follow changes of the wall clock. For measuring only. */
  monotonic(): number
  /** Calls back once after the delay. Does not keep a process alive unless `hold` is set. */
  after(delayMs: number, callback: () => void, options?: { readonly hold?: boolean }): Timer
  /** Calls back as soon as whatever is ready now has run. The moment to commit what was gathered meanwhile. */
  soon(callback: () => void): void
}

// setTimeout takes a signed 32-bit number and fires at once above it.
const TIMER_MS_MAX = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback, options) {
    let timer: ReturnType<typeof setTimeout>
    const arm = (restMs: number): void => {
      const next = restMs > TIMER_MS_MAX ? () => arm(restMs - TIMER_MS_MAX) : callback
      timer = setTimeout(next, Math.min(Math.max(restMs, 0), TIMER_MS_MAX))
      if (options?.hold !== true) unref(timer)
    }
    arm(delayMs)
    return { cancel: () => clearTimeout(timer) }
  },
  soon: (callback) => void setImmediate(callback),
}

/** Resolves after the delay, or early (without an error) when the signal fires. */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal?: AbortSignal,
  options?: { readonly hold?: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const done = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.after(delayMs, done, options)
    signal?.addEventListener('abort', done, { once: true })
  })
}

interface VirtualTimer {
  readonly at: number
  readonly callback: () => void
}

/** What the work comes to, or 'late' if that takes longer than this. The work itself goes on. */
export async function inTime<T>(clock: Clock, withinMs: number, work: Promise<T>): Promise<T | 'late'> {
  const over = new AbortController()
  try {
    return await Promise.race([work, sleep(clock, withinMs, over.signal, { hold: true }).then(() => 'late' as const)])
  } finally {
    over.abort()
  }
}

/** A clock that stands still until it is told to move. */
export class VirtualClock implements Clock {
  #now: number
  readonly #timers = new Set<VirtualTimer>()

  constructor(startAt: number = Date.UTC(2030, 0, 1)) {
    this.#now = startAt
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer: VirtualTimer = { at: this.#now + Math.max(Math.ceil(delayMs), 0), callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }

  /** When the earliest timer will fire; null if none is set. */
  nextAt(): number | null {
    const next = this.#earliest()
    return next === undefined ? null : next.at
  }

  /** Moves time without letting anything run: for tests that only need a later `now`. */
  jump(byMs: number): void {
    this.#now += byMs
  }

  /** Moves time forward, firing each timer at its own moment and letting what it started settle first. */
  async advance(byMs: number): Promise<void> {
    const target = this.#now + byMs
    await settled()
    for (;;) {
      const next = this.#earliest()
      if (next === undefined || next.at > target) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
      await settled()
    }
    this.#now = Math.max(this.#now, target)
  }

  #earliest(): VirtualTimer | undefined {
    let earliest: VirtualTimer | undefined
    // In the order in which they were set: of two for the same moment the older one goes first.
    for (const timer of this.#timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer
    return earliest
  }
}

// A few turns of the event loop: enough for a chain of promises and grouped commits to come to rest.
const SETTLE_TURNS = 8

async function settled(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    (timer as { unref: () => void }).unref()
}
