// Moments, spans, shares and sizes as people say them. Programs get numbers instead.

import { formatDuration } from '@reprise/core'

const NOW_MS = 1_000

/** `3m ago`, `in 2h 5m`, `now`; a dash if there is none. */
export function relativeTime(at: number | null | undefined, now: number): string {
  if (at === null || at === undefined) return '-'
  const distanceMs = at - now
  if (Math.abs(distanceMs) < NOW_MS) return 'now'
  const words = formatDuration(Math.round(Math.abs(distanceMs) / 1_000) * 1_000)
  return distanceMs > 0 ? `in ${words}` : `${words} ago`
}

export const isoTime = (at: number): string => new Date(at).toISOString()

/** One unit, rounded down, where room is short. */
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

const SIZES = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** How much is stored: `412 bytes`, `1.5 MB`. */
export function sizeText(bytes: number): string {
  const step = Math.min(bytes < 1_024 ? 0 : Math.floor(Math.log2(bytes) / 10), SIZES.length - 1)
  return `${Math.floor((bytes / 1_024 ** step) * 10) / 10} ${SIZES[step]}`
}
