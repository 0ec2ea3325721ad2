// Operations that find and follow tasks: search, one task, its attempts, why it is not running, export.

import {
  durationMs,
  END_STATUSES,
  type Engine,
  type Execution,
  exportTasks,
  JSON_NULL,
  latestForTask,
  NotFoundError,
  PAGE_LIMIT_DEFAULT,
  parseQuery,
  RequestError,
  SCAN_MAX,
  searchTasks,
  type Task,
  type TaskId,
} from '@reprise/core'
import { z } from 'zod'
import { type Caller, visible } from './access/caller.ts'
import { boundedPage } from './bounded-page.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { notesOnTask, withNotes } from './notes.ts'
import { linesOperation, operation, Written } from './operation.ts'
import { DurationInput, digitsInput, flagInput, PageQuery, TaskIdInput, TaskParams } from './schemas/names.ts'
import { ExecutionPage, ExecutionView, ExplanationView, ExportedTaskView, TaskPage, TaskView } from './schemas/task.ts'
import { executionView, explanationView, taskView } from './views.ts'

const PAGE_LIMIT = 50
const WAIT_MS_MAX = 60_000
const ATTEMPT_LENGTH = 4_000
const EXPORTED_AT_ONCE = 10

const NotedTask = TaskView.extend(withNotes).meta({ id: 'NotedTask' })

const TaskSearch = z.object({
  q: z.string().max(1_000).optional().meta({
    description: 'The query language: `status:dead action:invoice.* age>1h "connection reset"`.',
  }),
})

/** The task if there is one that the caller may know of. */
export const visibleTask = async ({ engine }: Context, caller: Caller, id: TaskId): Promise<Task> =>
  visible(caller, id, await engine.task(id))

