// How long things are kept, as people write it, and as a store is told. What is deleted then is the store's business.

import { type Duration, durationMs } from '../model/duration.ts'
import { refuseUnknownKeys } from '../model/options.ts'
import type { RetentionRules } from './changes.ts'

/** How long ended tasks and old entries are kept; for ever what is not named. Dead letters are never deleted. */
export interface RetentionOptions {
  readonly succeeded?: Duration
  readonly cancelled?: Duration
  readonly discarded?: Duration
  readonly journal?: Duration
  readonly series?: Duration
}

const KNOWN = ['succeeded', 'cancelled', 'discarded', 'journal', 'series'] as const satisfies (keyof RetentionOptions)[]

export function retentionRules(options: RetentionOptions): RetentionRules {
  refuseUnknownKeys(options, KNOWN, 'retention rule')
  return Object.fromEntries(
    KNOWN.flatMap((what) => {
      const value = options[what]
      return value === undefined ? [] : [[`${what}Ms`, durationMs(value, `retention of ${what}`)]]
    }),
  )
}
