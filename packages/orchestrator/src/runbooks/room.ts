// What a run has room for. A run is one document, and a store refuses documents that are too large or nest too deep. A step whose end
// can not be written down would be done again and again: so the outputs of all steps together are bounded, and cut where they are
// more; and so is what a run begins with, and every text that is made on its way. Pure.

import { encodeJson } from '@reprise/core'
import type { RunbookRun } from './run.ts'
import type { Runbook } from './runbook.ts'

/** With its inputs, before the first step. A document may have 262,144. */
const BEGUN_BYTES_MAX = 100_000
const RUNBOOK_BYTES_MAX = 60_000
const OUTPUTS_BYTES_MAX = 50_000
/** An output that is no longer is always kept: a step goes on by it. */
const SHORT_BYTES_MAX = 400
const CUT_LENGTH_MAX = 100
export const ERROR_LENGTH_MAX = 500
export const QUESTION_LENGTH_MAX = 2_000

/** `TooLargeError` for a runbook that leaves no room for what its steps give. */
export const checkRunbookSize = (runbook: Runbook): void => void encodeJson(runbook, 'runbook', RUNBOOK_BYTES_MAX)

/** `TooLargeError` if its inputs leave no room for what its steps give. */
export const checkRunSize = (run: RunbookRun): void => void encodeJson(run, 'run with its inputs', BEGUN_BYTES_MAX)

/** The output of a step, or how it begins if there is no room for it. */
export function roomFor({ steps }: RunbookRun, at: number, output: unknown): unknown {
  const all = steps.map((step, place) => (place === at ? output : step.output))
  if (fits([output], SHORT_BYTES_MAX) || fits(all, OUTPUTS_BYTES_MAX)) return output
  return { cut: shortened(JSON.stringify(output), CUT_LENGTH_MAX) }
}

/** As they stand in the document: as deep, and as long. */
function fits(outputs: readonly unknown[], bytesMax: number): boolean {
  try {
    encodeJson({ steps: outputs.map((output) => ({ output })) }, 'outputs of a run', bytesMax)
    return true
  } catch {
    return false
  }
}

export const shortened = (text: string, length: number): string => text.slice(0, length).toWellFormed()
