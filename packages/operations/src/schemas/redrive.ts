// The shapes of redrives: what an operator asks for, and what they see of it.

import { REDRIVE_STATES } from '@reprise/orchestrator'
import { z } from 'zod'
import {
  JsonValue,
  listOf,
  Milliseconds,
  Moment,
  NameInput,
  QueryInput,
  ReasonInput,
  ScopeInput,
  TaskIdInput,
} from './names.ts'

const STAGES_MAX = 10

export const RedriveParams = z.object({ id: NameInput })

/** An action on a redrive. */
export const RedriveActInput = RedriveParams.extend({ reason: ReasonInput })

export const RedriveInput = ScopeInput.extend({
  ids: z.array(TaskIdInput).min(1).max(1_000).optional().meta({ description: 'These dead letters.' }),
  fingerprint: NameInput.optional().meta({ description: 'The dead letters of this failure group.' }),
  q: QueryInput.shape.q.meta({ description: 'The dead letters that this query finds. All conditions must hold.' }),
  all: z.literal(true).optional().meta({ description: 'Needed to mean every dead letter there is.' }),
  reason: ReasonInput,
  start: z.boolean().optional().meta({ description: 'Start at once. If missing, it is a plan until it is started.' }),
  canary: z
    .array(z.int().min(1).max(1_000_000))
    .max(STAGES_MAX)
    .optional()
    .meta({ description: 'Sizes of the stages before the rest; [1, 10, 100] if missing, [] for none and no halt.' }),
  minSuccess: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: 'The share of a stage that must succeed; 0.95.' }),
  ratePerS: z.number().min(0.01).max(100_000).optional().meta({ description: 'At most this many per second.' }),
  concurrency: z.int().min(1).max(1_000_000).optional().meta({ description: 'At most this many under way at once.' }),
  pace: z
    .enum(['free', 'breaker'])
    .optional()
    .meta({ description: '`breaker`: as fast as the circuit breakers let through. `free` if missing.' }),
  patch: z
    .union([z.array(z.record(z.string(), z.unknown())), z.record(z.string(), z.unknown())])
    .optional()
    .meta({ description: 'Changes each payload: a JSON Patch (RFC 6902), or an object to merge (RFC 7396).' }),
  fixedIn: NameInput.optional().meta({
    description: 'Run on workers of this version or newer only, once they are there.',
  }),
})

const NamedCount = z.object({ name: z.string(), count: z.int() })
const CauseCount = z.object({ fingerprint: z.string(), action: z.string(), message: z.string(), count: z.int() })
const Counts = z.object({
  pending: z.int(),
  sent: z.int().meta({ description: 'Under way.' }),
  recovered: z.int(),
  failed: z.int().meta({ description: 'Dead again.' }),
  skipped: z.int(),
  undone: z.int(),
  ended: z.int().meta({ description: 'Cancelled, discarded or removed after they were sent.' }),
})

export const RedriveView = z
  .object({
    id: z.string(),
    state: z.enum(REDRIVE_STATES),
    actor: z.string(),
    reason: z.string(),
    tenants: listOf(z.string()).nullable(),
    selector: z.string().meta({ description: 'Which dead letters, in words.' }),
    createdAt: Moment,
    startedAt: Moment.nullable(),
    endedAt: Moment.nullable(),
    total: z.int(),
    counts: Counts,
    plan: z.object({
      canary: listOf(z.int()),
      minSuccess: z.number(),
      ratePerS: z.number().nullable(),
      concurrency: z.int().nullable(),
      pace: z.enum(['free', 'breaker']),
      patch: JsonValue,
      fixedIn: z.string().nullable(),
    }),
    found: z
      .object({
        actions: listOf(NamedCount),
        tenants: listOf(NamedCount),
        ages: listOf(NamedCount).meta({ description: 'By how long they had been dead: less than the name says.' }),
        causes: listOf(CauseCount),
        expired: z.int().meta({ description: 'Past their deadline.' }),
        superseded: z.int().meta({ description: 'Another task has taken their dedupe key.' }),
      })
      .meta({ description: 'What its dead letters were. Lists have the largest.' }),
    preflight: z
      .object({
        at: Moment,
        paused: z.int(),
        breaker: z.int(),
        noWorker: z.int(),
        estimatedMs: Milliseconds.nullable(),
        warnings: listOf(z.string()),
      })
      .nullable()
      .meta({ description: 'What stood in the way when it was planned; null while it is collecting.' }),
    stages: listOf(
      z.object({
        size: z.int().nullable().meta({ description: 'Null for the rest.' }),
        sent: z.int(),
        recovered: z.int(),
        failed: z.int(),
        same: z.int().meta({ description: 'Failed of the same cause again.' }),
        startedAt: Moment,
        endedAt: Moment.nullable(),
      }),
    ),
    again: listOf(CauseCount).meta({ description: 'Why items failed again, the most frequent first.' }),
    halt: z
      .object({
        at: Moment,
        stage: z.int(),
        sentence: z.string(),
        evidence: listOf(
          z.object({
            taskId: z.string(),
            fingerprint: z.string().nullable(),
            message: z.string(),
            isSame: z.boolean().meta({ description: 'Whether it is the cause that it had died of before.' }),
          }),
        ),
      })
      .nullable(),
    held: z.string().nullable().meta({ description: 'Why nothing is sent at the moment.' }),
    isMoved: z.boolean().meta({ description: 'Whether an orchestrator moves it now.' }),
  })
  .meta({ id: 'Redrive' })

const Cause = z.object({ fingerprint: z.string(), message: z.string() })

export const RedriveItemView = z
  .object({
    taskId: z.string(),
    status: z.enum(['pending', 'sent', 'recovered', 'failed', 'skipped', 'undone', 'ended']),
    action: z.string(),
    tenant: z.string(),
    generation: z.int().meta({ description: 'Of the task when it was found.' }),
    cause: Cause.nullable(),
    again: Cause.nullable().meta({ description: 'Why it failed again.' }),
    why: z.string().nullable().meta({ description: 'Why it was skipped, or how it ended.' }),
    copy: z.string().nullable().meta({ description: 'With a patch: the task that takes its place.' }),
    changes: listOf(z.object({ path: z.string(), before: JsonValue.optional(), after: JsonValue.optional() }))
      .nullable()
      .meta({ description: 'With a patch: what it changes in the payload.' }),
    problem: z.string().nullable().meta({ description: 'With a patch: why it does not fit.' }),
  })
  .meta({ id: 'RedriveItem' })
