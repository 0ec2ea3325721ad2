// The grace time of a worker that stops: running handlers may finish; shortly before its end their signals fire, and at
// its end what still runs is released. It only keeps the time: what happens then is the worker's business.

import { type Clock, sleep } from '@reprise/core'

/** Of the grace, what handlers get between the signal to stop and the release of their executions. */
const ABORT_SHARE = 0.1
const ABORT_MS_MAX = 1_000

export class Grace {
  readonly #clock: Clock
  readonly #askHandlers = new AbortController()
  readonly #releaseNow = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time to ask the handlers to stop. */
  get nearlyOver(): Promise<void> {
    return fired(this.#askHandlers.signal)
  }

  /** Time to release what still runs. */
  get over(): Promise<void> {
    return fired(this.#releaseNow.signal)
  }

  /** Called again, it only makes the end come sooner. */
  endAfter(graceMs: number, signal?: AbortSignal): void {
    const abortMs = Math.min(Math.round(graceMs * ABORT_SHARE), ABORT_MS_MAX)
    const stopped = this.#releaseNow.signal
    const askThenRelease = async (): Promise<void> => {
      this.#askHandlers.abort()
      if (abortMs > 0) await sleep(this.#clock, abortMs, stopped, { hold: true })
      this.#releaseNow.abort()
    }
    if (graceMs === 0 || signal?.aborted === true) return void askThenRelease()
    signal?.addEventListener('abort', () => void askThenRelease(), { once: true })
    void sleep(this.#clock, graceMs - abortMs, stopped, { hold: true }).then(askThenRelease)
  }

  /** Ends timers of a grace time that was not used up. */
  end(): void {
    this.#askHandlers.abort()
    this.#releaseNow.abort()
  }
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
