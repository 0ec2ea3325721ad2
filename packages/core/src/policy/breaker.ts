// The circuit breaker: counts the failures that look like an outage of something a task depends on, and holds work back
// while that lasts, so that an outage uses up no attempts. Pure: each event gives the next state. A store keeps the
// states, shared by all workers, applies an event in the same step as the settlement that brings it, and turns each
// state into gates: open is a hold on its actions, half open and ramping are limits.
// No breaker exists while all goes well: the first failure that names one makes it, and it is forgotten when its window is clean.

import { InvalidError } from '../model/errors.ts'
import { type ActionName, checkedName } from '../model/ids.ts'

export interface BreakerSettings {
  /** Outcomes older than this are forgotten. */
  readonly windowMs: number
  /** Fewer failures than this in the window never open it. */
  readonly failuresMin: number
  /** The share of outcomes in the window that must have failed, above 0 and at most 1. */
  readonly failureRate: number
  /** How long it stays open at first; twice as long each time the probes fail, up to the maximum. */
  readonly openMs: number
  readonly openMsMax: number
  /** How many attempts per action are let through to try, and how many must succeed. */
  readonly probes: number
  /** Work is let through by twice as many at once, again and again, until it is this many: then the breaker is closed. */
  readonly rampMax: number
}

export const DEFAULT_BREAKER: BreakerSettings = {
  windowMs: 30_000,
  failuresMin: 5,
  failureRate: 0.5,
  openMs: 5_000,
  openMsMax: 300_000,
  probes: 3,
  rampMax: 100,
}

/** What a failed settlement says about the breakers it counts for. */
export interface BreakerRef {
  /** `action:send-invoice` or `dependency:stripe`. */
  readonly name: string
  readonly settings: BreakerSettings
}

/** Outcomes of one tenth of the window. */
interface Bucket {
  readonly at: number
  readonly ok: number
  readonly failed: number
}

export type BreakerState =
  | { readonly status: 'closed' }
  /** Nothing starts. `opens` counts how often in a row. Left when the time has come, by the next claim. */
  | { readonly status: 'open'; readonly since: number; readonly until: number; readonly opens: number }
  /** A few probes may run. `since` is kept while it ramps: what started before tells nothing about now. */
  | { readonly status: 'half_open'; readonly since: number; readonly opens: number; readonly succeeded: number }
  /** More and more may run. `succeeded` counts since the last step. */
  | {
      readonly status: 'ramping'
      readonly since: number
      readonly opens: number
      readonly succeeded: number
      readonly concurrency: number
    }

export interface Breaker extends BreakerRef {
  /** The actions it covers: those whose tasks failed under it, in order of their first failure. */
  readonly actions: readonly ActionName[]
  readonly state: BreakerState
  /** In order of time. Empty while it is open or half open. */
  readonly buckets: readonly Bucket[]
}

/** A window is counted in this many parts. */
export const BREAKER_BUCKETS = 10
/** Its open time is doubled this often at the most, whatever its maximum. */
export const BREAKER_DOUBLINGS_MAX = 30

export function newBreaker(ref: BreakerRef): Breaker {
  return { name: ref.name, settings: ref.settings, actions: [], state: { status: 'closed' }, buckets: [] }
}

/** Whether there is nothing to remember of it: closed, and no failure in its window. Such a breaker does not exist. */
export function isForgotten(breaker: Breaker, now: number): boolean {
  return breaker.state.status === 'closed' && !live(breaker, now).some(({ failed }) => failed > 0)
}

/**
 * A failure that looks like an outage. The ref brings the settings, which hold from now on. `breaker` is null, or a
 * forgotten one, at the first failure.
 */
export function afterFailure(
  breaker: Breaker | null,
  ref: BreakerRef,
  attempt: { readonly action: ActionName; readonly startedAt: number },
  now: number,
): Breaker {
  const known = breaker === null || isForgotten(breaker, now) ? newBreaker(ref) : { ...breaker, settings: ref.settings }
  const { action } = attempt
  const before = known.actions.includes(action) ? known : { ...known, actions: [...known.actions, action] }
  const { state } = before
  switch (state.status) {
    case 'open':
      return before
    case 'half_open':
      return attempt.startedAt < state.since ? before : opened(before, state.opens + 1, now)
    case 'ramping':
      return attempt.startedAt < state.since ? before : orOpened(counted(before, false, now), state.opens + 1, now)
    case 'closed':
      return orOpened(counted(before, false, now), 1, now)
  }
}

