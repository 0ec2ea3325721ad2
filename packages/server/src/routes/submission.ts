// From a submission over HTTP to what the store takes. The action's declared settings hold, with what the submission says for
// itself on top.

import { createHash, randomUUID } from 'node:crypto'
import type { SubmissionInput } from '@reprise/contract'
import {
  AFFINITY_LABEL,
  type CataloguedAction,
  checkedName,
  DEFAULT_PRIORITY,
  DEFAULT_TENANT,
  defineAction,
  drawTaskId,
  durationMs,
  encodeJson,
  InvalidError,
  PREFERRED_WORKER_LABEL,
  type Priority,
  parseTraceparent,
  RequestError,
  retryToken,
  type TaskId,
  type TaskSettings,
  type TaskSpec,
  type TenantId,
  TRACEPARENT_LABEL,
  workerId,
} from '@reprise/core'
import type { z } from 'zod'
import type { Principal } from '../access/principal.ts'
import { mayTouch } from '../access/tenants.ts'

export type Submission = z.output<typeof SubmissionInput>

export interface SubmissionContext {
  readonly principal: Principal
  readonly action: CataloguedAction
  readonly idempotencyKey: string | null
  /** W3C trace context of the request, if it has one. */
  readonly traceparent: string | null
}

export function taskSpecOf(submission: Submission, context: SubmissionContext): TaskSpec {
  const { action, principal, idempotencyKey } = context
  const tenant = tenantFor(submission.tenant, principal)
  const id = submission.id ?? (idempotencyKey === null ? null : idFromKey(tenant, principal.actor, idempotencyKey))
  return {
    id: id ?? drawTaskId(),
    action: action.name,
    pool: submission.pool ?? action.pool,
    tenant,
    payload: encodeJson(submission.payload ?? null, 'payload'),
    labels: labelsOf(submission, context.traceparent),
    priority: (submission.priority ?? DEFAULT_PRIORITY) as Priority,
    settings: submission.settings === undefined ? action.settings : settingsOf(action, submission.settings),
    retryToken: retryToken(submission.retryToken ?? randomUUID()),
    dedupeKey: submission.dedupeKey === undefined ? null : checkedName('dedupeKey', submission.dedupeKey),
    delayMs: submission.delay === undefined ? 0 : durationMs(submission.delay, 'delay'),
    dueAt: momentOf(submission.runAt, 'runAt'),
    deadlineAt: momentOf(submission.deadlineAt, 'deadlineAt'),
    deadlineMs: submission.deadline === undefined ? null : durationMs(submission.deadline, 'deadline'),
  }
}

function tenantFor(asked: TenantId | undefined, principal: Principal): TenantId {
  if (asked !== undefined) {
    if (mayTouch(principal, asked)) return asked
    throw new RequestError('REPRISE_FORBIDDEN', `${principal.actor} may not submit for the tenant '${asked}'.`)
  }
  const { tenants } = principal
  if (tenants === null || tenants.includes(DEFAULT_TENANT)) return DEFAULT_TENANT
  const [only] = tenants
  if (tenants.length === 1 && only !== undefined) return only
  throw new InvalidError(`Name a tenant: one of ${tenants.join(', ')}.`)
}

/** The same key from the same caller is the same task, whenever and wherever it comes again. */
function idFromKey(tenant: TenantId, actor: string, key: string): TaskId {
  const digest = createHash('sha256')
    .update(JSON.stringify([tenant, actor, key]))
    .digest('hex')
  // No caller may name such an id: see DERIVED_ID of the contract.
  return `key-${digest.slice(0, 32)}` as TaskId
}

function labelsOf({ labels = {}, preferredWorker, affinityKey }: Submission, traceparent: string | null) {
  const own = labels[TRACEPARENT_LABEL]
  if (own !== undefined && parseTraceparent(own) === null) {
    throw new InvalidError(`The label '${TRACEPARENT_LABEL}' is kept for a W3C trace context, and this is none.`)
  }
  if (preferredWorker === undefined && affinityKey === undefined && traceparent === null) return labels
  return {
    ...labels,
    ...(preferredWorker === undefined ? {} : { [PREFERRED_WORKER_LABEL]: workerId(preferredWorker) }),
    ...(affinityKey === undefined ? {} : { [AFFINITY_LABEL]: affinityKey }),
    ...(traceparent === null || own !== undefined ? {} : { [TRACEPARENT_LABEL]: traceparent }),
  }
}

function momentOf(value: number | string | undefined, what: string): number | null {
  if (value === undefined) return null
  const at = typeof value === 'number' ? value : Date.parse(value)
  if (Number.isNaN(new Date(at).getTime())) throw new InvalidError(`${what} is not a moment.`)
  return at
}

/** Resolved by the very function that resolves a declared action's. */
function settingsOf(action: CataloguedAction, own: NonNullable<Submission['settings']>): TaskSettings {
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  const { settings } = defineAction({ name: action.name, ...given })
  const named = new Set<string>(Object.keys(given).map((key) => SETTING_OF[key as keyof typeof SETTING_OF]))
  return {
    ...action.settings,
    ...Object.fromEntries(Object.entries(settings).filter(([key]) => named.has(key))),
  }
}

const SETTING_OF = {
  timeout: 'timeoutMs',
  maxRetries: 'maxRetries',
  lossesMax: 'lossesMax',
  queueTtl: 'queueTtlMs',
  retryUnknown: 'retryUnknown',
  onLost: 'onLost',
  sla: 'slaMs',
  dependsOn: 'breakers',
} as const satisfies Record<keyof NonNullable<Submission['settings']>, keyof TaskSettings>
