// The client: submits tasks, follows them, and carries an operator's wishes to the engine or the server. Every method is one
// call of the port Backend with checked arguments; what happens to a task is decided elsewhere, not here.

import {
  type Action,
  type Breaker,
  type Counts,
  type ExportedTask,
  type FailureGroup,
  type InspectResult,
  InvalidError,
  type JournalPage,
  type LaneView,
  type Page,
  type PageRequest,
  type RetryResult,
  refuseUnknownKeys,
  type SeriesPoint,
  type TenantId,
  taskId,
  type WorkerView,
  workerId,
} from '@reprise/core'
import type { Backend, BulkResult, ConnectionInfo, LiveEvent, Submission } from './backend.ts'
import {
  type BulkOptions,
  type ByOptions,
  bulkRequest,
  byOf,
  checkedBreakerName,
  checkedScope,
  groupQuery,
  type InspectOptions,
  inspectRequest,
  type JournalRequest,
  journalQuery,
  type ListQuery,
  laneQuery,
  onlyBy,
  onlyPage,
  type RetryOptions,
  type ScopeQuery,
  type SeriesOptions,
  seriesRequest,
  type TaskTarget,
  taskQuery,
  type WatchOptions,
  watchRequest,
} from './operator-requests.ts'
import type { Execution, Explanation, SearchPage, Task } from './records.ts'
import type { FigureCalls, FlagCalls, PolicyCalls, TokenCalls } from './server-calls.ts'
import { batches, inSteps } from './steps.ts'
import { encodeInput, namedAction, type SubmitOptions, type SubmittableAction, submissionOf } from './submission.ts'
import { Handle, type StoredResult, type SubmittedTask, type TaskHandle } from './task-handle.ts'
import { tracedSubmit } from './tracing.ts'

export class Client {
  /** What is in force, every version, changes and dry runs. Through a server only. */
  readonly policies: PolicyCalls
  readonly flags: FlagCalls
  /** API tokens, and who you are. Through a server only. */
  readonly tokens: TokenCalls
  /** Figures that are made from many: monitoring, scaling. Through a server only. */
  readonly figures: FigureCalls
  readonly #backend: Backend
  readonly #tenant: TenantId | null

  constructor(backend: Backend, tenant: TenantId | null) {
    this.#backend = backend
    this.#tenant = tenant
    this.policies = backend.policies
    this.flags = backend.flags
    this.tokens = backend.tokens
    this.figures = backend.figures
  }

