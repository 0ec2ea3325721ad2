// One task to submit, from what its submitter says: the id drawn, names checked, times in milliseconds, defaults filled in.
// Every way in (a client straight on an engine, one task over HTTP, tasks in bulk) builds the task here, so that the same
// request gives the same record.

import { AFFINITY_LABEL, PREFERRED_WORKER_LABEL } from '../workers/select-worker.ts'
import { type DedupeRequest, dedupeOf } from './dedupe.ts'
import { type Duration, durationMs } from './duration.ts'
import { InvalidError } from './errors.ts'
import {
  type ActionName,
  checkedName,
  type PoolName,
  poolName,
  type RetryToken,
  retryToken,
  type TaskId,
  type TenantId,
  taskId,
  tenantId,
  workerId,
} from './ids.ts'
import type { JsonText } from './json.ts'
import { DEFAULT_PRIORITY, PRIORITY_MAX, type Priority, type TaskSettings, type TaskSpec } from './task.ts'
import { drawTaskId } from './task-id.ts'

/** What a submitter may say of a task beside its action and payload. */
export interface TaskRequest {
  readonly id?: string | undefined
  readonly tenant?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly delay?: Duration | undefined
  /** A moment: as a date, or in milliseconds since the epoch. */
  readonly runAt?: Date | undefined
  readonly dueAt?: number | undefined
  /** Counted from the task's acceptance, or a moment. */
  readonly deadline?: Duration | Date | undefined
  readonly deadlineAt?: number | undefined
  readonly priority?: number | undefined
  readonly dedupeKey?: string | undefined
  readonly dedupe?: DedupeRequest | undefined
  readonly retryToken?: string | undefined
  readonly pool?: string | undefined
  readonly preferredWorker?: string | undefined
  readonly affinityKey?: string | undefined
}

/** What holds where the request says nothing. Null where the submitter does not know: the store or the server fills it in. */
export interface TaskDefaults<Pool extends PoolName | null, Settings, Tenant extends TenantId | null> {
  readonly action: { readonly name: ActionName; readonly pool: Pool; readonly settings: Settings }
  readonly tenant: Tenant
}

type Draft<Pool, Settings, Tenant> = Omit<TaskSpec, 'pool' | 'settings' | 'tenant'> & {
  readonly pool: Pool | PoolName
  readonly settings: Settings
  readonly tenant: Tenant | TenantId
}

export const LABELS_MAX = 32
const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({})
const NO_KEY: Pick<TaskSpec, 'dedupeKey'> = { dedupeKey: null }

/**
 * The retry token is stable for the whole task. One that is not given is the drawn id, which is random enough. It is never an
 * id that was given: that id may come again after its task was removed, and the new task must not share the old one's effects.
 */
export function taskSpecOf<
  Pool extends PoolName | null,
  Settings extends TaskSettings | null,
  Tenant extends TenantId | null,
>(
  request: TaskRequest,
  payload: JsonText,
  { action, tenant }: TaskDefaults<Pool, Settings, Tenant>,
): Draft<Pool, Settings, Tenant> {
  const id: TaskId = request.id === undefined ? drawTaskId() : taskId(request.id)
  const drawnToken = request.id === undefined ? id : crypto.randomUUID()
  const { runAt, deadline } = request
  return {
    id,
    action: action.name,
    pool: request.pool === undefined ? action.pool : poolName(request.pool),
    tenant: request.tenant === undefined ? tenant : tenantId(request.tenant),
    payload,
    labels: labelsOf(request),
    priority: checkedPriority(request.priority ?? DEFAULT_PRIORITY),
    settings: action.settings,
    retryToken:
      request.retryToken === undefined ? (drawnToken as string as RetryToken) : retryToken(request.retryToken),
    ...(request.dedupe === undefined && request.dedupeKey === undefined ? NO_KEY : dedupeOf(request)),
    delayMs: request.delay === undefined ? 0 : durationMs(request.delay, 'delay'),
    dueAt: runAt === undefined ? (request.dueAt ?? null) : moment(runAt, 'runAt'),
    deadlineAt: deadline instanceof Date ? moment(deadline, 'deadline') : (request.deadlineAt ?? null),
    deadlineMs: deadline === undefined || deadline instanceof Date ? null : durationMs(deadline, 'deadline'),
  }
}

function moment(value: Date, what: string): number {
  if (!(value instanceof Date)) throw new InvalidError(`${what} must be a Date, not ${typeof value}.`)
  const at = value.getTime()
  if (Number.isNaN(at)) throw new InvalidError(`${what} is an invalid Date.`)
  return at
}

function checkedPriority(value: number): Priority {
  if (!Number.isInteger(value) || value < 0 || value > PRIORITY_MAX) {
    throw new InvalidError(`The priority must be a whole number from 0 to ${PRIORITY_MAX}, not ${value}.`)
  }
  return value as Priority
}

function labelsOf({ labels, preferredWorker, affinityKey }: TaskRequest): TaskSpec['labels'] {
  const given = labels === undefined ? NO_LABELS : checkedLabels(labels)
  if (preferredWorker === undefined && affinityKey === undefined) return given
  const wishes = {
    ...(preferredWorker === undefined ? {} : { [PREFERRED_WORKER_LABEL]: workerId(preferredWorker) }),
    ...(affinityKey === undefined ? {} : { [AFFINITY_LABEL]: checkedName('affinityKey', affinityKey) }),
  }
  for (const [label, wish] of Object.entries(wishes)) {
    if (given[label] !== undefined && given[label] !== wish) {
      throw new InvalidError(`The label '${label}' and the option for it differ. Give one of them.`)
    }
  }
  return checkedLabels({ ...given, ...wishes })
}

function checkedLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (typeof labels !== 'object' || Array.isArray(labels)) {
    throw new InvalidError(`Labels are an object of texts, not ${typeof labels}.`)
  }
  const entries = Object.entries(labels)
  if (entries.length > LABELS_MAX) {
    throw new InvalidError(`A task has at most ${LABELS_MAX} labels, not ${entries.length}.`)
  }
  return Object.fromEntries(
    entries.map(([key, value]) => [checkedName('label name', key), checkedName(`label '${key.slice(0, 40)}'`, value)]),
  )
}

/** With this label as well, if the task has none of that name and room for one more. */
export function withLabel<Spec extends Pick<TaskSpec, 'labels'>>(spec: Spec, name: string, value: string): Spec {
  const { labels } = spec
  if (labels[name] !== undefined || Object.keys(labels).length >= LABELS_MAX) return spec
  return { ...spec, labels: { ...labels, [name]: value } }
}
