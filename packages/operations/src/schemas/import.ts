// A line of an import: a task as `export` writes it. Most of it may be left out, so that failures of another system can be written
// down by hand or by a few lines of script: an id, an action, and what went wrong.

import { DEAD_REASONS, LABELS_MAX, SEVERITIES, TASK_DIFFERENCES, TASK_STATUSES } from '@reprise/core'
import { z } from 'zod'
import { JsonValue, Milliseconds, NewActionName, NewName, NewPoolName, NewTaskId, NewTenantId } from './names.ts'

const Count = z.int().min(1).max(1_000_000)
const MomentInput = z.int().min(0).max(8_640_000_000_000_000)
const Text = z.string().max(100_000)
const Jitter = z.number().min(0).max(1)

const BackoffInput = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('fixed'), delayMs: Milliseconds, jitter: Jitter }),
  z.object({ kind: z.literal('linear'), stepMs: Milliseconds, maxMs: Milliseconds, jitter: Jitter }),
  z.object({
    kind: z.literal('exponential'),
    baseMs: Milliseconds,
    multiplier: z.number().min(1).max(1_000),
    maxMs: Milliseconds,
    jitter: Jitter,
  }),
  z.object({ kind: z.literal('decorrelated'), baseMs: Milliseconds, maxMs: Milliseconds }),
  z.object({ kind: z.literal('schedule'), delaysMs: z.array(Milliseconds).min(1).max(100), jitter: Jitter }),
])

/** Breakers and quotas are left out: those of this store count. */
const SettingsInput = z.object({
  timeoutMs: Milliseconds,
  maxRetries: z.int().min(0).max(1_000).nullable(),
  maxLosses: z.int().min(0).max(1_000),
  queueTtlMs: Milliseconds.nullable(),
  backoff: BackoffInput,
  retryUnknown: z.boolean(),
  onLost: z.enum(['retry', 'hold', 'reconcile']).optional(),
  slaMs: Milliseconds.optional(),
  pack: NewName.optional(),
  runtime: NewName.optional(),
  ownTimeout: z.literal(true).optional(),
  healthAware: z.literal(false).optional(),
  notify: z.literal(true).optional(),
})

const FailureInput = z.object({
  message: Text,
  name: Text.optional(),
  code: Text.optional(),
  stack: Text.nullish(),
  reason: z.string().max(100).optional(),
  retriable: z.boolean().optional(),
  rule: Text.optional(),
  retryAfterMs: Milliseconds.nullish(),
  fingerprint: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional(),
  details: Text.nullish(),
})

const around = {
  rule: Text,
  sentence: Text,
  policy: z.object({ name: Text, version: z.int() }).optional(),
}
const EscalationInput = z.object({
  severity: z.enum(SEVERITIES),
  owner: Text.optional(),
  runbook: Text.optional(),
})
const DecisionInput = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('retry'), delayMs: Milliseconds, reason: z.string().max(100), ...around }),
  z.object({ kind: z.literal('park'), reason: z.string().max(100), ...around }),
  z.object({
    kind: z.literal('dead'),
    reason: z.enum(DEAD_REASONS),
    escalation: EscalationInput.optional(),
    ...around,
  }),
])

const AttemptInput = z.object({
  attempt: Count.optional().meta({ description: 'One more than the one before it if missing.' }),
  generation: Count.optional(),
  status: z.enum(['failed', 'lost']).optional(),
  worker: NewName.nullish(),
  build: z.object({ version: Text, host: Text, runtimes: z.array(Text).max(20) }).nullish(),
  dispatchedAt: MomentInput.optional(),
  resolvedAt: MomentInput.optional(),
  retryReason: z.string().max(100).nullish(),
  failure: FailureInput,
  decision: DecisionInput.optional(),
})

export const ImportedTaskInput = z
  .object({
    snapshot: z.object({
      id: NewTaskId,
      action: NewActionName,
      payload: JsonValue.optional(),
      pool: NewPoolName.optional(),
      tenant: NewTenantId.optional(),
      labels: z
        .record(NewName, NewName)
        .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `A task has at most ${LABELS_MAX} labels.`)
        .optional(),
      priority: z.int().min(0).max(9).optional(),
      settings: SettingsInput.optional(),
      retryToken: NewName.optional(),
      dedupeKey: NewName.nullish(),
      deadlineAt: MomentInput.nullish(),
    }),
    generation: Count.optional(),
    state: z.object({
      status: z.enum(TASK_STATUSES),
      dueAt: MomentInput.optional(),
      keyTaken: z.literal(true).optional(),
    }),
    attempts: z.array(AttemptInput).max(10_000).optional(),
    redacted: z.boolean().optional(),
  })
  .meta({ id: 'ImportedTask', description: 'A task as `export` writes it. Most of it may be left out.' })

export const ImportedLine = z
  .object({
    id: z.string().nullable(),
    outcome: z.enum(['accepted', 'duplicate', 'conflict', 'ended', 'refused']).meta({
      description:
        '`duplicate`: it is there already. `conflict`: another task has its id or dedupe key. `ended`: it has ended, and there is nothing to take over. `refused`: see `problem`.',
    }),
    differs: z.array(z.enum(TASK_DIFFERENCES)).optional(),
    problem: z.string().optional(),
  })
  .meta({ id: 'ImportedLine' })
