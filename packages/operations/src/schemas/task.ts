// Tasks and their attempts as the API shows them: core's own types with JSON values in place of JSON text, and without the
// tokens that fence a lease, which belong to its holder alone.

import { TASK_STATUSES } from '@reprise/core'
import { z } from 'zod'
import { JsonValue, Milliseconds, Moment, pageOf } from './names.ts'

export const TaskStatusView = z.enum(TASK_STATUSES).meta({ id: 'TaskStatus' })
export const ExecutionStatusView = z
  .enum(['running', 'succeeded', 'failed', 'lost', 'cancelled'])
  .meta({ id: 'ExecutionStatus' })

export const ProgressView = z
  .object({ fraction: z.number().nullable(), note: z.string().nullable() })
  .meta({ id: 'Progress' })

export const FailureView = z
  .object({
    code: z.string(),
    name: z.string(),
    message: z.string(),
    stack: z.string().nullable(),
    reason: z.string().meta({ description: 'Why, as one of a fixed list: `connection`, `timeout`, `validation`, …' }),
    retriable: z.boolean(),
    rule: z.string().meta({ description: 'The rule that classified it.' }),
    retryAfterMs: Milliseconds.nullable(),
    fingerprint: z.string().meta({ description: 'Failures of one cause have one fingerprint.' }),
    details: JsonValue.nullable(),
  })
  .meta({ id: 'Failure' })

export const DecisionView = z
  .object({
    kind: z.enum(['retry', 'park', 'dead']),
    reason: z.string(),
    rule: z.string(),
    sentence: z.string().meta({ description: 'The decision in words.' }),
    delayMs: Milliseconds.optional(),
    policy: z.object({ name: z.string(), version: z.int() }).optional(),
    escalation: z
      .object({
        severity: z.enum(['low', 'normal', 'high', 'critical']),
        owner: z.string().optional(),
        runbook: z.string().optional(),
        workOrder: z.enum(['group', 'task']).optional(),
      })
      .optional(),
  })
  .meta({ id: 'Decision', description: 'What was done about a failure, and why.' })

const RunningState = z.object({
  status: z.literal('running'),
  attempt: z.int(),
  worker: z.string().meta({ description: '`worker` for callers who are limited to tenants.' }),
  startedAt: Moment,
  leaseUntil: Moment,
  timeoutAt: Moment,
  progress: ProgressView.nullable(),
  stage: z.enum(['run', 'dispatch', 'inbox', 'launch']),
  handle: z.string().nullable(),
})

export const TaskStateView = z
  .discriminatedUnion('status', [
    z.object({ status: z.literal('queued'), since: Moment, expiresAt: Moment.nullable() }),
    z.object({
      status: z.literal('waiting'),
      since: Moment,
      dueAt: Moment,
      reason: z.string(),
      quota: z.string().nullable(),
    }),
    RunningState,
    z.object({ status: z.literal('succeeded'), at: Moment, result: JsonValue.nullable() }),
    z.object({ status: z.literal('dead'), at: Moment, reason: z.string(), failure: FailureView }),
    z.object({ status: z.literal('discarded'), at: Moment }),
    z.object({ status: z.literal('cancelled'), at: Moment }),
  ])
  .meta({ id: 'TaskState' })

export const SettingsView = z
  .looseObject({
    timeoutMs: Milliseconds,
    maxRetries: z.int().nullable(),
    maxLosses: z.int(),
    queueTtlMs: Milliseconds.nullable(),
    backoff: z.looseObject({ kind: z.string() }),
    retryUnknown: z.boolean(),
  })
  .meta({ id: 'Settings', description: "The action's settings as they were when the task was submitted." })

export const SnapshotView = z
  .object({
    id: z.string(),
    action: z.string(),
    pool: z.string(),
    tenant: z.string(),
    payload: JsonValue,
    labels: z.record(z.string(), z.string()),
    priority: z.int().min(0).max(9),
    settings: SettingsView,
    retryToken: z.string(),
    dedupeKey: z.string().nullable(),
    deadlineAt: Moment.nullable(),
  })
  .meta({ id: 'Snapshot', description: 'What was asked for. Never changes.' })

