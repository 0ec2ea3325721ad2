// What the verbs about work take and answer: submissions, claims, leases, what is past its time.

import type { AttemptLog } from '../model/attempt-log.ts'
import type { ActionName, PoolName, TaskId, WorkerId } from '../model/ids.ts'
import type { LeaseRef, SupersededBecause } from '../model/settlement.ts'
import type { Progress, Snapshot, TaskDifference, TaskSpec, TaskTerms, WaitReason } from '../model/task.ts'
import type { Page, PageRequest } from './queries.ts'

export type SubmitResult =
  | { readonly outcome: 'accepted'; readonly id: TaskId }
  /** The id, or the dedupe key, is taken by the same request. `id` is the task that has it. */
  | { readonly outcome: 'duplicate'; readonly id: TaskId }
  /** It is taken by another request. `differs` says in what they differ; nothing was accepted. */
  | { readonly outcome: 'conflict'; readonly id: TaskId; readonly differs: readonly TaskDifference[] }

export interface ClaimRequest {
  readonly worker: WorkerId
  readonly epoch: number
  readonly pools: readonly PoolName[]
  /** The actions this worker can run; null for any. */
  readonly actions: readonly ActionName[] | null
  readonly limit: number
  readonly leaseMs: number
  /** What the leases are for: to run the tasks (if not given), to find a worker for each, or to launch one. */
  readonly stage?: 'run' | 'dispatch' | 'launch'
  /** The worker's health does not matter for these actions (C11): also of its inbox, only their tasks are taken. */
  readonly regardless?: true
}

/** What is known of a task when one of its attempts begins or ends: what was asked, and what it has used up so far. */
export interface Standing<Asked = Snapshot> {
  readonly snapshot: Asked
  readonly acceptedAt: number
  readonly generation: number
  readonly failures: number
  readonly losses: number
  readonly parks: number
  readonly deferrals: number
  /** The policy that an operator's retry named for it: see `Task`. */
  readonly policy?: string
}

/** One reserved execution under a lease: everything a worker needs to run it and to settle it. */
export interface Claimed extends LeaseRef, Standing {
  readonly retryReason: WaitReason | null
  readonly startedAt: number
  readonly leaseUntil: number
  readonly timeoutAt: number
}

export interface ClaimResult {
  readonly claimed: readonly Claimed[]
  /**
   * When something may become claimable by itself: the delay queue of these pools, an open breaker's time to probe, a retry
   * that waited for another worker. Null if nothing will.
   */
  readonly nextDueAt: number | null
  /** Why this worker got nothing, or less than it asked for, though there may be work. */
  readonly heldBack: 'unhealthy' | 'degraded' | null
  /** The store's time. */
  readonly now: number
}

export interface StandingsResult {
  /** In the order of the ids; null for an unknown task. Without payloads, so that the answer stays small. */
  readonly standings: readonly (Standing<TaskTerms> | null)[]
  /** The store's time. */
  readonly now: number
}

/** A message from an outside queue (SQS): the task is created if it is unknown. */
export interface ReserveRequest {
  readonly task: TaskSpec
  readonly attempt: number
  /** MAX_RETRIES in force at the consumer (A6). */
  readonly maxRetries: number
  readonly worker: WorkerId
  readonly leaseMs: number
  /** `run` if missing. */
  readonly stage?: 'run' | 'launch'
}

export interface RenewRequest extends LeaseRef {
  readonly progress: Progress | null
  /** The log of the attempt from now on, if given. */
  readonly log?: AttemptLog
  /** Noted from now on, if given. */
  readonly handle?: string
}

/** For a worker whose process lives, though its event loop is blocked: it can't renew what it runs. */
export interface VouchRequest {
  readonly worker: WorkerId
  readonly epoch: number
  readonly leaseMs: number
  /** What is known of the block, as the `outlook` of a heartbeat. */
  readonly outlook: string | null
}

export interface VouchResult {
  /** How many leases were renewed; 0 for a worker that is unknown or was replaced. */
  readonly renewed: number
}

/**
 * How a thread vouches without the engine, which lives on the blocked event loop. `program` is the body of a function of
 * `require` and `data`. It returns an object with `vouch(request)`, which does what the verb does, and `close()`; both
 * may return a promise. The thread calls one at a time.
 */
export interface Voucher {
  readonly program: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A lease that a dispatcher holds (stage `dispatch`) goes into a worker's inbox. */
export interface Assignment extends LeaseRef {
  readonly worker: WorkerId
  /** How long it may lie there before it is taken back. */
  readonly ttlMs: number
  /** The worker's health does not matter for this task, as long as it is alive (C11). */
  readonly regardless?: true
}

export type AssignResult =
  | { readonly outcome: 'assigned' }
  /** The worker is gone, silent for too long, draining or unhealthy: pick another. Nothing was changed. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'superseded'; readonly because: SupersededBecause }

/** A lease of stage `launch`, for the service that watches its worker. */
export interface Launch extends LeaseRef, Standing {
  readonly worker: WorkerId
  readonly handle: string | null
  readonly startedAt: number
  readonly leaseUntil: number
  readonly timeoutAt: number
}

export interface LaunchQuery extends PageRequest {
  readonly pool: PoolName
}

export interface LaunchPage extends Page<Launch> {
  /** The store's time. */
  readonly now: number
}

export type RenewResult =
  | { readonly outcome: 'extended'; readonly leaseUntil: number }
  | { readonly outcome: 'superseded'; readonly because: SupersededBecause }

/** Something past its time, for the sweep to decide about and settle. */
export type Overdue =
  /**
   * `lease`: the worker stopped renewing. `timeout`: it renews, but the attempt has run past its timeout. `undelivered`: nobody
   * collected it; its dispatcher vanished, or it lay in an inbox for too long or of a worker that went silent.
   */
  | (OverdueBase & {
      readonly kind: 'lease' | 'timeout' | 'undelivered'
      readonly ref: LeaseRef
      readonly worker: WorkerId
    })
  /** It outlived its queue TTL, or its deadline, in the queue. */
  | (OverdueBase & {
      readonly kind: 'queue_ttl' | 'deadline'
      readonly ref: { readonly taskId: TaskId; readonly attempt: number }
    })

interface OverdueBase extends Standing {
  /** When the attempt started; null for an entry that stood in the queue. */
  readonly startedAt: number | null
  /** When it should have ended. */
  readonly since: number
}

export interface ExpiredResult {
  readonly overdue: readonly Overdue[]
  /** The store's time, for decisions. */
  readonly now: number
  /**
   * Since when some sweep or other has looked all the time; missing where the store does not keep it in mind. A recent
   * time means that the store, or everybody, was away before: live workers may not have renewed yet.
   */
  readonly steadySince?: number
}
