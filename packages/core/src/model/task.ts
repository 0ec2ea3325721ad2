// A task: one request to run an action. What was asked (the snapshot) is captured at submission and never changes;
// where it stands is its state. docs/architecture.md draws the states; each variant here says who moves a task out of it.

import type { Failure } from '../failure/failure.ts'
import type { FailureReason } from '../failure/failure-reason.ts'
import type { Backoff } from '../policy/backoff.ts'
import type { BreakerRef } from '../policy/breaker.ts'
import type { DeadReason } from '../policy/decide.ts'
import type { RetryQuota } from '../policy/quota.ts'
import type { LastWorker } from './execution.ts'
import type { ActionName, LeaseToken, PoolName, RetryToken, TaskId, TenantId, WorkerId } from './ids.ts'
import type { JsonText } from './json.ts'
import type { TaskPast } from './past.ts'

/** The action's settings as they were when the task was submitted. Complete: defaults are already filled in. */
export interface TaskSettings {
  /** How long one attempt may run. */
  readonly timeoutMs: number
  /** Automatic retries; null when the action does not say, which means none, and an operator's budget of MAX_RETRIES. */
  readonly maxRetries: number | null
  /** How many attempts may be lost to crashed workers in one generation before the task counts as the culprit. */
  readonly maxLosses: number
  /** How long it may stand in the queue before it counts as failed with `queue_timeout`; null for ever. */
  readonly queueTtlMs: number | null
  readonly backoff: Backoff
  /** Retry also what no rule can classify. Off by default (C3). */
  readonly retryUnknown: boolean
  /** The breakers that failures which look like an outage count for; none if missing. */
  readonly breakers?: readonly BreakerRef[]
  /** None if missing. */
  readonly quota?: RetryQuota
  /** `retry` if missing. */
  readonly onLost?: LostMeaning
  /** How long after its acceptance no attempt may start any more; no matter if missing. */
  readonly slaMs?: number
  /** The pack that the action belongs to, if any. */
  readonly pack?: string
  /** What a worker of a directed pool must have, if that matters. */
  readonly runtime?: string
  /** The submission set a time-out shorter than the action's own: attempts that run past it are evidence of nothing. */
  readonly ownTimeout?: true
  /** Its tasks go to any worker that is alive, whatever the worker's health (C11). */
  readonly healthAware?: false
  /** Its end is an event: the journal gets `task.succeeded` or `task.dead`. */
  readonly notify?: true
}

/**
 * What to do about an attempt whose worker vanished, so that nobody knows whether it took effect: run it again, leave it to a person, or ask the action's `reconcile`
 * hook before it runs again.
 */
export type LostMeaning = 'retry' | 'hold' | 'reconcile'

/** Higher runs sooner, within one lane. */
export type Priority = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
export const DEFAULT_PRIORITY: Priority = 5
export const PRIORITY_MAX: Priority = 9

/** What was asked for, but the payload: all that decisions look at. */
export interface TaskTerms {
  readonly id: TaskId
  readonly action: ActionName
  readonly pool: PoolName
  readonly tenant: TenantId
  readonly labels: Readonly<Record<string, string>>
  readonly priority: Priority
  readonly settings: TaskSettings
  readonly retryToken: RetryToken
  /** Of the tasks of its tenant and action with this key, one at a time holds it: see docs/engine-port.md. */
  readonly dedupeKey: string | null
  /** No attempt is started from here on. */
  readonly deadlineAt: number | null
}

/** What was asked for. Never changes. */
export interface Snapshot extends TaskTerms {
  readonly payload: JsonText
}

/** What `submit` takes: the snapshot, with times still relative where the store's clock must decide. */
export interface TaskSpec extends Omit<Snapshot, 'deadlineAt'> {
  /** Not before this long from now. */
  readonly delayMs: number
  /** Not before this moment. The later of the two counts. */
  readonly dueAt: number | null
  readonly deadlineAt: number | null
  /** The deadline counted from acceptance. The earlier of the two counts. */
  readonly deadlineMs: number | null
  /** How long the dedupe key is held from acceptance on, `KEY_FOREVER_MS` for ever. Until the task has ended or died if missing. */
  readonly dedupeMs?: number
  /** It was at work elsewhere before: its attempts there, and whether they have ended it. */
  readonly past?: TaskPast
}

