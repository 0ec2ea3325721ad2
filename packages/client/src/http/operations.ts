// What operators look at and do, over HTTP. Who did it is for the server to say, by the credentials; only the reason is sent.
// Calls that come to the same when they are made twice are repeated; a retry or a redrive is not.

import {
  type Breaker,
  type By,
  type Counts,
  type CountsQuery,
  type FailureGroup,
  type FailureGroupQuery,
  type InspectRequest,
  type InspectResult,
  InvalidError,
  type LaneQuery,
  type LaneView,
  type Page,
  type PageRequest,
  type RepriseError,
  type RetryResult,
  type Scope,
  type SeriesPoint,
  type TaskId,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import type { BulkRequest, BulkResult } from '../backend.ts'
import { DEFAULT_ACTOR } from '../operator-requests.ts'
import { path, type QueryValue } from './address.ts'
import type { ProblemBody } from './problems.ts'
import type { Transport } from './transport.ts'
import { type FailureGroupWire, failureGroupOf, objectOf, pageOf } from './wire.ts'

type BulkVerb = 'cancel' | 'redrive' | 'discard' | 'promote'
type LaneVerb = 'pause' | 'resume' | 'limit'

export class Operations {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  async counts(query: CountsQuery): Promise<Counts> {
    return objectOf(await this.#read('/api/v1/counts', { ...query }), this.#transport.whom)
  }

  async series(scope: Scope, minutes: number): Promise<readonly SeriesPoint[]> {
    const body = await this.#read('/api/v1/series', { ...scope, minutes })
    return objectOf<{ readonly points: readonly SeriesPoint[] }>(body, this.#transport.whom).points
  }

  async lanes(query: LaneQuery): Promise<Page<LaneView>> {
    return this.#page<LaneView>('/api/v1/lanes', { ...query })
  }

  async failureGroups(query: FailureGroupQuery): Promise<Page<FailureGroup>> {
    const body = await this.#read('/api/v1/failure-groups', { ...query })
    return pageOf<FailureGroupWire, FailureGroup>(body, this.#transport.whom, failureGroupOf)
  }

  async breakers(page: PageRequest): Promise<Page<Breaker>> {
    return this.#page<Breaker>('/api/v1/breakers', { ...page })
  }

  async workers(page: PageRequest): Promise<Page<WorkerView>> {
    return this.#page<WorkerView>('/api/v1/workers', { ...page })
  }

  async worker(id: WorkerId): Promise<WorkerView | null> {
    const body = await this.#transport.find({ method: 'GET', path: path`/api/v1/workers/${id}`, isRepeatable: true })
    return body === null ? null : objectOf<WorkerView>(body, this.#transport.whom)
  }

  async bulk(verb: BulkVerb, { select, by, limit, cursor }: BulkRequest): Promise<BulkResult> {
    const isEverything = Object.keys(select).length === 0
    const body = {
      ...select,
      // A forgotten field must never mean everything: the server wants it said.
      ...(isEverything ? { all: true } : {}),
      ...reasonOf(by),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    }
    // A second redrive could send back what has died again meanwhile.
    return this.#write(`/api/v1/tasks/${verb}`, body, verb !== 'redrive')
  }

  /** Answered with what became of it: that a task can't be retried is no error. */
  async retry(id: TaskId, by: By, maxRetries: number | null): Promise<RetryResult> {
    const answer = await this.#transport.ask({
      method: 'POST',
      path: '/internal/tasks/retry',
      body: { taskId: id, ...reasonOf(by), ...(maxRetries === null ? {} : { maxRetries }) },
      isRepeatable: false,
    })
    if ('error' in answer) return refusedRetry(answer.error, answer.body)
    const { attempt } = objectOf<{ readonly attempt: number }>(answer.body, this.#transport.whom)
    return { outcome: 'queued', attempt }
  }

  async lane(verb: LaneVerb, scope: Scope, by: By, concurrency?: number | null): Promise<boolean> {
    const isEverything = Object.keys(scope).length === 0
    return this.#change(`/api/v1/lanes/${verb}`, {
      ...scope,
      ...(isEverything ? { all: true } : {}),
      ...reasonOf(by),
      ...(concurrency === undefined ? {} : { concurrency }),
    })
  }

  async resetBreaker(name: string, by: By): Promise<boolean> {
    return this.#change(path`/api/v1/breakers/${name}/reset`, reasonOf(by))
  }

  async drain(worker: WorkerId, by: By): Promise<boolean> {
    return this.#change(path`/api/v1/workers/${worker}/drain`, reasonOf(by))
  }

  async inspect({ repair, by, limit, cursor }: InspectRequest): Promise<InspectResult> {
    const body = {
      repair,
      ...reasonOf(by),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    }
    const result = await this.#write<InspectResult>('/api/v1/inspect', body, !repair)
    return { ...result, unchecked: result.unchecked ?? [] }
  }

  async #read(pathname: string, query: Readonly<Record<string, QueryValue>>): Promise<unknown> {
    return (await this.#transport.call({ method: 'GET', path: pathname, query, isRepeatable: true })).body
  }

  async #page<T>(pathname: string, query: Readonly<Record<string, QueryValue>>): Promise<Page<T>> {
    return pageOf<T, T>(await this.#read(pathname, query), this.#transport.whom, (item) => item)
  }

  async #write<T extends object>(pathname: string, body: object, isRepeatable: boolean): Promise<T> {
    const answer = await this.#transport.call({ method: 'POST', path: pathname, body, isRepeatable })
    return objectOf<T>(answer.body, this.#transport.whom)
  }

  async #change(pathname: string, body: object): Promise<boolean> {
    return (await this.#write<{ readonly changed: boolean }>(pathname, body, true)).changed
  }
}

/** Who asks is what the token says. To take another name's word for it would make the journal worthless. */
export function reasonOf({ actor, reason }: By): { readonly reason: string } {
  if (actor === DEFAULT_ACTOR) return { reason }
  throw new InvalidError(
    "The option 'actor' is for clients straight on an engine. Over HTTP the journal names whom the token belongs to: leave it out.",
  )
}

const STATUS_TEXT = /in status '([a-z_]+)'/
const BUDGET_TEXT = /\b(\d+) retries/

function refusedRetry(error: RepriseError, body: unknown): RetryResult {
  if (error.code === 'REPRISE_NOT_FOUND') return { outcome: 'not_found' }
  const problem: ProblemBody = typeof body === 'object' && body !== null ? body : {}
  if (error.code === 'REPRISE_NOT_RETRYABLE') {
    const [, status] = STATUS_TEXT.exec(String(problem.error)) ?? []
    if (status === undefined) throw error
    return { outcome: 'wrong_status', status: status as (RetryResult & { readonly outcome: 'wrong_status' })['status'] }
  }
  if (error.code === 'REPRISE_BUDGET_EXHAUSTED') {
    const [, budget] = BUDGET_TEXT.exec(String(problem.detail)) ?? []
    return { outcome: 'exhausted', budget: Number(budget ?? 0) }
  }
  throw error
}
