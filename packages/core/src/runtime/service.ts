// Every background service has this contract: start() comes back when it runs, stop() when it has come to rest; both
// may be called again, at any moment and concurrently, and a stopped service can be started anew.

import { type Clock, sleep } from './clock.ts'

export interface Service {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
}

/** Gives a body the start/stop contract. The body runs until its signal fires and must then end soon. */
export function createService(
  name: string,
  body: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Service {
  let running: { readonly controller: AbortController; readonly ended: Promise<void> } | null = null
  let turns: Promise<void> = Promise.resolve()
  // Calls take effect one after the other, so that of many at once the last one is what holds.
  const inTurn = (step: () => Promise<void> | undefined): Promise<void> => {
    const turn = turns.then(step)
    turns = turn.catch(() => undefined)
    return turn
  }
  return {
    name,
    start: () =>
      inTurn(() => {
        if (running !== null) return
        const controller = new AbortController()
        const ended = Promise.try(body, controller.signal)
          .catch((error: unknown) => {
            try {
              onError(error)
            } catch {
              // Nobody is left to tell; a stop must still come back.
            }
          })
          .finally(() => {
            running = null
          })
        running = { controller, ended }
      }),
    stop: () =>
      inTurn(() => {
        running?.controller.abort()
        return running?.ended
      }),
  }
}

interface PollOptions {
  readonly everyMs: number
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Looks again and again. What a look throws is told, and the next one comes all the same. */
export const createPolling = (name: string, look: () => Promise<void>, options: PollOptions): Service =>
  createService(
    name,
    async (signal) => {
      const { everyMs, clock, onError } = options
      while (!signal.aborted) {
        await sleep(clock, everyMs, signal)
        if (!signal.aborted) await look().catch(onError)
      }
    },
    options.onError,
  )
