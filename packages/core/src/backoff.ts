// How long to wait before a retry. Pure: chance comes in as a roll in [0, 1). Retries are numbered from 0 (C4).

import { InvalidError } from './errors.ts'

export type Backoff =
  | { readonly kind: 'fixed'; readonly delayMs: number; readonly jitter: number }
  | { readonly kind: 'linear'; readonly stepMs: number; readonly maxMs: number; readonly jitter: number }
  | {
      readonly kind: 'exponential'
      readonly baseMs: number
      readonly multiplier: number
      readonly maxMs: number
      readonly jitter: number
    }
  /** Drawn between the base and a bound that triples with each retry: spreads a crowd that failed together. */
  | { readonly kind: 'decorrelated'; readonly baseMs: number; readonly maxMs: number }
  /** Explicit delays; the last one repeats. */
  | { readonly kind: 'schedule'; readonly delaysMs: readonly number[]; readonly jitter: number }

export const DEFAULT_BACKOFF: Backoff = {
  kind: 'exponential',
  baseMs: 1_000,
  multiplier: 2,
  maxMs: 300_000,
  jitter: 0.2,
}

export function backoffMs(backoff: Backoff, retry: number, roll: number): number {
  switch (backoff.kind) {
    case 'fixed':
      return jittered(backoff.delayMs, backoff.jitter, roll)
    case 'linear':
      return jittered(Math.min(backoff.stepMs * (retry + 1), backoff.maxMs), backoff.jitter, roll)
    case 'exponential':
      return jittered(Math.min(backoff.baseMs * backoff.multiplier ** retry, backoff.maxMs), backoff.jitter, roll)
    case 'decorrelated': {
      const bound = Math.min(backoff.baseMs * 3 ** (retry + 1), backoff.maxMs)
      return Math.round(backoff.baseMs + roll * Math.max(bound - backoff.baseMs, 0))
    }
    case 'schedule':
      return jittered(backoff.delaysMs[Math.min(retry, backoff.delaysMs.length - 1)] ?? 0, backoff.jitter, roll)
  }
}

/** The backoff as given if it makes sense; `InvalidError` naming the field if not. */
export function checkedBackoff(backoff: Backoff): Backoff {
  const times =
    backoff.kind === 'schedule'
      ? backoff.delaysMs
      : Object.entries(backoff).flatMap(([field, value]) => (field.endsWith('Ms') ? [value as number] : []))
  if (backoff.kind === 'schedule' && times.length === 0)
    throw new InvalidError('A backoff schedule needs at least one delay.')
  if (times.some((ms) => !Number.isFinite(ms) || ms < 0))
    throw new InvalidError('Backoff delays must be numbers of milliseconds, 0 or more.')
  if (backoff.kind === 'exponential' && !(backoff.multiplier >= 1))
    throw new InvalidError('The backoff multiplier must be 1 or more.')
  if ('jitter' in backoff && !(backoff.jitter >= 0 && backoff.jitter <= 1)) {
    throw new InvalidError('The backoff jitter is a share between 0 and 1.')
  }
  return backoff
}

function jittered(delayMs: number, jitter: number, roll: number): number {
  return Math.round(delayMs * (1 + jitter * (2 * roll - 1)))
}
