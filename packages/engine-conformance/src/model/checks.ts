// Ordinary checks of what comes in. Names and payloads were checked where they were made (see core's ids and json);
// here are only the sizes and ranges that each verb sets.

import { BATCH_MAX, InvalidError } from '@reprise/core'
import { LEASE_MS_MAX } from '@reprise/core/engine'

export function checkBatch(batch: readonly unknown[], what: string): void {
  if (batch.length > BATCH_MAX) {
    throw new InvalidError(`One call takes at most ${BATCH_MAX} ${what}, not ${batch.length}.`)
  }
}

export function checkWhole(value: number, what: string, min: number, max: number): number {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new InvalidError(`The ${what} must be a whole number from ${min} to ${max}, not ${value}.`)
  }
  return value
}

export const checkLimit = (limit: number): number => checkWhole(limit, 'limit', 1, BATCH_MAX)

export const checkLeaseMs = (leaseMs: number): number => checkWhole(leaseMs, 'lease time in ms', 1, LEASE_MS_MAX)
