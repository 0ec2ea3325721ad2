// Routes about tasks that are not operations: submissions, which are the hot path, and the retry at the addresses that other
// systems know it by.

import { z } from 'zod'
import { RetryInput, RetryView } from '../retries.ts'
import { routeTable } from '../route.ts'
import { TaskIdInput } from '../schemas/names.ts'
import { SubmissionInput, SubmittedLine, SubmittedView } from '../schemas/submission.ts'

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
    problems: [409, 413, 503, 507],
  },
  submitTasks: {
    method: 'POST',
    path: '/api/v1/tasks/bulk',
    summary: 'Submit many tasks',
    description:
      'One submission per line. Answers line by line, in order, while it reads. A line that is wrong is refused by itself. Read while you send: some 16 MB of answers are kept for a sender that reads later.',
    tag: 'tasks',
    access: 'submit',
    consumes: 'application/x-ndjson',
    answers: { 200: { kind: 'ndjson', schema: SubmittedLine, description: 'What became of each line.' } },
    problems: [413, 503],
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
    problems: [404, 409, 413, 502],
  },
  retryInternally: {
    method: 'POST',
    path: '/internal/tasks/retry',
    summary: 'Retry a failed task with another budget or policy',
    description:
      'For other services. The retries of a named `policy` take the place of the budget; `maxRetries` lowers it. The policy counts for all further attempts of the task.',
    tag: 'tasks',
    access: 'operate',
    body: RetryInput.omit({ id: true }).extend({ taskId: TaskIdInput }).strict(),
    answers: retried,
    problems: [404, 409, 413, 502],
  },
})
