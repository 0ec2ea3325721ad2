// What the client needs of whatever it talks to: a narrow port with two implementations, one straight on an engine and one
// that speaks the HTTP API. Arguments have been checked when they come here, and answers are core's types without tokens.

import type {
  Breaker,
  By,
  ChangeRequest,
  ChangeResult,
  Counts,
  CountsQuery,
  ExportedTask,
  FailureGroup,
  FailureGroupQuery,
  InspectRequest,
  InspectResult,
  JournalEntry,
  JournalPage,
  JournalQuery,
  LaneQuery,
  LaneView,
  Page,
  PageRequest,
  PoolName,
  RetryResult,
  Scope,
  SeriesPoint,
  SubmitResult,
  TaskId,
  TaskQuery,
  TaskSettings,
  TaskSpec,
  TenantId,
  WorkerId,
  WorkerView,
} from '@reprise/core'
import type { Execution, Explanation, SearchPage, Task } from './records.ts'
import type { FigureCalls, FlagCalls, PolicyCalls, TokenCalls } from './server-calls.ts'

/** A change of many tasks, before it is said which one. */
export type BulkRequest = Omit<ChangeRequest, 'kind'>
export type BulkResult = ChangeResult

/** A task to submit. Pool and settings are null where only the action's name is known: those that it declares then count. */
export interface Submission extends Omit<TaskSpec, 'pool' | 'settings' | 'tenant'> {
  readonly pool: PoolName | null
  readonly settings: TaskSettings | null
  /** Null where nobody said: the one that the caller's rights are about, or the default. */
  readonly tenant: TenantId | null
}

export interface WaitLimits {
  readonly timeoutMs: number | null
  readonly signal: AbortSignal | null
}

/** An entry of the journal as it is followed. */
export interface LiveEvent extends JournalEntry {
  /** Watching again from here misses nothing that comes after this event. The event itself may come again. */
  readonly cursor: string
}

export interface WatchRequest {
  /** From now on if null. */
  readonly cursor: string | null
  readonly taskId: TaskId | null
  /** Types such as `execution.failed`, or families such as `task.*`; all if empty. */
  readonly types: readonly string[]
  readonly signal: AbortSignal | null
}

export interface ConnectionInfo {
  readonly engine: { readonly kind: string; readonly durability: string }
  /** The server's version and figures; null straight on an engine. */
  readonly server: {
    readonly version: string
    readonly now: number
    readonly maxRetries: number
    readonly flags: Readonly<Record<string, boolean>>
  } | null
}

export interface Backend {
  submit(submissions: readonly Submission[]): Promise<readonly SubmitResult[]>
  /** The task, once it has ended in any way. */
  ended(id: TaskId, limits: WaitLimits): Promise<Task>

  task(id: TaskId): Promise<Task | null>
  tasks(query: TaskQuery): Promise<Page<Task>>
  search(text: string, page: PageRequest): Promise<SearchPage>
  exportTasks(text: string, isRaw: boolean): AsyncGenerator<ExportedTask>
  executions(id: TaskId, page: PageRequest): Promise<Page<Execution>>
  explain(id: TaskId): Promise<Explanation | null>
  counts(query: CountsQuery): Promise<Counts>
  series(scope: Scope, minutes: number): Promise<readonly SeriesPoint[]>
  lanes(query: LaneQuery): Promise<Page<LaneView>>
  failureGroups(query: FailureGroupQuery): Promise<Page<FailureGroup>>
  breakers(page: PageRequest): Promise<Page<Breaker>>
  workers(page: PageRequest): Promise<Page<WorkerView>>
  worker(id: WorkerId): Promise<WorkerView | null>
  journal(query: JournalQuery): Promise<JournalPage>
  /** Where the journal ends now: read on from there for what comes. */
  journalEnd(): Promise<string>
  watch(request: WatchRequest): AsyncGenerator<LiveEvent>

  cancel(request: BulkRequest): Promise<BulkResult>
  redrive(request: BulkRequest): Promise<BulkResult>
  discard(request: BulkRequest): Promise<BulkResult>
  promote(request: BulkRequest): Promise<BulkResult>
  /** Without `maxRetries` what the environment says, here or at the server. */
  retry(id: TaskId, by: By, maxRetries: number | null): Promise<RetryResult>
  pause(scope: Scope, by: By): Promise<void>
  resume(scope: Scope, by: By): Promise<boolean>
  limit(scope: Scope, concurrency: number | null, by: By): Promise<void>
  resetBreaker(name: string, by: By): Promise<boolean>
  /** `NotFoundError` if there is no such worker. False if it was told before. */
  drain(worker: WorkerId, by: By): Promise<boolean>
  inspect(request: InspectRequest): Promise<InspectResult>

  info(): Promise<ConnectionInfo>
  readonly policies: PolicyCalls
  readonly flags: FlagCalls
  readonly tokens: TokenCalls
  readonly figures: FigureCalls

  close(): Promise<void>
}
