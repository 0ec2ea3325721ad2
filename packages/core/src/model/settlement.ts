// A settlement ends one attempt. It is built only by the constructors below, each named after its transition, so a
// wrong combination can't be written; and it names (task, attempt, token), so the store can fence it.

import type { Failure } from '../failure/failure.ts'
import type { BreakerRef } from '../policy/breaker.ts'
import type { Decision, ParkDecision } from '../policy/decide.ts'
import type { RetryQuota } from '../policy/quota.ts'
import type { LeaseToken, TaskId } from './ids.ts'
import type { JsonText } from './json.ts'
import type { TaskStatus, WaitReason } from './task.ts'

/** What fences a write about an execution. */
export interface LeaseRef {
  readonly taskId: TaskId
  readonly attempt: number
  readonly token: LeaseToken
}

/** A queue entry that outlived its time, as the sweep saw it. `attempt` is the one it would have become. */
export interface EntryRef {
  readonly taskId: TaskId
  readonly attempt: number
}

/** A failure that looks like an outage: the breakers it counts for, and what is decided instead if one of them holds work back. */
export interface Outage {
  readonly breakers: readonly BreakerRef[]
  readonly park: ParkDecision
}

/** What the store looks at in the same step as it applies a decision. */
export interface Guards {
  readonly outage?: Outage
  /** Asked for room if the decision is to retry. */
  readonly quota?: RetryQuota
  /** The failure comes of what a caller chose or reported, so it says nothing about the worker that ran the attempt. */
  readonly excusesWorker?: true
}

/** When a release is to be tried again: later, from the delay queue, instead of at once. */
export interface Deferral {
  readonly delayMs: number
  readonly reason: WaitReason
}

/** Only an attempt that failed can look like an outage, or be somebody else's fault. */
type QuotaGuard = Pick<Guards, 'quota'>

interface BadEnd extends Guards {
  readonly failure: Failure
  readonly decision: Decision
}

export type Settlement =
  | { readonly kind: 'succeeded'; readonly ref: LeaseRef; readonly result: JsonText | null }
  | ({ readonly kind: 'failed'; readonly ref: LeaseRef } & BadEnd)
  | ({
      readonly kind: 'lost'
      readonly ref: LeaseRef
      /** The worker was seen to be gone: the end of its lease need not be waited for. */
      readonly gone?: true
    } & Omit<BadEnd, 'outage' | 'excusesWorker'>)
  | { readonly kind: 'released'; readonly ref: LeaseRef; readonly reason: string; readonly deferral?: Deferral }
  | ({ readonly kind: 'expired'; readonly ref: EntryRef } & Omit<BadEnd, 'outage' | 'excusesWorker'>)

/** The handler finished. Applies only while the attempt runs under this token. */
export const succeeded = (ref: LeaseRef, result: JsonText | null): Settlement => ({ kind: 'succeeded', ref, result })

/** The handler failed. Applies only while the attempt runs under this token. */
export const failed = (ref: LeaseRef, failure: Failure, decision: Decision, guards: Guards = {}): Settlement => {
  return { kind: 'failed', ref, failure, decision, ...guards }
}

/**
 * The worker vanished. Applies only if nobody settled it and the lease has ended; with `gone`, for a caller who has seen the worker's
 * end, also before that.
 */
export const lost = (
  ref: LeaseRef,
  failure: Failure,
  decision: Decision,
  { gone = false, ...guards }: QuotaGuard & { readonly gone?: boolean } = {},
): Settlement => {
  return { kind: 'lost', ref, failure, decision, ...guards, ...(gone ? { gone } : {}) }
}

/**
 * The attempt never really started (failed launch, graceful stop): the reservation is deleted, and the task queued again
 * (A3), or put into the delay queue if it is to be tried later.
 */
export const released = (ref: LeaseRef, reason: string, deferral?: Deferral): Settlement => ({
  kind: 'released',
  ref,
  reason,
  ...(deferral === undefined ? {} : { deferral }),
})

/** It stood in the queue for too long. Applies only while it is queued and past its time. */
export const expired = (ref: EntryRef, failure: Failure, decision: Decision, guards: QuotaGuard = {}): Settlement => {
  return { kind: 'expired', ref, failure, decision, ...guards }
}

/** Why a lease or entry is no longer what the caller thinks. */
export type SupersededBecause =
  | 'succeeded'
  | 'failed'
  | 'lost'
  | 'cancelled'
  | 'released'
  | 'replaced'
  | 'renewed'
  | 'unknown'

export type SettleResult =
  /** Done, now or by an earlier try of the very same call. `status` is where the task went. */
  | {
      readonly outcome: 'settled'
      readonly status: TaskStatus
      readonly repeated: boolean
      /** What was decided about a failure, and why, where the store judges instead of the worker: over HTTP. */
      readonly sentence?: string
    }
  | { readonly outcome: 'superseded'; readonly because: SupersededBecause }
