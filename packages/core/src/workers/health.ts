// A worker's health from evidence (C5): how fresh its heartbeat is, how its last attempts went, how much it holds. While a
// worker serves other tenants well, the failures of one tenant count for no more than half of what is too many: they alone don't
// make it unhealthy for everybody. Pure, and every verdict says why. Used by claims (an unhealthy worker gets nothing) and shown to operators.

import type { Failure } from '../failure/failure.ts'
import type { FailureReason } from '../failure/failure-reason.ts'
import type { TenantId } from '../model/ids.ts'
import { isAlive, LIVENESS_TTL_MS } from './liveness.ts'

export interface HealthThresholds {
  /** Whether health decides who gets work (C11). If not, it is only shown: every worker that is alive and not draining gets work. */
  readonly enabled: boolean
  readonly heartbeatStaleMs: number
  readonly failuresDegraded: number
  readonly failuresUnhealthy: number
  readonly depthDegraded: number
  readonly depthUnhealthy: number
  readonly failureRateDegraded: number
  readonly failureRateUnhealthy: number
  readonly lagMsDegraded: number
  readonly lagMsUnhealthy: number
  /** Probes in a row without an answer. */
  readonly probesDegraded: number
  readonly probesUnhealthy: number
  /** How long, beyond its time-out, a worker may finish nothing before it counts as stuck. */
  readonly stuckMs: number
  /** Below this many finished attempts a failure rate says nothing. */
  readonly minOutcomes: number
  /** After this long without a failure, a worker that failed too much may try again. */
  readonly cooldownMs: number
  /** What a degraded worker gets from one claim. */
  readonly maxDegradedClaim: number
}

export const DEFAULT_HEALTH_THRESHOLDS: HealthThresholds = {
  enabled: true,
  heartbeatStaleMs: LIVENESS_TTL_MS,
  failuresDegraded: 3,
  failuresUnhealthy: 10,
  depthDegraded: 50,
  depthUnhealthy: 100,
  failureRateDegraded: 0.3,
  failureRateUnhealthy: 0.7,
  lagMsDegraded: 2_000,
  lagMsUnhealthy: 10_000,
  probesDegraded: 2,
  probesUnhealthy: 3,
  stuckMs: 10_000,
  minOutcomes: 20,
  cooldownMs: 30_000,
  maxDegradedClaim: 1,
}

/** How attempts of one tenant's tasks failed on a worker: in a row, and of the recent ones. */
interface TenantFailures {
  /** Null for all tenants beyond the first few. */
  readonly tenant: TenantId | null
  readonly inRow: number
  readonly recent: number
}

/** When an attempt of a tenant's task last succeeded on a worker. */
interface Served {
  readonly tenant: TenantId
  readonly at: number
}

/** So many tenants' failures are told apart. */
export const FAILING_TENANTS_MAX = 8
/** How long a success of one tenant speaks for a worker when another tenant's tasks fail on it. */
export const SERVED_MS = 60_000

/** How the outlook of a worker begins that takes no work any more, though it lives: that is no forecast, it has happened. */
export const CLAIMS_NOTHING = 'claims nothing: '

/** What the store knows about a worker. */
export interface HealthEvidence extends Outcomes {
  readonly lastBeatAt: number
  /** What it has and has not begun: what it says, and what lies in its inbox. A claim of its own, which empties that, does not count the inbox. */
  readonly queueDepth: number
  /** As it reported last: what it runs, how late its event loop is, how long it may be quiet, what it sees coming. */
  readonly inFlight: number
  readonly loopLagMs: number
  readonly maxQuietMs: number
  readonly outlook: string | null
  /** When it last finished something, or had nothing to do. */
  readonly lastProgressAt: number
  /** Probes in a row that it did not answer. */
  readonly probeFailures: number
}

/** How its attempts ended, as far as the store saw. */
export interface Outcomes {
  readonly consecutiveFailures: number
  /** Of the most recent attempts: how many ended, how many of them failed. */
  readonly recentOutcomes: number
  readonly recentFailures: number
  readonly lastFailureAt: number | null
  /** The same failures by tenant. */
  readonly failuresBy: readonly TenantFailures[]
  /** The last two tenants with a success, the latest first. */
  readonly servedWell: readonly Served[]
}

