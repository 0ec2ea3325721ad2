// Bounds that the verbs of every engine have in common: how many things a call may name or ask for, and how long a lease
// may last.

import { BATCH_MAX } from './engine.ts'
import { InvalidError } from './errors.ts'

const LEASE_MS_MAX = 86_400_000

export function checkBatch(size: number): void {
  if (size > BATCH_MAX) {
    throw new InvalidError(`One call takes at most ${BATCH_MAX} items, not ${size}. Send them in several calls.`)
  }
}

/** How many a call wants at the most. */
export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > BATCH_MAX) {
    throw new InvalidError(`A limit is a whole number from 1 to ${BATCH_MAX}, not ${limit}.`)
  }
}

export function checkLeaseMs(leaseMs: number): void {
  if (!Number.isInteger(leaseMs) || leaseMs < 1 || leaseMs > LEASE_MS_MAX) {
    throw new InvalidError(`A lease lasts between 1 ms and a day, not ${leaseMs} ms.`)
  }
}
