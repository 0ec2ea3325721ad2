// A request that is drawn for a line of the route table: its path with odd parts, a query with odd and doubled keys, a body that
// fits its schema or does not, headers that are wrong in some way, sometimes another method.

import { ROUTES, type Route } from '@reprise/operations'
import fc from 'fast-check'
import { z } from 'zod'
import { type JsonSchema, type Names, oddText, oddValue, valueFor } from './odd-values.ts'

export interface DrawnRequest {
  readonly operation: string
  readonly route: Route
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string | null
}

/** They never end by themselves, or wait as long as they are told to. */
const ENDLESS: ReadonlySet<string> = new Set(['streamEvents'])

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND']

export const drawnRequest = (names: Names): fc.Arbitrary<DrawnRequest> => {
  const lines = Object.entries(ROUTES).filter(([operation]) => !ENDLESS.has(operation))
  return fc.constantFrom(...lines).chain(([operation, route]) => requestFor(operation, route, names))
}

function requestFor(operation: string, route: Route, names: Names): fc.Arbitrary<DrawnRequest> {
  const method = fc.oneof(
    { weight: 15, arbitrary: fc.constant<string>(route.method) },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
  )
  return fc
    .record({
      method,
      path: pathFor(route, names),
      query: queryFor(route, names),
      headers: headersFor(route),
      body: bodyFor(route, names),
    })
    .map(({ method: drawn, path, query, headers, body }) => ({
      operation,
      route,
      method: drawn,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      body: drawn === 'GET' || drawn === 'HEAD' || drawn === 'TRACE' ? null : body,
    }))
}

function pathFor({ path }: Route, names: Names): fc.Arbitrary<string> {
  const parts = [...path.matchAll(/\{\w+\}/g)].map(([part]) => part)
  const value = fc.oneof(
    { weight: 8, arbitrary: oddText(names).map(encoded) },
    { weight: 1, arbitrary: fc.constantFrom('%00', '%ff%fe', '%c0%ae', '..%2f..%2f', '%', 'a%2fb', '%E2%80%AE') },
  )
  return fc
    .tuple(...parts.map(() => value))
    .map((values) => parts.reduce((made, part, index) => made.replace(part, values[index] ?? 'x'), path))
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)

function queryFor({ query }: Route, names: Names): fc.Arbitrary<string> {
  const known = query instanceof z.ZodObject ? Object.keys(query.shape) : []
  const properties = query === undefined ? {} : (schemaOf(query).properties ?? {})
  const key = fc.constantFrom(...known, 'limit', 'cursor', '__proto__', 'constructor', 'tenant[]', 'q.x')
  const pair = key.chain((name) =>
    valueFor(properties[name] ?? { type: 'string' }, names).map((value) => pairOf(name, value)),
  )
  const fitting =
    known.length === 0
      ? fc.constant<string[]>([])
      : fc.array(
          fc
            .constantFrom(...known)
            .chain((name) => valueFor(properties[name] ?? {}, names).map((value) => pairOf(name, value))),
          { maxLength: 3 },
        )
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fitting.map((pairs) => [...new Map(pairs.map((one) => [one.split('=')[0], one])).values()].join('&')),
    },
    { weight: 2, arbitrary: fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&')) },
  )
}

/** Nobody has the time to wait for a minute. */
const pairOf = (name: string, value: unknown): string =>
  `${name}=${name === 'wait' ? '10ms' : encoded(typeof value === 'string' ? value : JSON.stringify(value))}`.slice(
    0,
    3_000,
  )

function bodyFor({ body }: Route, names: Names): fc.Arbitrary<string | null> {
  const drawn = body === undefined ? oddValue(names) : valueFor(schemaOf(body), names)
  const written = drawn.map((value) => JSON.stringify(value) ?? null)
  return fc.oneof(
    { weight: 12, arbitrary: written },
    { weight: 1, arbitrary: written.map((text) => text?.slice(0, -1) ?? null) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        '{',
        '\ufeff{}',
        '[]',
        '{"a":1}{"b":2}',
        '{"__proto__":{"x":1}}',
        '{"a":1e999}',
        '"\\ud800"',
      ),
    },
  )
}

function schemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input', reused: 'inline' }) as JsonSchema
}

const ODD_HEADERS: readonly Readonly<Record<string, string | string[]>>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'application/x-ndjson' },
  { 'content-type': 'application/cloudevents-batch+json' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': '' },
  { 'content-encoding': 'gzip' },
  { 'idempotency-key': '../x' },
  { 'idempotency-key': 'x'.repeat(1_000) },
  { 'if-match': '"nonsense"' },
  { 'last-event-id': 'nonsense' },
  { 'x-request-id': 'a b\tc' },
  { traceparent: '00-0-0-0' },
  { 'x-forwarded-for': '203.0.113.7, 203.0.113.8' },
  { forwarded: 'for=unknown' },
  { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
  { cookie: 'reprise=zzz; reprise-flow=zzz' },
  { 'x-dev-user': 'admin' },
  { expect: '200-ok' },
  { accept: 'text/html, */*;q=0.1' },
  { range: 'bytes=0-1' },
  { 'x-http-method-override': 'DELETE' },
]

function headersFor({
  consumes = 'application/json',
}: Route): fc.Arbitrary<Readonly<Record<string, string | string[]>>> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant({ 'content-type': consumes }) },
    { weight: 2, arbitrary: fc.constantFrom(...ODD_HEADERS).map((odd) => ({ 'content-type': consumes, ...odd })) },
  )
}