export const NO_OUTCOMES: Outcomes = {
  consecutiveFailures: 0,
  recentOutcomes: 0,
  recentFailures: 0,
  lastFailureAt: null,
  failuresBy: [],
  servedWell: [],
}

export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy'

export interface Health {
  readonly status: HealthStatus
  /** Empty when healthy; otherwise what was found, worst first, in words. */
  readonly reasons: readonly string[]
}

export function assessHealth(
  evidence: HealthEvidence,
  now: number,
  limits: HealthThresholds = DEFAULT_HEALTH_THRESHOLDS,
): Health {
  const unhealthy: string[] = []
  const degraded: string[] = []
  const weigh = (value: number, atDegraded: number, atUnhealthy: number, words: string): void => {
    if (value >= atUnhealthy) unhealthy.push(words)
    else if (value >= atDegraded) degraded.push(words)
  }

  if (!isAlive(evidence, now, limits.heartbeatStaleMs)) {
    unhealthy.push(`no heartbeat for ${Math.round((now - evidence.lastBeatAt) / 1_000)} s`)
  }
  weigh(evidence.queueDepth, limits.depthDegraded, limits.depthUnhealthy, `${evidence.queueDepth} tasks wait inside it`)

  weigh(
    evidence.loopLagMs,
    limits.lagMsDegraded,
    limits.lagMsUnhealthy,
    `its event loop is ${evidence.loopLagMs} ms late`,
  )
  const { probeFailures } = evidence
  weigh(probeFailures, limits.probesDegraded, limits.probesUnhealthy, `${probeFailures} probes in a row unanswered`)
  const quietMs = now - evidence.lastProgressAt
  if (evidence.inFlight > 0 && evidence.maxQuietMs > 0 && quietMs >= evidence.maxQuietMs + limits.stuckMs) {
    unhealthy.push(`runs ${evidence.inFlight} and has finished none for ${Math.round(quietMs / 1_000)} s`)
  }
  const { outlook } = evidence
  if (outlook !== null) (outlook.startsWith(CLAIMS_NOTHING) ? unhealthy : degraded).push(outlook)

  // A worker shut out for its failures must be able to prove itself again: after a while it counts as degraded only.
  const cooledDown = evidence.lastFailureAt === null || now - evidence.lastFailureAt >= limits.cooldownMs
  const byFailures = cooledDown ? degraded : unhealthy
  const failures = evidence.consecutiveFailures
  const inRow = (limit: number): boolean => failures - excused(evidence, 'inRow', Math.ceil(limit / 2), now) >= limit
  if (inRow(limits.failuresUnhealthy)) byFailures.push(`${failures} failures in a row`)
  else if (inRow(limits.failuresDegraded)) degraded.push(`${failures} failures in a row`)
  const { recentOutcomes, recentFailures } = evidence
  if (recentOutcomes >= limits.minOutcomes) {
    const rate = (limit: number): boolean =>
      (recentFailures - excused(evidence, 'recent', (limit / 2) * recentOutcomes, now)) / recentOutcomes >= limit
    const words = `${Math.round((recentFailures / recentOutcomes) * 100)} % of its last ${recentOutcomes} attempts failed`
    if (rate(limits.failureRateUnhealthy)) byFailures.push(words)
    else if (rate(limits.failureRateDegraded)) degraded.push(words)
  }

  if (unhealthy.length > 0) return { status: 'unhealthy', reasons: [...unhealthy, ...degraded] }
  if (degraded.length > 0) return { status: 'degraded', reasons: degraded }
  return { status: 'healthy', reasons: [] }
}

/** How many failures don't count: of one tenant all above `most`, if the worker served another one well lately. */
function excused({ failuresBy, servedWell }: Outcomes, what: 'inRow' | 'recent', most: number, now: number): number {
  let sum = 0
  for (const failures of failuresBy) {
    const { tenant } = failures
    const isServing = tenant !== null && servedWell.some((one) => one.tenant !== tenant && now - one.at < SERVED_MS)
    if (isServing) sum += Math.max(failures[what] - most, 0)
  }
  return sum
}

