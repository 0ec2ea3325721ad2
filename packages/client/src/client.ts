// The client: submits tasks, follows them, and carries an operator's wishes to the engine. Every method is one call of
// the Engine port with checked arguments; what happens to a task is decided there and in core, not here.

import { type Connection, connectEngine, maxRetriesFromEnvironment } from '@reprise/connect'
import {
  type Action,
  BATCH_MAX,
  type Breaker,
  type BulkRequest,
  type BulkResult,
  type Clock,
  type Counts,
  DEFAULT_TENANT,
  type Engine,
  type Execution,
  type Explanation,
  type FailureGroup,
  InvalidError,
  type JournalPage,
  type LaneView,
  type Page,
  type PageRequest,
  type RetryResult,
  refuseUnknownKeys,
  systemClock,
  type Task,
  type TaskId,
  type TaskSpec,
  type TenantId,
  taskId,
  tenantId,
  type WorkerView,
} from '@reprise/core'
import {
  type BulkOptions,
  type ByOptions,
  bulkRequest,
  byOf,
  checkedBreakerName,
  checkedScope,
  groupQuery,
  journalQuery,
  type ListQuery,
  laneQuery,
  onlyBy,
  type RetryOptions,
  type ScopeQuery,
  type TaskTarget,
  taskQuery,
} from './operator-requests.ts'
import { ResultWatcher } from './result-watcher.ts'
import { encodeInput, namedAction, type SubmitOptions, type SubmittableAction, taskSpec } from './submission.ts'
import { Handle, type StoredResult, type SubmittedTask, type TaskHandle } from './task-handle.ts'

export interface ClientOptions {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine: string | Engine
  /** The tenant of tasks that are submitted without one. */
  readonly tenant?: string
  /** For tests: measures timeouts, and becomes the clock of an engine that is opened here. */
  readonly clock?: Clock
}

export async function createClient(options: ClientOptions): Promise<Client> {
  refuseUnknownKeys(options, ['engine', 'tenant', 'clock'], 'client option')
  const tenant = options.tenant === undefined ? DEFAULT_TENANT : tenantId(options.tenant)
  const clock = options.clock === undefined ? {} : { clock: options.clock }
  const maxRetries = maxRetriesFromEnvironment()
  return new Client(await connectEngine(options.engine, clock), tenant, options.clock ?? systemClock, maxRetries)
}

export class Client {
  readonly #connection: Connection
  readonly #engine: Engine
  readonly #tenant: TenantId
  /** MAX_RETRIES of the environment. */
  readonly #maxRetries: number
  readonly #watcher: ResultWatcher

  constructor(connection: Connection, tenant: TenantId, clock: Clock, maxRetries: number) {
    this.#connection = connection
    this.#engine = connection.engine
    this.#tenant = tenant
    this.#maxRetries = maxRetries
    this.#watcher = new ResultWatcher(connection.engine, clock)
  }

