// The client's port straight on an engine: nearly the engine itself. What it adds is what an engine leaves to others: the
// settings of actions that are known by name, the search in the query language, orders to workers.

import type { Connection } from '@reprise/connect'
import {
  type By,
  type Clock,
  type CountsQuery,
  type Engine,
  type ExportedTask,
  exportTasks,
  type FailureGroupQuery,
  type InspectRequest,
  type JournalQuery,
  type LaneQuery,
  NotFoundError,
  orderDrain,
  type PageRequest,
  parseQuery,
  type Scope,
  SERIES_STEP_MS,
  searchTasks,
  type TaskId,
  type TaskQuery,
  type WorkerId,
} from '@reprise/core'
import type { Backend, BulkRequest, ConnectionInfo, Submission, WaitLimits, WatchRequest } from '../backend.ts'
import type { SearchPage } from '../records.ts'
import { withoutServer } from '../server-calls.ts'
import { engineFlags } from './engine-flags.ts'
import { watchJournal } from './journal-watch.ts'
import { KnownActions } from './known-actions.ts'
import { ResultWatcher } from './result-watcher.ts'

export class EngineBackend implements Backend {
  readonly policies
  readonly flags
  readonly tokens
  readonly figures
  readonly #connection: Connection
  readonly #engine: Engine
  readonly #clock: Clock
  /** MAX_RETRIES of the environment. */
  readonly #maxRetries: number
  readonly #actions: KnownActions
  readonly #watcher: ResultWatcher
  readonly #closing = new AbortController()

  constructor(connection: Connection, clock: Clock, maxRetries: number) {
    this.#connection = connection
    this.#engine = connection.engine
    this.#clock = clock
    this.#maxRetries = maxRetries
    this.#actions = new KnownActions(connection.engine, clock)
    this.#watcher = new ResultWatcher(connection.engine, clock)
    const { policies, tokens, figures } = withoutServer()
    this.policies = policies
    this.flags = engineFlags(connection.engine)
    this.tokens = tokens
    this.figures = figures
  }

  async submit(submissions: readonly Submission[]) {
    return this.#engine.submit(await this.#actions.specs(submissions))
  }

  ended(id: TaskId, limits: WaitLimits) {
    return this.#watcher.ended(id, limits)
  }

  task(id: TaskId) {
    return this.#engine.task(id)
  }

  tasks(query: TaskQuery) {
    return this.#engine.tasks(query)
  }

  async search(text: string, page: PageRequest): Promise<SearchPage> {
    return searchTasks(this.#engine, parseQuery(text), { ...page, now: this.#clock.now() })
  }

  exportTasks(text: string): AsyncGenerator<ExportedTask> {
    return exportTasks(this.#engine, parseQuery(text), { now: this.#clock.now() })
  }

  executions(id: TaskId, page: PageRequest) {
    return this.#engine.executions(id, page)
  }

  explain(id: TaskId) {
    return this.#engine.explain(id)
  }

  counts(query: CountsQuery) {
    return this.#engine.counts(query)
  }

  async series(scope: Scope, minutes: number) {
    const now = await this.#engine.now()
    const from = Math.floor(now / SERIES_STEP_MS) * SERIES_STEP_MS - (minutes - 1) * SERIES_STEP_MS
    return this.#engine.series({ ...scope, from, to: now + 1 })
  }

  lanes(query: LaneQuery) {
    return this.#engine.lanes(query)
  }

  failureGroups(query: FailureGroupQuery) {
    return this.#engine.failureGroups(query)
  }

  breakers(page: PageRequest) {
    return this.#engine.breakers(page)
  }

  workers(page: PageRequest) {
    return this.#engine.workers(page)
  }

  worker(id: WorkerId) {
    return this.#engine.worker(id)
  }

  journal(query: JournalQuery) {
    return this.#engine.journal.read(query)
  }

  journalEnd() {
    return this.#engine.journal.from(Number.POSITIVE_INFINITY)
  }

  watch(request: WatchRequest) {
    const signals = request.signal === null ? [this.#closing.signal] : [this.#closing.signal, request.signal]
    return watchJournal(this.#engine, this.#clock, { ...request, signal: AbortSignal.any(signals) })
  }

  cancel(request: BulkRequest) {
    return this.#engine.change({ kind: 'cancel', ...request })
  }

  redrive(request: BulkRequest) {
    return this.#engine.change({ kind: 'redrive', ...request })
  }

  discard(request: BulkRequest) {
    return this.#engine.change({ kind: 'discard', ...request })
  }

  promote(request: BulkRequest) {
    return this.#engine.change({ kind: 'promote', ...request })
  }

  retry(id: TaskId, by: By, maxRetries: number | null) {
    return this.#engine.retry(id, { by, maxRetries: maxRetries ?? this.#maxRetries })
  }

  pause(scope: Scope, by: By) {
    return this.#engine.pause(scope, by)
  }

  resume(scope: Scope, by: By) {
    return this.#engine.resume(scope, by)
  }

  limit(scope: Scope, concurrency: number | null, by: By) {
    return this.#engine.limit(scope, concurrency, by)
  }

  resetBreaker(name: string, by: By) {
    return this.#engine.resetBreaker(name, by)
  }

  async drain(id: WorkerId, by: By) {
    const worker = await this.worker(id)
    if (worker === null) throw new NotFoundError('worker', id)
    return orderDrain(this.#engine, id, worker.epoch, by)
  }

  inspect(request: InspectRequest) {
    return this.#engine.inspect(request)
  }

  async info(): Promise<ConnectionInfo> {
    const { kind, durability } = this.#engine.info
    return { engine: { kind, durability }, server: null }
  }

  /** Turns away everybody who waits, and closes the engine if it was opened here. */
  async close() {
    this.#closing.abort()
    this.#watcher.close()
    await this.#connection.close()
  }
}
