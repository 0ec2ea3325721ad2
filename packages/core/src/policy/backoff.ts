// How long to wait before a retry. Pure: chance comes in as a roll in [0, 1). Retries are numbered from 0 (C4).

import { DURATION_MS_MAX, type Duration, durationMs } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { refuseUnknownKeys } from '../model/options.ts'

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

export const DEFAULT_BACKOFF = {
  kind: 'exponential',
  baseMs: 1_000,
  multiplier: 2,
  maxMs: 300_000,
  jitter: 0.2,
} as const satisfies Backoff

/** A backoff as people write it: durations for times, and the defaults of C4 for what is left out. */
export type BackoffOptions =
  | Backoff
  | { readonly kind: 'fixed'; readonly delay: Duration; readonly jitter?: number }
  | { readonly kind: 'linear'; readonly step: Duration; readonly max?: Duration; readonly jitter?: number }
  | {
      readonly kind: 'exponential'
      readonly base?: Duration
      readonly multiplier?: number
      readonly max?: Duration
      readonly jitter?: number
    }
  | { readonly kind: 'decorrelated'; readonly base?: Duration; readonly max?: Duration }
  | { readonly kind: 'schedule'; readonly delays: readonly Duration[]; readonly jitter?: number }

export const BACKOFF_KINDS = [
  'fixed',
  'linear',
  'exponential',
  'decorrelated',
  'schedule',
] as const satisfies Backoff['kind'][]

export function backoffMs(backoff: Backoff, retry: number, roll: number): number {
  switch (backoff.kind) {
    case 'fixed':
      return jittered(backoff.delayMs, backoff.jitter, roll)
    case 'linear':
      return jittered(Math.min(backoff.stepMs * (retry + 1), backoff.maxMs), backoff.jitter, roll)
    case 'exponential':
      return jittered(Math.min(backoff.baseMs * power(backoff.multiplier, retry), backoff.maxMs), backoff.jitter, roll)
    case 'decorrelated': {
      const fromMs = Math.min(backoff.baseMs, backoff.maxMs)
      const toMs = Math.min(backoff.baseMs * power(3, retry + 1), backoff.maxMs)
      return Math.round(fromMs + roll * (toMs - fromMs))
    }
    case 'schedule':
      return jittered(backoff.delaysMs[Math.min(retry, backoff.delaysMs.length - 1)] ?? 0, backoff.jitter, roll)
  }
}

/** Complete, whether it was written with durations or with milliseconds; `InvalidError` naming what is wrong if not. */
export function resolveBackoff(options: BackoffOptions): Backoff {
  if (isResolved(options)) return checkedBackoff(options)
  const given: Given = options
  const ms = (field: 'delay' | 'step' | 'base' | 'max', fallbackMs: number): number =>
    given[field] === undefined ? fallbackMs : durationMs(given[field], `backoff's ${field}`)
  const known = (...fields: string[]): void => refuseUnknownKeys(options, ['kind', ...fields], 'backoff field')
  const { baseMs, maxMs } = DEFAULT_BACKOFF
  const jitter = given.jitter ?? DEFAULT_BACKOFF.jitter
  switch (options.kind) {
    case 'fixed':
      known('delay', 'jitter')
      return checkedBackoff({ kind: 'fixed', delayMs: ms('delay', Number.NaN), jitter })
    case 'linear':
      known('step', 'max', 'jitter')
      return checkedBackoff({ kind: 'linear', stepMs: ms('step', Number.NaN), maxMs: ms('max', maxMs), jitter })
    case 'exponential': {
      known('base', 'multiplier', 'max', 'jitter')
      const multiplier = given.multiplier ?? DEFAULT_BACKOFF.multiplier
      return checkedBackoff({
        kind: 'exponential',
        baseMs: ms('base', baseMs),
        multiplier,
        maxMs: ms('max', maxMs),
        jitter,
      })
    }
    case 'decorrelated':
      known('base', 'max')
      return checkedBackoff({ kind: 'decorrelated', baseMs: ms('base', baseMs), maxMs: ms('max', maxMs) })
    case 'schedule': {
      known('delays', 'jitter')
      const delays: unknown = options.delays
      if (!Array.isArray(delays)) throw new InvalidError('A backoff schedule has delays: a list of durations.')
      const delaysMs = delays.map((delay: Duration) => durationMs(delay, 'backoff delay'))
      return checkedBackoff({ kind: 'schedule', delaysMs, jitter })
    }
    default:
      throw new InvalidError(`There is no such kind of backoff. Known are: ${BACKOFF_KINDS.join(', ')}.`)
  }
}

interface Given {
  readonly delay?: Duration
  readonly step?: Duration
  readonly base?: Duration
  readonly max?: Duration
  readonly multiplier?: number
  readonly jitter?: number
}

function isResolved(options: BackoffOptions): options is Backoff {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidError(`A backoff is an object such as { kind: 'fixed', delay: '5s' }, not ${typeof options}.`)
  }
  return Object.keys(options).some((field) => field.endsWith('Ms'))
}

/** The backoff as given if it makes sense; `InvalidError` naming the field if not. */
export function checkedBackoff(backoff: Backoff): Backoff {
  const times =
    backoff.kind === 'schedule'
      ? backoff.delaysMs
      : Object.entries(backoff).flatMap(([field, value]) => (field.endsWith('Ms') ? [value as number] : []))
  if (backoff.kind === 'schedule' && times.length === 0)
    throw new InvalidError('A backoff schedule needs at least one delay.')
  if (times.some((ms) => !(ms >= 0 && ms <= DURATION_MS_MAX)))
    throw new InvalidError(`Backoff delays must be numbers of milliseconds from 0 to ${DURATION_MS_MAX}.`)
  if (backoff.kind === 'exponential' && !(backoff.multiplier >= 1))
    throw new InvalidError('The backoff multiplier must be 1 or more.')
  if ('jitter' in backoff && !(backoff.jitter >= 0 && backoff.jitter <= 1)) {
    throw new InvalidError('The backoff jitter is a share between 0 and 1.')
  }
  // What no compiler looked at may lack a field, or be of no kind at all: then no delay comes out.
  if (!Number.isFinite(backoffMs(backoff, 0, 0.5))) {
    throw new InvalidError('The backoff lacks a field, or is of a kind that does not exist.')
  }
  return backoff
}

// Kept finite: a base of 0 times infinity would be no number.
function power(base: number, exponent: number): number {
  return Math.min(base ** exponent, Number.MAX_VALUE)
}

function jittered(delayMs: number, jitter: number, roll: number): number {
  return Math.round(delayMs * (1 + jitter * (2 * roll - 1)))
}
