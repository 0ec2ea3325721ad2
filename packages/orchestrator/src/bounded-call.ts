// A call to somebody else's code that may never come back: waited for until its time is over, or until a stop, and no longer.
// Nothing stays behind when it is over, so that a signal that lives long does not collect listeners.

import { type Clock, sleep } from '@reprise/core'

export interface Bound {
  readonly clock: Clock
  readonly withinMs: number
  readonly stop: AbortSignal
  /** How much longer it is waited for after a stop; not at all if left out. */
  readonly afterStopMs?: number
}

export type Bounded<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'stopped' }

/** Throws what the call throws. Its signal fires at a stop, and when nobody waits for it any more. */
export async function boundedCall<T>(call: (signal: AbortSignal) => Promise<T>, bound: Bound): Promise<Bounded<T>> {
  const { clock, withinMs, stop, afterStopMs = 0 } = bound
  const told = new AbortController()
  const over = new AbortController()
  const stopped = Promise.withResolvers<void>()
  const onStop = (): void => {
    told.abort()
    stopped.resolve()
  }
  if (stop.aborted) onStop()
  else stop.addEventListener('abort', onStop, { once: true })
  const givenUp = async (): Promise<Bounded<T>> => {
    await stopped.promise
    if (afterStopMs > 0) await sleep(clock, afterStopMs, over.signal)
    return { kind: 'stopped' }
  }
  try {
    const answer = await Promise.race([
      Promise.try(call, told.signal).then((value): Bounded<T> => ({ kind: 'answered', value })),
      sleep(clock, withinMs, over.signal).then((): Bounded<T> => ({ kind: 'too_late' })),
      givenUp(),
    ])
    if (answer.kind !== 'answered') told.abort()
    return answer
  } finally {
    stop.removeEventListener('abort', onStop)
    over.abort()
    stopped.resolve()
  }
}
