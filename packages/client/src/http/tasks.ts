// Reads of tasks over HTTP: one, a page, a search, an export, the attempts, the explanation. What is not there is null or an
// empty page, as on an engine.

import {
  type ExportedTask,
  PAGE_LIMIT_DEFAULT,
  type Page,
  type PageRequest,
  type TaskId,
  type TaskQuery,
} from '@reprise/core'
import type { Execution, Explanation, SearchPage, Task } from '../records.ts'
import { path } from './address.ts'
import { notReprise } from './problems.ts'
import { textLines } from './text-lines.ts'
import type { Transport } from './transport.ts'
import {
  type ExecutionWire,
  type ExplanationWire,
  executionOf,
  explanationOf,
  objectOf,
  pageOf,
  parsedObject,
  type TaskWire,
  taskOf,
} from './wire.ts'

const IDLE_MS = 60_000

export class TaskReads {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  async task(id: TaskId): Promise<Task | null> {
    const body = await this.#found(path`/api/v1/tasks/${id}`)
    return body === null ? null : taskOf(objectOf<TaskWire>(body, this.#transport.whom))
  }

  /** The API has one way to find tasks: the query language. */
  async tasks({ limit, cursor, ...fields }: TaskQuery): Promise<Page<Task>> {
    const { items, next } = await this.search(queryText(fields), {
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    return { items: items.filter((task) => agrees(task, fields)), next }
  }

  async search(text: string, { limit = PAGE_LIMIT_DEFAULT, cursor }: PageRequest): Promise<SearchPage> {
    const { whom } = this.#transport
    const { body } = await this.#transport.call({
      method: 'GET',
      path: '/api/v1/tasks',
      query: { q: text === '' ? undefined : text, limit, cursor },
      isRepeatable: true,
    })
    const { scanned = 0 } = objectOf<{ readonly scanned?: number }>(body, whom)
    return { ...pageOf(body, whom, taskOf), scanned }
  }

  async *exportTasks(text: string, isRaw: boolean): AsyncGenerator<ExportedTask> {
    const { clock, whom } = this.#transport
    const stream = await this.#transport.open({
      method: 'GET',
      path: '/api/v1/tasks/export',
      query: { q: text === '' ? undefined : text, raw: isRaw ? true : undefined },
      headers: { accept: 'application/x-ndjson' },
      isRepeatable: true,
    })
    for await (const line of textLines(stream, { clock, whom, idleMs: IDLE_MS })) {
      if (line === '') continue
      const task = parsedObject<ExportedTask>(line, whom)
      if (task.snapshot === undefined) throw notReprise(whom)
      yield task
    }
  }

  async executions(id: TaskId, { limit, cursor }: PageRequest): Promise<Page<Execution>> {
    const body = await this.#found(path`/api/v1/tasks/${id}/executions`, { limit, cursor })
    if (body === null) return { items: [], next: null }
    return pageOf<ExecutionWire, Execution>(body, this.#transport.whom, executionOf)
  }

  async explain(id: TaskId): Promise<Explanation | null> {
    const body = await this.#found(path`/api/v1/tasks/${id}/explain`)
    return body === null ? null : explanationOf(objectOf<ExplanationWire>(body, this.#transport.whom))
  }

  /** Null if there is no such thing. */
  #found(pathname: string, query: Readonly<Record<string, string | number | undefined>> = {}): Promise<unknown> {
    return this.#transport.find({ method: 'GET', path: pathname, query, isRepeatable: true })
  }
}

type Fields = Omit<TaskQuery, 'limit' | 'cursor'>

const quoted = (value: string): string => `"${value.replaceAll(/["\\]/g, '\\$&')}"`

function queryText({ status, pool, action, tenant, fingerprint }: Fields): string {
  const names = Object.entries({ pool, action, tenant, fingerprint })
  return [
    ...(status === undefined ? [] : [`status:${status}`]),
    ...names.flatMap(([field, value]) => (value === undefined ? [] : [`${field}:${quoted(value)}`])),
  ].join(' ')
}

/** A name with a `*` in it is a pattern to the query language, and a name here. */
function agrees(task: Task, { pool, action, tenant }: Fields): boolean {
  return (
    (pool === undefined || task.pool === pool) &&
    (action === undefined || task.action === action) &&
    (tenant === undefined || task.tenant === tenant)
  )
}
