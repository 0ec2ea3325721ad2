// The circuit breaker: counts the failures that look like an outage of something a task depends on, and holds work back
// while that lasts, so that an outage uses up no attempts. Pure: each event gives the next state. A store keeps the
// states, shared by all workers, applies an event in the same step as the settlement that brings it, and turns each
// state into gates: open is a hold on its actions, half open and ramping are limits.
// There are two of each name. A tenant's own counts the outcomes of that tenant and holds its tasks alone. That of all tenants
// holds everybody's tasks, and goes by what several tenants say: see voices.ts.
// No breaker exists while all goes well: the first failure that names one makes both, and each is forgotten when its window is clean.

import { InvalidError } from '../model/errors.ts'
import { type ActionName, knownName, type TenantId } from '../model/ids.ts'
import { agree, heard, type Outcomes, type Voice } from './voices.ts'

export interface BreakerSettings {
  /** Outcomes older than this are forgotten. */
  readonly windowMs: number
  /** Fewer failures than this in the window never open it. */
  readonly minFailures: number
  /** The share of outcomes in the window that must have failed, above 0 and at most 1. */
  readonly failureRate: number
  /** How long it stays open at first; twice as long each time the probes fail, up to the maximum. */
  readonly openMs: number
  readonly maxOpenMs: number
  /** How many attempts per action are let through to try, and how many must succeed. */
  readonly probes: number
  /** Work is let through by twice as many at once, again and again, until it is this many: then the breaker is closed. */
  readonly maxRamp: number
}

export const DEFAULT_BREAKER: BreakerSettings = {
  windowMs: 30_000,
  minFailures: 5,
  failureRate: 0.5,
  openMs: 5_000,
  maxOpenMs: 300_000,
  probes: 3,
  maxRamp: 100,
}

/** What a failed settlement says about the breakers it counts for. */
export interface BreakerRef {
  /** `action:send-invoice` or `dependency:stripe`. */
  readonly name: string
  readonly settings: BreakerSettings
}

/** Which breaker it is: its name, and the tenant whose it is; null for that of all tenants. */
export interface BreakerKey {
  readonly name: string
  readonly tenant: TenantId | null
}

/** The attempt that brings an outcome. */
interface Attempt {
  readonly action: ActionName
  readonly tenant: TenantId
  readonly startedAt: number
}

/** Outcomes of one tenth of the window. */
interface Bucket extends Outcomes {
  readonly at: number
}

export type BreakerState =
  | { readonly status: 'closed' }
  /** Nothing starts. `opens` counts how often in a row. Left when the time has come, by the next claim. */
  | { readonly status: 'open'; readonly since: number; readonly until: number; readonly opens: number }
  /**
   * A few probes may run. `since` is kept while it ramps: what started before tells nothing about now. `doubtedBy` is the tenant
   * whose probe failed last, for the breaker of all tenants: one tenant alone does not open it again.
   */
  | {
      readonly status: 'half_open'
      readonly since: number
      readonly opens: number
      readonly succeeded: number
      readonly doubtedBy?: TenantId
    }
  /** More and more may run. `succeeded` counts since the last step. */
  | {
      readonly status: 'ramping'
      readonly since: number
      readonly opens: number
      readonly succeeded: number
      readonly concurrency: number
    }

export interface Breaker extends BreakerRef, BreakerKey {
  /** The actions it covers: those whose tasks failed under it, in order of their first failure. */
  readonly actions: readonly ActionName[]
  readonly state: BreakerState
  /** Of a tenant's own, in order of time. Empty while it is open or half open. */
  readonly buckets: readonly Bucket[]
  /** Of that of all tenants. Empty while it is open or half open. */
  readonly voices: readonly Voice[]
}

/** A window is counted in this many parts. */
export const BREAKER_BUCKETS = 10
/** Its open time is doubled this often at the most, whatever its maximum. */
export const BREAKER_DOUBLINGS_MAX = 30

