// What a patch may read. An operator who is not shown a secret must not learn it by a patch: by moving it under a harmless name, or by
// testing guesses. What is hidden is hidden by the names on the way to it, or by what it looks like. So the path of an operation
// tells whether it reads something hidden, whatever the payloads hold.

import { InvalidError, type JsonPatch, pointerSteps } from '@reprise/core'
import type { Redaction } from './views.ts'

/** Deeper than any payload. */
const STEPS_MAX = 200

/** Throws `InvalidError` if it moves, copies or tests what the rules hide. */
export function refuseHidden(patch: JsonPatch, redaction: Pick<Redaction, 'value'>): void {
  // An object to merge reads nothing.
  if (!Array.isArray(patch)) return
  for (const [at, operation] of (patch as Extract<JsonPatch, readonly unknown[]>).entries()) {
    const { op, path, from = '', value } = operation
    const isHidden =
      op === 'test'
        ? hides(redaction, path, 'x') || hides(redaction, path, value)
        : (op === 'move' || op === 'copy') && hides(redaction, from, 'x')
    if (!isHidden) continue
    throw new InvalidError(
      `Operation ${at + 1} of the patch reads ${op === 'test' ? path : from}, which is hidden from you. Ask somebody who may configure the store.`,
    )
  }
}

/** Whether this value would be hidden at this place. */
function hides({ value: redacted }: Pick<Redaction, 'value'>, path: string, value: unknown): boolean {
  const steps = pointerSteps(path)
  if (steps.length > STEPS_MAX) return true
  const whole = steps.reduceRight<unknown>((inner, step) => Object.fromEntries([[step, inner]]), value)
  return redacted(whole) !== whole
}
