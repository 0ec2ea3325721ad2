// Those who wait for a change, and the marks that let them look first and miss nothing. All waiters wake at every
// change, whatever they are interested in: coming back early is allowed, missing a change is not.

import type { Clock, Mark } from '@reprise/core'

export function createWaiters(clock: Clock, changes: () => number) {
  const wakers = new Set<() => void>()
  return {
    mark: (): Mark => changes() as Mark,
    wake(): void {
      for (const waker of wakers) waker()
    },
    wait(since: Mark | undefined, timeoutMs: number, signal?: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        if (signal?.aborted === true || (since !== undefined && changes() > since)) return resolve()
        const done = (): void => {
          wakers.delete(done)
          timer.cancel()
          signal?.removeEventListener('abort', done)
          resolve()
        }
        const timer = clock.after(timeoutMs, done)
        wakers.add(done)
        signal?.addEventListener('abort', done, { once: true })
      })
    },
  }
}