export const taskOperations = {
  listTasks: operation({
    route: 'GET /api/v1/tasks',
    summary: 'Find tasks',
    description: 'Newest first. A page may be short, or empty, though more follow: go on while `next` is not null.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: TaskSearch.extend(PageQuery.shape),
    output: TaskPage,
    answer: 'A page of tasks.',
    run: async (context, { tenants }, { q = '', limit = PAGE_LIMIT, cursor }) => {
      const { engine, clock, redaction, pages } = context
      const text = await pages.read(JSON.stringify([q, limit, cursor, tenants]), async () => {
        const filter = parseQuery(q)
        const now = clock.now()
        let scanned = 0
        const { items, next } = await boundedPage<Task>({
          limit,
          cursor,
          clock,
          read: async (some, from) => {
            const scanMax = Math.max(SCAN_MAX - scanned, some)
            const page = await searchTasks(engine, filter, {
              limit: some,
              now,
              tenants,
              scanMax,
              ...given({ cursor: from }),
            })
            scanned += page.scanned
            return page
          },
          textOf: (task) => JSON.stringify(taskView(task, redaction)),
        })
        return `{"items":${items},"next":${JSON.stringify(next)},"scanned":${scanned}}`
      })
      return new Written(text)
    },
  }),
  exportTasks: linesOperation({
    route: 'GET /api/v1/tasks/export',
    summary: 'Export tasks',
    description: 'All tasks that the query finds with all their attempts, one per line; for another pipeline, say.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: TaskSearch.extend({
      raw: flagInput.optional().meta({ description: 'Nothing redacted; needs the scope `configure`.' }),
    }),
    output: ExportedTaskView,
    answer: 'One task per line.',
    lines: ({ engine, clock, redaction }, { scopes, tenants }, { q = '', raw = false }, signal) => {
      if (raw && !scopes.has('configure')) {
        throw new RequestError('REPRISE_FORBIDDEN', "An export that shows everything needs the scope 'configure'.")
      }
      const filter = parseQuery(q)
      return (async function* () {
        for await (const task of exportTasks(withLightAttempts(engine), filter, { now: clock.now(), tenants })) {
          if (signal.aborted) return
          yield (raw ? task : redaction.value(task)) as z.output<typeof ExportedTaskView>
        }
      })()
    },
  }),
  getTask: operation({
    route: 'GET /api/v1/tasks/{id}',
    summary: 'Get a task',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: TaskParams.extend({
      wait: DurationInput.optional().meta({
        description: `Wait until it has ended, for at most this long (${WAIT_MS_MAX / 1_000} s); then answer as it is.`,
      }),
    }),
    output: NotedTask,
    answer: 'The task.',
    problems: [404],
    run: async (context, caller, { id, wait }, signal) => {
      const waitMs = wait === undefined ? 0 : durationMs(wait, 'wait')
      const look = (): Promise<Task> => visibleTask(context, caller, id)
      return noted(context, await ended(context, look, Math.min(waitMs, WAIT_MS_MAX), signal))
    },
  }),
  listExecutions: operation({
    route: 'GET /api/v1/tasks/{id}/executions',
    summary: 'List the attempts of a task',
    description:
      'Oldest first: the retry chain from its beginning. A page may be short: go on while `next` is not null.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: TaskParams.extend(PageQuery.shape),
    output: ExecutionPage,
    answer: 'A page of attempts.',
    problems: [404],
    run: async (context, caller, { id, limit = PAGE_LIMIT_DEFAULT, cursor }) => {
      const { engine, clock, redaction } = context
      const { payload } = await visibleTask(context, caller, id)
      const { items, next } = await boundedPage<Execution>({
        limit,
        cursor,
        clock,
        // Each has a snapshot of the task, and a little more.
        lengthGuess: payload.length + ATTEMPT_LENGTH,
        read: (some, from) => engine.executions(id, { limit: some, ...given({ cursor: from }) }),
        textOf: (one) => JSON.stringify(executionView(one, redaction)),
      })
      return new Written(`{"items":${items},"next":${JSON.stringify(next)}}`)
    },
  }),
  getExecution: operation({
    route: 'GET /api/v1/tasks/{id}/executions/{attempt}',
    summary: 'Get one attempt',
    description: '`latest` is the highest. Its `chain` leads to the attempt before and to the first.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: z.object({ id: TaskIdInput, attempt: z.union([z.literal('latest'), digitsInput(1)]) }),
    output: ExecutionView,
    answer: 'The attempt.',
    problems: [404],
    run: async (context, caller, { id, attempt }) => {
      const { engine, redaction } = context
      await visibleTask(context, caller, id)
      const execution = attempt === 'latest' ? await latestForTask(engine, id) : await engine.execution(id, attempt)
      if (execution === null) throw new NotFoundError('attempt', `${id}:${attempt}`)
      return executionView(execution, redaction)
    },
  }),
  explainTask: operation({
    route: 'GET /api/v1/tasks/{id}/explain',
    summary: 'Explain why a task is not running',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: TaskParams,
    output: ExplanationView.extend({ task: NotedTask }),
    answer: 'Every gate, every worker, what comes next.',
    problems: [404],
    run: async (context, caller, { id }) => {
      await visibleTask(context, caller, id)
      const explanation = await context.engine.explain(id)
      if (explanation === null) throw new NotFoundError('task', id)
      const view = explanationView(explanation, context.redaction, { showWorkers: caller.tenants === null })
      return { ...view, task: await noted(context, explanation.task) }
    },
  }),
}

const noted = async (context: Context, task: Task): Promise<z.output<typeof NotedTask>> => ({
  ...taskView(task, context.redaction),
  notes: await notesOnTask(context, task),
})

/** The task, once it has ended or the time is up. */
async function ended(
  { engine, clock }: Context,
  look: () => Promise<Task>,
  waitMs: number,
  signal: AbortSignal,
): Promise<Task> {
  const until = clock.monotonic() + waitMs
  for (;;) {
    const since = engine.mark()
    const task = await look()
    const leftMs = until - clock.monotonic()
    if (leftMs <= 0 || END_STATUSES.has(task.state.status) || signal.aborted) return task
    await engine.wait({ tasks: [task.id], since }, leftMs, signal)
  }
}

/** An export shows a task's payload once: attempts are read a few at a time, and kept without it. */
const withLightAttempts = (engine: Engine): Parameters<typeof exportTasks>[0] => ({
  task: (id) => engine.task(id),
  tasks: (query) => engine.tasks(query),
  counts: (scope) => engine.counts(scope),
  executions: async (id, page) => {
    const { items, next } = await engine.executions(id, { ...page, limit: EXPORTED_AT_ONCE })
    return { items: items.map((one) => ({ ...one, taskSnapshot: { ...one.taskSnapshot, payload: JSON_NULL } })), next }
  },
})
