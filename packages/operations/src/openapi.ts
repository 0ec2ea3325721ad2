// The route table as an OpenAPI 3.1 document. Schemas with an id become components; everything else is written where it is
// used. Pure: the document is a function of the table, so the one that is checked in can be compared with a fresh one.

import { ERRORS } from '@reprise/core'
import { type ZodType, z } from 'zod'
import type { Answer, Route } from './route.ts'
import { ProblemView } from './schemas/problem.ts'

type Json = { readonly [key: string]: unknown }
type Direction = 'input' | 'output'

const MEDIA_TYPES = { json: 'application/json', ndjson: 'application/x-ndjson', sse: 'text/event-stream' } as const

/** Every route that takes input or knows its callers may answer with these. */
const USUAL_PROBLEMS = { input: [400], known: [401, 403], any: [429, 500] } as const

export interface ApiInfo {
  readonly version: string
  /** Of the server that shows the document; the usual one if not given. */
  readonly url?: string
}

const USUAL_SERVER = { url: 'http://127.0.0.1:7440', description: 'A server started with `reprise up`.' }

export function openApiDocument(table: Readonly<Record<string, Route>>, { version, url }: ApiInfo): Json {
  const components = new Map<string, Json>()
  const schemaOf = (schema: ZodType, io: Direction): Json => componentised(schema, io, components)
  const problem = schemaOf(ProblemView, 'output')
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, route] of Object.entries(table)) {
    const method = route.method.toLowerCase()
    paths[route.path] = { ...paths[route.path], [method]: operation(operationId, route, schemaOf) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Reprise',
      version,
      summary: 'Runs background tasks to their end, whatever fails on the way.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [url === undefined ? USUAL_SERVER : { url, description: 'The server that this document comes from.' }],
    security: [{ bearer: [] }, { session: [] }],
    paths: sorted(paths),
    components: {
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
      responses: sharedResponses(problem),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API token, or an ID token of a configured issuer.' },
        session: { type: 'apiKey', in: 'cookie', name: 'reprise', description: 'The cookie of a sign-in.' },
      },
    },
  }
}

function operation(operationId: string, route: Route, schemaOf: (schema: ZodType, io: Direction) => Json): Json {
  const { summary, description, tag, access, params, query, body, consumes = 'application/json', answers } = route
  const parameters = [...parametersOf(params, 'path', schemaOf), ...parametersOf(query, 'query', schemaOf)]
  const takesLines = body === undefined && route.consumes !== undefined
  const content = body === undefined ? { type: 'string' } : schemaOf(body, 'input')
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    'x-access': access,
    ...(access === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined && !takesLines
      ? {}
      : {
          requestBody: {
            required: body?.safeParse(undefined).success !== true,
            content: { [consumes]: { schema: content } },
          },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, response(answer, schemaOf)])),
      ...problemResponses(route),
    },
  }
}

function parametersOf(
  schema: ZodType | undefined,
  place: 'path' | 'query',
  schemaOf: (schema: ZodType, io: Direction) => Json,
): readonly Json[] {
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape as Record<string, ZodType>).map(([name, field]) => {
    const { description, ...rest } = schemaOf(field, 'input')
    return {
      name,
      in: place,
      required: place === 'path' || !field.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function response(answer: Answer, schemaOf: (schema: ZodType, io: Direction) => Json): Json {
  const { kind, description } = answer
  switch (kind) {
    case 'json':
    case 'ndjson':
      return { description, content: { [MEDIA_TYPES[kind]]: { schema: schemaOf(answer.schema, 'output') } } }
    case 'sse':
      return { description, content: { [MEDIA_TYPES.sse]: { schema: { type: 'string' } } } }
    case 'text':
    case 'html':
      return {
        description,
        content: { [`text/${kind === 'html' ? 'html' : 'plain'}`]: { schema: { type: 'string' } } },
      }
    case 'redirect':
    case 'empty':
      return { description }
  }
}

const responseName = (status: number): string => `Problem${status}`

/** One for every status that any of our errors has. */
function sharedResponses(problem: Json): Json {
  const statuses = new Set(Object.values(ERRORS).map(({ status }) => status))
  return Object.fromEntries(
    [...statuses]
      .sort((one, other) => one - other)
      .map((status) => [
        responseName(status),
        { description: titleOf(status), content: { 'application/problem+json': { schema: problem } } },
      ]),
  )
}

function problemResponses(route: Route): Json {
  const statuses = new Set<number>(USUAL_PROBLEMS.any)
  if (route.params !== undefined || route.query !== undefined || route.body !== undefined) statuses.add(400)
  if (route.access !== 'public') for (const status of USUAL_PROBLEMS.known) statuses.add(status)
  for (const status of route.problems ?? []) statuses.add(status)
  return Object.fromEntries(
    [...statuses]
      .filter((status) => !(status in route.answers))
      .sort((one, other) => one - other)
      .map((status) => [status, { $ref: `#/components/responses/${responseName(status)}` }]),
  )
}

function titleOf(status: number): string {
  const titles = Object.values(ERRORS)
    .filter((entry) => entry.status === status)
    .map(({ title }) => title)
  return titles.length === 0 ? 'A problem.' : `${titles.join('; or: ')}.`
}

/** The JSON schema, with what has an id moved to the components. */
function componentised(schema: ZodType, io: Direction, components: Map<string, Json>): Json {
  const converted: unknown = z.toJSONSchema(schema, { io, unrepresentable: 'any', cycles: 'ref' })
  const { $defs, $schema: _, id, ...own } = withRefs(converted) as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { id: __, ...rest } = definition
    components.set(name, rest)
  }
  if (typeof id !== 'string') return own
  components.set(id, own)
  return { $ref: `#/components/schemas/${id}` }
}

/** References point to the components, and nothing says what is already said by the type. */
function withRefs(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withRefs)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string'
        ? value.replace('#/$defs/', '#/components/schemas/')
        : withRefs(value),
    ]),
  )
}

const sorted = (record: Readonly<Record<string, unknown>>): Json =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))
