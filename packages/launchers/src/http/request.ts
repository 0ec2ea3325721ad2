// One HTTP request with every limit it needs: to checked addresses only, no redirects, no proxy, one deadline for everything,
// and an answer of bounded size. It tells whether anything was sent, because only then can something have been started.

import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type Clock, messageOf } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import type { Address, AddressPolicy } from './addresses.ts'

const ANSWER_BYTES_MAX = 1_048_576
/** Payload and result are at most 1 MiB; what wraps a result needs a little more. */
const ANSWER_BYTES_SLACK = 65_536

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<IncomingMessage['headers']>
  readonly body: string
}

export interface HttpCall {
  readonly method: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: URL
  /** Made when the connection stands, right before anything is sent; may throw to send nothing. */
  readonly content: () => { readonly headers: Readonly<Record<string, string>>; readonly body: string }
  readonly deadlineMs: number
  /** How much of the answer's body is wanted: what follows is passed over. All of it if missing. */
  readonly answerBytesKept?: number
  readonly signal?: AbortSignal
}

/** What went wrong, and whether the other side may have got the request. */
export class HttpCallError extends Error {
  readonly wasSent: boolean
  /** As a handler would throw it. */
  readonly thrown: Error

  constructor(thrown: Error, wasSent: boolean) {
    super(thrown.message, { cause: thrown })
    this.name = 'HttpCallError'
    this.wasSent = wasSent
    this.thrown = thrown
  }
}

export class HttpCaller {
  readonly #policy: AddressPolicy
  readonly #clock: Clock
  // A connection for each request: pooled ones could go to an address that was checked for something else.
  readonly #http = new HttpAgent({ keepAlive: false })
  readonly #https: HttpsAgent

  constructor(policy: AddressPolicy, clock: Clock, ca: string | undefined) {
    this.#policy = policy
    this.#clock = clock
    this.#https = new HttpsAgent({ keepAlive: false, ...(ca === undefined ? {} : { ca }) })
  }

  call(call: HttpCall): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
    const state = { wasSent: false }
    let request: ClientRequest | null = null
    let isOver = false
    const fail = (error: Error): void => {
      isOver = true
      reject(new HttpCallError(error, state.wasSent))
      request?.destroy()
    }
    const timer = this.#clock.after(call.deadlineMs, () => fail(timedOut(call)), { hold: true })
    const aborted = (): void =>
      fail(describedFailure({ code: 'ABORT_ERR', message: `The call of ${call.url.origin} was given up.` }))
    if (call.signal?.aborted === true) aborted()
    call.signal?.addEventListener('abort', aborted, { once: true })

    const failBy = (error: unknown): void => fail(callFailed(error, call, state.wasSent))
    this.#policy.addressesOf(call.url).then((addresses) => {
      if (isOver) return
      request = this.#request(call, addresses, state, fail)
      request.on('error', failBy)
      request.on('response', (response) => void readBody(response, call).then(resolve, failBy))
    }, failBy)

    return promise.finally(() => {
      timer.cancel()
      call.signal?.removeEventListener('abort', aborted)
    })
  }

  #request(
    { method, url, content }: HttpCall,
    addresses: readonly Address[],
    state: { wasSent: boolean },
    fail: (error: Error) => void,
  ): ClientRequest {
    const isSecure = url.protocol === 'https:'
    const options = { method, lookup: pinned(addresses) }
    const request = isSecure
      ? httpsRequest(url, { ...options, agent: this.#https })
      : httpRequest(url, { ...options, agent: this.#http })
    request.once('socket', (socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        if (request.destroyed) return
        try {
          const { headers, body } = content()
          for (const [name, value] of Object.entries(headers)) request.setHeader(name, value)
          // We decompress nothing: a small answer can't become a large one.
          request.setHeader('accept-encoding', 'identity')
          request.setHeader('content-length', Buffer.byteLength(body))
          state.wasSent = true
          request.end(body)
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
    return request
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}

/** Answers every look-up of a connection with the addresses that were checked. */
function pinned(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses
    if (options.all === true) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

async function readBody(response: IncomingMessage, { url, answerBytesKept }: HttpCall): Promise<HttpAnswer> {
  const chunks: Buffer[] = []
  const maxKept = answerBytesKept ?? Number.POSITIVE_INFINITY
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < maxKept) chunks.push(chunk.subarray(0, maxKept - bytes))
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX + ANSWER_BYTES_SLACK) {
      throw describedFailure({
        code: 'REPRISE_TOO_LARGE',
        message: `The answer of ${url.origin} is larger than ${ANSWER_BYTES_MAX} bytes. Store it elsewhere and answer a reference.`,
      })
    }
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }
}

const timedOut = ({ url, deadlineMs }: HttpCall): Error =>
  describedFailure({ code: 'timeout', message: `${url.origin} did not answer in full within ${deadlineMs} ms.` })

function callFailed(error: unknown, { url }: HttpCall, wasSent: boolean): Error {
  // Our own say what they are.
  if (error instanceof Error && error.stack === '') return error
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ECONNRESET'
  const message = `${url.origin} could not be called: ${messageOf(error)}.`
  return describedFailure({ code, message, says: wasSent ? undefined : 'transient' })
}
