// A failure as it is stored and shown: what was thrown, made safe, classified and fingerprinted. The path from a
// handler's exception to here is describeFailure(); nothing a handler can throw makes it throw in turn.

import type { ActionName, Fingerprint } from '../model/ids.ts'
import type { JsonText } from '../model/json.ts'
import { classify } from './classify.ts'
import type { FailureReason } from './failure-reason.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type Normalised, normalise } from './normalise.ts'
import type { RuleBudget, Rules } from './rules.ts'

export interface Failure {
  /** Stable and short: `ECONNREFUSED`, `HTTP_503`, `timeout`. Shown as `errorCode`. */
  readonly code: string
  /** The class of what was thrown: `TypeError`. */
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly reason: FailureReason
  readonly retriable: boolean
  /** Which rule classified it. */
  readonly rule: string
  /** What the failing side asked for, if it did. */
  readonly retryAfterMs: number | null
  readonly fingerprint: Fingerprint
  /** Own extra fields of the thrown error. */
  readonly details: JsonText | null
}

/** Turns whatever a handler threw into a failure. Never throws. */
export function describeFailure(thrown: unknown, action: ActionName, own: readonly Rules[] = []): Failure {
  return classifiedFailure(normalise(thrown), action, own)
}

/** A failure that Reprise itself found: nothing was thrown. */
export function observedFailure(
  reason: FailureReason,
  message: string,
  action: ActionName,
  own: readonly Rules[] = [],
): Failure {
  return classifiedFailure(observed(reason, message), action, own)
}

/** What was found, in the form of what was thrown. */
export function observed(reason: FailureReason, message: string): Normalised {
  return {
    code: reason,
    httpCode: null,
    name: 'ObservedFailure',
    message,
    stack: null,
    says: null,
    retryAfterMs: null,
    details: null,
  }
}

export function classifiedFailure(
  normalised: Normalised,
  action: ActionName,
  own: readonly Rules[],
  budget?: RuleBudget,
): Failure {
  const verdict = classify(normalised, own, budget)
  return {
    code: normalised.code ?? verdict.reason,
    name: normalised.name,
    message: normalised.message,
    stack: normalised.stack,
    reason: verdict.reason,
    retriable: verdict.retriable,
    rule: verdict.rule,
    retryAfterMs: normalised.retryAfterMs,
    fingerprint: fingerprintOf(action, normalised),
    details: normalised.details,
  }
}
