// Spans of time where room is short: one unit, rounded down.

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** `45s`, `12m`, `3h`, `5d`. What lies in the future by a clock that is off counts as now. */
export function shortSpan(ms: number): string {
  const found = UNITS.find(([, unitMs]) => ms >= unitMs)
  return found === undefined ? '0s' : `${Math.floor(ms / found[1])}${found[0]}`
}

/** A share as people say it. */
export const percent = (share: number | null): string => (share === null ? '-' : `${Math.round(share * 100)}%`)

const MB = 1_048_576
const GB = 1_024 * MB

/** Room on a disk, in the unit that fits. */
export const roomText = (bytes: number): string =>
  bytes < GB ? `${Math.floor(bytes / MB)} MB` : `${(Math.floor((bytes / GB) * 10) / 10).toLocaleString('en-GB')} GB`
