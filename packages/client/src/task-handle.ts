// A handle on one task: what submit() gives back, and what task(id) gives for a task that was submitted elsewhere.

import {
  type DeadReason,
  type Duration,
  decodeJson,
  durationMs,
  type Failure,
  refuseUnknownKeys,
  TaskFailedError,
  type TaskId,
} from '@reprise/core'
import type { Backend } from './backend.ts'
import { type ByOptions, bulkRequest } from './operator-requests.ts'
import type { Task } from './records.ts'

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
  get(): Promise<Task | null>
  /**
   * Waits for the end. Throws `TaskFailedError` if it is dead, cancelled or discarded, `TimedOutError` after the
   * timeout, `NotFoundError` if there is no such task.
   */
  result(options?: ResultOptions): Promise<Result>
  /** False if it had ended before. */
  cancel(options?: ByOptions): Promise<boolean>
}

export interface SubmittedTask<Result = unknown> extends TaskHandle<Result> {
  /** False if the id or the dedupe key was taken: the handle is then about the task that has it. */
  readonly accepted: boolean
}

/** A class rather than a literal: whoever submits a hundred thousand tasks gets as many of these. */
export class Handle<Result> implements SubmittedTask<Result> {
  readonly id: TaskId
  readonly accepted: boolean
  readonly #backend: Backend

  constructor(backend: Backend, id: TaskId, accepted: boolean) {
    this.id = id
    this.accepted = accepted
    this.#backend = backend
  }

  get(): Promise<Task | null> {
    return this.#backend.task(this.id)
  }

  async result(options: ResultOptions = {}): Promise<Result> {
    refuseUnknownKeys(options, ['timeout', 'signal'], 'option')
    const timeoutMs = options.timeout === undefined ? null : durationMs(options.timeout, 'timeout')
    const task = await this.#backend.ended(this.id, { timeoutMs, signal: options.signal ?? null })
    // What the handler returned was encoded from a Result; the type is the submitter's word on it.
    return resultOf(task) as Result
  }

  async cancel(options: ByOptions = {}): Promise<boolean> {
    const { changed } = await this.#backend.cancel(bulkRequest(this.id, options))
    return changed.length > 0
  }
}

function deathText({ message, code, rule }: Failure, reason: DeadReason): string {
  const advice = rule === 'unknown' ? ' No rule knows this failure: throw Transient, or set retryUnknown.' : ''
  return `${message} (${code}, ${reason}).${advice}`
}

function resultOf(task: Task): unknown {
  const { state } = task
  switch (state.status) {
    case 'succeeded':
      return state.result === null ? null : decodeJson(state.result)
    case 'dead':
      throw new TaskFailedError(task.id, 'dead', deathText(state.failure, state.reason), state.failure)
    case 'cancelled':
      throw new TaskFailedError(task.id, 'cancelled', 'somebody cancelled it before it was done.')
    case 'discarded':
      throw new TaskFailedError(task.id, 'discarded', 'its automatic retries ended, and an operator gave it up.')
    case 'queued':
    case 'waiting':
    case 'running':
      throw new TaskFailedError(task.id, state.status, 'it has not ended.')
  }
}
