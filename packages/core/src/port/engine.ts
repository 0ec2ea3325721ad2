// The Engine port: what a store must be able to do, said in words of the domain. Each verb is one atomic step and takes and
// returns batches. No keys, SQL, scripts or raw clients show through. Repeating a call whose answer was lost does no harm:
// submit reports its own tasks as duplicates; settle, renew and beat say the same again; an engine out of process makes a
// claim that nobody heard of heard again.
// An engine passes the conformance suite (engine-conformance), which holds it against a plain model of this.

import type { Failure } from '../failure/failure.ts'
import type { Brand } from '../model/brand.ts'
import type { Execution } from '../model/execution.ts'
import type { ActionName, PoolName, TaskId, TenantId, WorkerId } from '../model/ids.ts'
import type { LeaseRef, Settlement, SettleResult, SupersededBecause } from '../model/settlement.ts'
import type { Priority, Progress, Snapshot, Task, TaskSpec, TaskStatus, TaskTerms, WaitReason } from '../model/task.ts'
import type { Breaker } from '../policy/breaker.ts'
import type { HealthThresholds } from '../workers/health.ts'
import type { Collection, CollectionDefinition, Document } from './collection.ts'
import type { InspectRequest, InspectResult } from './inspect.ts'
import type { Journal } from './journal.ts'
import type {
  Counts,
  CountsQuery,
  Explanation,
  FailureGroup,
  FailureGroupQuery,
  LaneQuery,
  LaneView,
  Page,
  PageRequest,
  SeriesPoint,
  SeriesQuery,
  TaskQuery,
  WorkerView,
} from './queries.ts'
import type { BeatReport, BeatResult, ProbeReport, WorkerRegistration } from './registry.ts'

/** The most one call takes or changes. Larger work is done in several calls. */
export const BATCH_MAX = 1_000
/** A claim gives the oldest entry of a lane every so many picks, whatever its priority: nothing starves. */
export const PICKS_PER_OLDEST = 8
/** What one claim promotes from the delay queue, and retires of entries past their time, at the most. */
export const PROMOTE_MAX = 1_000
export const RETIRE_MAX = 1_000
/** How long a retry waits, once it is queued, for a worker other than the one that failed it. */
export const AVOID_MS = 2_000
/** After its timeout an attempt gets this long to be settled by its own worker before the sweep does it. */
export const TIMEOUT_GRACE_MS = 5_000

/** Who did it and why: on every operator action, and in its journal entry. */
export interface By {
  readonly actor: string
  readonly reason: string
}

/** One lane, or all lanes that agree with what is given. */
export interface Scope {
  readonly pool?: PoolName
  readonly action?: ActionName
  readonly tenant?: TenantId
}

export type SubmitResult =
  | { readonly outcome: 'accepted'; readonly id: TaskId }
  /** The id, or the dedupe key, is taken. `id` is the task that has it. */
  | { readonly outcome: 'duplicate'; readonly id: TaskId }

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
  /** Noted from now on, if given. */
  readonly handle?: string
}

/** A lease that a dispatcher holds (stage `dispatch`) goes into a worker's inbox. */
export interface Assignment extends LeaseRef {
  readonly worker: WorkerId
  /** How long it may lie there before it is taken back. */
  readonly ttlMs: number
}

export type AssignResult =
  | { readonly outcome: 'assigned' }
  /** The worker is gone, silent for too long, draining or unhealthy: pick another. Nothing was changed. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'superseded'; readonly because: SupersededBecause }

/** A lease of stage `launch`, for whoever sees to it that its worker lives. */
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
  /** The worker stopped renewing. */
  | (OverdueBase & { readonly kind: 'lease'; readonly ref: LeaseRef; readonly worker: WorkerId })
  /** The worker renews, but the attempt has run past its timeout. */
  | (OverdueBase & { readonly kind: 'timeout'; readonly ref: LeaseRef; readonly worker: WorkerId })
  /** Nobody collected it: its dispatcher vanished, or it lay in an inbox for too long or of a worker that went silent. */
  | (OverdueBase & { readonly kind: 'undelivered'; readonly ref: LeaseRef; readonly worker: WorkerId })
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
   * Since when somebody has looked all the time, whoever it was; missing where the store does not keep it in mind. A recent
   * time means that the store, or everybody, was away before: live workers may not have renewed yet.
   */
  readonly steadySince?: number
}