  /** Validates the payload and submits it. An action known by name only runs with default settings. */
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
    const spec = taskSpec(target, payload, options, this.#tenant)
    const [handle] = await this.#submitSpecs<Result>([spec])
    if (handle === undefined) throw new InvalidError('The engine did not answer the submission.')
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
    const specs: TaskSpec[] = []
    for (const [index, input] of inputs.entries()) {
      const { payload, validation } = encodeInput(target, input)
      if (validation !== null) await validation
      // The overloads tie the two together: optionsFor takes what inputs holds.
      specs.push(taskSpec(target, payload, optionsFor(input as never, index), this.#tenant))
    }
    const handles: SubmittedTask<Result>[] = []
    for (const batch of batches(specs)) handles.push(...(await this.#submitSpecs<Result>(batch)))
    return handles
  }

  /** A handle on a task that was submitted before, here or elsewhere. */
  task<Result = unknown>(id: string): TaskHandle<Result> {
    return new Handle<Result>(this.#engine, this.#watcher, taskId(id), true)
  }

  async get(id: string): Promise<Task | null> {
    return this.#engine.task(taskId(id))
  }

  /** Every attempt, oldest first. */
  async executions(id: string, page?: PageRequest): Promise<Page<Execution>> {
    return this.#engine.executions(taskId(id), page)
  }

  /** Newest first. */
  async list(query: ListQuery = {}): Promise<Page<Task>> {
    return this.#engine.tasks(taskQuery(query))
  }

  async counts(query: ScopeQuery = {}): Promise<Counts> {
    return this.#engine.counts(checkedScope(query))
  }

  /** Why it is not running now; null if there is no such task. */
  async explain(id: string): Promise<Explanation | null> {
    return this.#engine.explain(taskId(id))
  }

  /** Ends queued, waiting and running tasks. */
  async cancel(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#engine.cancel(request))
  }

  /** Dead letters back to work, with a fresh budget. */
  async redrive(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#engine.redrive(request))
  }

  /** Gives dead letters up for good. */
  async discard(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#engine.discard(request))
  }

  /** Makes waiting tasks due now. */
  async promote(target: TaskTarget, options?: BulkOptions): Promise<BulkResult> {
    return inSteps(bulkRequest(target, options), (request) => this.#engine.promote(request))
  }

  /** Runs a failed task once more in the same generation, if its budget allows. */
  async retry(id: string, options: RetryOptions = {}): Promise<RetryResult> {
    refuseUnknownKeys(options, ['actor', 'reason', 'maxRetries'], 'option')
    return this.#engine.retry(taskId(id), {
      by: byOf(options),
      maxRetries: options.maxRetries ?? this.#maxRetries,
    })
  }

  /** Holds all lanes of the scope, present and future, until they are resumed. Queue TTLs stand still meanwhile. */
  async pause(scope: ScopeQuery, options: ByOptions = {}): Promise<void> {
    return this.#engine.pause(checkedScope(scope), onlyBy(options))
  }

  /** Lifts the hold that was put on exactly this scope; false if there was none. */
  async resume(scope: ScopeQuery, options: ByOptions = {}): Promise<boolean> {
    return this.#engine.resume(checkedScope(scope), onlyBy(options))
  }

  /** At most so many running tasks in the scope; null lifts the limit. */
  async limit(scope: ScopeQuery, concurrency: number | null, options: ByOptions = {}): Promise<void> {
    return this.#engine.limit(checkedScope(scope), concurrency, onlyBy(options))
  }

  /** The circuit breakers that hold work back, or have seen failures lately. */
  async breakers(page?: PageRequest): Promise<Page<Breaker>> {
    return this.#engine.breakers(page)
  }

  /** Closes and forgets a breaker, such as 'dependency:stripe': work goes on at once. False if there is none. */
  async resetBreaker(name: string, options: ByOptions = {}): Promise<boolean> {
    return this.#engine.resetBreaker(checkedBreakerName(name), onlyBy(options))
  }

  async lanes(query: ScopeQuery & PageRequest = {}): Promise<Page<LaneView>> {
    return this.#engine.lanes(laneQuery(query))
  }

  /** Dead letters by cause, the most recent first. */
  async failureGroups(query: { readonly action?: string } & PageRequest = {}): Promise<Page<FailureGroup>> {
    return this.#engine.failureGroups(groupQuery(query))
  }

  async workers(page?: PageRequest): Promise<Page<WorkerView>> {
    return this.#engine.workers(page)
  }

  /** What was unusual and what operators did, oldest first. Read on with the cursor. */
  async journal(query: { readonly taskId?: string } & PageRequest = {}): Promise<JournalPage> {
    return this.#engine.journal.read(journalQuery(query))
  }

  /** Turns away everybody who waits for a result, and closes the engine if it was opened here. */
  async close(): Promise<void> {
    this.#watcher.close()
    await this.#connection.close()
  }

  async #submitSpecs<Result>(specs: readonly TaskSpec[]): Promise<SubmittedTask<Result>[]> {
    const results = await this.#engine.submit(specs)
    return results.map(({ id, outcome }) => new Handle<Result>(this.#engine, this.#watcher, id, outcome === 'accepted'))
  }
}

/** Past so many characters of payload a batch is sent, however few tasks it has: nobody should hold the store for long. */
const BATCH_LENGTH_MAX = 4_000_000

function* batches(specs: readonly TaskSpec[]): Generator<TaskSpec[]> {
  let batch: TaskSpec[] = []
  let length = 0
  for (const spec of specs) {
    if (batch.length === BATCH_MAX || (batch.length > 0 && length + spec.payload.length > BATCH_LENGTH_MAX)) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(spec)
    length += spec.payload.length
  }
  if (batch.length > 0) yield batch
}

/** With a limit, one bounded step that can be gone on from; without one, as many steps as it takes. */
async function inSteps(request: BulkRequest, step: (request: BulkRequest) => Promise<BulkResult>): Promise<BulkResult> {
  if (request.limit !== undefined) return step(request)
  const changed: TaskId[] = []
  if ('ids' in request.select && request.select.ids.length > BATCH_MAX) {
    const { ids } = request.select
    for (let start = 0; start < ids.length; start += BATCH_MAX) {
      changed.push(...(await step({ ...request, select: { ids: ids.slice(start, start + BATCH_MAX) } })).changed)
    }
    return { changed, next: null }
  }
  let next: string | null = request.cursor ?? null
  do {
    const result: BulkResult = await step(next === null ? request : { ...request, cursor: next })
    changed.push(...result.changed)
    next = result.next
  } while (next !== null)
  return { changed, next }
}

function submittable(action: string | SubmittableAction): SubmittableAction {
  if (typeof action === 'string') return namedAction(action)
  if (typeof action !== 'object' || action === null || typeof action.name !== 'string') {
    throw new InvalidError('Submit takes an action from defineAction(), or the name of one.')
  }
  return action
}
