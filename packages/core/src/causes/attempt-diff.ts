// The difference between an attempt that failed and one that succeeded, feature by feature. Both stand side by side: what is the
// same is left out.

import type { Features } from './features.ts'

export interface AttemptDifference {
  readonly feature: string
  /** Null if it has none. */
  readonly failed: string | number | null
  readonly good: string | number | null
}

const DIFFERENCES_MAX = 200
/** What nearly every two attempts differ in, and what is told by another feature, comes last or not at all. */
const LAST = ['duration', 'hour of day', 'payload size', 'attempt']

export function differencesOf(failed: Features, good: Features): readonly AttemptDifference[] {
  const names = [...new Set([...failed.keys(), ...good.keys()])]
  const differences = names.flatMap((feature): AttemptDifference[] => {
    const [one, other] = [failed.get(feature) ?? null, good.get(feature) ?? null]
    return one === other || isTold(feature, failed, good) ? [] : [{ feature, failed: one, good: other }]
  })
  return differences
    .sort((one, other) => LAST.indexOf(one.feature) - LAST.indexOf(other.feature))
    .slice(0, DIFFERENCES_MAX)
}

/** Of a field that has a value on both sides, or on one, the value says all: its type and length say it again. */
function isTold(feature: string, failed: Features, good: Features): boolean {
  const [, name, about] = /^(payload.*):(type|length)$/s.exec(feature) ?? []
  if (name === undefined) return false
  const values = [failed.get(name), good.get(name)].filter((value) => value !== undefined)
  if (about === 'length') return values.length > 0
  return values.length === 1 || (values.length === 2 && typeof values[0] === typeof values[1])
}