export const TaskView = SnapshotView.extend({
  acceptedAt: Moment,
  generation: z.int(),
  attempt: z.int().meta({ description: 'The highest attempt so far; 0 before the first.' }),
  failures: z.int(),
  losses: z.int(),
  parks: z.int(),
  deferrals: z.int(),
  policy: z.string().optional().meta({
    description: "The policy that an operator's retry named for its further attempts. Missing if none did.",
  }),
  retryable: z.boolean().meta({
    description: 'Whether an operator may retry it now: its latest attempt has failed, and the budget allows one more.',
  }),
  lastWorker: z
    .object({ worker: z.string(), version: z.string().nullable(), host: z.string().nullable() })
    .nullable()
    .meta({
      description:
        'The worker of the latest attempt, whether or not it is still there; null if there was none. Callers who are limited to tenants are told no names.',
    }),
  state: TaskStateView,
}).meta({ id: 'Task' })

export const TaskPage = pageOf(TaskView, 'TaskPage').extend({
  scanned: z.int().meta({ description: 'How many tasks were looked at for this page.' }),
  warnings: z.array(z.string()).optional().meta({
    description: 'What the query may not have been meant to say: terms in quotes, say. Missing if there is nothing.',
  }),
})

export const ExecutionRef = z.object({ taskId: z.string(), attempt: z.int() }).meta({ id: 'ExecutionRef' })

export const ExecutionView = z
  .object({
    taskId: z.string(),
    attempt: z.int(),
    generation: z.int(),
    status: ExecutionStatusView,
    worker: z.string().nullable().meta({ description: '`worker` for callers who are limited to tenants.' }),
    build: z
      .object({ version: z.string(), host: z.string(), runtimes: z.array(z.string()) })
      .nullable()
      .meta({
        description:
          'What its worker had registered; null if that is not known, and for callers who are limited to tenants.',
      }),
    dispatchedAt: Moment,
    resolvedAt: Moment.nullable(),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    retryReason: z.string().nullable(),
    failure: FailureView.nullable(),
    decision: DecisionView.nullable(),
    retryable: z
      .boolean()
      .meta({ description: 'Whether an operator may retry it now. Only the latest attempt can be.' }),
    taskSnapshot: SnapshotView,
    chain: z
      .object({
        retryCount: z.int().meta({ description: '0 for the original.' }),
        maxRetries: z.int().meta({ description: 'By the policies in force.' }),
        retryReason: z.string().nullable(),
        originalExecution: ExecutionRef,
        previousExecution: ExecutionRef.nullable(),
      })
      .meta({ description: 'How this attempt came to be (C1).' }),
  })
  .meta({ id: 'Execution', description: 'One attempt of a task.' })

export const ExecutionPage = pageOf(ExecutionView, 'ExecutionPage')

const ScopeView = z.object({
  pool: z.string().optional(),
  action: z.string().optional(),
  tenant: z.string().optional(),
})

export const GateView = z
  .looseObject({
    kind: z.enum(['paused', 'concurrency', 'not_due', 'breaker', 'retry_quota', 'no_worker']),
    scope: ScopeView.optional(),
    rank: z
      .enum(['platform', 'tenant'])
      .optional()
      .meta({ description: "Of a pause or a limit: whose it is. A tenant's caller can't lift what the platform set." }),
  })
  .meta({ id: 'Gate', description: 'A reason why a lane or a task is held.' })

export const ExplanationView = z
  .object({
    task: TaskView,
    summary: z.string(),
    gates: z.array(GateView),
    workers: z.array(z.object({ worker: z.string(), verdict: z.string(), reasons: z.array(z.string()) })),
    nextAt: Moment.nullable(),
    queueRetry: z
      .object({
        queue: z.string(),
        attempt: z.int(),
        state: z.enum(['waiting', 'sending', 'published']),
        askedAt: Moment,
        failures: z.int().meta({ description: 'How often the queue refused it.' }),
        nextTryAt: Moment.nullable(),
      })
      .nullable()
      .meta({ description: "An operator's retry that goes out by the queue the task came by, and is on its way." }),
  })
  .meta({ id: 'Explanation', description: 'Why a task is not running now.' })

export const ExportedTaskView = z
  .object({
    snapshot: SnapshotView,
    acceptedAt: Moment,
    generation: z.int(),
    failures: z.int(),
    losses: z.int(),
    retryable: z.boolean(),
    state: z.looseObject({ status: TaskStatusView }),
    attempts: z.array(z.looseObject({ attempt: z.int(), status: ExecutionStatusView })),
    redacted: z.literal(true).optional().meta({ description: 'Something is hidden: it can not be imported.' }),
  })
  .meta({ id: 'ExportedTask' })
