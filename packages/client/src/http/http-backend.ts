// The client's backend over HTTP: where an operation is found stands in the generated table, the rest is one request.

import { InvalidError, type TaskId } from '@reprise/core'
import type { Backend, OperationCall, Submission, WaitLimits, WatchRequest } from '../backend.ts'
import { ROUTES } from '../routes.generated.ts'
import type { QueryValue } from './address.ts'
import { objectOf, parsedObject } from './answers.ts'
import { Events } from './events.ts'
import { Results } from './results.ts'
import { Submissions } from './submissions.ts'
import { textLines } from './text-lines.ts'
import type { Call, Transport } from './transport.ts'

/** How long lines may take to come, once the answer has begun. */
const IDLE_MS = 60_000

export class HttpBackend implements Backend {
  readonly #transport: Transport
  readonly #submissions: Submissions
  readonly #results: Results
  readonly #events: Events

  constructor(transport: Transport) {
    this.#transport = transport
    this.#submissions = new Submissions(transport)
    this.#results = new Results(transport)
    this.#events = new Events(transport)
  }

  submit(submissions: readonly Submission[]) {
    return this.#submissions.submit(submissions)
  }

  ended(id: TaskId, limits: WaitLimits) {
    return this.#results.ended(id, limits)
  }

  watch(request: WatchRequest) {
    return this.#events.watch(request)
  }

  async call(...call: OperationCall): Promise<unknown> {
    const { status, body } = await this.#transport.call(requestOf(...call))
    return status === 204 ? null : objectOf(body, this.#transport.serverName)
  }

  async *lines(...call: OperationCall): AsyncGenerator<unknown> {
    const { clock, serverName } = this.#transport
    const stream = await this.#transport.open({ ...requestOf(...call), headers: { accept: 'application/x-ndjson' } })
    for await (const line of textLines(stream, { clock, serverName, idleMs: IDLE_MS })) {
      if (line !== '') yield parsedObject(line, serverName)
    }
  }

  /** Turns away everybody who waits, and ends requests that are under way. */
  async close() {
    this.#transport.close()
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
  const { method, path, isRepeatable } = ROUTES[name]
  const rest: Record<string, unknown> = { ...input }
  const pathname = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const { [field]: value } = rest
    delete rest[field]
    return pathPart(field, value)
  })
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const content = hasBody ? { body: rest } : { query: rest as Record<string, QueryValue> }
  return { method, path: pathname, isRepeatable, ...content, ...(signal === undefined ? {} : { signal }) }
}
