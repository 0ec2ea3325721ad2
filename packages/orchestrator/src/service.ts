// How every service of this package is written (docs/architecture.md, "Writing a service"): a loop of rounds that outlives its
// store. Rounds follow each other until the signal fires. After an error comes a rest that grows with each one, and a closed
// engine ends the loop quietly. What a round does, and how long it rests after it, is up to the round.

import {
  type Backoff,
  backoffMs,
  type Clock,
  createService,
  guardedLogger,
  isRepriseError,
  type Logger,
  messageOf,
  quietly,
  type Random,
  type Service,
  silentLogger,
  sleep,
  systemClock,
  systemRandom,
} from '@reprise/core'

/** What every service of this package takes. */
export interface ServiceOptions {
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly log?: Logger | undefined
  /** Told of every error that the service met and outlived. With neither this nor `log`, each goes to stderr once. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The same, complete. Neither `log` nor `onError` ever throws. */
export type Surroundings = { readonly [Key in keyof ServiceOptions]-?: NonNullable<ServiceOptions[Key]> }

/** One start of a service: its rounds, and how it leaves. */
export interface Run {
  /**
   * Does its work and says how many milliseconds to rest before the next round; 0 for none, or if it has rested itself.
   * Comes back soon after the signal has fired.
   */
  round(signal: AbortSignal): Promise<number>
  /** The rest after an error; up to 5 s if not given. */
  readonly backoff?: Backoff
  /** Told of each error, and of the rest that follows it. */
  troubled?(delayMs: number): void
  /** When the rounds have ended. The store may be out of reach. */
  leave?(): Promise<void>
}

const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 100, maxMs: 5_000 }
/** Loops that started together drift apart by up to this share of their interval. */
const JITTER = 0.25
/** How many problems are told apart; those that come later are like one of them, as a rule. */
const TOLD_MAX = 100

export function surroundings(name: string, options: ServiceOptions): Surroundings {
  const log = guardedLogger(options.log ?? silentLogger)
  const hook = errorHook(name, options)
  return {
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    log,
    onError: (error) =>
      quietly(
        () => hook?.(error),
        (thrown) => log.error(`The onError hook of the ${name} threw.`, { error: thrown }),
      ),
  }
}

/** The hook that was given; without one, and without a log, one that warns. Undefined if the log is enough. */
export function errorHook(
  name: string,
  { log, onError }: Pick<ServiceOptions, 'log' | 'onError'>,
): ServiceOptions['onError'] {
  if (onError !== undefined || log !== undefined) return onError
  const told = new Set<string>()
  return (error) => {
    const message = messageOf(error)
    if (told.has(message) || told.size >= TOLD_MAX) return
    told.add(message)
    process.emitWarning(
      `The ${name} met an error and goes on: ${message} This is told once; give it 'log' or 'onError' to hear of each.`,
      'RepriseWarning',
    )
  }
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

async function rounds(
  name: string,
  { clock, random, log, onError }: Surroundings,
  run: Run,
  signal: AbortSignal,
): Promise<void> {
  let errorsInRow = 0
  while (!signal.aborted) {
    let delayMs: number
    try {
      delayMs = await run.round(signal)
      errorsInRow = 0
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
      delayMs = backoffMs(run.backoff ?? ERROR_BACKOFF, errorsInRow++, random.next())
      run.troubled?.(delayMs)
      log.error(`The ${name} met an error and will try again.`, { error, delayMs })
      onError(error)
    }
    if (delayMs > 0) await sleep(clock, delayMs, signal)
  }
}

/** About the interval: services that started together must not go on in step. */
export const jitteredMs = (intervalMs: number, random: Random): number =>
  Math.round(intervalMs * (1 + JITTER * (2 * random.next() - 1)))
