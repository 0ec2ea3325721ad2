// A loop that outlives its store: rounds follow each other until the signal fires; after an error comes a rest that grows
// with each, and a closed engine ends it quietly. What a round does, and how long it rests, is up to the round.

import {
  type Backoff,
  backoffMs,
  type Clock,
  createService,
  guardedLogger,
  isRepriseError,
  type Logger,
  type Random,
  type Service,
  silentLogger,
  sleep,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { errorHook } from './untold-errors.ts'

/** What every service of this package takes. */
export interface ServiceOptions {
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Logger
  /** Told of every error that the service met and outlived. With neither this nor `log`, each goes to stderr once. */
  readonly onError?: (error: unknown) => void
}

/** The same, complete. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly onError: (error: unknown) => void
}

const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 100, maxMs: 5_000 }

export function surroundings(name: string, options: ServiceOptions): Surroundings {
  const log = guardedLogger(options.log ?? silentLogger)
  const hook = errorHook(name, options)
  return {
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    log,
    onError(error) {
      try {
        hook?.(error)
      } catch (thrown) {
        log.error(`The onError hook of the ${name} threw.`, { error: thrown })
      }
    },
  }
}

/** One start of a service: its rounds, and how it leaves. */
export interface Run {
  /** Does its work and rests; comes back soon after the signal has fired. */
  round(signal: AbortSignal): Promise<void>
  /** Told of each error before the rest that follows it. */
  troubled?(): void
  /** When the rounds have ended. The store may be out of reach. */
  leave?(): Promise<void>
}

export function createLoop(name: string, around: Surroundings, begin: () => Run): Service {
  return createService(
    name,
    async (signal) => {
      const run = begin()
      await rounds(name, around, run, signal)
      try {
        await run.leave?.()
      } catch (error) {
        if (!isRepriseError(error, 'REPRISE_STORE_CLOSED')) around.onError(error)
      }
    },
    around.onError,
  )
}

async function rounds(name: string, around: Surroundings, run: Run, signal: AbortSignal): Promise<void> {
  const { clock, random, log, onError } = around
  let errorsInRow = 0
  while (!signal.aborted) {
    try {
      await run.round(signal)
      errorsInRow = 0
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
      run.troubled?.()
      const delayMs = backoffMs(ERROR_BACKOFF, errorsInRow++, random.next())
      log.error(`The ${name} met an error and will try again.`, { error, delayMs })
      onError(error)
      await sleep(clock, delayMs, signal)
    }
  }
}
