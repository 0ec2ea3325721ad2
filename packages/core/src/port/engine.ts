// The Engine port: what a store must be able to do, said in words of the domain. Each verb is one atomic step and takes and
// returns batches. No keys, SQL, scripts or raw clients show through. Repeating a call whose answer was lost does no harm:
// submit reports its own tasks as duplicates; settle, renew and beat say the same again; an engine out of process makes a
// claim that nobody heard of heard again.
// An engine passes the conformance suite (engine-conformance), which holds it against a plain model of this.

import type { TaskLog } from '../model/attempt-log.ts'
import type { Brand } from '../model/brand.ts'
import type { Execution } from '../model/execution.ts'
import type { ActionName, PoolName, TaskId, TenantId, WorkerId } from '../model/ids.ts'
import type { Settlement, SettleResult } from '../model/settlement.ts'
import type { Task, TaskSpec, TaskStatus } from '../model/task.ts'
import type { Breaker } from '../policy/breaker.ts'
import type { HealthThresholds } from '../workers/health.ts'
import type { BreakerQuery } from './breakers.ts'
import type {
  By,
  ChangeRequest,
  ChangeResult,
  RetainResult,
  RetentionRules,
  RetryRequest,
  RetryResult,
  Scope,
} from './changes.ts'
import type { Collection, CollectionDefinition, Document } from './collection.ts'
import type { Hold, HoldQuery } from './holds.ts'
import type { InspectRequest, InspectResult } from './inspect.ts'
import type { Journal } from './journal.ts'
import type {
  Assignment,
  AssignResult,
  Claimed,
  ClaimRequest,
  ClaimResult,
  ExpiredResult,
  LaunchPage,
  LaunchQuery,
  RenewRequest,
  RenewResult,
  ReserveRequest,
  StandingsResult,
  SubmitResult,
  Voucher,
  VouchRequest,
  VouchResult,
} from './leases.ts'
import type {
  Counts,
  CountsQuery,
  ExplainLook,
  Explanation,
  FailureGroup,
  FailureGroupQuery,
  LaneQuery,
  LaneView,
  Page,
  PageRequest,
  SeriesPoint,
  SeriesQuery,
  TaskLook,
  TaskQuery,
  WorkerView,
} from './queries.ts'
import type { BeatReport, BeatResult, DepartedWorker, ProbeReport, WorkerRegistration } from './registry.ts'
import type { Setback } from './setbacks.ts'
import type { TenantFigures } from './tenants.ts'

/** What a waiter wants to hear about. */
export interface Interest {
  /** Something may have become claimable. */
  readonly pools?: readonly PoolName[]
  /** Only these actions matter to the one that waits for work; null or missing for any. */
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

/** How safe tasks are in the store. */
export interface Durability {
  /** What an acknowledged write survives, in one line for a log. */
  readonly durability: string
  /** What an accepted task does not survive here, as a warning; missing where nobody has to be warned. */
  readonly risk?: string
}

/** As it was when the store was opened. */
export interface EngineInfo extends Durability {
  readonly kind: string
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
  /** Renews all that this worker runs, and notes its outlook. No sign of life: it claims nothing meanwhile. */
  vouch(request: VouchRequest): Promise<VouchResult>
  /** For a thread that does the same; null where a thread can't reach this store. */
  voucher(): Voucher | null
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
  /**
   * Looks whether the store still has what this process saw in it, and tells of every time it had not, so far. Empty in a store
   * that lost nothing. What was seen comes along with other answers; a process that starts has seen nothing.
   */
  setbacks(): Promise<readonly Setback[]>
}

/** What operators do. */
export interface Operating {
  /** Changes many tasks, a bounded number per call; one journal entry for each. */
  change(request: ChangeRequest): Promise<ChangeResult>
  retry(id: TaskId, request: RetryRequest): Promise<RetryResult>
  /**
   * Holds every lane in the scope, present and future, until it is resumed. Queue TTLs stand still meanwhile. Like `resume`
   * and `limit`, it throws `OutrankedError` where the platform set what a tenant's caller wants to change.
   */
  pause(scope: Scope, by: By): Promise<void>
  /** Lifts the hold that was put on exactly this scope. False if there was none. */
  resume(scope: Scope, by: By): Promise<boolean>
  /** At most this many running tasks in all lanes of the scope together; null lifts the limit. */
  limit(scope: Scope, concurrency: number | null, by: By): Promise<void>
  /**
   * Closes and forgets the breakers of this name: those of these tenants, with null that of all tenants, or every one. False if
   * there is none.
   */
  resetBreaker(name: string, by: By, tenants?: readonly (TenantId | null)[]): Promise<boolean>
}

/** What looks, and changes nothing. */
export interface Observing {
  readonly info: EngineInfo
  /** Health is judged by these. */
  readonly healthThresholds: HealthThresholds
  /** The store's time: the only clock that decides about tasks. */
  now(): Promise<number>
  /** How safe tasks are now: looks again, because the settings of a server may have changed since it was opened. */
  durability(): Promise<Durability>
  task(id: TaskId, look?: TaskLook): Promise<Task | null>
  /** How these tasks stand, in the order of the ids; null for an unknown one. The cheapest look at many. */
  statuses(ids: readonly TaskId[]): Promise<readonly (TaskStatus | null)[]>
  tasks(query: TaskQuery): Promise<Page<Task>>
  execution(id: TaskId, attempt: number): Promise<Execution | null>
  /** Oldest attempt first. */
  executions(id: TaskId, page?: PageRequest): Promise<Page<Execution>>
  /** What handlers wrote down, of the last attempts that wrote anything; oldest attempt first. */
  logs(id: TaskId): Promise<readonly TaskLog[]>
  explain(id: TaskId, look?: ExplainLook): Promise<Explanation | null>
  worker(id: WorkerId): Promise<WorkerView | null>
  /** By id. */
  workers(page?: PageRequest): Promise<Page<WorkerView>>
  /** Workers that left in the last day and did not come back, the latest first. */
  departed(page?: PageRequest): Promise<Page<DepartedWorker>>
  lanes(query?: LaneQuery): Promise<Page<LaneView>>
  /** Every hold and limit that operators have put on lanes, by scope, also where no lane is yet. */
  holds(query?: HoldQuery): Promise<Page<Hold>>
  /** What each tenant has in the store, by name. Kept, not counted. */
  tenants(page?: PageRequest): Promise<Page<TenantFigures>>
  /** The circuit breakers that are not closed, or have failures in their window, by name and tenant. */
  breakers(query?: BreakerQuery): Promise<Page<Breaker>>
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
