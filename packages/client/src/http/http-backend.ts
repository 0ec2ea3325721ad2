// The client's port over HTTP: it hands each call to the file of its subject. How a request gets there and back is the
// transport's business.

import type {
  By,
  CountsQuery,
  FailureGroupQuery,
  InspectRequest,
  JournalQuery,
  LaneQuery,
  PageRequest,
  Scope,
  TaskId,
  TaskQuery,
  WorkerId,
} from '@reprise/core'
import type { Backend, BulkRequest, Submission, WaitLimits, WatchRequest } from '../backend.ts'
import { figureCalls, flagCalls, policyCalls, serverInfo, tokenCalls } from './administration.ts'
import { Events } from './events.ts'
import { Operations } from './operations.ts'
import { Results } from './results.ts'
import { Submissions } from './submissions.ts'
import { TaskReads } from './tasks.ts'
import type { Transport } from './transport.ts'

export class HttpBackend implements Backend {
  readonly policies
  readonly flags
  readonly tokens
  readonly figures
  readonly #transport: Transport
  readonly #submissions: Submissions
  readonly #results: Results
  readonly #tasks: TaskReads
  readonly #operations: Operations
  readonly #events: Events

  constructor(transport: Transport) {
    this.#transport = transport
    this.#submissions = new Submissions(transport)
    this.#results = new Results(transport)
    this.#tasks = new TaskReads(transport)
    this.#operations = new Operations(transport)
    this.#events = new Events(transport)
    this.policies = policyCalls(transport)
    this.flags = flagCalls(transport)
    this.tokens = tokenCalls(transport)
    this.figures = figureCalls(transport)
  }

  submit(submissions: readonly Submission[]) {
    return this.#submissions.submit(submissions)
  }

  ended(id: TaskId, limits: WaitLimits) {
    return this.#results.ended(id, limits)
  }

  task(id: TaskId) {
    return this.#tasks.task(id)
  }

  tasks(query: TaskQuery) {
    return this.#tasks.tasks(query)
  }

  search(text: string, page: PageRequest) {
    return this.#tasks.search(text, page)
  }

  exportTasks(text: string, isRaw: boolean) {
    return this.#tasks.exportTasks(text, isRaw)
  }

  executions(id: TaskId, page: PageRequest) {
    return this.#tasks.executions(id, page)
  }

  explain(id: TaskId) {
    return this.#tasks.explain(id)
  }

  counts(query: CountsQuery) {
    return this.#operations.counts(query)
  }

  series(scope: Scope, minutes: number) {
    return this.#operations.series(scope, minutes)
  }

  lanes(query: LaneQuery) {
    return this.#operations.lanes(query)
  }

  failureGroups(query: FailureGroupQuery) {
    return this.#operations.failureGroups(query)
  }

  breakers(page: PageRequest) {
    return this.#operations.breakers(page)
  }

  workers(page: PageRequest) {
    return this.#operations.workers(page)
  }

  worker(id: WorkerId) {
    return this.#operations.worker(id)
  }

  journal(query: JournalQuery) {
    return this.#events.journal(query)
  }

  journalEnd() {
    return this.#events.end()
  }

  watch(request: WatchRequest) {
    return this.#events.watch(request)
  }

  cancel(request: BulkRequest) {
    return this.#operations.bulk('cancel', request)
  }

  redrive(request: BulkRequest) {
    return this.#operations.bulk('redrive', request)
  }

  discard(request: BulkRequest) {
    return this.#operations.bulk('discard', request)
  }

  promote(request: BulkRequest) {
    return this.#operations.bulk('promote', request)
  }

  retry(id: TaskId, by: By, maxRetries: number | null) {
    return this.#operations.retry(id, by, maxRetries)
  }

  async pause(scope: Scope, by: By) {
    await this.#operations.lane('pause', scope, by)
  }

  resume(scope: Scope, by: By) {
    return this.#operations.lane('resume', scope, by)
  }

  async limit(scope: Scope, concurrency: number | null, by: By) {
    await this.#operations.lane('limit', scope, by, concurrency)
  }

  resetBreaker(name: string, by: By) {
    return this.#operations.resetBreaker(name, by)
  }

  drain(worker: WorkerId, by: By) {
    return this.#operations.drain(worker, by)
  }

  inspect(request: InspectRequest) {
    return this.#operations.inspect(request)
  }

  info() {
    return serverInfo(this.#transport)
  }

  /** Turns away everybody who waits, and ends requests that are under way. */
  async close() {
    this.#transport.close()
  }
}
