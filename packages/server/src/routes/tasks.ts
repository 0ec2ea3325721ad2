// Handlers about tasks: find them, follow them, and what operators do to many of them. Submissions and retries have files of
// their own.

import { executionView, explanationView, type taskRoutes, taskView } from '@reprise/contract'
import {
  type ChangeKind,
  ConflictError,
  durationMs,
  END_STATUSES,
  type Engine,
  type Execution,
  type ExportEngine,
  exportTasks,
  type Fingerprint,
  InvalidError,
  JSON_NULL,
  latestForTask,
  NotFoundError,
  PAGE_LIMIT_DEFAULT,
  parseQuery,
  RequestError,
  SCAN_MAX,
  searchTasks,
  type Task,
  type TaskFilter,
  type TaskId,
  type TaskSelector,
} from '@reprise/core'
import { byOf } from '../access/by.ts'
import type { Principal } from '../access/principal.ts'
import { tenantScope, visible } from '../access/tenants.ts'
import { type Call, type Handlers, json, lines, text } from '../http/handler.ts'
import type { Services } from '../services.ts'
import { SharedReads } from '../shared-reads.ts'
import { boundedPage } from './bounded-page.ts'
import { refuseUnlessOn } from './feature.ts'
import { pageOf } from './page.ts'

type Routes = typeof taskRoutes
type Bulk = 'cancelTasks' | 'redriveTasks' | 'discardTasks' | 'promoteTasks'
type Here =
  | Bulk
  | 'listTasks'
  | 'exportTasks'
  | 'getTask'
  | 'listExecutions'
  | 'getExecution'
  | 'explainTask'
  | 'cancelTask'

const WAIT_MS_MAX = 60_000
const PAGE_LIMIT = 50
const JSON_TYPE = 'application/json; charset=utf-8'
const ATTEMPT_LENGTH = 4_000
const EXPORTED_AT_ONCE = 10

export function taskHandlers(services: Services): Handlers<Pick<Routes, Here>> {
  const { engine, redaction, clock } = services
  const pages = new SharedReads<string>(clock)
  const found = async (principal: Principal, id: TaskId): Promise<Task> => visible(principal, id, await engine.task(id))
  return {
    listTasks: async ({ query: { q = '', limit = PAGE_LIMIT, cursor }, principal: { tenants } }) => {
      const body = await pages.read(JSON.stringify([q, limit, cursor, tenants]), async () => {
        const filter = parseQuery(q)
        const now = clock.now()
        let scanned = 0
        const { items, next } = await boundedPage<Task>({
          limit,
          cursor,
          clock,
          read: async (some, from) => {
            const page = await searchTasks(engine, filter, {
              limit: some,
              now,
              tenants,
              scanMax: Math.max(SCAN_MAX - scanned, some),
              ...(from === undefined ? {} : { cursor: from }),
            })
            scanned += page.scanned
            return page
          },
          textOf: (task) => JSON.stringify(taskView(task, redaction)),
        })
        return `{"items":${items},"next":${JSON.stringify(next)},"scanned":${scanned}}`
      })
      return text(200, body, JSON_TYPE)
    },
    exportTasks: ({ query, principal, signal }) => {
      const isRaw = query.raw === 'true'
      if (isRaw && !principal.scopes.has('configure')) {
        throw new RequestError('REPRISE_FORBIDDEN', "An export that shows everything needs the scope 'configure'.")
      }
      return lines(exported(services, parseQuery(query.q ?? ''), isRaw, principal, signal))
    },
    getTask: async ({ params: { id }, query, principal, signal }) => {
      const waitMs = query.wait === undefined ? 0 : durationMs(query.wait, 'wait')
      const task = await ended(services, () => found(principal, id), Math.min(waitMs, WAIT_MS_MAX), signal)
      return json(200, taskView(task, redaction))
    },
    listExecutions: async ({ params: { id }, query, principal }) => {
      const { payload } = await found(principal, id)
      const { items, next } = await boundedPage<Execution>({
        limit: query.limit ?? PAGE_LIMIT_DEFAULT,
        cursor: query.cursor,
        clock,
        // Each has a snapshot of the task, and a little more.
        lengthGuess: payload.length + ATTEMPT_LENGTH,
        read: (limit, cursor) => engine.executions(id, pageOf({ limit, cursor })),
        textOf: (one) => JSON.stringify(executionView(one, redaction)),
      })
      return text(200, `{"items":${items},"next":${JSON.stringify(next)}}`, JSON_TYPE)
    },
    getExecution: async ({ params: { id, attempt }, principal }) => {
      await found(principal, id)
      const execution = attempt === 'latest' ? await latestForTask(engine, id) : await engine.execution(id, attempt)
      if (execution === null) throw new NotFoundError('attempt', `${id}:${attempt}`)
      return json(200, executionView(execution, redaction))
    },
    explainTask: async ({ params: { id }, principal }) => {
      await found(principal, id)
      const explanation = await engine.explain(id)
      if (explanation === null) throw new NotFoundError('task', id)
      return json(200, explanationView(explanation, redaction, { showWorkers: principal.tenants === null }))
    },
    cancelTask: async ({ params: { id }, body, principal }) => {
      await found(principal, id)
      const { changed } = await engine.change({
        kind: 'cancel',
        select: { ids: [id] },
        by: byOf(principal, body?.reason),
      })
      const task = await found(principal, id)
      if (changed.length === 0 && task.state.status !== 'cancelled') {
        throw new ConflictError(`Task '${id}' has ended as ${task.state.status} already: there is nothing to cancel.`)
      }
      return json(200, taskView(task, redaction))
    },
    cancelTasks: (call) => bulk(engine, call, 'cancel'),
    redriveTasks: (call) => {
      refuseUnlessOn(services, 'dlq-inspector')
      return bulk(engine, call, 'redrive')
    },
    discardTasks: (call) => {
      refuseUnlessOn(services, 'dlq-inspector')
      return bulk(engine, call, 'discard')
    },
    promoteTasks: (call) => bulk(engine, call, 'promote'),
  }
}

