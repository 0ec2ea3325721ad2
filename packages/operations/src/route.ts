// What a route is: one line of the table that everything about the API is read off. The server registers each line, checks
// its scope and its input; the OpenAPI document, the client's paths and the test of rights are made from the same lines.

import { type ZodType, z } from 'zod'
import type { Access } from './access/scopes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What an answer is made of: a JSON body, lines of JSON, a stream of server-sent events, text, or nothing. */
export type Answer =
  | { readonly kind: 'json'; readonly schema: ZodType; readonly description: string }
  | { readonly kind: 'ndjson'; readonly schema: ZodType; readonly description: string }
  | { readonly kind: 'sse' | 'text' | 'html' | 'redirect' | 'empty'; readonly description: string }

export interface Route {
  readonly method: Method
  /** With `{name}` for parameters, as OpenAPI writes it. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly access: Access
  /** `all` if it concerns every tenant: a caller limited to some is refused. */
  readonly tenants?: 'own' | 'all' | 'none'
  readonly params?: ZodType
  readonly query?: ZodType
  readonly body?: ZodType
  /** What the body is sent as; `application/json` if missing. */
  readonly consumes?: 'application/json' | 'application/x-ndjson' | 'application/cloudevents+json' | 'application/yaml'
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** Codes of problems that it may answer with, beside those of every route. */
  readonly problems?: readonly number[]
}

/** Keeps the literal types of a table, so that handlers can be typed by it. A parameter that nobody knows is refused. */
export function routeTable<const T extends Readonly<Record<string, Route>>>(table: T): T {
  const strict = Object.entries(table).map(([operation, route]) => {
    const { query } = route
    return [operation, query instanceof z.ZodObject ? { ...route, query: query.strict() } : route]
  })
  // The same schemas, of the same types: only what they say about other names differs.
  return Object.fromEntries(strict) as T
}
