// Requests that never come as far as a route: their path can't be decoded, their headers are too large, or they are no HTTP.
// Fastify and Node answer those in their own words; here they get the same problem details and headers as everybody else.

import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { RequestError } from '@reprise/core'
import type { FastifyRequest } from 'fastify'
import type { LastAnswers } from './last-answer.ts'
import { problemOf } from './problem.ts'

export class MalformedRequests {
  readonly #headers: Readonly<Record<string, string>>
  readonly #last: LastAnswers
  readonly #refused = new WeakSet<Socket>()

  constructor(headers: Readonly<Record<string, string>>, last: LastAnswers) {
    this.#headers = headers
    this.#last = last
  }

  serveExpectations(server: Server): void {
    // Whatever else is expected than 100-continue: the request is served without it, or refused for what it is.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  }

  /** For what Node could not read. There is no request, so nothing but the connection to answer on. */
  refuse(error: Error & { readonly code?: string }, socket: Socket): void {
    if (this.#refused.has(socket)) return
    this.#refused.add(socket)
    // A part of another answer may be on its way: nothing can be said in the middle of it.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    const requestId = randomUUID()
    this.#last.send(socket, problemOf(unread(error.code), requestId), { ...this.#headers, 'x-request-id': requestId })
    socket.resume()
  }
}

/** Node keeps the answer that a connection is busy with there, and looks for it there in the same case. */
function isAnswering(socket: Socket): boolean {
  const answer: unknown = Reflect.get(socket, '_httpMessage')
  return typeof answer === 'object' && answer !== null && 'headersSent' in answer && answer.headersSent === true
}

function unread(code: string | undefined): RequestError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new RequestError('REPRISE_TOO_LARGE', 'The headers are larger than this server takes.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestError('REPRISE_INVALID', 'The request did not arrive in time.')
    default:
      return new RequestError('REPRISE_INVALID', 'This is not a request of HTTP/1.1 that can be understood.')
  }
}

/** Node leaves this check to us, because it would answer in its own words. */
export function refuseNoHost({ raw }: FastifyRequest): void {
  if (raw.httpVersion !== '1.1' || raw.headers.host !== undefined) return
  throw new RequestError('REPRISE_INVALID', 'The header Host is missing.')
}
