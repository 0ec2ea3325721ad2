// The small pieces that random commands are drawn from: few ids, workers, leases and scopes, so that they meet each other.

import type { Rank } from '@reprise/core'
import fc from 'fast-check'
import type { LeasePick, ScopeDraft } from './command.ts'
import { FAILURES, TASK_IDS, WORKERS } from './draft.ts'

export const bit = fc.nat(1)
export const id = fc.nat(TASK_IDS - 1)
export const worker = fc.constantFrom(0, 0, 0, 1, 1, WORKERS - 1)
export const leaseMs = fc.constantFrom(1_000, 5_000, 20_000)
// Those that are tried again more often than the others.
export const failure = fc.oneof({ weight: 2, arbitrary: bit }, { weight: 1, arbitrary: fc.nat(FAILURES.length - 1) })

/** Left out in most cases: a plain task is what most tasks are. */
export const seldom = <T>(value: fc.Arbitrary<T>, weight = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ withCrossShrink: true }, { weight: 5, arbitrary: fc.constant(undefined) }, { weight, arbitrary: value })

export const outdated = seldom(fc.constant(true))
export const rank = seldom(fc.constant<Rank>('tenant'), 3)

// Few different scopes, so that pauses meet their resumes.
export const scope: fc.Arbitrary<ScopeDraft> = fc.constantFrom<ScopeDraft[]>(
  {},
  { pool: 0 },
  { action: 1 },
  { tenant: 0 },
  { pool: 0, action: 0 },
  { pool: 0, action: 0, tenant: 0 },
)

export const lease: fc.Arbitrary<LeasePick> = fc.record({
  back: fc.nat(4),
  held: fc.constantFrom(true, true, true, true, true, false),
})
