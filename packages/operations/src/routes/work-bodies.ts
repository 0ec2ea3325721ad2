// What workers in any language send and get: leases, settlements, claims, and what ephemeral workers tell.

import { LOG_BYTES_MAX, LOG_LINES_MAX } from '@reprise/core'
import { z } from 'zod'
import { JsonValue, Milliseconds, Moment, TaskIdInput } from '../schemas/names.ts'
import { SnapshotView } from '../schemas/task.ts'

/** A credential holds the id of a worker, and more. */
const CREDENTIAL_LENGTH_MAX = 600
const CredentialInput = z
  .string()
  .max(CREDENTIAL_LENGTH_MAX)
  .meta({ description: 'The `token` that came with the claim or the launch.' })
/** All that is kept of the attempt's log: it takes the place of what was sent before. */
const LogInput = z.strictObject({
  lines: z
    .array(
      z.strictObject({
        at: Moment.optional().meta({ description: 'Now if missing.' }),
        level: z.enum(['info', 'warn', 'error']).optional(),
        text: z.string().max(LOG_BYTES_MAX),
      }),
    )
    .max(LOG_LINES_MAX),
  dropped: z.int().min(0).optional(),
})

export const LeaseInput = z.strictObject({ taskId: TaskIdInput, attempt: z.int().min(1), token: CredentialInput })

const ErrorInput = z
  .strictObject({
    code: z.string().max(200).optional().meta({ description: 'Stable and short: `ECONNREFUSED`, `HTTP_503`.' }),
    message: z.string().max(1_000_000).optional(),
    name: z.string().max(200).optional(),
    stack: z.string().max(10_000_000).optional(),
    status: z.int().optional().meta({ description: 'An HTTP status that it failed with.' }),
    retryable: z.boolean().optional().meta({ description: 'If the worker knows. Otherwise the policies classify it.' }),
    retryAfterMs: Milliseconds.optional(),
    details: JsonValue.optional(),
  })
  .meta({ id: 'ReportedError' })

export const SettlementInput = z.discriminatedUnion('outcome', [
  LeaseInput.extend({ outcome: z.literal('succeeded'), result: JsonValue.optional() }),
  LeaseInput.extend({ outcome: z.literal('failed'), error: ErrorInput }),
  LeaseInput.extend({
    outcome: z.literal('released').meta({ description: 'Not run after all: back to the queue, nothing is charged.' }),
    reason: z.string().max(1_000).optional(),
  }),
])

export const SettledView = z
  .object({
    outcome: z.literal('settled'),
    status: z.string(),
    repeated: z.boolean(),
    sentence: z.string().optional().meta({ description: 'After a failure: what was decided about it, and why.' }),
  })
  .meta({ id: 'Settled' })

export const SettlementView = z
  .discriminatedUnion('outcome', [
    SettledView,
    z.object({ outcome: z.literal('superseded'), because: z.string() }),
    z
      .object({ outcome: z.literal('refused'), code: z.string(), detail: z.string() })
      .meta({ description: 'This one can not be taken as it is: a result that is too large, say. The lease goes on.' }),
  ])
  .meta({ id: 'Settlement' })

export const ClaimedView = z
  .object({
    taskId: z.string(),
    attempt: z.int(),
    token: z
      .string()
      .meta({ description: 'Fences everybody else. Keep it secret; send it with renewals and the end.' }),
    snapshot: SnapshotView,
    retryReason: z.string().nullable(),
    alone: z.boolean().meta({
      description: 'One more loss would be its last: run nothing beside it, or release it while something else runs.',
    }),
    generation: z.int(),
    startedAt: Moment,
    leaseUntil: Moment,
    timeoutAt: Moment,
  })
  .meta({ id: 'Claimed' })

export const CompleteInput = z.strictObject({
  taskId: TaskIdInput,
  attempt: z.int().min(1),
  token: CredentialInput.optional(),
  status: z.enum(['succeeded', 'failed']),
  result: JsonValue.optional(),
  error: ErrorInput.optional(),
})

/** How far it has come, and all that is kept of its log. */
export const NewsInput = {
  progress: z
    .strictObject({
      fraction: z.number().min(0).max(1).nullable().optional(),
      note: z.string().max(1_000).nullable().optional(),
    })
    .optional(),
  log: LogInput.optional(),
}

export const HeartbeatInput = z.strictObject({
  taskId: TaskIdInput,
  attempt: z.int().min(1),
  token: CredentialInput.optional(),
  ...NewsInput,
})
