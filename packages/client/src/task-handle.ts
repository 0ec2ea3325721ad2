// A handle on one task: what submit() gives back, and what task(id) gives for a task that was submitted elsewhere.

import {
  currentHandler,
  type DeadReason,
  type Duration,
  durationMs,
  type Failure,
  isRepriseError,
  refuseUnknownKeys,
  type SubmitResult,
  TaskConflictError,
  type TaskDifference,
  TaskFailedError,
  type TaskId,
  whyNotRetried,
} from '@reprise/core'
import type { OperationOutput } from '@reprise/operations'
import type { Backend, End } from './backend.ts'

/** A result as it comes back from the store: what JSON makes of it. */
export type StoredResult<Result> = unknown extends Result
  ? Result
  : Result extends { toJSON(): infer Shown }
    ? StoredResult<Shown>
    : Result extends void
      ? null
      : Result extends string | number | boolean | null
        ? Result
        : Result extends ((...args: never[]) => unknown) | symbol | bigint
          ? never
          : Result extends Map<unknown, unknown> | Set<unknown>
            ? Record<string, never>
            : { [Key in keyof Result]: undefined extends Result[Key] ? Result[Key] : StoredResult<Result[Key]> }

export interface ResultOptions {
  /** How long to wait; for ever if not given. */
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}

export interface TaskHandle<Result = unknown> {
  readonly id: TaskId
  /** The task as it stands now; null if there is none, or none any more. */
  get(): Promise<OperationOutput<'getTask'> | null>
  /**
   * Waits for the end. Throws `TaskFailedError` if it is dead, cancelled or discarded, `TimedOutError` after the
   * timeout, `NotFoundError` if there is no such task.
   */
  result(options?: ResultOptions): Promise<Result>
  /** False if it had ended before. */
  cancel(options?: { readonly reason?: string }): Promise<boolean>
}

export interface SubmittedTask<Result = unknown> extends TaskHandle<Result> {
  /** False if the id or the dedupe key was taken: the handle is then about the task that has it. */
  readonly accepted: boolean
  /**
   * `duplicate`: the same was submitted before. `conflict`, from submitMany only: the task that has the id or key was asked for
   * otherwise; then nothing can be done with the handle, which throws `TaskConflictError`.
   */
  readonly outcome: SubmitResult['outcome']
  /** Of a conflict: in what the two differ. Empty otherwise. */
  readonly differs: readonly TaskDifference[]
}

const NOTHING: readonly TaskDifference[] = []

/** A class rather than a literal: submitting a hundred thousand tasks makes as many of these. */
export class Handle<Result> implements SubmittedTask<Result> {
  readonly id: TaskId
  readonly accepted: boolean
  readonly outcome: 'accepted' | 'duplicate'
  readonly differs: readonly TaskDifference[] = NOTHING
  readonly #backend: Backend

  constructor(backend: Backend, id: TaskId, outcome: 'accepted' | 'duplicate' = 'accepted') {
    this.id = id
    this.accepted = outcome === 'accepted'
    this.outcome = outcome
    this.#backend = backend
  }

  async get(): Promise<OperationOutput<'getTask'> | null> {
    try {
      return (await this.#backend.call('getTask', { id: this.id }, undefined)) as OperationOutput<'getTask'>
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
      throw error
    }
  }

  async result(options: ResultOptions = {}): Promise<Result> {
    refuseUnknownKeys(options, ['timeout', 'signal'], 'option')
    const timeoutMs = options.timeout === undefined ? null : durationMs(options.timeout, 'timeout')
    // A handler that waits keeps its slot: its worker wants to know.
    const ended = currentHandler()?.awaits()
    const end = await this.#backend
      .ended(this.id, { timeoutMs, signal: options.signal ?? null })
      .finally(() => ended?.())
    // What the handler returned was encoded from a Result; the type is the submitter's word on it.
    return resultOf(this.id, end) as Result
  }

  async cancel(options: { readonly reason?: string } = {}): Promise<boolean> {
    refuseUnknownKeys(options, ['reason'], 'option')
    const answer = await this.#backend.call('cancelTasks', { ids: [this.id], ...options }, undefined)
    return (answer as OperationOutput<'cancelTasks'>).changed.length > 0
  }
}

/** In place of a handle, where another task has the id or key: that one is not handed out. */
export class ConflictingTask implements SubmittedTask<never> {
  readonly id: TaskId
  readonly accepted = false
  readonly outcome = 'conflict'
  readonly differs: readonly TaskDifference[]

  constructor(id: TaskId, differs: readonly TaskDifference[]) {
    this.id = id
    this.differs = differs
  }

  get(): Promise<never> {
    return this.#refuse()
  }

  result(): Promise<never> {
    return this.#refuse()
  }

  cancel(): Promise<never> {
    return this.#refuse()
  }

  #refuse(): Promise<never> {
    return Promise.reject(new TaskConflictError(this.id, this.differs))
  }
}

function deathText(failure: Failure, reason: DeadReason): string {
  const { message, code, rule } = failure
  // Where retries are used up, no advice about retries helps.
  const advice = rule === 'unknown' && reason === 'not_retriable' ? ` ${whyNotRetried(failure)}` : ''
  return `${message} (${code}, ${reason}).${advice}`
}

function resultOf(id: TaskId, end: End): unknown {
  switch (end.status) {
    case 'succeeded':
      return end.result
    case 'dead':
      throw new TaskFailedError(id, 'dead', deathText(end.failure, end.reason), end.failure)
    case 'cancelled':
      throw new TaskFailedError(id, 'cancelled', 'somebody cancelled it before it was done.')
    case 'discarded':
      throw new TaskFailedError(id, 'discarded', 'its automatic retries ended, and an operator gave it up.')
  }
}
