// Routes about tasks: submit, find, follow, and what operators do to them.

import { z } from 'zod'
import { routeTable } from '../route.ts'
import {
  ActionNameInput,
  DurationInput,
  digitsInput,
  NameInput,
  PageQuery,
  PoolNameInput,
  ReasonInput,
  TaskIdInput,
  TaskParams,
  TenantIdInput,
} from '../schemas/names.ts'
import { BulkView } from '../schemas/operations.ts'
import { SubmissionInput, SubmittedLine, SubmittedView } from '../schemas/submission.ts'
import { ExecutionPage, ExecutionView, ExplanationView, ExportedTaskView, TaskPage, TaskView } from '../schemas/task.ts'

const TaskSearch = z.object({
  q: z.string().max(1_000).optional().meta({
    description: 'The query language: `status:dead action:invoice.* age>1h "connection reset"`.',
  }),
})

const WAIT_MS_MAX = 60_000

const BulkInput = z.strictObject({
  ids: z.array(TaskIdInput).min(1).max(1_000).optional(),
  pool: PoolNameInput.optional(),
  action: ActionNameInput.optional(),
  tenant: TenantIdInput.optional(),
  fingerprint: NameInput.optional(),
  all: z.literal(true).optional().meta({ description: 'Needed to mean every task there is.' }),
  reason: ReasonInput.optional(),
  limit: z.int().min(1).max(1_000).optional(),
  cursor: z.string().max(2_000).optional(),
})

const bulk = (path: string, summary: string) =>
  ({
    method: 'POST',
    path,
    summary,
    description:
      'Names tasks by `ids`, or all that agree with pool, action, tenant and fingerprint. One bounded step: go on with `cursor` while `next` is not null.',
    tag: 'tasks',
    access: 'operate',
    body: BulkInput,
    answers: { 200: { kind: 'json', schema: BulkView, description: 'What was changed.' } },
  }) as const

const RetryView = z.object({ taskId: z.string(), attempt: z.int(), status: z.literal('queued') }).meta({ id: 'Retry' })
const retried = { 202: { kind: 'json', schema: RetryView, description: 'The next attempt is queued.' } } as const

