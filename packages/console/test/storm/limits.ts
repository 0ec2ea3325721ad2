// What a page of the console may do in a storm.

import type { StormResult } from './storm.ts'

export const LONGEST_MS_MAX = 200
/** What is kept may grow by so much: the caches of pages and of the engine fill at first. */
const KEPT_RATIO_MAX = 1.5
const KEPT_MB_FREE = 8

/** In words; none if all is well. */
export function faultsOf({ longestMs, keptMb, wrong }: StormResult): string[] {
  const pages = ['failures', 'task'] as const
  return [
    ...pages
      .filter((page) => longestMs[page] > LONGEST_MS_MAX)
      .map((page) => `${page}: held the browser up for ${longestMs[page].toFixed(0)} ms`),
    ...pages
      .filter((page) => keptMb[page].after > keptMb[page].before * KEPT_RATIO_MAX + KEPT_MB_FREE)
      .map((page) => `${page}: keeps ${keptMb[page].after.toFixed(1)} MB, ${keptMb[page].before.toFixed(1)} before`),
    ...wrong,
  ]
}