  /** Validates the payload and submits it. An action known by name only runs with the settings that a worker published, or the usual ones. */
  submit<Result = unknown>(action: string, input: unknown, options?: SubmitOptions): Promise<SubmittedTask<Result>>
  submit<In, Parsed, Result>(
    action: Action<In, Parsed, Result>,
    input: In,
    options?: SubmitOptions,
  ): Promise<SubmittedTask<StoredResult<Result>>>
  async submit<Result>(
    action: string | SubmittableAction,
    input: unknown,
    options: SubmitOptions = {},
  ): Promise<SubmittedTask<Result>> {
    const target = submittable(action)
    const { payload, validation } = encodeInput(target, input)
    await validation
    const submission = submissionOf(target, payload, options, this.#tenant)
    const [handle] = await this.#submitAll<Result>([submission])
    if (handle === undefined) throw new InvalidError('The submission was not answered.')
    return handle
  }

  /**
   * Submits many payloads of one action, in calls of at most BATCH_MAX. Nothing is submitted unless every payload is
   * valid. Should a later call be refused, earlier ones stand: give ids to be able to repeat the whole.
   */
  submitMany<Result = unknown>(
    action: string,
    inputs: readonly unknown[],
    optionsFor?: (input: unknown, index: number) => SubmitOptions,
  ): Promise<SubmittedTask<Result>[]>
  submitMany<In, Parsed, Result>(
    action: Action<In, Parsed, Result>,
    inputs: readonly In[],
    optionsFor?: (input: In, index: number) => SubmitOptions,
  ): Promise<SubmittedTask<StoredResult<Result>>[]>
  async submitMany<Result>(
    action: string | SubmittableAction,
    inputs: readonly unknown[],
    optionsFor: (input: never, index: number) => SubmitOptions = () => ({}),
  ): Promise<SubmittedTask<Result>[]> {
    const target = submittable(action)
    const submissions: Submission[] = []
    for (const [index, input] of inputs.entries()) {
      const { payload, validation } = encodeInput(target, input)
      if (validation !== null) await validation
      // The overloads tie the two together: optionsFor takes what inputs holds.
      submissions.push(submissionOf(target, payload, optionsFor(input as never, index), this.#tenant))
    }
    const handles: SubmittedTask<Result>[] = []
    for (const batch of batches(submissions)) handles.push(...(await this.#submitAll<Result>(batch)))
    return handles
  }

  /** A handle on a task that was submitted before, here or elsewhere. */
  task<Result = unknown>(id: string): TaskHandle<Result> {
    return new Handle<Result>(this.#backend, taskId(id), true)
  }

  async get(id: string): Promise<Task | null> {
    return this.#backend.task(taskId(id))
  }

  /** Every attempt, oldest first. */
  async executions(id: string, page?: PageRequest): Promise<Page<Execution>> {
    return this.#backend.executions(taskId(id), onlyPage(page))
  }

  /** Newest first. */
  async list(query: ListQuery = {}): Promise<Page<Task>> {
    return this.#backend.tasks(taskQuery(query))
  }

  /** Newest first, by the query language: `status:dead action:invoice.* age>1h "connection reset"`. */
  async search(text: string, page?: PageRequest): Promise<SearchPage> {
    return this.#backend.search(text, onlyPage(page))
  }

  /** Everything that a query finds, with its attempts, newest first. A server redacts, unless `raw` is asked for and allowed. */
  exportTasks(text = '', { raw = false }: { readonly raw?: boolean } = {}): AsyncGenerator<ExportedTask> {
    return this.#backend.exportTasks(text, raw)
  }

  async counts(query: ScopeQuery = {}): Promise<Counts> {
    return this.#backend.counts(checkedScope(query))
  }

  /** Why it is not running now; null if there is no such task. */
  async explain(id: string): Promise<Explanation | null> {
    return this.#backend.explain(taskId(id))
  }

  /** Ends queued, waiting and running tasks. */
  async cancel(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#backend.cancel(request))
  }

  /** Dead letters back to work, with a fresh budget. */
  async redrive(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#backend.redrive(request))
  }

  /** Gives dead letters up for good. */
  async discard(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#backend.discard(request))
  }

  /** Makes waiting tasks due now. */
  async promote(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#backend.promote(request))
  }

  /** Runs a failed task once more in the same generation, if its budget allows. */
  async retry(id: string, options: RetryOptions = {}): Promise<RetryResult> {
    refuseUnknownKeys(options, ['actor', 'reason', 'maxRetries'], 'option')
    return this.#backend.retry(taskId(id), byOf(options), options.maxRetries ?? null)
  }

  /** Holds all lanes of the scope, present and future, until they are resumed. Queue TTLs stand still meanwhile. */
  async pause(scope: ScopeQuery, options: ByOptions = {}): Promise<void> {
    return this.#backend.pause(checkedScope(scope), onlyBy(options))
  }

  /** Lifts the hold that was put on exactly this scope; false if there was none. */
  async resume(scope: ScopeQuery, options: ByOptions = {}): Promise<boolean> {
    return this.#backend.resume(checkedScope(scope), onlyBy(options))
  }

  /** At most so many running tasks in the scope; null lifts the limit. */
  async limit(scope: ScopeQuery, concurrency: number | null, options: ByOptions = {}): Promise<void> {
    return this.#backend.limit(checkedScope(scope), concurrency, onlyBy(options))
  }

  /** The circuit breakers that hold work back, or have seen failures lately. */
  async breakers(page?: PageRequest): Promise<Page<Breaker>> {
    return this.#backend.breakers(onlyPage(page))
  }

  /** Closes and forgets a breaker, such as 'dependency:stripe': work goes on at once. False if there is none. */
  async resetBreaker(name: string, options: ByOptions = {}): Promise<boolean> {
    return this.#backend.resetBreaker(checkedBreakerName(name), onlyBy(options))
  }

  async lanes(query: ScopeQuery & PageRequest = {}): Promise<Page<LaneView>> {
    return this.#backend.lanes(laneQuery(query))
  }

  /** Dead letters by cause, the most recent first. */
  async failureGroups(query: { readonly action?: string } & PageRequest = {}): Promise<Page<FailureGroup>> {
    return this.#backend.failureGroups(groupQuery(query))
  }

  async workers(page?: PageRequest): Promise<Page<WorkerView>> {
    return this.#backend.workers(onlyPage(page))
  }

  async worker(id: string): Promise<WorkerView | null> {
    return this.#backend.worker(workerId(id))
  }

  /** Has a worker finish what it runs and take nothing new; false if it was told before. */
  async drain(worker: string, options: ByOptions = {}): Promise<boolean> {
    return this.#backend.drain(workerId(worker), onlyBy(options))
  }

  /** What happened, minute by minute; minutes without events are left out. */
  async series(options: SeriesOptions = {}): Promise<readonly SeriesPoint[]> {
    const { scope, minutes } = seriesRequest(options)
    return this.#backend.series(scope, minutes)
  }

  /** What was unusual and what operators did, oldest first unless the newest are asked for. Read on with the cursor. */
  async journal(query: JournalRequest = {}): Promise<JournalPage> {
    return this.#backend.journal(journalQuery(query))
  }

  /** A cursor at the end of the journal as it is now, for reading what comes after. */
  async journalEnd(): Promise<string> {
    return this.#backend.journalEnd()
  }

  /** Entries of the journal as they are written, until the signal fires. Outlives a server or a store that is away. */
  watch(options: WatchOptions = {}): AsyncGenerator<LiveEvent> {
    return this.#backend.watch(watchRequest(options))
  }

  /** Recounts a bounded piece of the store and finds what does not fit; go on with `cursor` while `next` is not null. */
  async inspect(options: InspectOptions = {}): Promise<InspectResult> {
    return this.#backend.inspect(inspectRequest(options))
  }

  /** What this client talks to. */
  async info(): Promise<ConnectionInfo> {
    return this.#backend.info()
  }

  /** Turns away everybody who waits for a result, and closes the engine if it was opened here. */
  async close(): Promise<void> {
    await this.#backend.close()
  }

  async #submitAll<Result>(submissions: readonly Submission[]): Promise<SubmittedTask<Result>[]> {
    const results = await tracedSubmit(submissions, (traced) => this.#backend.submit(traced))
    return results.map(({ id, outcome }) => new Handle<Result>(this.#backend, id, outcome === 'accepted'))
  }
}

function submittable(action: string | SubmittableAction): SubmittableAction {
  if (typeof action === 'string') return namedAction(action)
  if (typeof action !== 'object' || action === null || typeof action.name !== 'string') {
    throw new InvalidError('Submit takes an action from defineAction(), or the name of one.')
  }
  return action
}