/** Which tasks a change is about: these ids, or all that agree with what is given. */
export type TaskSelector =
  | { readonly ids: readonly TaskId[] }
  | (Scope & { readonly fingerprint?: Failure['fingerprint'] })

/** What an operator can do to many tasks. Tasks in another status than these are passed over. */
export type ChangeKind =
  /** Dead letters go back to work in a new generation with a fresh budget. */
  | 'redrive'
  /** Dead letters are given up for good. */
  | 'discard'
  /** Queued, waiting and running tasks end; the lease of a running attempt ends at once. */
  | 'cancel'
  /** Waiting tasks become due now. */
  | 'promote'

export interface ChangeRequest {
  readonly kind: ChangeKind
  readonly select: TaskSelector
  readonly by: By
  readonly limit?: number
  /** From the result before, to go on where it stopped. */
  readonly cursor?: string
}

export interface ChangeResult {
  readonly changed: readonly TaskId[]
  /** Where to go on; null when nothing is left. */
  readonly next: string | null
}

/** An operator's retry of one failed task, within its budget (A8, A9). */
export type RetryResult =
  | { readonly outcome: 'queued'; readonly attempt: number }
  | { readonly outcome: 'not_found' }
  /** The latest execution is not `failed`; `status` is what it is, or the task's own if it has none. */
  | { readonly outcome: 'wrong_status'; readonly status: Execution['status'] | TaskStatus }
  | { readonly outcome: 'exhausted'; readonly budget: number }

/** How long ended tasks are kept. What is not named is kept for ever; dead letters always are. */
export interface RetentionRules {
  readonly succeededMs?: number
  readonly cancelledMs?: number
  readonly discardedMs?: number
  readonly journalMs?: number
  readonly seriesMs?: number
}

export interface RetainResult {
  readonly tasksRemoved: number
  readonly entriesRemoved: number
  /** Where to go on; null when one whole pass is done. */
  readonly next: string | null
}

/** What a waiter wants to hear about. */
export interface Interest {
  /** Something may have become claimable. */
  readonly pools?: readonly PoolName[]
  /** Only these actions matter to whoever waits for work; null or missing for any. */
  readonly actions?: readonly ActionName[] | null
  /** One of these may have ended. */
  readonly tasks?: readonly TaskId[]
  /** Something came into this worker's inbox. */
  readonly inbox?: WorkerId
  /** Also what changed since this mark, taken before the caller looked. */
  readonly since?: Mark
}

/** A moment in the life of one opened engine; only good for `wait`. */
export type Mark = Brand<number, 'Mark'>

export interface EngineInfo {
  readonly kind: string
  /** What an acknowledged write survives, in one line for a log. */
  readonly durability: string
  /** Calls that a busy worker should have under way: more than one where the store works while its caller does. */
  readonly callsAtOnce: number
  /** Subjects of the conformance suite this engine declares it can't do. */
  readonly lacks: readonly string[]
}

/** What submits tasks. */
export interface Intake {
  /** Accepts each id once. Refused whole with `BacklogFullError` if the backlog has no room for all of them. */
  submit(tasks: readonly TaskSpec[]): Promise<readonly SubmitResult[]>
}

/** What a worker does. */
export interface Work {
  readonly info: EngineInfo
  /** Starts a new epoch of this worker id. Leases of an older epoch are taken away. */
  register(registration: WorkerRegistration): Promise<{ readonly epoch: number }>
  beat(report: BeatReport): Promise<BeatResult>
  /** The worker is gone for good. Its leases, if any are left, end now. */
  deregister(worker: WorkerId, epoch: number): Promise<void>

  /**
   * Promotes what is due, skips what a gate holds, retires what is past its time, reserves the next attempt of up to
   * `limit` tasks and starts their leases. Fair across lanes. Throws `WorkerFencedError` for a replaced worker.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /** A claim for one attempt that a message asks for. `DuplicateExecutionError`, `BudgetExhaustedError`, `NoAvailableSlotError`. */
  reserve(request: ReserveRequest): Promise<Claimed>
  renew(leases: readonly RenewRequest[], leaseMs: number): Promise<readonly RenewResult[]>
  /** Ends attempts: status, counters, next step and journal entry in one step, fenced each by its token. */
  settle(settlements: readonly Settlement[]): Promise<readonly SettleResult[]>
  /** Settles, then claims, in one trip: the happy path of a worker. */
  settleAndClaim(
    settlements: readonly Settlement[],
    request: ClaimRequest,
  ): Promise<{ readonly settled: readonly SettleResult[] } & ClaimResult>
  /** What judging a failure of these tasks takes, for a caller who settles attempts that others claimed. */
  standings(ids: readonly TaskId[]): Promise<StandingsResult>
}

