// Handlers of all operations: their inputs stand in path, query and body, their outputs become answers. What they do is theirs.

import {
  ALL_OPERATIONS,
  type Context,
  type Operation,
  type OperationName,
  performed,
  Written,
} from '@reprise/operations'
import type { FastifyRequest } from 'fastify'
import { type Handler, json, lines, text } from '../http/handler.ts'

type Handlers = Readonly<Record<OperationName, Handler>>

export const operationHandlers = (context: Context): Handlers =>
  Object.fromEntries(
    Object.entries(ALL_OPERATIONS).map(([name, entry]) => [name, handlerOf(context, name, entry)]),
  ) as never

function handlerOf(context: Context, name: string, entry: Operation): Handler {
  const { status = 200 } = entry
  const hasVersion = 'expected' in entry.input.shape
  return async ({ params, query, body, request, caller, signal }) => {
    // Each part was parsed by the schemas that the table has for it.
    const parts = [query, body, params, hasVersion ? versionOf(request) : undefined]
    const input = Object.assign({}, ...parts) as Record<string, unknown>
    if ('lines' in entry) return lines(entry.lines(context, caller, input, signal))
    const result = await performed(context, caller, { name, entry, input, signal, request: request.id })
    if (result instanceof Written) return text(status, result.bytes, 'application/json; charset=utf-8')
    return status === 204 ? { kind: 'empty' } : json(status, result)
  }
}

/** A change that is made for one version says so in the body, or in the header that HTTP has for it. */
function versionOf({ headers }: FastifyRequest): { readonly expected?: number } {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined || ifMatch === '*') return {}
  const [, number] = /^"(\d+)"$/.exec(ifMatch) ?? []
  // Anything else is the name of no version.
  return { expected: number === undefined ? -1 : Number(number) }
}