/** How many recent outcomes the evidence keeps; older ones fade by halving all counts. */
export const RECENT_OUTCOMES_MAX = 100

/** How an attempt of a tenant's task ended. */
export interface Outcome {
  readonly tenant: TenantId
  readonly ok: boolean
}

/** The evidence after some attempts ended, in the order in which they were settled. */
export function withOutcomes(evidence: Outcomes, outcomes: readonly Outcome[], now: number): Outcomes {
  let { consecutiveFailures, recentOutcomes, recentFailures, lastFailureAt, failuresBy, servedWell } = evidence
  for (const { tenant, ok } of outcomes) {
    if (recentOutcomes >= RECENT_OUTCOMES_MAX) {
      recentOutcomes = Math.floor(recentOutcomes / 2)
      recentFailures = Math.floor(recentFailures / 2)
      failuresBy = failuresBy.map((one) => ({ ...one, recent: Math.floor(one.recent / 2) }))
    }
    recentOutcomes++
    if (ok) {
      consecutiveFailures = 0
      if (failuresBy.length > 0) {
        failuresBy = failuresBy.filter(({ recent }) => recent > 0).map((one) => ({ ...one, inRow: 0 }))
      }
      // As a rule a batch is of one tenant: what the success before it said stands.
      const last = servedWell[0]
      if (last?.tenant !== tenant || last.at !== now) {
        servedWell = [{ tenant, at: now }, ...servedWell.filter((one) => one.tenant !== tenant)].slice(0, 2)
      }
    } else {
      consecutiveFailures++
      recentFailures++
      lastFailureAt = now
      failuresBy = withFailure(failuresBy, tenant)
    }
  }
  return { consecutiveFailures, recentOutcomes, recentFailures, lastFailureAt, failuresBy, servedWell }
}

/** A worker that was not heard of for this long was cut off, or stood still. */
export const SILENCE_MS = 10_000

/**
 * Whether a beat takes back what speaks against a worker: it was silent, and what was noted last against it are attempts that were
 * lost meanwhile. That it could not be reached says nothing of how it works.
 */
export function takesBackLosses(
  evidence: Pick<HealthEvidence, 'lastBeatAt' | 'lastProgressAt' | 'lastFailureAt'>,
  now: number,
): boolean {
  const { lastBeatAt, lastProgressAt, lastFailureAt } = evidence
  if (lastFailureAt === null || now - lastBeatAt < SILENCE_MS) return false
  return lastFailureAt > lastBeatAt && lastFailureAt > lastProgressAt
}

function withFailure(failuresBy: readonly TenantFailures[], tenant: TenantId): readonly TenantFailures[] {
  const isKnown = failuresBy.some((one) => one.tenant === tenant)
  const whose = isKnown || failuresBy.length < FAILING_TENANTS_MAX ? tenant : null
  const at = failuresBy.findIndex((one) => one.tenant === whose)
  const { inRow, recent } = failuresBy[at] ?? { inRow: 0, recent: 0 }
  const next = { tenant: whose, inRow: inRow + 1, recent: recent + 1 }
  return at === -1 ? [...failuresBy, next] : failuresBy.with(at, next)
}

/** Whether a failure says something about the worker. What the task itself got wrong does not. */
export function blamesWorker(failure: Pick<Failure, 'reason'>): boolean {
  return !TASKS_OWN_FAULT.has(failure.reason)
}

/** Whether a failed attempt counts against its worker: the failure says something about it, and the judge did not excuse it. */
export function speaksAgainstWorker(end: { readonly failure: Failure; readonly excusesWorker?: true }): boolean {
  return end.excusesWorker !== true && blamesWorker(end.failure)
}

const TASKS_OWN_FAULT: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'validation',
  'invalid_parameters',
  'permission',
  'not_found',
  'permanent',
  'rate_limited',
  'deadline',
  'queue_timeout',
])
