// Moments as people say them: how long ago, or how soon. Programs get milliseconds instead.

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
