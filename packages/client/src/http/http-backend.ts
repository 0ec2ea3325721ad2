// The client's backend over HTTP: where an operation is found stands in the generated table, the rest is one request.

import { type Call, InvalidError, type QueryValue, type Transport } from '@reprise/core'
import type { Backend, OperationCall } from '../backend.ts'
import { ROUTES } from '../routes.generated.ts'
import { objectOf, parsedObject } from './answers.ts'
import { watchEvents } from './events.ts'
import { Results } from './results.ts'
import { submitOver } from './submissions.ts'
import { textLines } from './text-lines.ts'

/** How long lines may take to come, once the answer has begun. */
const IDLE_MS = 60_000

export function httpBackend(transport: Transport): Backend {
  const results = new Results(transport)
  const { clock, serverName } = transport
  return {
    submit: (submissions) => submitOver(transport, submissions),
    ended: (id, limits) => results.ended(id, limits),
    watch: (request) => watchEvents(transport, request),

    async call(...call) {
      const { status, body } = await transport.call(requestOf(...call))
      return status === 204 ? null : objectOf(body, serverName)
    },

    async *lines(...call) {
      const stream = await transport.open({ ...requestOf(...call), headers: { accept: 'application/x-ndjson' } })
      for await (const line of textLines(stream, { clock, serverName, idleMs: IDLE_MS })) {
        if (line !== '') yield parsedObject(line, serverName)
      }
    },

    /** Turns away everybody who waits, and ends requests that are under way. */
    close: async () => transport.close(),
  }
}

/** A part of a path that can lead to no other path: dots alone would, encoded or not. */
function pathPart(field: string, value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string' || value === '') throw new InvalidError(`The field '${field}' is missing.`)
  if (value === '.' || value === '..') throw new InvalidError(`The field '${field}' can't be '${value}'.`)
  return encodeURIComponent(value)
}

function requestOf(...[name, input, signal]: OperationCall): Call {
  const [, word = 'GET', path = '', trait] = /^(?:([A-Z]+|>) )?(\S+)( \+)?/.exec(ROUTES[name]) ?? []
  const method = (word === '>' ? 'POST' : word) as Call['method']
  const rest: Record<string, unknown> = { ...input }
  const whole = (path.startsWith('/') ? path : `/api/v1/${path}`).replace('#', '/{id}')
  const pathname = whole.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const { [field]: value } = rest
    delete rest[field]
    return pathPart(field, value)
  })
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const content = hasBody ? { body: rest } : { query: rest as Record<string, QueryValue> }
  return {
    method,
    path: pathname,
    isRepeatable: method === 'GET' || trait !== undefined,
    ...content,
    ...(signal === undefined ? {} : { signal }),
  }
}
