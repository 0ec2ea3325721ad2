// A rest that somebody can cut short. A call that comes while nobody rests is remembered, so that none is missed.

import { type Clock, sleep } from '@reprise/core'

export class WakeUp {
  #called = false
  #sleeper: AbortController | null = null

  call(): void {
    this.#called = true
    this.#sleeper?.abort()
  }

  /** Comes back after the time, when the signal fires, or at a call, also one since the last rest. */
  async rest(clock: Clock, restMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#called && !signal.aborted) {
      const sleeper = new AbortController()
      this.#sleeper = sleeper
      const stop = (): void => sleeper.abort()
      signal.addEventListener('abort', stop, { once: true })
      await sleep(clock, restMs, sleeper.signal)
      signal.removeEventListener('abort', stop)
      this.#sleeper = null
    }
    this.#called = false
  }
}
