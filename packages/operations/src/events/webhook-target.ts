// One request to a webhook's receiver, and what its answer means. The connection goes to checked addresses only, follows no
// redirect, and is over after a fixed time, whatever the other side does. Nothing here stores anything.

import type { Clock } from '@reprise/core'
import { type HttpAnswer, HttpCallError, type HttpCaller, retryAfterMs, secretKey, sign } from '@reprise/launchers'
import type { Redact } from './event.ts'
import type { DeliveryTry } from './webhook-deliveries.ts'

export interface SendRequest extends Omit<PostRequest, 'headers'> {
  readonly secret: string
  readonly eventId: string
}

export interface PostRequest {
  readonly url: string
  readonly body: string
  /** Made right before anything is sent. */
  readonly headers?: () => Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** A request of any kind. */
export interface TargetCall extends PostRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** How much of the answer is wanted. */
  readonly answerBytes?: number
}

export interface Called {
  readonly result: SendResult
  /** Null if there was none. */
  readonly answer: HttpAnswer | null
  /** Whether the other side may have got it. */
  readonly wasSent: boolean
}

export interface SendResult {
  readonly verdict: 'delivered' | 'failed' | 'gone'
  /** How long the receiver wants to be left alone; null if it did not say. */
  readonly retryAfterMs: number | null
  readonly log: DeliveryTry
}

const REQUEST_MS_MAX = 10_000
/** The most that a receiver may ask for. */
const RETRY_AFTER_MS_MAX = 6 * 3_600_000
const ANSWER_LENGTH_MAX = 500
const ERROR_LENGTH_MAX = 500
/** People see how an answer begins. */
const ANSWER_BYTES_KEPT = 8_192

export class WebhookTarget {
  readonly #caller: HttpCaller
  readonly #clock: Clock
  readonly #redact: Redact

  constructor(caller: HttpCaller, clock: Clock, redact: Redact) {
    this.#caller = caller
    this.#clock = clock
    this.#redact = redact
  }

  /** Signed, as Standard Webhooks describes. */
  send({ secret, eventId, body, ...request }: SendRequest): Promise<SendResult> {
    const headers = () => ({ ...sign([secretKey(secret)], eventId, Math.floor(this.#clock.now() / 1_000), body) })
    return this.post({ ...request, body, headers })
  }

  async post(request: PostRequest): Promise<SendResult> {
    return (await this.call({ ...request, method: 'POST' })).result
  }

  async call({ method, url, body, headers = () => ({}), signal, answerBytes }: TargetCall): Promise<Called> {
    const at = this.#clock.now()
    const startedAt = this.#clock.monotonic()
    const log = (status: number | null, error: string | null, answer: string): DeliveryTry => ({
      at,
      durationMs: Math.round(this.#clock.monotonic() - startedAt),
      status,
      error: error === null ? null : this.#plain(error, ERROR_LENGTH_MAX),
      answer: this.#plain(answer, ANSWER_LENGTH_MAX),
    })
    try {
      const answer = await this.#caller.call({
        method,
        url: new URL(url),
        deadlineMs: REQUEST_MS_MAX,
        answerBytesKept: answerBytes ?? ANSWER_BYTES_KEPT,
        signal,
        content: () => ({
          body,
          headers: {
            ...(method === 'GET' ? { accept: 'application/json' } : { 'content-type': 'application/json' }),
            'user-agent': 'reprise-webhooks',
            ...headers(),
          },
        }),
      })
      const { status } = answer
      const called = { answer, wasSent: true }
      if (status >= 200 && status < 300) {
        return { ...called, result: { verdict: 'delivered', retryAfterMs: null, log: log(status, null, answer.body) } }
      }
      const result: SendResult = {
        verdict: status === 410 ? 'gone' : 'failed',
        retryAfterMs: status === 429 || status === 503 ? this.#restMs(answer) : null,
        log: log(status, wordsFor(status), answer.body),
      }
      return { ...called, result }
    } catch (error) {
      const isKnown = error instanceof HttpCallError
      const words = isKnown ? error.thrown.message : String(error)
      const result: SendResult = { verdict: 'failed', retryAfterMs: null, log: log(null, words, '') }
      return { result, answer: null, wasSent: !isKnown || error.wasSent }
    }
  }

  #restMs(answer: HttpAnswer): number | null {
    return retryAfterMs(answer, this.#clock.now(), RETRY_AFTER_MS_MAX) ?? null
  }

  /** One line, redacted, bounded. What is cut off is cut before and after, so that no rule sees a megabyte. */
  #plain(text: string, maxLength: number): string {
    const line = text
      .slice(0, maxLength * 4)
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim()
    const redacted = this.#redact(line)
    return (typeof redacted === 'string' ? redacted : '').slice(0, maxLength).toWellFormed()
  }
}

function wordsFor(status: number): string {
  if (status === 410) return 'It answered 410: it does not want these events any more.'
  if (status >= 300 && status < 400) return `It answered ${status}. Redirects are not followed: change the url.`
  return `It answered ${status}.`
}
