// From a submission over HTTP to what the store takes. The action's declared settings hold, with what the submission says for
// itself on top. How a task is built from a request is core's (task-spec.ts).

import { createHash } from 'node:crypto'
import {
  type ActionOptions,
  type BreakerRef,
  type CataloguedAction,
  type CompletionWishes,
  DEFAULT_TENANT,
  defineAction,
  encodeJson,
  InvalidError,
  ownerOfId,
  ownId,
  parseTraceparent,
  present,
  RequestError,
  type TaskId,
  type TaskSettings,
  type TaskSpec,
  type TenantId,
  TRACEPARENT_LABEL,
  taskSpecOf,
  withLabel,
  withNotify,
} from '@reprise/core'
import { type Caller, type LaneRoom, mayTouch, ownerOf, type SubmissionInput } from '@reprise/operations'
import type { z } from 'zod'

export type Submission = z.output<typeof SubmissionInput>
type Settings = NonNullable<Submission['settings']>

export interface SubmissionContext {
  readonly caller: Caller
  readonly action: CataloguedAction
  readonly wishes: CompletionWishes
  readonly idempotencyKey: string | null
  /** W3C trace context of the request, if it has one. */
  readonly traceparent: string | null
}

export function submittedTask(submission: Submission, context: SubmissionContext): TaskSpec {
  const { caller, idempotencyKey, traceparent } = context
  const tenant = tenantFor(submission.tenant, caller)
  const id =
    submission.id === undefined
      ? idFromKey(tenant, ownerOf(caller), idempotencyKey)
      : chosenId(submission.id, tenant, caller)
  const { runAt, ...asked } = submission
  const dueAt = momentOf(runAt, 'runAt')
  const deadlineAt = momentOf(submission.deadlineAt, 'deadlineAt')
  refuseNoTraceparent(submission.labels?.[TRACEPARENT_LABEL])
  const own = submission.settings
  const declared = own === undefined ? context.action.settings : settingsOf(context.action, own)
  const settings =
    submission.notify === true ? withNotify(declared) : context.wishes.settingsFor(declared, submission.action, tenant)
  const payload = encodeJson(submission.payload ?? null, 'payload')
  const spec = taskSpecOf({ ...asked, id, dueAt, deadlineAt }, payload, {
    action: { ...context.action, settings },
    tenant,
  })
  return traceparent === null ? spec : withLabel(spec, TRACEPARENT_LABEL, traceparent)
}

/** Refuses a task that would make more lanes, or more kinds of settings, than its caller may make. */
export function admitted(
  spec: TaskSpec,
  { settings }: Submission,
  room: LaneRoom,
  caller: Caller,
): Promise<void> | undefined {
  if (settings !== undefined) room.admitSettings(spec)
  return room.admit(spec, caller)
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

/** A caller who is limited to tenants chooses among the ids of the tenant; who is not may name those, for that tenant only. */
function chosenId(id: TaskId, tenant: TenantId, { tenants }: Caller): TaskId {
  if (tenants !== null) return ownId(tenant, id)
  const owner = ownerOfId(id)
  if (owner === null || owner.tenant === tenant) return id
  throw new InvalidError(`The id '${id}' is kept for the tenant '${owner.tenant}'. Use another id.`)
}

/** The same key from the same caller is the same task, whenever and wherever it comes again. */
function idFromKey(tenant: TenantId, owner: string, key: string | null): TaskId | undefined {
  if (key === null) return undefined
  const digest = createHash('sha256')
    .update(JSON.stringify([tenant, owner, key]))
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
function settingsOf(action: CataloguedAction, own: Settings): TaskSettings {
  const { retry = {}, ...others } = own
  const given = present(others)
  const givenRetry = present(retry)
  const { settings } = defineAction({ name: action.name, ...given, retry: givenRetry } as ActionOptions<
    never,
    never,
    never
  >)
  const breakers = ownBreakers(action, settings)
  const named = new Set<string>([
    ...Object.keys(given).map((key) => SETTING_OF[key as keyof typeof SETTING_OF]),
    ...Object.keys(givenRetry).map((key) => RETRY_SETTING_OF[key as keyof typeof RETRY_SETTING_OF]),
  ])
  // Retries that only the submission asks for. Where the action has some, its own word on unknown failures stands.
  if (named.has('maxRetries') && (action.settings.maxRetries ?? 0) === 0) named.add('retryUnknown')
  return {
    ...action.settings,
    ...Object.fromEntries(Object.entries(settings).filter(([key]) => named.has(key))),
    ...(breakers.length === 0 ? {} : { breakers }),
    ...(named.has('timeoutMs') && settings.timeoutMs < action.settings.timeoutMs ? { ownTimeout: true } : {}),
  }
}

/**
 * The breakers that the submission names, with the settings of the action. A breaker holds the work of others as well, so no
 * submission brings in one that its action does not have.
 */
function ownBreakers({ name, settings }: CataloguedAction, asked: TaskSettings): readonly BreakerRef[] {
  const known = settings.breakers ?? []
  const wanted = new Set(asked.breakers?.map((breaker) => breaker.name))
  const found = known.filter((breaker) => wanted.delete(breaker.name))
  const [other] = wanted
  if (other === undefined) return found
  const names = known.flatMap((one) => (one.name.startsWith(DEPENDENCY) ? [`'${dependencyOf(one.name)}'`] : []))
  throw new InvalidError(
    `settings.uses: action '${name}' does not use '${dependencyOf(other)}'. ` +
      (names.length === 0 ? 'It uses nothing.' : `It uses ${names.join(', ')}.`),
  )
}

const DEPENDENCY = 'dependency:'
const dependencyOf = (breaker: string): string => breaker.slice(DEPENDENCY.length)

const SETTING_OF = {
  timeout: 'timeoutMs',
  maxLosses: 'maxLosses',
  queueTtl: 'queueTtlMs',
  onLost: 'onLost',
  sla: 'slaMs',
  uses: 'breakers',
} as const satisfies Record<Exclude<keyof Settings, 'retry'>, keyof TaskSettings>

const RETRY_SETTING_OF = {
  max: 'maxRetries',
  backoff: 'backoff',
  unknown: 'retryUnknown',
} as const satisfies Record<keyof NonNullable<Settings['retry']>, keyof TaskSettings>
