// The client: submits tasks, follows them, and calls the operations of the table. What an operation does is decided by the
// table, on the other side of HTTP or in this process.

import {
  type Action,
  BATCH_MAX,
  type Clock,
  checkedName,
  InvalidError,
  knownName,
  refuseUnknownKeys,
  TaskConflictError,
  type TaskId,
  type TenantId,
  tenantId,
} from '@reprise/core'
import type { Operations } from '@reprise/operations'
import type { Backend, LiveEvent, Submission } from './backend.ts'
import { callsOf } from './calls.ts'
import {
  encodeInput,
  namedAction,
  type PlannedTask,
  type SubmitArguments,
  type SubmitOptions,
  type SubmittableAction,
  submissionOf,
} from './submission.ts'
import { ConflictingTask, Handle, type StoredResult, type SubmittedTask, type TaskHandle } from './task-handle.ts'

/** Submits and follows tasks, and has a function for every operation of the table. */
export type Client = TaskClient & Operations

export interface CommonOptions {
  /** The tenant of tasks that are submitted without one. */
  readonly tenant?: string
  /** For tests: measures timeouts, and becomes the clock of an engine that is opened here. */
  readonly clock?: Clock
}

export const tenantOf = ({ tenant }: CommonOptions): TenantId | null => (tenant === undefined ? null : tenantId(tenant))

export interface WatchOptions {
  /** Of an event that was seen: go on from there. From now on if missing. */
  readonly cursor?: string
  /** Only events about this task. */
  readonly taskId?: string
  /** Types such as `execution.failed`, or families such as `task.*`; all if missing. */
  readonly types?: readonly string[]
  /** Ends the watching. */
  readonly signal?: AbortSignal
  /** Hears whether the connection to the server stands, whenever it comes or goes. Never called on an engine. */
  readonly onConnection?: (stands: boolean) => void
}

/** Hands tasks on to `submit`: a place for spans. */
export type Around = <T>(
  submissions: readonly Submission[],
  submit: (submissions: readonly Submission[]) => Promise<T>,
) => Promise<T>

export const clientOn = (backend: Backend, tenant: TenantId | null, around: Around): Client =>
  Object.assign(new TaskClient(backend, tenant, around), callsOf(backend))

class TaskClient {
  readonly #backend: Backend
  readonly #tenant: TenantId | null
  readonly #around: Around

  constructor(backend: Backend, tenant: TenantId | null, around: Around) {
    this.#backend = backend
    this.#tenant = tenant
    this.#around = around
  }