/** The breakers of so many (name, tenant) exist at once, and so many of one tenant. Failures make no further ones. */
export const BREAKERS_MAX = 1_000
export const BREAKERS_OF_TENANT_MAX = 100

/** What a store keeps it by, and lists it by: names hold no line feed. */
export const breakerId = ({ name, tenant }: BreakerKey): string => (tenant === null ? name : `${name}\n${tenant}`)

/** The breakers that an outcome of this tenant counts for, in order: its own, then that of all tenants. */
export const breakerKeys = (name: string, tenant: TenantId): readonly [BreakerKey, BreakerKey] => [
  { name, tenant },
  { name, tenant: null },
]

/** Whether it covers the tasks of a lane. */
export const covers = (
  { actions, tenant }: Breaker,
  lane: { readonly action: string; readonly tenant: string },
): boolean => (tenant === null || tenant === lane.tenant) && actions.includes(lane.action as ActionName)

export function newBreaker({ name, tenant }: BreakerKey, settings: BreakerSettings): Breaker {
  return { name, tenant, settings, actions: [], state: { status: 'closed' }, buckets: [], voices: [] }
}

/** Whether there is nothing to remember of it: closed, and no failure in its window. Such a breaker does not exist. */
export function isForgotten(breaker: Breaker, now: number): boolean {
  if (breaker.state.status !== 'closed') return false
  const { windowMs } = breaker.settings
  // Asked for every success while one exists: without a copy of what is live.
  for (const { since, failed } of breaker.voices) if (failed > 0 && since + windowMs > now) return false
  for (const { at, failed } of breaker.buckets) if (failed > 0 && at + windowMs > now) return false
  return true
}

/** Whether it is shown. A closed one of all tenants only listens: the failures show at the tenants' own. */
export const isListed = (breaker: Breaker, now: number): boolean =>
  (breaker.tenant !== null || breaker.state.status !== 'closed') && !isForgotten(breaker, now)

/**
 * A failure that looks like an outage. It brings the settings, which hold from now on. `breaker` is null, or a forgotten one,
 * at the first failure.
 */
export function afterFailure(
  breaker: Breaker | null,
  key: BreakerKey,
  settings: BreakerSettings,
  attempt: Attempt,
  now: number,
): Breaker {
  const known = breaker === null || isForgotten(breaker, now) ? newBreaker(key, settings) : { ...breaker, settings }
  const { action, tenant } = attempt
  const before = known.actions.includes(action) ? known : { ...known, actions: [...known.actions, action] }
  const { state } = before
  switch (state.status) {
    case 'open':
      return before
    case 'half_open': {
      if (attempt.startedAt < state.since) return before
      const isAlone = before.tenant === null && (state.doubtedBy ?? tenant) === tenant
      return isAlone ? { ...before, state: { ...state, doubtedBy: tenant } } : opened(before, state.opens + 1, now)
    }
    case 'ramping':
      if (attempt.startedAt < state.since) return before
      return orOpened(counted(before, FAILURE, tenant, now), state.opens + 1, now)
    case 'closed':
      return orOpened(counted(before, FAILURE, tenant, now), 1, now)
  }
}

/** An attempt of one of its actions succeeded. */
export function afterSuccess(breaker: Breaker, { tenant, startedAt }: Omit<Attempt, 'action'>, now: number): Breaker {
  const { state, settings } = breaker
  switch (state.status) {
    case 'open':
      return breaker
    case 'half_open': {
      if (startedAt < state.since) return breaker
      const succeeded = state.succeeded + 1
      const { doubtedBy, ...rest } = state
      const doubt = doubtedBy === undefined || doubtedBy === tenant ? {} : { doubtedBy }
      if (succeeded < settings.probes) return { ...breaker, state: { ...rest, succeeded, ...doubt } }
      const ramping = { status: 'ramping', since: state.since, opens: state.opens, succeeded: 0 } as const
      return orClosed({ ...breaker, state: { ...ramping, concurrency: settings.probes * 2 } })
    }
    case 'ramping': {
      if (startedAt < state.since) return breaker
      const next = counted(breaker, SUCCESS, tenant, now)
      const succeeded = state.succeeded + 1
      if (succeeded < state.concurrency) return { ...next, state: { ...state, succeeded } }
      return orClosed({ ...next, state: { ...state, succeeded: 0, concurrency: state.concurrency * 2 } })
    }
    case 'closed':
      return counted(breaker, SUCCESS, tenant, now)
  }
}

