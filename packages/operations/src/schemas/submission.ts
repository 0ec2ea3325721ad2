// What a submission may say. Durations are milliseconds or texts such as '5m'; times are moments or ISO 8601.

import { LABELS_MAX, TASK_DIFFERENCES } from '@reprise/core'
import { z } from 'zod'
import { DurationInput, JsonValue, NewActionName, NewName, NewPoolName, NewTaskId, NewTenantId } from './names.ts'

/** The furthest moment, either way, that has a date. */
const MOMENT_MAX = 8_640_000_000_000_000

const MomentInput = z
  .union([z.int().min(-MOMENT_MAX).max(MOMENT_MAX), z.iso.datetime({ offset: true })])
  .meta({ description: 'Milliseconds since 1970, or an ISO 8601 time.' })

/** Ids that are made of an Idempotency-Key or of an event: a caller who could name one could take it from another. */
const DERIVED_ID = /^(?:key|event|job)-/
const DERIVED_ID_REFUSED = "Ids that begin with 'key-', 'event-' or 'job-' are drawn by the server. Use another one."

const Jitter = z.number().min(0).max(1).optional()
const BackoffInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('fixed'), delay: DurationInput, jitter: Jitter }),
  z.strictObject({ kind: z.literal('linear'), step: DurationInput, max: DurationInput.optional(), jitter: Jitter }),
  z.strictObject({
    kind: z.literal('exponential'),
    base: DurationInput.optional(),
    multiplier: z.number().min(1).max(1_000).optional(),
    max: DurationInput.optional(),
    jitter: Jitter,
  }),
  z.strictObject({
    kind: z.literal('decorrelated'),
    base: DurationInput.optional(),
    max: DurationInput.optional(),
  }),
  z.strictObject({ kind: z.literal('schedule'), delays: z.array(DurationInput).min(1).max(100), jitter: Jitter }),
])

const RetryInput = z
  .strictObject({
    max: z.int().min(0).max(1_000).optional().meta({ description: 'Automatic retries after a failure.' }),
    backoff: BackoffInput.optional().meta({ description: 'The pause before a retry.' }),
    unknown: z.boolean().optional().meta({ description: 'Whether failures that no rule knows are retried.' }),
  })
  .meta({ description: 'What is tried again by itself. What is left out is as the action has it.' })

/** Settings that a submission may set for itself; the others are the action's. */
const SettingsInput = z
  .strictObject({
    timeout: DurationInput.optional(),
    retry: RetryInput.optional(),
    maxLosses: z.int().min(0).max(1_000).optional(),
    queueTtl: DurationInput.optional(),
    onLost: z.enum(['retry', 'hold']).optional(),
    sla: DurationInput.optional(),
    uses: z.array(NewName).max(10).optional().meta({ description: 'Only names that the action itself uses.' }),
  })
  .meta({ description: "Overrides of the action's settings, for this task." })

const DedupeInput = z
  .strictObject({
    key: NewName,
    until: z
      .union([z.enum(['ended', 'forever']), DurationInput])
      .optional()
      .meta({
        description:
          'How long the key is held: until the task has `ended` or died (if missing), `forever`, or a duration from acceptance on.',
      }),
  })
  .meta({ description: 'A dedupe key of the tenant and the action, and its life.' })

export const SubmissionInput = z
  .strictObject({
    action: NewActionName,
    payload: JsonValue.optional(),
    id: NewTaskId.refine((id) => !DERIVED_ID.test(id), DERIVED_ID_REFUSED)
      .optional()
      .meta({
        description: 'Makes the submission idempotent. Drawn at random if missing. Not `key-…`, `event-…` or `job-…`.',
      }),
    tenant: NewTenantId.optional(),
    pool: NewPoolName.optional().meta({ description: "Where it runs; the action's own pool if missing." }),
    labels: z
      .record(NewName, NewName)
      .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `A task has at most ${LABELS_MAX} labels.`)
      .optional(),
    priority: z.int().min(0).max(9).optional(),
    delay: DurationInput.optional().meta({ description: 'Not before this long from now.' }),
    runAt: MomentInput.optional().meta({ description: 'Not before this moment.' }),
    deadline: DurationInput.optional().meta({ description: 'No attempt starts later than this long from now.' }),
    deadlineAt: MomentInput.optional(),
    dedupeKey: NewName.optional().meta({
      description: 'One task at a time for the tenant, the action and this key: short for `dedupe` until it has ended.',
    }),
    dedupe: DedupeInput.optional(),
    retryToken: NewName.optional(),
    preferredWorker: NewName.optional(),
    affinityKey: NewName.optional(),
    notify: z.boolean().optional().meta({
      description:
        'Makes the end of the task an event, `reprise.task.succeeded` or `reprise.task.dead`. If missing or false, the action and the webhooks say whether it is one.',
    }),
    settings: SettingsInput.optional(),
  })
  .meta({ id: 'Submission' })

export const SubmittedView = z
  .object({
    id: z.string(),
    outcome: z.enum(['accepted', 'duplicate']).meta({
      description:
        '`duplicate`: the same was submitted before; `id` is the task that has the id or dedupe key. Another task under that id or key is refused (409).',
    }),
  })
  .meta({ id: 'Submitted' })

/** One line of the answer to a bulk submission, in the order of its lines. */
export const SubmittedLine = z
  .object({
    line: z.int(),
    id: z.string().optional(),
    outcome: z.enum(['accepted', 'duplicate', 'conflict', 'refused']),
    differs: z.array(z.enum(TASK_DIFFERENCES)).optional().meta({
      description: 'Of a `conflict`: in what the task `id`, which has the id or dedupe key, was asked for otherwise.',
    }),
    code: z.string().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'SubmittedLine' })
