// An action as a worker over HTTP publishes it: name, pool and complete settings, as `defineAction` resolved them. Tasks that
// are submitted by the name alone get these settings.

import { SCHEMA_LENGTH_MAX } from '@reprise/core'
import { z } from 'zod'
import { NewActionName, NewName, NewPoolName } from './names.ts'

const DURATION_MS_MAX = 31_536_000_000_000
const RETRIES_MAX = 1_000
const Delay = z.int().min(0).max(DURATION_MS_MAX)
const Span = z.int().min(1).max(DURATION_MS_MAX)
const Count = z.int().min(0).max(RETRIES_MAX)
const Share = z.number().min(0).max(1)

const BackoffInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('fixed'), delayMs: Delay, jitter: Share }),
  z.strictObject({ kind: z.literal('linear'), stepMs: Delay, maxMs: Delay, jitter: Share }),
  z.strictObject({
    kind: z.literal('exponential'),
    baseMs: Delay,
    multiplier: z.number().min(1).max(1_000),
    maxMs: Delay,
    jitter: Share,
  }),
  z.strictObject({ kind: z.literal('decorrelated'), baseMs: Delay, maxMs: Delay }),
  z.strictObject({ kind: z.literal('schedule'), delaysMs: z.array(Delay).min(1).max(RETRIES_MAX), jitter: Share }),
])

const BreakerInput = z.strictObject({
  name: NewName,
  settings: z.strictObject({
    windowMs: Span,
    minFailures: z.int().min(1).max(1_000_000),
    failureRate: Share,
    openMs: Span,
    maxOpenMs: Span,
    probes: z.int().min(1).max(1_000_000),
    maxRamp: z.int().min(1).max(1_000_000),
  }),
})

const QuotaInput = z.strictObject({
  name: NewName,
  windowMs: Span,
  limit: z.int().min(0).max(1_000_000_000).nullable(),
  share: z.number().min(0).max(1_000).nullable(),
  allTenants: z.boolean().optional(),
})

export const PublishedAction = z
  .strictObject({
    name: NewActionName,
    pool: NewPoolName,
    settings: z.strictObject({
      timeoutMs: Span,
      maxRetries: Count.nullable(),
      maxLosses: Count,
      queueTtlMs: Span.nullable(),
      backoff: BackoffInput,
      retryUnknown: z.boolean(),
      breakers: z.array(BreakerInput).max(10).optional(),
      quota: QuotaInput.optional(),
      onLost: z.enum(['retry', 'hold', 'reconcile']).optional(),
      slaMs: Span.optional(),
      pack: NewName.optional(),
      runtime: NewName.optional(),
      notify: z.literal(true).optional(),
    }),
    leftOpen: z
      .array(z.enum(['timeoutMs', 'queueTtlMs', 'backoff']))
      .max(3)
      .optional()
      .meta({ description: 'Settings that the action leaves to the system.' }),
    inputSchema: z.string().max(SCHEMA_LENGTH_MAX).optional().meta({
      description: 'The JSON Schema of what it takes, as JSON text: patches of a redrive are checked against it.',
    }),
  })
  .meta({ id: 'PublishedAction' })
