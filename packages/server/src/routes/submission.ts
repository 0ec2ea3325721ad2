// From a submission over HTTP to what the store takes. The action's declared settings hold, with what the submission says for
// itself on top. How a task is built from a request is core's (task-spec.ts).

import { createHash } from 'node:crypto'
import {
  type CataloguedAction,
  DEFAULT_TENANT,
  defineAction,
  encodeJson,
  InvalidError,
  parseTraceparent,
  RequestError,
  type TaskId,
  type TaskSettings,
  type TaskSpec,
  type TenantId,
  TRACEPARENT_LABEL,
  taskSpecOf,
  withLabel,
} from '@reprise/core'
import { type Caller, mayTouch, type SubmissionInput } from '@reprise/operations'
import type { z } from 'zod'

export type Submission = z.output<typeof SubmissionInput>

export interface SubmissionContext {
  readonly caller: Caller
  readonly action: CataloguedAction
  readonly idempotencyKey: string | null
  /** W3C trace context of the request, if it has one. */
  readonly traceparent: string | null
}

export function submittedTask(submission: Submission, context: SubmissionContext): TaskSpec {
  const { caller, idempotencyKey, traceparent } = context
  const tenant = tenantFor(submission.tenant, caller)
  const { id = idempotencyKey === null ? undefined : idFromKey(tenant, caller.actor, idempotencyKey) } = submission
  const dueAt = momentOf(submission.runAt, 'runAt')
  const deadlineAt = momentOf(submission.deadlineAt, 'deadlineAt')
  refuseNoTraceparent(submission.labels?.[TRACEPARENT_LABEL])
  const { settings } = submission
  const action =
    settings === undefined ? context.action : { ...context.action, settings: settingsOf(context.action, settings) }
  const payload = encodeJson(submission.payload ?? null, 'payload')
  const spec = taskSpecOf({ ...submission, id, dueAt, deadlineAt }, payload, { action, tenant })
  return traceparent === null ? spec : withLabel(spec, TRACEPARENT_LABEL, traceparent)
}

function tenantFor(asked: TenantId | undefined, caller: Caller): TenantId {
  if (asked !== undefined) {
    if (mayTouch(caller, asked)) return asked
    throw new RequestError('REPRISE_FORBIDDEN', `${caller.actor} may not submit for the tenant '${asked}'.`)
  }
  const { tenants } = caller
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

function refuseNoTraceparent(label: string | undefined): void {
  if (label === undefined || parseTraceparent(label) !== null) return
  throw new InvalidError(`The label '${TRACEPARENT_LABEL}' is kept for a W3C trace context, and this is none.`)
}

function momentOf(value: number | string | undefined, what: string): number | undefined {
  if (value === undefined) return undefined
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