/** So many successes of one tenant at once. A closed breaker only counts them: the same as `afterSuccess` for each. */
export function afterSuccessesWhileClosed(breaker: Breaker, tenant: TenantId, successes: number, now: number): Breaker {
  return counted(breaker, { ok: successes, failed: 0 }, tenant, now)
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

const SUCCESS: Outcomes = { ok: 1, failed: 0 }
const FAILURE: Outcomes = { ok: 0, failed: 1 }

function counted(breaker: Breaker, outcomes: Outcomes, tenant: TenantId, now: number): Breaker {
  if (breaker.tenant === null) {
    return { ...breaker, voices: heard(breaker.voices, tenant, outcomes, breaker.settings.windowMs, now) }
  }
  const widthMs = Math.max(Math.floor(breaker.settings.windowMs / BREAKER_BUCKETS), 1)
  const at = Math.floor(now / widthMs) * widthMs
  const kept = live(breaker, now)
  const last = kept.at(-1)
  const bucket = last !== undefined && last.at >= at ? last : { at, ok: 0, failed: 0 }
  const rest = bucket === last ? kept.slice(0, -1) : kept
  const next = { at: bucket.at, ok: bucket.ok + outcomes.ok, failed: bucket.failed + outcomes.failed }
  return { ...breaker, buckets: [...rest, next] }
}

function orOpened(breaker: Breaker, opens: number, now: number): Breaker {
  return isTooMuch(breaker) ? opened(breaker, opens, now) : breaker
}

function isTooMuch({ tenant, buckets, voices, settings }: Breaker): boolean {
  if (tenant === null) return agree(voices, settings)
  let ok = 0
  let failed = 0
  for (const bucket of buckets) {
    ok += bucket.ok
    failed += bucket.failed
  }
  return failed >= settings.minFailures && failed >= settings.failureRate * (ok + failed)
}

function opened(breaker: Breaker, opens: number, now: number): Breaker {
  const { openMs, maxOpenMs } = breaker.settings
  const until = now + Math.min(openMs * 2 ** Math.min(opens - 1, BREAKER_DOUBLINGS_MAX), maxOpenMs)
  return { ...breaker, state: { status: 'open', since: now, until, opens }, buckets: [], voices: [] }
}

function orClosed(breaker: Breaker): Breaker {
  const { state, settings } = breaker
  return state.status === 'ramping' && state.concurrency >= settings.maxRamp
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
  if (!whole(settings.minFailures, 1, 1_000_000)) refuse('minFailures is a whole number from 1')
  if (!(settings.failureRate > 0 && settings.failureRate <= 1)) refuse('failureRate is a share above 0, at most 1')
  if (!whole(settings.openMs, 1, 86_400_000)) refuse('open time is between 1 ms and 24 h')
  if (!whole(settings.maxOpenMs, settings.openMs, 86_400_000))
    refuse('longest open time is at least its first and at most 24 h')
  if (!whole(settings.probes, 1, 1_000)) refuse('probes are a whole number from 1 to 1,000')
  if (!whole(settings.maxRamp, 1, 1_000_000)) refuse('maxRamp is a whole number from 1')
  return settings
}

export const breakerName = (kind: 'action' | 'dependency', name: string): string =>
  `${kind}:${knownName(`${kind} name`, name)}`
