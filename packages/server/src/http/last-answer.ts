// The last answer on a connection: written to the connection itself, because there is no request to answer, or because the rest of
// a request is not worth reading. Node reads the rest of a body that nobody wants, so that the connection can be used again:
// a caller who is refused could so make us read megabytes. Here the rest stays where it is.
//
// A connection with something unread in it breaks when it is closed, and the answer is lost on the way. So it stays half
// open for a moment, in which the answer can be read. Only so many connections do.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@reprise/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from './problem.ts'

const LINGER_MS = 1_000
const LINGERING_MAX = 200
/** As much of a body is read in one go with the head: reading the rest of it costs next to nothing. */
const SHORT_BODY_BYTES = 65_536

type Headers = Readonly<Record<string, string | number | readonly string[] | undefined>>

export class LastAnswers {
  readonly #clock: Clock
  #lingering = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Answers on the connection and closes it. What comes meanwhile is read, or left, as it was before. */
  send(socket: Socket, { status, headers, body }: Problem, more: Headers): void {
    const content = JSON.stringify(body)
    const all: Headers = {
      ...more,
      ...headers,
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(content),
      connection: 'close',
    }
    const lines = Object.entries(all).map(([name, value]) => (value === undefined ? '' : `${name}: ${value}\r\n`))
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${content}`)
    this.#linger(socket)
  }

  #linger(socket: Socket): void {
    const waitMs = this.#lingering < LINGERING_MAX ? LINGER_MS : 0
    this.#lingering++
    const forced = this.#clock.after(waitMs, () => socket.destroy())
    socket.once('close', () => {
      this.#lingering--
      forced.cancel()
    })
  }
}

/** Whether much of its body was not read, and would be read for nothing. Not behind another request on the same connection. */
export function leavesBody({ raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (raw.complete || raw.readableDidRead || reply.raw.socket === null) return false
  return raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > SHORT_BODY_BYTES
}
