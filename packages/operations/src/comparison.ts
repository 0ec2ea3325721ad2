// Failures of a cause held against successes of the same action: what stands out, and the sentence that says it.

import { CONTRAST_SAMPLE_MIN, type Contrast, pacedContrasts, turnsOf } from '@reprise/core'
import type { Caller } from './access/caller.ts'
import { featuresFor, samplesOf } from './attempt-samples.ts'
import type { Context } from './context.ts'

type Ports = Pick<Context, 'engine' | 'redaction' | 'clock'>

/** Failures with these fingerprints held against successes of the same action; null if there is none of them. */
export async function comparisonOf(context: Ports, caller: Caller, names: readonly string[]) {
  const { failures, successes } = await samplesOf(context.engine, caller, names)
  const [first] = failures
  if (first === undefined) return null
  const [failed, good] = [await featuresFor(context, caller, failures), await featuresFor(context, caller, successes)]
  const contrasts = await pacedContrasts(failed, good, turnsOf(context.clock))
  const summary = summaryOf(first.action, failures.length, successes.length, contrasts)
  return { action: first.action, failures, successes, contrasts, summary }
}

function summaryOf(action: string, failures: number, successes: number, contrasts: readonly Contrast[]): string {
  const few = (count: number, what: string): string =>
    `There ${count === 1 ? 'is' : 'are'} ${count} ${what} of ${action} to compare: ${CONTRAST_SAMPLE_MIN} are needed.`
  if (successes < CONTRAST_SAMPLE_MIN) return few(successes, successes === 1 ? 'success' : 'successes')
  if (failures < CONTRAST_SAMPLE_MIN) return few(failures, failures === 1 ? 'failure' : 'failures')
  const [first] = contrasts
  return first === undefined
    ? `Nothing stands out between ${failures} failures and ${successes} successes of ${action}.`
    : first.sentence
}
