// Waits over HTTP for tasks to end: a long poll for each, and when more wait than may ask at once, in turns. A server that is
// away is waited for like a store that is away; only the caller's time-out ends that.

import {
  type Backoff,
  backoffMs,
  type DeadReason,
  type Failure,
  isRepriseError,
  NotFoundError,
  path,
  sleep,
  type TaskId,
  type Transport,
} from '@reprise/core'
import type { OperationOutput } from '@reprise/operations'
import type { End, WaitLimits } from '../backend.ts'
import { asError, isPassing, timedOut } from '../waiting.ts'
import { objectOf } from './answers.ts'

/** A server gives up after 60 s; many proxies do earlier. */
const POLL_MS = 25_000
/** While others wait for their turn. */
const POLL_MS_CROWDED = 1_000
const POLLS_MAX = 32
const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 200, maxMs: 5_000 }

type Task = OperationOutput<'getTask'>

export class Results {
  readonly #transport: Transport
  readonly #queue: (() => void)[] = []
  #polls = 0

  constructor(transport: Transport) {
    this.#transport = transport
  }

  async ended(id: TaskId, { timeoutMs, signal }: WaitLimits): Promise<End> {
    const { clock, closed } = this.#transport
    const late = new AbortController()
    const timer =
      timeoutMs === null ? null : clock.after(timeoutMs, () => late.abort(timedOut(id, timeoutMs)), { hold: true })
    const until = timeoutMs === null ? null : clock.monotonic() + timeoutMs
    const stop = AbortSignal.any([late.signal, closed, ...(signal === null ? [] : [signal])])
    try {
      return await this.#follow(id, until, stop)
    } catch (error) {
      throw stop.aborted ? asError(stop.reason) : error
    } finally {
      timer?.cancel()
    }
  }

  async #follow(id: TaskId, until: number | null, stop: AbortSignal): Promise<End> {
    const { clock, random } = this.#transport
    let errorsInRow = 0
    for (;;) {
      stop.throwIfAborted()
      try {
        const task = await this.#poll(id, until, stop)
        const end = endOf(task)
        if (end !== null) return end
        errorsInRow = 0
      } catch (error) {
        if (stop.aborted || !isPassing(error)) throw error
        await sleep(clock, backoffMs(ERROR_BACKOFF, errorsInRow++, random.next()), stop, { hold: true })
      }
    }
  }

  async #poll(id: TaskId, until: number | null, stop: AbortSignal): Promise<Task> {
    const { clock, serverName } = this.#transport
    await this.#enter(stop)
    try {
      const restMs = until === null ? POLL_MS : Math.max(until - clock.monotonic(), 0)
      const waitMs = Math.ceil(Math.min(restMs, this.#queue.length > 0 ? POLL_MS_CROWDED : POLL_MS))
      const answer = await this.#transport.ask({
        method: 'GET',
        path: path`/api/v1/tasks/${id}`,
        query: { wait: `${waitMs}ms` },
        isRepeatable: true,
        signal: stop,
        waitMs,
      })
      if (!('error' in answer)) return objectOf<Task>(answer.body, serverName)
      throw isRepriseError(answer.error, 'REPRISE_NOT_FOUND') ? new NotFoundError('task', id) : answer.error
    } finally {
      this.#leave()
    }
  }

  /** First come, first served. */
  async #enter(stop: AbortSignal): Promise<void> {
    if (this.#polls < POLLS_MAX) {
      this.#polls++
      return
    }
    const turn = Promise.withResolvers<void>()
    this.#queue.push(turn.resolve)
    const giveUp = (): void => {
      const place = this.#queue.indexOf(turn.resolve)
      if (place === -1) return
      this.#queue.splice(place, 1)
      turn.reject(asError(stop.reason))
    }
    stop.addEventListener('abort', giveUp, { once: true })
    try {
      await turn.promise
    } finally {
      stop.removeEventListener('abort', giveUp)
    }
  }

  /** Hands the place to the next in line, if there is one. */
  #leave(): void {
    const next = this.#queue.shift()
    if (next === undefined) this.#polls--
    else next()
  }
}

/** Null while it has not ended. What JSON says is told as the store would. */
function endOf({ state }: Task): End | null {
  switch (state.status) {
    case 'succeeded':
      return { status: 'succeeded', result: state.result ?? null }
    case 'dead': {
      const { details } = state.failure
      // The same record with JSON in place of JSON text.
      const failure = { ...state.failure, details: details === null ? null : JSON.stringify(details) } as Failure
      return { status: 'dead', reason: state.reason as DeadReason, failure }
    }
    case 'cancelled':
    case 'discarded':
      return { status: state.status }
    default:
      return null
  }
}
