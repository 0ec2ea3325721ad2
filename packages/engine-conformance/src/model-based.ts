// Random sequences of commands, held against the model. compareWithModel() reports what it found, for those who want to
// look at it; exerciseAgainstModel() registers it as a test that fails with the shortest sequence that shows the fault.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { commandSequence } from './compare/arbitrary.ts'
import { type Command, commandText } from './compare/command.ts'
import { runSequence } from './compare/run.ts'
import { shorten } from './compare/shorten.ts'
import type { EngineFactory } from './factory.ts'

export interface CompareOptions {
  readonly sequences: number
  /** The same sequences for the same seed. */
  readonly seed?: number
}

export interface ComparisonReport {
  /** How many were tried until the first that failed; all of them if none did. */
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
const SEQUENCE_MS_MAX = 200

export async function compareWithModel(factory: EngineFactory, options: CompareOptions): Promise<ComparisonReport> {
  const { sequences, seed = DEFAULT_SEED } = options
  const property = fc.asyncProperty(commandSequence, (commands) => runSequence(factory, commands))
  const details = await fc.check(property, { numRuns: sequences, seed, unbiased: true })
  const items: readonly Command[] | undefined = details.counterexample?.[0]
  if (!details.failed || items === undefined) return { sequences: details.numRuns, seed, fault: null }
  const attempt = (commands: readonly Command[]): Promise<unknown> =>
    runSequence(factory, commands).then(
      () => null,
      (error: unknown) => error,
    )
  // One after the other is easier to read, if it fails all the same.
  const apart = items.flatMap((command) => (command.do === 'together' ? command.commands : [command]))
  const error = await attempt(apart)
  const failing = error === null ? { items, error: details.errorInstance } : { items: apart, error }
  const shortest = await shorten(failing, attempt)
  const message = shortest.error instanceof Error ? shortest.error.message : String(shortest.error)
  return { sequences: details.numRuns, seed, fault: { commands: shortest.items.map(commandText), message } }
}

/** Registers one test that tries this many random sequences. */
export function exerciseAgainstModel(factory: EngineFactory, options: CompareOptions): void {
  const timeoutMs = 30_000 + options.sequences * SEQUENCE_MS_MAX
  it(`${factory.name} agrees with the model in ${options.sequences} random sequences (invariants 1–7, 9–13)`, {
    timeout: timeoutMs,
  }, async () => {
    const report = await compareWithModel(factory, options)
    expect(faultText(report)).toBe('')
  })
}

/** The fault as a person wants to read it; empty if there is none. */
export function faultText({ fault, sequences, seed }: ComparisonReport): string {
  if (fault === null) return ''
  const steps = fault.commands.map((command, index) => `  ${index + 1}. ${command}`)
  return [`Found in sequence ${sequences} (seed ${seed}):`, ...steps, fault.message].join('\n')
}