export const taskRoutes = routeTable({
  submitTask: {
    method: 'POST',
    path: '/api/v1/tasks',
    summary: 'Submit a task',
    description: 'With the header `Idempotency-Key` a repeated request finds the task of the first.',
    tag: 'tasks',
    access: 'submit',
    body: SubmissionInput,
    answers: {
      201: { kind: 'json', schema: SubmittedView, description: 'Accepted, and durable.' },
      200: { kind: 'json', schema: SubmittedView, description: 'There is such a task already.' },
    },
    problems: [409, 413, 503],
  },
  submitTasks: {
    method: 'POST',
    path: '/api/v1/tasks/bulk',
    summary: 'Submit many tasks',
    description:
      'One submission per line. Answers line by line, in order, while it reads. A line that is wrong is refused by itself. Read while you send: some 16 MB of answers are kept for whoever does not.',
    tag: 'tasks',
    access: 'submit',
    consumes: 'application/x-ndjson',
    answers: { 200: { kind: 'ndjson', schema: SubmittedLine, description: 'What became of each line.' } },
    problems: [413, 503],
  },
  listTasks: {
    method: 'GET',
    path: '/api/v1/tasks',
    summary: 'Find tasks',
    description: 'Newest first. A page may be short, or empty, though more follow: go on while `next` is not null.',
    tag: 'tasks',
    access: 'read',
    query: TaskSearch.extend(PageQuery.shape),
    answers: { 200: { kind: 'json', schema: TaskPage, description: 'A page of tasks.' } },
  },
  exportTasks: {
    method: 'GET',
    path: '/api/v1/tasks/export',
    summary: 'Export tasks',
    description: 'All tasks that the query finds with all their attempts, one per line; for another pipeline, say.',
    tag: 'tasks',
    access: 'read',
    query: TaskSearch.extend({
      raw: z.enum(['true', 'false']).optional().meta({ description: 'Nothing redacted; needs the scope `configure`.' }),
    }),
    answers: { 200: { kind: 'ndjson', schema: ExportedTaskView, description: 'One task per line.' } },
  },
  cancelTasks: bulk('/api/v1/tasks/cancel', 'Cancel tasks that have not ended'),
  redriveTasks: bulk('/api/v1/tasks/redrive', 'Send dead letters back to work, with a fresh budget'),
  discardTasks: bulk('/api/v1/tasks/discard', 'Give dead letters up for good'),
  promoteTasks: bulk('/api/v1/tasks/promote', 'Make waiting tasks due now'),
  getTask: {
    method: 'GET',
    path: '/api/v1/tasks/{id}',
    summary: 'Get a task',
    tag: 'tasks',
    access: 'read',
    params: TaskParams,
    query: z.object({
      wait: DurationInput.optional().meta({
        description: `Wait until it has ended, at most so long (${WAIT_MS_MAX / 1_000} s); then answer as it is.`,
      }),
    }),
    answers: { 200: { kind: 'json', schema: TaskView, description: 'The task.' } },
    problems: [404],
  },
  listExecutions: {
    method: 'GET',
    path: '/api/v1/tasks/{id}/executions',
    summary: 'List the attempts of a task',
    description:
      'Oldest first: the retry chain from its beginning. A page may be short: go on while `next` is not null.',
    tag: 'tasks',
    access: 'read',
    params: TaskParams,
    query: PageQuery,
    answers: { 200: { kind: 'json', schema: ExecutionPage, description: 'A page of attempts.' } },
    problems: [404],
  },
  getExecution: {
    method: 'GET',
    path: '/api/v1/tasks/{id}/executions/{attempt}',
    summary: 'Get one attempt',
    description: '`latest` is the highest. Its `chain` leads to the attempt before and to the first.',
    tag: 'tasks',
    access: 'read',
    params: TaskParams.extend({ attempt: z.union([z.literal('latest'), digitsInput(1)]) }),
    answers: { 200: { kind: 'json', schema: ExecutionView, description: 'The attempt.' } },
    problems: [404],
  },
  explainTask: {
    method: 'GET',
    path: '/api/v1/tasks/{id}/explain',
    summary: 'Explain why a task is not running',
    tag: 'tasks',
    access: 'read',
    params: TaskParams,
    answers: {
      200: { kind: 'json', schema: ExplanationView, description: 'Every gate, every worker, what comes next.' },
    },
    problems: [404],
  },
  cancelTask: {
    method: 'POST',
    path: '/api/v1/tasks/{id}/cancel',
    summary: 'Cancel a task',
    tag: 'tasks',
    access: 'operate',
    params: TaskParams,
    body: z.strictObject({ reason: ReasonInput.optional() }).optional(),
    answers: { 200: { kind: 'json', schema: TaskView, description: 'The task, cancelled.' } },
    problems: [404, 409],
  },
  retryExecution: {
    method: 'POST',
    path: '/api/v1/executions/{id}/retry',
    summary: 'Retry a failed task',
    description: '`id` is the task, or one of its attempts as `<task>:<attempt>`; the latest attempt must have failed.',
    tag: 'tasks',
    access: 'operate',
    params: TaskParams,
    body: z.strictObject({ reason: ReasonInput.optional() }).optional(),
    answers: retried,
    problems: [404, 409, 502],
  },
  retryFromDashboard: {
    method: 'POST',
    path: '/dashboard/executions/{taskId}/retry',
    summary: 'Retry a failed task (operators)',
    description:
      'Checked in this order: 401 `dashboard_unauthorized`, 404, 409 by status, 409 by budget, 202. 502 if the store can not be read.',
    tag: 'tasks',
    access: 'operate',
    params: z.object({ taskId: TaskIdInput }),
    answers: retried,
    problems: [404, 409, 502],
  },
  retryInternally: {
    method: 'POST',
    path: '/internal/tasks/retry',
    summary: 'Retry a failed task with another budget',
    description: 'For other services. `maxRetries`, or the retries of a named `policy`, takes the place of the budget.',
    tag: 'tasks',
    access: 'operate',
    body: z.strictObject({
      taskId: TaskIdInput,
      maxRetries: z.int().min(0).max(1_000).optional(),
      policy: NameInput.optional(),
      reason: ReasonInput.optional(),
    }),
    answers: retried,
    problems: [404, 409, 502],
  },
})
