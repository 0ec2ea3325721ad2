// A settlement ends one attempt. It is built only by the constructors below, each named after its transition, so a
// wrong combination can't be written; and it names (task, attempt, token), so the store can fence it.

import type { Decision } from './decide.ts'
import type { Failure } from './failure.ts'
import type { LeaseToken, TaskId } from './ids.ts'
import type { JsonText } from './json.ts'
import type { TaskStatus } from './task.ts'

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

export type Settlement =
  | { readonly kind: 'succeeded'; readonly ref: LeaseRef; readonly result: JsonText | null }
  | { readonly kind: 'failed'; readonly ref: LeaseRef; readonly failure: Failure; readonly decision: Decision }
  | { readonly kind: 'lost'; readonly ref: LeaseRef; readonly failure: Failure; readonly decision: Decision }
  | { readonly kind: 'released'; readonly ref: LeaseRef; readonly reason: string }
  | { readonly kind: 'expired'; readonly ref: EntryRef; readonly failure: Failure; readonly decision: Decision }

/** The handler finished. Applies only while the attempt runs under this token. */
export const succeeded = (ref: LeaseRef, result: JsonText | null): Settlement => ({ kind: 'succeeded', ref, result })

/** The handler failed. Applies only while the attempt runs under this token. */
export const failed = (ref: LeaseRef, failure: Failure, decision: Decision): Settlement => ({
  kind: 'failed',
  ref,
  failure,
  decision,
})

/** The worker vanished. Applies only if the lease has ended and nobody settled it. */
export const lost = (ref: LeaseRef, failure: Failure, decision: Decision): Settlement => ({
  kind: 'lost',
  ref,
  failure,
  decision,
})

/** The attempt never really started (failed launch, graceful stop): the reservation is deleted, the task queued again (A3). */
export const released = (ref: LeaseRef, reason: string): Settlement => ({ kind: 'released', ref, reason })

/** It stood in the queue for too long. Applies only while it is queued and past its time. */
export const expired = (ref: EntryRef, failure: Failure, decision: Decision): Settlement => ({
  kind: 'expired',
  ref,
  failure,
  decision,
})

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
  | { readonly outcome: 'settled'; readonly status: TaskStatus; readonly repeated: boolean }
  | { readonly outcome: 'superseded'; readonly because: SupersededBecause }