/** What the orchestrator's services do so that work goes on. */
export interface Upkeep {
  /** Hands leases of stage `dispatch` over to workers' inboxes, from where their next claims collect them. */
  assign(assignments: readonly Assignment[]): Promise<readonly AssignResult[]>
  /** The leases of stage `launch` in a pool, by task id: the sweep leaves them alone, the launcher looks after them. */
  launches(query: LaunchQuery): Promise<LaunchPage>
  /** What is past its time. Only looks: any number of sweepers may settle what they see, each expiry takes effect once. */
  expired(limit: number): Promise<ExpiredResult>
  /** What active probes found. Reports of another epoch change nothing. */
  probed(reports: readonly ProbeReport[]): Promise<void>
  /** Deletes what the rules no longer keep, a bounded number per call. Never a dead letter. */
  retain(rules: RetentionRules, options?: { readonly limit?: number; readonly cursor?: string }): Promise<RetainResult>
  /** Holds what the store keeps against its tasks' records, a bounded piece per call, and sets right what differs if asked to. */
  inspect(request: InspectRequest): Promise<InspectResult>
}

/** What operators do. */
export interface Operating {
  /** Changes many tasks, a bounded number per call; one journal entry for each. */
  change(request: ChangeRequest): Promise<ChangeResult>
  retry(id: TaskId, options: { readonly by: By; readonly maxRetries: number }): Promise<RetryResult>
  /** Holds every lane in the scope, present and future, until it is resumed. Queue TTLs stand still meanwhile. */
  pause(scope: Scope, by: By): Promise<void>
  /** Lifts the hold that was put on exactly this scope. False if there was none. */
  resume(scope: Scope, by: By): Promise<boolean>
  /** At most this many running tasks in all lanes of the scope together; null lifts the limit. */
  limit(scope: Scope, concurrency: number | null, by: By): Promise<void>
  /** Closes and forgets a breaker. False if there is none of this name. */
  resetBreaker(name: string, by: By): Promise<boolean>
}

/** What looks, and changes nothing. */
export interface Observing {
  readonly info: EngineInfo
  /** Health is judged by these. */
  readonly healthThresholds: HealthThresholds
  /** The store's time: the only clock that decides about tasks. */
  now(): Promise<number>
  task(id: TaskId): Promise<Task | null>
  tasks(query: TaskQuery): Promise<Page<Task>>
  execution(id: TaskId, attempt: number): Promise<Execution | null>
  /** Oldest attempt first. */
  executions(id: TaskId, page?: PageRequest): Promise<Page<Execution>>
  explain(id: TaskId): Promise<Explanation | null>
  worker(id: WorkerId): Promise<WorkerView | null>
  /** By id. */
  workers(page?: PageRequest): Promise<Page<WorkerView>>
  lanes(query?: LaneQuery): Promise<Page<LaneView>>
  /** The circuit breakers that are not closed, or have failures in their window, by name. */
  breakers(page?: PageRequest): Promise<Page<Breaker>>
  failureGroups(query?: FailureGroupQuery): Promise<Page<FailureGroup>>
  counts(query?: CountsQuery): Promise<Counts>
  series(query: SeriesQuery): Promise<readonly SeriesPoint[]>
}

/** What waits until something may have changed. */
export interface Waiting {
  mark(): Mark
  /** Comes back soon after something of interest may have changed, at the latest after the time-out. May come back early. */
  wait(interest: Interest, timeoutMs: number, signal?: AbortSignal): Promise<void>
}

/** What is kept beside the tasks. */
export interface Records {
  readonly journal: Journal
  collection<D extends Document>(definition: CollectionDefinition<D>): Collection<D>
}

export interface Engine extends Intake, Work, Upkeep, Operating, Observing, Waiting, Records {
  close(): Promise<void>
}

/** The place of a priority in claim order: smaller first. */
export const claimOrder = (priority: Priority): number => 9 - priority
