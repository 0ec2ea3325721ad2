// What a handler gets and what it gives back. A handler belongs to one line of the route table: its input has been checked
// against the schemas there and its caller's rights by the scope there before it is called. It never sees raw JSON.

import type { Caller, Route } from '@reprise/operations'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodType, z } from 'zod'

type Parsed<Schema> = Schema extends ZodType ? z.output<Schema> : undefined

export interface Call<R extends Route = Route> {
  readonly params: Parsed<R['params']>
  readonly query: Parsed<R['query']>
  readonly body: Parsed<R['body']>
  /** Null where the route is public: nobody is asked who they are. */
  readonly caller: R['access'] extends 'public' ? null : Caller
  /** Fires when the caller has gone, or the server stops. */
  readonly signal: AbortSignal
  /** For what the schemas don't cover: headers, streams, cookies. */
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export type Answer =
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown; readonly headers?: Headers }
  | {
      readonly kind: 'text'
      readonly status: number
      readonly body: string | Buffer
      readonly type: string
      readonly headers?: Headers
    }
  /** Lines of JSON, one value each, sent as they come. */
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<unknown> }
  | { readonly kind: 'redirect'; readonly to: string; readonly headers?: Headers }
  | { readonly kind: 'empty'; readonly headers?: Headers }
  /** The handler has answered by itself, or will: a stream. */
  | { readonly kind: 'taken' }

type Headers = Readonly<Record<string, string>>

export const json = (status: number, body: unknown, headers?: Headers): Answer => ({
  kind: 'json',
  status,
  body,
  ...(headers === undefined ? {} : { headers }),
})
export const text = (status: number, body: string | Buffer, type: string, headers?: Headers): Answer => ({
  kind: 'text',
  status,
  body,
  type,
  ...(headers === undefined ? {} : { headers }),
})
export const lines = (values: AsyncIterable<unknown>): Answer => ({ kind: 'lines', lines: values })
export const redirect = (to: string, headers?: Headers): Answer => ({
  kind: 'redirect',
  to,
  ...(headers === undefined ? {} : { headers }),
})
export const empty = (headers?: Headers): Answer => ({ kind: 'empty', ...(headers === undefined ? {} : { headers }) })
export const TAKEN: Answer = { kind: 'taken' }

export type Handler<R extends Route = Route> = (call: Call<R>) => Promise<Answer> | Answer

/** One handler for every line of a table: one that is missing or has another input does not compile. */
export type Handlers<Table extends Readonly<Record<string, Route>>> = {
  readonly [Operation in keyof Table]: Handler<Table[Operation]>
}