  /** Validates the payload and submits it. Throws `TaskConflictError` if another task has its id or dedupe key. An action known by name only runs with the settings that a worker published, or the usual ones. */
  submit<Result = unknown>(action: string, input?: unknown, options?: SubmitOptions): Promise<SubmittedTask<Result>>
  submit<In, Parsed, Result>(
    action: Action<In, Parsed, Result>,
    ...rest: SubmitArguments<In>
  ): Promise<SubmittedTask<StoredResult<Result>>>
  async submit<Result>(
    action: string | SubmittableAction,
    input?: unknown,
    options: SubmitOptions = {},
  ): Promise<SubmittedTask<Result>> {
    const target = submittable(action)
    const { payload, validation } = encodeInput(target, input)
    await validation
    const submission = submissionOf(target, payload, options, this.#tenant)
    const [task] = await this.#submitAll<Result>([submission])
    if (task === undefined) throw new InvalidError('The submission was not answered.')
    if (task.outcome === 'conflict') throw new TaskConflictError(task.id, task.differs)
    return task
  }

  /**
   * Submits many payloads of one action, or tasks of several (`submission()`), in calls of at most BATCH_MAX. Nothing is submitted
   * unless every payload is valid. Should a later call be refused, earlier ones stand: give ids to be able to repeat the whole. A task whose id or dedupe
   * key another task has comes back with the outcome `conflict`; the others are submitted.
   */
  submitMany<const Tasks extends readonly PlannedTask[]>(
    tasks: Tasks,
  ): Promise<{ -readonly [Place in keyof Tasks]: SubmittedTask<Exclude<Tasks[Place]['result'], undefined>> }>
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
    actionOrTasks: string | SubmittableAction | readonly PlannedTask[],
    inputs: readonly unknown[] = [],
    optionsFor: (input: never, index: number) => SubmitOptions = () => ({}),
  ): Promise<SubmittedTask<Result>[]> {
    const submissions: Submission[] = []
    // A payload without a schema has nothing to wait for: it costs no turn of its own.
    if (isList(actionOrTasks)) {
      for (const { action, input, options } of actionOrTasks) {
        const target = submittable(action)
        const { payload, validation } = encodeInput(target, input)
        if (validation !== null) await validation
        submissions.push(submissionOf(target, payload, options, this.#tenant))
      }
    } else {
      const target = submittable(actionOrTasks)
      for (const [index, input] of inputs.entries()) {
        const { payload, validation } = encodeInput(target, input)
        if (validation !== null) await validation
        // The overloads tie the two together: optionsFor takes what inputs holds.
        submissions.push(submissionOf(target, payload, optionsFor(input as never, index), this.#tenant))
      }
    }
    const handles: SubmittedTask<Result>[] = []
    for (const batch of batches(submissions)) handles.push(...(await this.#submitAll<Result>(batch)))
    return handles
  }

  /** A handle on a task that was submitted before, here or elsewhere. */
  task<Result = unknown>(id: string): TaskHandle<Result> {
    return new Handle<Result>(this.#backend, knownName('task id', id) as TaskId)
  }

  /** Events as they are written, until the signal fires. Outlives a server or a store that is away. */
  watch(options: WatchOptions = {}): AsyncGenerator<LiveEvent> {
    refuseUnknownKeys(options, ['cursor', 'taskId', 'types', 'signal', 'onConnection'], 'option')
    return this.#backend.watch({
      cursor: options.cursor ?? null,
      taskId: options.taskId === undefined ? null : (knownName('task id', options.taskId) as TaskId),
      types: (options.types ?? []).map((type) => checkedName('event type', type)),
      signal: options.signal ?? null,
      onConnection: options.onConnection ?? null,
    })
  }

  /** Turns away everybody who waits for a result, and closes the engine if it was opened here. */
  async close(): Promise<void> {
    await this.#backend.close()
  }

  async #submitAll<Result>(submissions: readonly Submission[]): Promise<SubmittedTask<Result>[]> {
    const results = await this.#around(submissions, (traced) => this.#backend.submit(traced))
    return results.map((result) => {
      const { id, outcome } = result
      return outcome === 'conflict'
        ? new ConflictingTask(id, result.differs)
        : new Handle<Result>(this.#backend, id, outcome)
    })
  }
}

const isList = (given: string | SubmittableAction | readonly PlannedTask[]): given is readonly PlannedTask[] =>
  Array.isArray(given)

function submittable(action: string | SubmittableAction): SubmittableAction {
  if (typeof action === 'string') return namedAction(action)
  if (typeof action !== 'object' || action === null || typeof action.name !== 'string') {
    throw new InvalidError('Submit takes an action from defineAction(), or the name of one.')
  }
  return action
}

/** Past this many characters of payload a batch is sent, however few tasks it has: no call may hold the store for long. */
const BATCH_LENGTH_MAX = 4_000_000

function* batches(submissions: readonly Submission[]): Generator<Submission[]> {
  let batch: Submission[] = []
  let length = 0
  for (const submission of submissions) {
    if (batch.length === BATCH_MAX || (batch.length > 0 && length + submission.payload.length > BATCH_LENGTH_MAX)) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(submission)
    length += submission.payload.length
  }
  if (batch.length > 0) yield batch
}