/** An attempt of one of its actions succeeded. */
export function afterSuccess(breaker: Breaker, startedAt: number, now: number): Breaker {
  const { state, settings } = breaker
  switch (state.status) {
    case 'open':
      return breaker
    case 'half_open': {
      if (startedAt < state.since) return breaker
      const succeeded = state.succeeded + 1
      if (succeeded < settings.probes) return { ...breaker, state: { ...state, succeeded } }
      const ramping = { status: 'ramping', since: state.since, opens: state.opens, succeeded: 0 } as const
      return orClosed({ ...breaker, state: { ...ramping, concurrency: settings.probes * 2 } })
    }
    case 'ramping': {
      if (startedAt < state.since) return breaker
      const next = counted(breaker, true, now)
      const succeeded = state.succeeded + 1
      if (succeeded < state.concurrency) return { ...next, state: { ...state, succeeded } }
      return orClosed({ ...next, state: { ...state, succeeded: 0, concurrency: state.concurrency * 2 } })
    }
    case 'closed':
      return counted(breaker, true, now)
  }
}

/** An open breaker whose time has come lets probes through; any other is as it was. */
export function afterTime(breaker: Breaker, now: number): Breaker {
  const { state } = breaker
  if (state.status !== 'open' || state.until > now) return breaker
  return { ...breaker, state: { status: 'half_open', since: now, opens: state.opens, succeeded: 0 } }
}

/** Whether a failure that counted for it is to be parked, and so uses up no attempt. Asked after the failure was applied. */
export function isOutage({ state }: Breaker, startedAt: number): boolean {
  if (state.status === 'ramping') return startedAt < state.since
  return state.status === 'open' || state.status === 'half_open'
}

function live({ buckets, settings }: Breaker, now: number): readonly Bucket[] {
  return buckets.filter(({ at }) => at + settings.windowMs > now)
}

function counted(breaker: Breaker, ok: boolean, now: number): Breaker {
  const widthMs = Math.max(Math.floor(breaker.settings.windowMs / BREAKER_BUCKETS), 1)
  const at = Math.floor(now / widthMs) * widthMs
  const kept = live(breaker, now)
  const last = kept.at(-1)
  const bucket = last !== undefined && last.at >= at ? last : { at, ok: 0, failed: 0 }
  const rest = bucket === last ? kept.slice(0, -1) : kept
  const next = ok ? { ...bucket, ok: bucket.ok + 1 } : { ...bucket, failed: bucket.failed + 1 }
  return { ...breaker, buckets: [...rest, next] }
}

function orOpened(breaker: Breaker, opens: number, now: number): Breaker {
  let ok = 0
  let failed = 0
  for (const bucket of breaker.buckets) {
    ok += bucket.ok
    failed += bucket.failed
  }
  const { failuresMin, failureRate } = breaker.settings
  return failed >= failuresMin && failed >= failureRate * (ok + failed) ? opened(breaker, opens, now) : breaker
}

function opened(breaker: Breaker, opens: number, now: number): Breaker {
  const { openMs, openMsMax } = breaker.settings
  const until = now + Math.min(openMs * 2 ** Math.min(opens - 1, BREAKER_DOUBLINGS_MAX), openMsMax)
  return { ...breaker, state: { status: 'open', since: now, until, opens }, buckets: [] }
}

function orClosed(breaker: Breaker): Breaker {
  const { state, settings } = breaker
  return state.status === 'ramping' && state.concurrency >= settings.rampMax
    ? { ...breaker, state: { status: 'closed' } }
    : breaker
}

/** The settings as given if they make sense; `InvalidError` naming the field if not. */
export function checkedBreaker(settings: BreakerSettings): BreakerSettings {
  const whole = (value: number, from: number, to: number): boolean =>
    Number.isInteger(value) && value >= from && value <= to
  const refuse = (what: string): never => {
    throw new InvalidError(`The breaker's ${what}.`)
  }
  if (!whole(settings.windowMs, 100, 86_400_000)) refuse('window is between 100 ms and 24 h')
  if (!whole(settings.failuresMin, 1, 1_000_000)) refuse('failuresMin is a whole number from 1')
  if (!(settings.failureRate > 0 && settings.failureRate <= 1)) refuse('failureRate is a share above 0, at most 1')
  if (!whole(settings.openMs, 1, 86_400_000)) refuse('open time is between 1 ms and 24 h')
  if (!whole(settings.openMsMax, settings.openMs, 86_400_000))
    refuse('longest open time is at least its first and at most 24 h')
  if (!whole(settings.probes, 1, 1_000)) refuse('probes are a whole number from 1 to 1,000')
  if (!whole(settings.rampMax, 1, 1_000_000)) refuse('rampMax is a whole number from 1')
  return settings
}

export const breakerName = (kind: 'action' | 'dependency', name: string): string =>
  `${kind}:${checkedName(`${kind} name`, name)}`
