// Operations that find and follow tasks: search, one task, its attempts, why it is not running, export.

import {
  durationMs,
  END_STATUSES,
  type Execution,
  exportTasks,
  healthMatters,
  isWhole,
  latestForTask,
  NotFoundError,
  PAGE_LIMIT_DEFAULT,
  parseQuery,
  queryWarnings,
  RequestError,
  SCAN_MAX,
  searchTasks,
  type Task,
  turnsOf,
} from '@reprise/core'
import { QUEUE_LABEL, retryOnItsWay } from '@reprise/orchestrator'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import { ownFilter, visibleTask } from './access/own-tasks.ts'
import { boundedPage } from './bounded-page.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { ownerBeside } from './group-views.ts'
import { inItsTurn } from './in-turns.ts'
import { notesOnTask, withNotes } from './notes.ts'
import { linesOperation, operation, Written } from './operation.ts'
import {
  DurationInput,
  digitsInput,
  flagInput,
  PageQuery,
  QueryInput,
  TaskIdInput,
  TaskParams,
} from './schemas/names.ts'
import { ExecutionPage, ExecutionView, ExplanationView, ExportedTaskView, TaskPage, TaskView } from './schemas/task.ts'
import { mayReveal, seenBy, sightOf } from './sight.ts'
import { executionView, explanationView, exportedView, isLong, preparedFor, type Sight, taskView } from './views.ts'

const PAGE_LIMIT = 50
const WAIT_MS_MAX = 60_000
const ATTEMPT_LENGTH = 4_000

const NotedTask = TaskView.extend(withNotes)
  .extend({
    owner: z.string().nullable().optional().meta({
      description: 'Of a dead letter: who took its failure group on, or else the owner that the policies name.',
    }),
  })
  .meta({ id: 'NotedTask' })

