// What the orchestrators of the crash tests have in common: the pool, and times short enough for a test.

import type { PoolName } from '@reprise/core'

export const POOL = 'ephemeral' as PoolName
export const TIMES = { leaseMs: 3_000, intervalMs: 50, graceMs: 0, endGraceMs: 500 } as const
