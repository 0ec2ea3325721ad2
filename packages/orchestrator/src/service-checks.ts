// The checks of options that several services of this package have.

import { type Backoff, check, checkedBackoff } from '@reprise/core'

export const backoff: check.Check = (value) => {
  if (typeof value !== 'object' || value === null)
    return "a backoff, such as { kind: 'fixed', delayMs: 1000, jitter: 0 }"
  checkedBackoff(value as Backoff)
  return null
}

/** What an orchestrator gives to each of its services. Each takes it, whether it has a use for all of it or not. */
export const SERVICE_CHECKS = {
  // Looked at before, with words of its own.
  engine: check.anything,
  clock: check.having('now', 'monotonic', 'after'),
  random: check.having('next'),
  log: check.having('debug', 'info', 'warn', 'error'),
  onError: check.func,
  policies: check.having('current'),
  meter: check.having('count', 'observe'),
} as const
