// What a submission may say. Durations are milliseconds or texts such as '5m'; times are moments or ISO 8601.

import { LABELS_MAX } from '@reprise/core'
import { z } from 'zod'
import {
  ActionNameInput,
  DurationInput,
  JsonValue,
  NameInput,
  PoolNameInput,
  TaskIdInput,
  TenantIdInput,
} from './names.ts'

/** The furthest moment, either way, that has a date. */
const MOMENT_MAX = 8_640_000_000_000_000

const MomentInput = z
  .union([z.int().min(-MOMENT_MAX).max(MOMENT_MAX), z.iso.datetime({ offset: true })])
  .meta({ description: 'Milliseconds since 1970, or an ISO 8601 time.' })

/** Ids that are made of an Idempotency-Key or of an event: a caller who could name one could take it from another. */
const DERIVED_ID = /^(?:key|event)-/
const DERIVED_ID_REFUSED = "Ids that begin with 'key-' or 'event-' are drawn by the server. Use another one."

/** Settings that a submission may set for itself; the others are the action's. */
const SettingsInput = z
  .strictObject({
    timeout: DurationInput.optional(),
    maxRetries: z.int().min(0).max(1_000).optional(),
    lossesMax: z.int().min(0).max(1_000).optional(),
    queueTtl: DurationInput.optional(),
    retryUnknown: z.boolean().optional(),
    onLost: z.enum(['retry', 'hold']).optional(),
    sla: DurationInput.optional(),
    dependsOn: z.array(NameInput).max(10).optional(),
  })
  .meta({ description: "Overrides of the action's settings, for this task." })

export const SubmissionInput = z
  .strictObject({
    action: ActionNameInput,
    payload: JsonValue.optional(),
    id: TaskIdInput.refine((id) => !DERIVED_ID.test(id), DERIVED_ID_REFUSED)
      .optional()
      .meta({
        description: 'Makes the submission idempotent. Drawn at random if missing. Not `key-…` or `event-…`.',
      }),
    tenant: TenantIdInput.optional(),
    pool: PoolNameInput.optional().meta({ description: "Where it runs; the action's own pool if missing." }),
    labels: z
      .record(NameInput, NameInput)
      .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `A task has at most ${LABELS_MAX} labels.`)
      .optional(),
    priority: z.int().min(0).max(9).optional(),
    delay: DurationInput.optional().meta({ description: 'Not before this long from now.' }),
    runAt: MomentInput.optional().meta({ description: 'Not before this moment.' }),
    deadline: DurationInput.optional().meta({ description: 'No attempt starts later than this long from now.' }),
    deadlineAt: MomentInput.optional(),
    dedupeKey: NameInput.optional().meta({ description: 'One task per tenant and key.' }),
    retryToken: NameInput.optional(),
    preferredWorker: NameInput.optional(),
    affinityKey: NameInput.optional(),
    settings: SettingsInput.optional(),
  })
  .meta({ id: 'Submission' })

export const SubmittedView = z
  .object({
    id: z.string(),
    outcome: z
      .enum(['accepted', 'duplicate'])
      .meta({ description: '`duplicate`: the id or dedupe key is taken; `id` is the task that has it.' }),
  })
  .meta({ id: 'Submitted' })

/** One line of the answer to a bulk submission, in the order of its lines. */
export const SubmittedLine = z
  .object({
    line: z.int(),
    id: z.string().optional(),
    outcome: z.enum(['accepted', 'duplicate', 'refused']),
    code: z.string().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'SubmittedLine' })