export const taskOperations = {
  listTasks: operation({
    route: 'GET /api/v1/tasks',
    summary: 'Find tasks',
    description: 'Newest first. A page may be short, or empty, though more follow: go on while `next` is not null.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: QueryInput.extend(PageQuery.shape),
    output: TaskPage,
    answer: 'A page of tasks.',
    run: async (context, caller, { q = '', limit = PAGE_LIMIT, cursor }) => {
      const { engine, clock, pages, searches } = context
      const { tenants } = caller
      const sight = sightOf(context, caller)
      const seen = seenBy(context, caller)
      const search = async (): Promise<string> => {
        const asked = parseQuery(q)
        const filter = ownFilter(asked, caller)
        const warnings = queryWarnings(asked)
        const now = clock.now()
        let scanned = 0
        const { items, next } = await boundedPage<Task>({
          limit,
          cursor,
          clock,
          read: async (some, from) => {
            const maxScan = Math.max(SCAN_MAX - scanned, some)
            const page = await searchTasks(engine, filter, {
              limit: some,
              now,
              tenants,
              seen,
              maxScan,
              turns: turnsOf(clock),
              ...given({ cursor: from }),
            })
            scanned += page.scanned
            return page
          },
          textOf: (task) => writtenView(context, task, sight, taskView),
        })
        const rest = { next, scanned, ...(warnings.length === 0 ? {} : { warnings }) }
        return `{"items":${items},${JSON.stringify(rest).slice(1)}`
      }
      // Those who may see different things share no page.
      const question = JSON.stringify([q, limit, cursor, tenants, mayReveal(caller)])
      return pages.read(question, async () => new Written(await searches.run(caller, search)))
    },
  }),
  exportTasks: linesOperation({
    route: 'GET /api/v1/tasks/export',
    summary: 'Export tasks',
    description: 'All tasks that the query finds with all their attempts, one per line; for another pipeline, say.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: QueryInput.extend({
      raw: flagInput.optional().meta({ description: 'Nothing redacted; needs the scope `configure`.' }),
    }),
    output: ExportedTaskView,
    answer: 'One task per line.',
    lines: (context, caller, { q = '', raw = false }, signal) => {
      if (raw && !mayReveal(caller)) {
        throw new RequestError('REPRISE_FORBIDDEN', "An export that shows everything needs the scope 'configure'.")
      }
      const filter = ownFilter(parseQuery(q), caller)
      const { engine, clock } = context
      const sight = sightOf(context, caller, raw)
      const turns = turnsOf(clock)
      const options = { now: clock.now(), tenants: caller.tenants, seen: seenBy(context, caller), turns }
      return (async function* () {
        for await (const task of exportTasks(engine, filter, options)) {
          if (signal.aborted) return
          if (turns.isSpent) await turns.wait()
          yield exportedView(task, sight, turns)
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
      if (waitMs > 0) {
        const leave = context.waits.enter(caller)
        const look = (): Promise<Task> => visibleTask(context.engine, caller, id, { light: true })
        await ended(context, look, Math.min(waitMs, WAIT_MS_MAX), signal).finally(leave)
      }
      const seen = await visibleTask(context.engine, caller, id, { light: true })
      if (isWhole(seen)) return noted(context, caller, seen)
      return inItsTurn(context, caller, async () =>
        noted(context, caller, await visibleTask(context.engine, caller, seen.id)),
      )
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
      const { engine, clock } = context
      const sight = sightOf(context, caller)
      const task = await visibleTask(engine, caller, id)
      const { id: stored, payload } = task
      const { items, next } = await boundedPage<Execution>({
        limit,
        cursor,
        clock,
        // Each has a snapshot of the task, and a little more.
        lengthGuess: payload.length + ATTEMPT_LENGTH,
        read: (some, from) => engine.executions(stored, { limit: some, ...given({ cursor: from }) }),
        textOf: (one) => writtenView(context, one, sight, (of, seen) => executionView(of, seen, task)),
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
      const { engine, clock } = context
      const task = await visibleTask(engine, caller, id, { light: true })
      const { id: stored } = task
      const show = async () => {
        const execution =
          attempt === 'latest' ? await latestForTask(engine, stored) : await engine.execution(stored, attempt)
        if (execution === null) throw new NotFoundError('attempt', `${id}:${attempt}`)
        return executionView(execution, await preparedFor(execution, sightOf(context, caller), turnsOf(clock)), task)
      }
      return isWhole(task) ? show() : inItsTurn(context, caller, show)
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
      const seen = await visibleTask(context.engine, caller, id, { light: true })
      const show = () => explained(context, caller, seen)
      return isWhole(seen) ? show() : inItsTurn(context, caller, show)
    },
  }),
}

const noted = async (context: Context, caller: Caller, task: Task): Promise<z.output<typeof NotedTask>> => ({
  ...taskView(task, await preparedFor(task, sightOf(context, caller), turnsOf(context.clock))),
  notes: await notesOnTask(context, task),
  ...(await ownerBeside(context, caller, task)),
})

async function explained(context: Context, caller: Caller, seen: Task) {
  const healthAware = healthMatters(context.policies.current(), seen)
  const explanation = await context.engine.explain(seen.id, { healthAware })
  if (explanation === null) throw new NotFoundError('task', seen.id)
  const { task } = explanation
  const view = explanationView(
    explanation,
    await preparedFor(task, sightOf(context, caller), turnsOf(context.clock)),
    task.labels[QUEUE_LABEL] === undefined ? null : await retryOnItsWay(context.engine, task),
  )
  return {
    ...view,
    task: { ...view.task, notes: await notesOnTask(context, task), ...(await ownerBeside(context, caller, task)) },
  }
}

/** Most views are made at once; one with much in it is made in turns with others. */
function writtenView<T extends Task | Execution>(
  { clock }: Context,
  of: T,
  sight: Sight,
  view: (of: T, sight: Sight) => unknown,
): string | Promise<string> {
  if (!isLong(of)) return JSON.stringify(view(of, sight))
  return preparedFor(of, sight, turnsOf(clock)).then((prepared) => JSON.stringify(view(of, prepared)))
}

/** Comes back when the task has ended, or the time is up. */
async function ended(
  { engine, clock }: Context,
  look: () => Promise<Task>,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.monotonic() + waitMs
  for (;;) {
    const since = engine.mark()
    const task = await look()
    const leftMs = until - clock.monotonic()
    if (leftMs <= 0 || END_STATUSES.has(task.state.status) || signal.aborted) return
    await engine.wait({ tasks: [task.id], since }, leftMs, signal)
  }
}
