// Durations as people write them: 500 (milliseconds), '500ms', '30s', '2m', '1.5h', '7d', '1h30m'.

import { InvalidError } from './errors.ts'

export type Duration = number | string

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
/** Units and their milliseconds, the largest first. */
export const DURATION_UNITS: readonly (readonly [unit: string, ms: number])[] = Object.entries(UNIT_MS)
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy

/** About 285 years: anything longer is a mistake, and larger numbers lose precision. */
export const DURATION_MS_MAX = 9_000_000_000_000

/** The duration in whole milliseconds. `what` names the setting in the error. */
export function durationMs(value: Duration, what = 'duration'): number {
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw new InvalidError(`The ${what} must be a number of milliseconds or a text such as '30s', not ${typeof value}.`)
  }
  const ms = typeof value === 'number' ? value : parseText(value, what)
  if (!Number.isFinite(ms) || ms < 0 || ms > DURATION_MS_MAX) {
    throw new InvalidError(`The ${what} must be between 0 and ${DURATION_MS_MAX} ms, not ${String(value)}.`)
  }
  return Math.round(ms)
}

function parseText(text: string, what: string): number {
  const trimmed = text.trim()
  let totalMs = 0
  let consumed = 0
  PART.lastIndex = 0
  for (let match = PART.exec(trimmed); match !== null; match = PART.exec(trimmed)) {
    totalMs += Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN)
    consumed = PART.lastIndex
  }
  if (consumed === 0 || consumed !== trimmed.length) {
    throw new InvalidError(
      `The ${what} '${text.slice(0, 40)}' is not understood. Write a number of milliseconds, or '500ms', '30s', '2m', '1h30m', '7d'.`,
    )
  }
  return totalMs
}

/** The duration as a person would say it, rounded to two units: '1h 30m', '2.5s', '340ms'. */
export function formatDuration(ms: number): string {
  // The limits are where the shown number would round up to the next unit.
  if (ms < 999.5) return `${Math.round(ms)}ms`
  if (ms < 59_950) return `${Number((ms / 1_000).toFixed(1))}s`
  let restMs = Math.round(ms / 1_000) * 1_000
  const first = DURATION_UNITS.findIndex(([, unitMs]) => restMs >= unitMs)
  return DURATION_UNITS.slice(first, first + 2)
    .map(([unit, unitMs]) => {
      const count = Math.floor(restMs / unitMs)
      restMs -= count * unitMs
      return count === 0 ? '' : `${count}${unit}`
    })
    .filter((part) => part !== '')
    .join(' ')
}
