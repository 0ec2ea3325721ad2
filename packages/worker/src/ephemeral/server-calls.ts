// The three calls of an ephemeral worker: fetch the payload, say that it lives, call back. Each is repeated for a bounded time
// while the server is away or busy. The credential of the attempt is all that it shows.

import {
  type AttemptLog,
  type Clock,
  type Fetch,
  isRepriseError,
  openTransport,
  type Progress,
  path,
  present,
  type RepriseError,
  type Transport,
} from '@reprise/core'
import { type EphemeralOrder, serverOf } from './order.ts'

/** What an attempt needs to run. */
export interface Assignment {
  readonly action: string
  readonly tenant: string
  readonly payload: unknown
  readonly labels: Readonly<Record<string, string>>
  readonly retryToken: string
  /** From now on, by the store's clock. */
  readonly timeLeftMs: number
  readonly leaseLeftMs: number
}

export type Beat =
  | { readonly outcome: 'extended'; readonly leaseMs: number; readonly beatEveryMs: number }
  | { readonly outcome: 'superseded'; readonly error: RepriseError }

/** How an attempt ended, as /task-complete takes it. */
export type Completion =
  | { readonly status: 'succeeded'; readonly result: unknown }
  | { readonly status: 'failed'; readonly error: Readonly<Record<string, unknown>> }

/** A heartbeat that comes late is worth little: the next one follows. */
const BEAT_MS = 5_000

interface PayloadAnswer extends Omit<Assignment, 'timeLeftMs' | 'leaseLeftMs'> {
  readonly timeoutAt: number
  readonly leaseUntil: number
  readonly now: number
}

export class ServerCalls {
  readonly #order: EphemeralOrder
  readonly #patient: Transport
  readonly #brief: Transport

  constructor(
    order: EphemeralOrder,
    options: { readonly clock: Clock; readonly fetch: Fetch | undefined; readonly patienceMs: number },
  ) {
    const { clock, fetch, patienceMs } = options
    const shared = { url: serverOf(order), token: order.token, clock, ...present({ fetch }) }
    this.#order = order
    this.#patient = openTransport({ ...shared, timeout: patienceMs })
    this.#brief = openTransport({ ...shared, timeout: BEAT_MS })
  }

  /** Null if the attempt is not this worker's any more. Throws if its payload has expired. */
  async payload(signal: AbortSignal): Promise<Assignment | null> {
    const { taskId, attempt } = this.#order
    const call = { method: 'GET', path: path`/task-payload/${taskId}/${attempt}`, isRepeatable: true } as const
    const answer = (await this.#patient.find({ ...call, query: this.#query(), signal })) as PayloadAnswer | null
    if (answer === null) return null
    const { timeoutAt, leaseUntil, now, ...assignment } = answer
    return { ...assignment, timeLeftMs: timeoutAt - now, leaseLeftMs: leaseUntil - now }
  }

  /** Throws what keeps it from being heard. */
  async beat(
    news: { readonly progress: Progress | null; readonly log: AttemptLog | null },
    signal?: AbortSignal,
  ): Promise<Beat> {
    try {
      const answer = await this.#brief.call({ ...this.#post('/task-heartbeat', present(news)), ...present({ signal }) })
      return answer.body as Beat
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_SUPERSEDED')) return { outcome: 'superseded', error }
      throw error
    }
  }

  /** Whether it was the one that counts. Throws if it could not be brought, or was refused. */
  async complete(completion: Completion, signal: AbortSignal): Promise<'settled' | 'superseded'> {
    try {
      await this.#patient.call({ ...this.#post('/task-complete', completion), signal })
      return 'settled'
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_SUPERSEDED')) return 'superseded'
      throw error
    }
  }

  close(): void {
    this.#patient.close()
    this.#brief.close()
  }

  /** In the head of the request: a server reads a large body only from one who may send it. */
  #query() {
    return { task: this.#order.taskId, attempt: this.#order.attempt }
  }

  #post(pathname: string, body: object) {
    const { taskId, attempt } = this.#order
    const whole = { taskId, attempt, ...body }
    return { method: 'POST', path: pathname, query: this.#query(), body: whole, isRepeatable: true } as const
  }
}
