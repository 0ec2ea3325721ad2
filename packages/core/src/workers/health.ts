// A worker's health from evidence (C5): how fresh its heartbeat is, how its last attempts went, how much it holds.
// Pure, and every verdict says why. Used by claims (an unhealthy worker gets nothing) and shown to operators.

import type { Failure } from '../failure/failure.ts'
import type { FailureReason } from '../failure/failure-reason.ts'

export interface HealthThresholds {
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
  readonly outcomesMin: number
  /** After this long without a failure, a worker that failed too much may try again. */
  readonly cooldownMs: number
  /** What a degraded worker gets from one claim. */
  readonly degradedClaimMax: number
}

export const DEFAULT_HEALTH_THRESHOLDS: HealthThresholds = {
  heartbeatStaleMs: 30_000,
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
  outcomesMin: 20,
  cooldownMs: 30_000,
  degradedClaimMax: 1,
}

/** What the store knows about a worker. */
export interface HealthEvidence {
  readonly lastBeatAt: number
  /** Waiting inside the worker, taken but not started. */
  readonly queueDepth: number
  readonly consecutiveFailures: number
  /** Of the most recent attempts: how many ended, how many of them failed. */
  readonly recentOutcomes: number
  readonly recentFailures: number
  readonly lastFailureAt: number | null
  /** As it reported last: what it runs, how late its event loop is, how long it may be quiet, what it sees coming. */
  readonly inFlight: number
  readonly loopLagMs: number
  readonly quietMsMax: number
  readonly outlook: string | null
  /** When it last finished something, or had nothing to do. */
  readonly lastProgressAt: number
  /** Probes in a row that it did not answer. */
  readonly probeFailures: number
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

  const silentMs = now - evidence.lastBeatAt
  if (silentMs >= limits.heartbeatStaleMs) unhealthy.push(`no heartbeat for ${Math.round(silentMs / 1_000)} s`)
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
  if (evidence.inFlight > 0 && evidence.quietMsMax > 0 && quietMs >= evidence.quietMsMax + limits.stuckMs) {
    unhealthy.push(`runs ${evidence.inFlight} and has finished none for ${Math.round(quietMs / 1_000)} s`)
  }
  if (evidence.outlook !== null) degraded.push(evidence.outlook)

  // A worker shut out for its failures must be able to prove itself again: after a while it counts as degraded only.
  const cooledDown = evidence.lastFailureAt === null || now - evidence.lastFailureAt >= limits.cooldownMs
  const byFailures = cooledDown ? degraded : unhealthy
  const failures = evidence.consecutiveFailures
  if (failures >= limits.failuresUnhealthy) byFailures.push(`${failures} failures in a row`)
  else if (failures >= limits.failuresDegraded) degraded.push(`${failures} failures in a row`)
  if (evidence.recentOutcomes >= limits.outcomesMin) {
    const rate = evidence.recentFailures / evidence.recentOutcomes
    const words = `${Math.round(rate * 100)} % of its last ${evidence.recentOutcomes} attempts failed`
    if (rate >= limits.failureRateUnhealthy) byFailures.push(words)
    else if (rate >= limits.failureRateDegraded) degraded.push(words)
  }

  if (unhealthy.length > 0) return { status: 'unhealthy', reasons: [...unhealthy, ...degraded] }
  if (degraded.length > 0) return { status: 'degraded', reasons: degraded }
  return { status: 'healthy', reasons: [] }
}

/** How many recent outcomes the evidence keeps; older ones fade by halving both counts. */
export const RECENT_OUTCOMES_MAX = 100

/** The evidence after some attempts ended. `outcomes` is in the order they were settled; true is a success. */
export function withOutcomes(
  evidence: Pick<HealthEvidence, 'consecutiveFailures' | 'recentOutcomes' | 'recentFailures' | 'lastFailureAt'>,
  outcomes: readonly boolean[],
  now: number,
): Pick<HealthEvidence, 'consecutiveFailures' | 'recentOutcomes' | 'recentFailures' | 'lastFailureAt'> {
  let { consecutiveFailures, recentOutcomes, recentFailures, lastFailureAt } = evidence
  for (const ok of outcomes) {
    if (recentOutcomes >= RECENT_OUTCOMES_MAX) {
      recentOutcomes = Math.floor(recentOutcomes / 2)
      recentFailures = Math.floor(recentFailures / 2)
    }
    recentOutcomes++
    if (ok) consecutiveFailures = 0
    else {
      consecutiveFailures++
      recentFailures++
      lastFailureAt = now
    }
  }
  return { consecutiveFailures, recentOutcomes, recentFailures, lastFailureAt }
}

/** Whether a failure says something about the worker. What the task itself got wrong does not. */
export function blamesWorker(failure: Pick<Failure, 'reason'>): boolean {
  return !TASKS_OWN_FAULT.has(failure.reason)
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
