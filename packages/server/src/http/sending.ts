// How answers leave. Most are small, and gone at once. A large one stays in memory until its reader has taken it, so it is
// counted by its bytes until then, for each caller and each tenant, and sent in pieces; lines are counted by their number of
// streams. A reader that takes nothing for too long is cut off: it costs memory for as long as it waits.

import { Readable } from 'node:stream'
import { type Clock, sleep } from '@reprise/core'
import { type Caller, type PlaceBounds, Places, type Taker } from '@reprise/operations'
import type { FastifyReply } from 'fastify'
import type { Answer } from './handler.ts'

interface SendingOptions {
  readonly clock: Clock
  /** How long a reader may take nothing. */
  readonly stallMs?: number
}

const STALL_MS = 30_000
const MB = 1_048_576
/** Of large answers that are on their way, in characters. */
const LENGTHS: PlaceBounds = { all: 128 * MB, perCaller: 32 * MB, perTenant: 32 * MB, kept: 32 * MB }
const STREAMS: PlaceBounds = { all: 30, perCaller: 4, perTenant: 4, kept: 8 }
/** From this length on an answer is large. */
const LARGE_LENGTH = 131_072
const PIECE_BYTES = 65_536

export class Sending {
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #lengths = new Places('characters of large answers', LENGTHS)
  readonly #streams = new Places('exports and bulk submissions', STREAMS)

  constructor({ clock, stallMs = STALL_MS }: SendingOptions) {
    this.#clock = clock
    this.#stallMs = stallMs
  }

  /** `taker` is whose memory it is: the caller, or an address that nobody is known at. */
  send(answer: Answer, reply: FastifyReply, taker: () => Taker): FastifyReply {
    switch (answer.kind) {
      case 'json':
        reply
          .headers(answer.headers ?? {})
          .code(answer.status)
          .type('application/json; charset=utf-8')
        return this.#text(JSON.stringify(answer.body), reply, taker)
      case 'text':
        reply
          .headers(answer.headers ?? {})
          .code(answer.status)
          .type(answer.type)
        return this.#text(answer.body, reply, taker)
      case 'lines': {
        const leave = this.#streams.enter(taker())
        reply.raw.once('close', leave)
        return reply
          .type('application/x-ndjson')
          .send(Readable.from(this.#unlessStalled(jsonLines(answer.lines), reply)))
      }
      case 'redirect':
        return reply.headers(answer.headers ?? {}).redirect(answer.to, 303)
      case 'empty':
        return reply
          .headers(answer.headers ?? {})
          .code(204)
          .send()
      case 'taken':
        return reply
    }
  }

  #text(text: string | Buffer, reply: FastifyReply, taker: () => Taker): FastifyReply {
    if (text.length < LARGE_LENGTH) return reply.send(text)
    const leave = this.#lengths.enter(taker(), text.length)
    reply.raw.once('close', leave)
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    reply.header('content-length', bytes.length)
    return reply.send(Readable.from(this.#unlessStalled(pieces(bytes), reply)))
  }

  /** Cuts the connection if what was given is not taken in time. Some send everything before they read anything: those may. */
  async *#unlessStalled<T>(parts: AsyncIterable<T> | Iterable<T>, { raw, request }: FastifyReply): AsyncGenerator<T> {
    const over = new AbortController()
    let given = 0
    let taken = 0
    const watch = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const before = taken
        await sleep(this.#clock, this.#stallMs, over.signal)
        if (taken === before && given > taken && request.raw.complete) raw.destroy()
      }
    }
    void watch()
    try {
      for await (const part of parts) {
        given++
        yield part
        taken++
      }
    } finally {
      over.abort()
    }
  }
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

async function* jsonLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`
}

/** Somebody at an address, of whom nothing is known. */
export const unknownTaker = (address: string): Pick<Caller, 'actor' | 'tenants'> => ({
  actor: `address:${address}`,
  tenants: [],
})