/** What a submission can ask for otherwise than the task that has its id or dedupe key. */
export const TASK_DIFFERENCES = ['payload', 'action', 'tenant'] as const
export type TaskDifference = (typeof TASK_DIFFERENCES)[number]

/** What a submission asks for otherwise than this task: nothing for the same again. Payloads are compared as text. */
export function taskDifferences(
  task: Pick<Snapshot, TaskDifference>,
  asked: Pick<Snapshot, TaskDifference>,
): readonly TaskDifference[] {
  return TASK_DIFFERENCES.filter((part) => task[part] !== asked[part])
}

export type WaitReason = FailureReason | 'delayed' | 'manual'

/**
 * Who has the lease: a worker that runs it; a dispatcher that looks for a worker; a worker's inbox, until the worker
 * collects it; or a launcher, which starts an ephemeral worker for it.
 */
export type LeaseStage = 'run' | 'dispatch' | 'inbox' | 'launch'

/** How far a handler says it has come. */
export interface Progress {
  /** From 0 to 1; null when it can't be told. */
  readonly fraction: number | null
  readonly note: string | null
}

export type TaskState =
  /** In its lane. Left by a claim, a cancel, or the sweep when it outlives its queue TTL or deadline. */
  | { readonly status: 'queued'; readonly since: number; readonly expiresAt: number | null }
  /** In the delay queue. Left by the next claim or promotion once due, or by a cancel. */
  | {
      readonly status: 'waiting'
      readonly since: number
      readonly dueAt: number
      readonly reason: WaitReason
      /** The retry quota that moved it to a later time than was decided; null if none did. */
      readonly quota: string | null
    }
  /** Under a lease. Left when the worker settles, when the sweep finds the lease ended, or by a cancel. */
  | {
      readonly status: 'running'
      readonly attempt: number
      readonly worker: WorkerId
      readonly token: LeaseToken
      readonly startedAt: number
      readonly leaseUntil: number
      readonly timeoutAt: number
      readonly progress: Progress | null
      readonly stage: LeaseStage
      /** What a launcher knows the running worker by; null until it is noted, and where nothing is launched. */
      readonly handle: string | null
    }
  /** The end. */
  | { readonly status: 'succeeded'; readonly at: number; readonly result: JsonText | null }
  /** Automatic retries have ended. Left by an operator: redrive, retry or discard. */
  | {
      readonly status: 'dead'
      readonly at: number
      readonly reason: DeadReason
      readonly failure: Failure
      /** Another task has taken its dedupe key since: it was superseded. */
      readonly keyTaken?: true
    }
  /** An operator gave a dead letter up. Left by an operator's restore, for some days; else the end. */
  | { readonly status: 'discarded'; readonly at: number }
  /** The end. */
  | { readonly status: 'cancelled'; readonly at: number }

export type TaskStatus = TaskState['status']
export const TASK_STATUSES = [
  'queued',
  'waiting',
  'running',
  'succeeded',
  'dead',
  'discarded',
  'cancelled',
] as const satisfies TaskStatus[]
export const END_STATUSES: ReadonlySet<TaskStatus> = new Set<TaskStatus>([
  'succeeded',
  'dead',
  'discarded',
  'cancelled',
])

export interface Task extends Snapshot {
  readonly acceptedAt: number
  /** From 1. A redrive opens the next one, with a fresh budget. */
  readonly generation: number
  /** The highest attempt that was reserved; 0 before the first. Attempt numbers go on across generations. */
  readonly attempt: number
  /** Attempts of this generation that failed. */
  readonly failures: number
  /** Attempts of this generation that were lost. */
  readonly losses: number
  /** Attempts of this generation that were parked by a breaker: failed, and not charged. */
  readonly parks: number
  /** How often in a row an attempt was put off before it began. */
  readonly deferrals: number
  /**
   * The policy that an operator's retry named for its further attempts, whatever that policy matches (B5); missing if none did. Until
   * another retry names another one, or a redrive starts over.
   */
  readonly policy?: string
  /** Who has or had the latest attempt, whether or not it is still there; null if that attempt had no worker. */
  readonly lastWorker: LastWorker | null
  readonly state: TaskState
}