/** The task, once it has ended or the time is up. */
async function ended(
  { engine, clock }: Services,
  look: () => Promise<Task>,
  waitMs: number,
  signal: AbortSignal,
): Promise<Task> {
  const until = clock.monotonic() + waitMs
  for (;;) {
    const since = engine.mark()
    const task = await look()
    const restMs = until - clock.monotonic()
    if (restMs <= 0 || END_STATUSES.has(task.state.status) || signal.aborted) return task
    await engine.wait({ tasks: [task.id], since }, restMs, signal)
  }
}

async function* exported(
  { engine, clock, redaction }: Services,
  filter: TaskFilter,
  isRaw: boolean,
  { tenants }: Principal,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  for await (const task of exportTasks(withLightAttempts(engine), filter, { now: clock.now(), tenants })) {
    if (signal.aborted) return
    yield isRaw ? task : redaction.value(task)
  }
}

/** An export shows a task's payload once: attempts are read a few at a time, and kept without it. */
const withLightAttempts = (engine: Engine): ExportEngine => ({
  task: (id) => engine.task(id),
  tasks: (query) => engine.tasks(query),
  counts: (scope) => engine.counts(scope),
  executions: async (id, page) => {
    const { items, next } = await engine.executions(id, { ...page, limit: EXPORTED_AT_ONCE })
    return { items: items.map((one) => ({ ...one, taskSnapshot: { ...one.taskSnapshot, payload: JSON_NULL } })), next }
  },
})

async function bulk(engine: Engine, { body, principal }: Call<Routes[Bulk]>, kind: ChangeKind) {
  const result = await engine.change({
    kind,
    select: await selectorOf(engine, body, principal),
    by: byOf(principal, body.reason),
    ...(body.limit === undefined ? {} : { limit: body.limit }),
    ...(body.cursor === undefined ? {} : { cursor: body.cursor }),
  })
  return json(200, result)
}

/** What a forgotten field must never mean: everything. */
async function selectorOf(
  engine: Engine,
  body: Call<Routes[Bulk]>['body'],
  principal: Principal,
): Promise<TaskSelector> {
  const { ids, pool, action, tenant, fingerprint, all } = body
  if (ids !== undefined) {
    if (pool !== undefined || action !== undefined || tenant !== undefined || fingerprint !== undefined) {
      throw new InvalidError('Name tasks by ids, or by pool, action, tenant and fingerprint; not both.')
    }
    if (principal.tenants !== null) for (const id of ids) visible(principal, id, await engine.task(id))
    return { ids }
  }
  const scope = {
    ...(pool === undefined ? {} : { pool }),
    ...(action === undefined ? {} : { action }),
    ...(fingerprint === undefined ? {} : { fingerprint: fingerprint as Fingerprint }),
    ...tenantScope(principal, tenant),
  }
  if (Object.keys(scope).length === 0 && all !== true) {
    throw new InvalidError(
      "Say which tasks: by ids, pool, action, tenant or fingerprint; or 'all': true for every one.",
    )
  }
  return scope
}
