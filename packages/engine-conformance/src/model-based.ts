// Random sequences of commands, held against the model and the invariants. compareWithModel() reports what it found, for those who want to
// look at it; exerciseAgainstModel() registers tests that fail with the shortest sequence that shows the fault, and with the
// command that tries it again.

import { randomInt } from 'node:crypto'
import { sleep, systemClock } from '@reprise/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { commandSequence } from './compare/arbitrary.ts'
import { type Command, commandText } from './compare/command.ts'
import { FOUND } from './compare/found.ts'
import { runSequence } from './compare/run.ts'
import { shorten } from './compare/shorten.ts'
import type { EngineFactory } from './factory.ts'

export interface CompareOptions {
  readonly sequences: number
  /** The same sequences for the same seed. */
  readonly seed?: number
  /** Only the sequence of this number, counted from 1. */
  readonly only?: number
}

export interface ComparisonReport {
  /** The number of the first sequence that failed; if none did, how many were tried. */
  readonly sequences: number
  readonly seed: number
  /** Null if the engine agreed with the model and every invariant held. */
  readonly fault: null | {
    /** The shortest sequence found that shows it, one line for each command. */
    readonly commands: readonly string[]
    readonly message: string
  }
}

const DEFAULT_SEED = 20_300_101
const SEED_MAX = 2 ** 31
/** A sequence that takes longer hangs. Counted in ticks of this process's own timer, which a starved process gets few of. */
const HANGING_TICKS = 300
const TICK_MS = 1_000
/** The longest time that a timer takes: the number of sequences says nothing about how long a busy machine needs for them. */
const NO_TIMEOUT_MS = 2 ** 31 - 1
/** The others are the same each time, so that a fault that is back shows at once. */
const FRESH_SHARE = 0.4
/** A long run is cut into tests of so many sequences: each that is green stays so if the run is stopped. */
const BLOCK = 1_000

export async function compareWithModel(factory: EngineFactory, options: CompareOptions): Promise<ComparisonReport> {
  const { sequences, seed = DEFAULT_SEED, only } = options
  const property = fc.asyncProperty(commandSequence, (commands) => unlessHanging(runSequence(factory, commands)))
  const which = only === undefined ? { numRuns: sequences } : { numRuns: 1, path: String(only - 1) }
  const details = await fc.check(property, { ...which, seed, unbiased: true })
  const items: readonly Command[] | undefined = details.counterexample?.[0]
  if (!details.failed || items === undefined) return { sequences: details.numRuns, seed, fault: null }
  const attempt = (commands: readonly Command[]): Promise<unknown> =>
    unlessHanging(runSequence(factory, commands)).then(
      () => null,
      (error: unknown) => error,
    )
  // One after the other is easier to read, if it fails all the same.
  const apart = items.flatMap((command) => (command.do === 'together' ? command.commands : [command]))
  const error = await attempt(apart)
  const failing = error === null ? { items, error: details.errorInstance } : { items: apart, error }
  const shortest = await shorten(failing, attempt)
  const message = shortest.error instanceof Error ? shortest.error.message : String(shortest.error)
  return { sequences: only ?? details.numRuns, seed, fault: { commands: shortest.items.map(commandText), message } }
}

/** Rejects if the sequence does not end in many seconds in which this process had its turn. */
async function unlessHanging(sequence: Promise<void>): Promise<void> {
  const over = new AbortController()
  const watch = async (): Promise<void> => {
    for (let ticks = 0; ticks < HANGING_TICKS; ticks++) {
      await sleep(systemClock, TICK_MS, over.signal)
      if (over.signal.aborted) return
    }
    throw new Error(`The sequence hangs: it did not end in ${HANGING_TICKS} s.`)
  }
  try {
    await Promise.race([sequence, watch()])
  } finally {
    over.abort()
  }
}

export interface ExerciseAgainstModelOptions {
  /** How many each run tries: some are always the same, the others are new each time. */
  readonly sequences: number
  /** How many new ones a long run tries (`npm run test:long`). */
  readonly long?: number
}

/** Registers the tests. REPRISE_SEED, a seed or `<seed>:<number>`, tries those sequences again instead, or that one. */
export function exerciseAgainstModel(factory: EngineFactory, options: ExerciseAgainstModelOptions): void {
  const { sequences, long = sequences } = options
  const isLong = process.env.REPRISE_LONG === '1'
  const fresh = isLong ? long : Math.ceil(sequences * FRESH_SHARE)
  const [seed = randomInt(SEED_MAX), only] = (process.env.REPRISE_SEED ?? '').match(/\d+/g)?.map(Number) ?? []
  // A store with several places stands for itself: see compare/pair.ts.
  const holds =
    factory.placeOf === undefined
      ? `${factory.name} agrees with the model (invariants 1–7, 9–13)`
      : `${factory.name} keeps invariants 1–7, 9–11 and 13`
  const compare = (which: string, compared: CompareOptions): void => {
    it(`${holds} in ${which}`, { timeout: NO_TIMEOUT_MS }, async () => {
      expect(faultText(await compareWithModel(factory, compared))).toBe('')
    })
  }
  if (only !== undefined) {
    compare(`sequence ${only} of seed ${seed}`, { sequences: 1, seed, only })
    return
  }
  for (let begun = 0; begun < fresh; begun += BLOCK) {
    const block = { sequences: Math.min(BLOCK, fresh - begun), seed: seed + begun / BLOCK }
    compare(`${block.sequences} random sequences, seed ${block.seed}`, block)
  }
  if (isLong || process.env.REPRISE_SEED !== undefined) return
  compare(`${sequences - fresh} sequences that are always the same`, { sequences: sequences - fresh })
  for (const [name, commands] of Object.entries(FOUND)) {
    it(`${holds} where one was broken once: ${name}`, async () => {
      await expect(runSequence(factory, commands)).resolves.toBeUndefined()
    })
  }
}

/** The fault as a person wants to read it; empty if there is none. */
export function faultText({ fault, sequences, seed }: ComparisonReport): string {
  if (fault === null) return ''
  const steps = fault.commands.map((command, index) => `  ${index + 1}. ${command}`)
  const again = `REPRISE_SEED=${seed}:${sequences} npm test -- model-based`
  return [`Found in sequence ${sequences} (seed ${seed}):`, ...steps, fault.message, `To try it again: ${again}`].join(
    '\n',
  )
}
