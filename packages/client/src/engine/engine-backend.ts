// The client's backend straight on an engine: submissions and waits go to the engine itself, operations to the very functions
// that a server runs, as a local caller who may do everything.

import type { Connection } from '@reprise/connect'
import {
  type Clock,
  DEFAULT_TENANT,
  decodeJson,
  type Engine,
  KnownActions,
  type TaskId,
  type TaskSpec,
} from '@reprise/core'
import type { Backend, End, LiveEvent, OperationCall, Submission, WaitLimits, WatchRequest } from '../backend.ts'
import { watchJournal } from './journal-watch.ts'
import { ResultWatcher } from './result-watcher.ts'

export interface LocalOptions {
  readonly clock: Clock
  /** Who operates, for the journal. */
  readonly actor: string
  /** MAX_RETRIES of the environment. */
  readonly maxRetries: number
}

export class EngineBackend implements Backend {
  readonly #connection: Connection
  readonly #engine: Engine
  readonly #options: LocalOptions
  readonly #actions: KnownActions
  readonly #watcher: ResultWatcher
  readonly #closing = new AbortController()

  constructor(connection: Connection, options: LocalOptions) {
    this.#connection = connection
    this.#engine = connection.engine
    this.#options = options
    this.#actions = new KnownActions(connection.engine, options.clock)
    this.#watcher = new ResultWatcher(connection.engine, options.clock)
  }

  async submit(submissions: readonly Submission[]) {
    return this.#engine.submit(submissions.every(isComplete) ? submissions : await this.#specs(submissions))
  }

  async ended(id: TaskId, limits: WaitLimits): Promise<End> {
    const { state } = await this.#watcher.ended(id, limits)
    if (state.status === 'succeeded') {
      return { status: 'succeeded', result: state.result === null ? null : decodeJson(state.result) }
    }
    // The watcher waits for an end.
    return state as End
  }

  watch(request: WatchRequest): AsyncGenerator<LiveEvent> {
    const signals = request.signal === null ? [this.#closing.signal] : [this.#closing.signal, request.signal]
    return watchJournal(this.#engine, this.#options.clock, { ...request, signal: AbortSignal.any(signals) })
  }

  async call(...[name, input, signal]: OperationCall): Promise<unknown> {
    const perform = await this.#operations()
    return perform(name, input, signal ?? this.#closing.signal)
  }

  async *lines(...[name, input, signal]: OperationCall): AsyncGenerator<unknown> {
    const perform = await this.#operations()
    yield* (await perform(name, input, signal ?? this.#closing.signal)) as AsyncIterable<unknown>
  }

  /** Turns away everybody who waits, and closes the engine if it was opened here. */
  async close() {
    this.#closing.abort()
    this.#watcher.close()
    await this.#connection.close()
  }

  /** Loaded by the first call of one: a process that only submits needs none of it. */
  async #operations() {
    const { openLocal } = await import('@reprise/operations')
    this.#local ??= openLocal({ engine: this.#engine, ...this.#options })
    return this.#local
  }

  #local: ReturnType<typeof import('@reprise/operations').openLocal> | null = null

  /** With everything that a submission leaves to its action filled in. */
  async #specs(submissions: readonly Submission[]): Promise<readonly TaskSpec[]> {
    const specs: TaskSpec[] = []
    for (const submission of submissions) {
      const { action } = submission
      const { pool, settings } = this.#actions.known(action) ?? (await this.#actions.find(action))
      specs.push({
        ...submission,
        pool: submission.pool ?? pool,
        settings: submission.settings ?? settings,
        tenant: submission.tenant ?? DEFAULT_TENANT,
      })
    }
    return specs
  }
}

const isComplete = (submission: Submission): submission is TaskSpec =>
  submission.pool !== null && submission.settings !== null && submission.tenant !== null
