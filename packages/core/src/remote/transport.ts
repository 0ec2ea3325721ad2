// One request to the server, seen through: it is sent with the credentials, given up in time, repeated where that can do no
// harm, and ends as an answer or as one of our errors. What requests mean is the business of its callers. No message has the
// token in it, whatever a server or a network says.

import { formatDuration } from '../model/duration.ts'
import { InvalidError, type RepriseError, RequestError, StoreClosedError, TimedOutError } from '../model/errors.ts'
import { backoffMs } from '../policy/backoff.ts'
import { type Clock, sleep } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import { fullUrl, type QueryValue, shownAddress } from './address.ts'
import { isWorthWaiting, notReprise, problemError, reworded } from './problems.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>
/** A text, or a function that gives one: tokens of an issuer do not last. */
export type TokenSource = string | (() => string | Promise<string>)

export interface TransportOptions {
  readonly address: URL
  readonly token: TokenSource | null
  readonly headers: Readonly<Record<string, string>>
  /** For one call with all its repeats. */
  readonly timeoutMs: number
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Random
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, QueryValue>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly text?: { readonly type: string; readonly text: string }
  readonly headers?: Readonly<Record<string, string>>
  /** Whether doing it twice is the same as doing it once. If not, it is repeated only when it certainly was not done. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | null
  /** How long the server may wait on purpose before it answers. */
  readonly waitMs?: number
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  /** How often it was sent before: an answer may then be about what an earlier one did. */
  readonly repeats: number
}

/** An error with what the server said beside the message. */
export interface Refusal {
  readonly error: RepriseError
  readonly body: unknown
}

export interface OpenStream {
  readonly response: Response
  readonly repeats: number
  /** Ends it from this side. */
  readonly abort: AbortController
}

type Tried<T> =
  | { readonly outcome: 'answer'; readonly answer: T }
  | {
      readonly outcome: 'failed'
      readonly error: RepriseError
      readonly body: unknown
      readonly mayRepeat: boolean
      readonly retryAfterMs: number
    }

const BACKOFF = { kind: 'decorrelated', baseMs: 100, maxMs: 5_000 } as const
/** A request that hangs must leave time for another one. */
const TRIES_PER_TIMEOUT = 2
const RETRY_AFTER_MS_MAX = 86_400_000
/** Nothing can have reached a server that no connection was made to. */
const UNSENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

export class Transport {
  readonly clock: Clock
  readonly random: Random
  /** The server, as messages name it. */
  readonly serverName: string
  readonly #options: TransportOptions
  readonly #closing = new AbortController()

  constructor(options: TransportOptions) {
    this.clock = options.clock
    this.random = options.random
    this.serverName = `The server at ${shownAddress(options.address)}`
    this.#options = options
  }

  /** Whether a token that was refused may be another one at the next request. */
  get renewsToken(): boolean {
    return typeof this.#options.token === 'function'
  }

  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** The answer, whole. Throws what `Refusal` holds. */
  async call(call: Call): Promise<Answer> {
    const refusalOrAnswer = await this.ask(call)
    if ('error' in refusalOrAnswer) throw refusalOrAnswer.error
    return refusalOrAnswer
  }

  /** The body of what is there; null if there is no such thing. */
  async find(call: Call): Promise<unknown> {
    const answer = await this.ask(call)
    if (!('error' in answer)) return answer.body
    if (answer.error.code === 'REPRISE_NOT_FOUND') return null
    throw answer.error
  }

