// Something that one loop waits on and many call. A call that comes while nobody waits is remembered for the next wait, so
// that none is missed; several count as one.

import { type Clock, sleep } from './clock.ts'

export class WakeUp {
  #called = false
  #release: (() => void) | null = null

  call(): void {
    this.#called = true
    this.#release?.()
    this.#release = null
  }

  /** Comes back at the next call, or at once if there was one since the last wait. */
  async wait(): Promise<void> {
    if (!this.#called) await new Promise<void>((resolve) => (this.#release = resolve))
    this.#called = false
  }

  /** The same, and also after the time and when the signal fires. */
  async waitFor(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#called && !signal.aborted) {
      const over = new AbortController()
      const end = (): void => over.abort()
      this.#release = end
      signal.addEventListener('abort', end, { once: true })
      await sleep(clock, delayMs, over.signal)
      signal.removeEventListener('abort', end)
      this.#release = null
    }
    this.#called = false
  }
}