  /** As `call`, for those who want to see what else a refusal says. */
  ask(call: Call): Promise<Answer | Refusal> {
    return this.#persist(call, async (response, repeats) => {
      const text = response.status === 204 ? '' : await response.text()
      return { status: response.status, body: text === '' ? null : this.#parsed(text), repeats }
    })
  }

  /** The answer as it comes, for as long as it takes: only its beginning has to come in time. */
  async open(call: Call): Promise<OpenStream> {
    const abort = new AbortController()
    const signal = call.signal === undefined || call.signal === null ? [] : [call.signal]
    const opened = await this.#persist(
      { ...call, signal: AbortSignal.any([abort.signal, ...signal]) },
      async (response, repeats) => ({ response, repeats, abort }),
    )
    if ('error' in opened) throw opened.error
    return opened
  }

  close(): void {
    this.#closing.abort(new StoreClosedError())
  }

  /** Tries until there is an answer, or nothing more can be hoped for within the time. */
  async #persist<T extends object>(
    call: Call,
    read: (response: Response, repeats: number) => Promise<T>,
  ): Promise<T | Refusal> {
    const { timeoutMs } = this.#options
    const { clock } = this
    const waitMs = call.waitMs ?? 0
    const until = clock.monotonic() + timeoutMs + waitMs
    const tryMs = timeoutMs / TRIES_PER_TIMEOUT + waitMs
    for (let repeats = 0; ; repeats++) {
      const allowedMs = call.isRepeatable ? Math.min(tryMs, until - clock.monotonic()) : until - clock.monotonic()
      const tried = await this.#try(call, Math.max(allowedMs, 1), (response) => read(response, repeats))
      if (tried.outcome === 'answer') return tried.answer
      const delayMs = Math.max(backoffMs(BACKOFF, repeats, this.random.next()), tried.retryAfterMs)
      if (!tried.mayRepeat || clock.monotonic() + delayMs >= until) return tried
      const stop = this.#stopSignal(call)
      await sleep(clock, delayMs, stop, { hold: true })
      stop.throwIfAborted()
    }
  }

  async #try<T>(call: Call, allowedMs: number, read: (response: Response) => Promise<T>): Promise<Tried<T>> {
    const stop = this.#stopSignal(call)
    stop.throwIfAborted()
    const late = new AbortController()
    const { address, fetch } = this.#options
    const url = fullUrl(address, call.path, call.query)
    const request = await this.#request(call, AbortSignal.any([late.signal, stop]))
    const timer = this.clock.after(allowedMs, () => late.abort(), { hold: true })
    try {
      const response = await fetch(url, request)
      if (response.ok) return { outcome: 'answer', answer: await read(response) }
      return this.#refused(call, response, await response.text())
    } catch (error) {
      // A stream's own end, a caller who has gone, a client that was closed: their reason says it.
      if (stop.aborted) throw stop.reason
      return this.#unanswered(call, late.signal.aborted ? allowedMs : null, error)
    } finally {
      timer.cancel()
    }
  }

  async #request(call: Call, signal: AbortSignal): Promise<RequestInit> {
    const { token, headers } = this.#options
    const secret = typeof token === 'function' ? checkedToken(await token()) : token
    const content =
      call.text ?? (call.body === undefined ? null : { type: 'application/json', text: JSON.stringify(call.body) })
    return {
      method: call.method,
      signal,
      // Followed, a redirect could carry the token elsewhere.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...headers,
        ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
        ...(content === null ? {} : { 'content-type': content.type }),
        ...call.headers,
      },
      ...(content === null ? {} : { body: content.text }),
    }
  }

  #refused(call: Call, response: Response, text: string): Tried<never> {
    const { status } = response
    const retryAfterMs = retryAfterOf(response.headers.get('retry-after'), this.clock.now())
    let body: unknown = null
    try {
      body = JSON.parse(text)
    } catch {
      // Somebody else's page: its status is all that counts.
    }
    const error = this.#clean(problemError(status, body, retryAfterMs, this.serverName))
    // Too many requests: turned away at the door, whatever it was.
    const mayRepeat = isWorthWaiting(status, error) && (call.isRepeatable || status === 429)
    return { outcome: 'failed', error, body, mayRepeat, retryAfterMs: retryAfterMs ?? 0 }
  }

  #unanswered(call: Call, lateAfterMs: number | null, thrown: unknown): Tried<never> {
    const doubt = call.method === 'GET' || call.isRepeatable ? '' : ' It may have been done all the same: look first.'
    const base = { outcome: 'failed', body: null, retryAfterMs: 0 } as const
    if (thrown instanceof RequestError) return { ...base, error: thrown, mayRepeat: false }
    if (lateAfterMs !== null) {
      const error = new TimedOutError(
        `${this.serverName} did not answer ${call.method} ${call.path} within ${formatDuration(lateAfterMs)}.${doubt}`,
      )
      return { ...base, error, mayRepeat: call.isRepeatable }
    }
    const code = networkCode(thrown)
    const isUnsent = code !== null && UNSENT.has(code)
    const error = new RequestError(
      'REPRISE_UNREACHABLE',
      `${this.serverName} can not be reached (${code ?? 'the connection failed'}). Does it run, and is the address right?${isUnsent ? '' : doubt}`,
    )
    return { ...base, error: this.#clean(error), mayRepeat: call.isRepeatable || isUnsent }
  }

  #stopSignal({ signal }: Call): AbortSignal {
    return signal === undefined || signal === null
      ? this.#closing.signal
      : AbortSignal.any([this.#closing.signal, signal])
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw notReprise(this.serverName)
    }
  }

  /** A server that repeats what it was sent must not bring the token into a log. */
  #clean(error: RepriseError): RepriseError {
    const { token } = this.#options
    if (typeof token !== 'string' || !error.message.includes(token)) return error
    return reworded(error, error.message.replaceAll(token, '…'))
  }
}

const TOKEN = /^[\x21-\x7e]{1,10000}$/

/** The token if it can stand in a header. A message about one that can't does not show it. */
export function checkedToken(token: string): string {
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw new InvalidError('The token is empty, or has spaces or characters that no token has. Was it copied whole?')
}

/** The code of the network's error, which fetch hides one or two causes deep. */
function networkCode(thrown: unknown): string | null {
  let error: unknown = thrown
  for (let depth = 0; depth < 4 && typeof error === 'object' && error !== null; depth++) {
    const code: unknown = Reflect.get(error, 'code')
    if (typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code)) return code
    error = Reflect.get(error, 'cause')
  }
  return null
}

/** Seconds, or a date. */
function retryAfterOf(header: string | null, now: number): number | null {
  if (header === null) return null
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : null
}
