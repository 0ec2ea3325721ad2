// From what a developer types to what the store takes: options are checked, times resolved to milliseconds, the payload
// validated and encoded. The payload is stored as it was given; the worker parses it again with the same schema.

import { randomUUID } from 'node:crypto'
import {
  type Action,
  AFFINITY_LABEL,
  actionName,
  checkedName,
  DEFAULT_PRIORITY,
  type Duration,
  decodeJson,
  drawTaskId,
  durationMs,
  encodeJson,
  InvalidError,
  type JsonText,
  type PoolName,
  PREFERRED_WORKER_LABEL,
  PRIORITY_MAX,
  type Priority,
  parseInput,
  poolName,
  type RetryToken,
  type RunContext,
  refuseUnknownKeys,
  retryToken,
  type Snapshot,
  type StandardSchema,
  type TaskSettings,
  type TenantId,
  taskId,
  tenantId,
  workerId,
} from '@reprise/core'
import type { Submission } from './backend.ts'

export interface SubmitOptions {
  /** Makes the submission idempotent: a second task with this id is not accepted. A UUID if not given. */
  readonly id?: string
  readonly tenant?: string
  readonly labels?: Readonly<Record<string, string>>
  /** Not before this long from now. */
  readonly delay?: Duration
  /** Not before this moment. */
  readonly runAt?: Date
  /** No attempt starts later than this: counted from now, or a moment. */
  readonly deadline?: Duration | Date
  /** From 0 to 9; higher runs sooner within its lane. 5 if not given. */
  readonly priority?: number
  /** One task per tenant and key. */
  readonly dedupeKey?: string
  /** Passed to every attempt. Drawn at random if not given. */
  readonly retryToken?: string
  /** Where it runs; the action's own pool if not given. */
  readonly pool?: string
  /** The worker that should run it, in a pool with directed dispatch: the label preferred_worker_id. */
  readonly preferredWorker?: string
  /** Tasks with one key go to one worker while they can, in a pool with directed dispatch: the label affinity_key. */
  readonly affinityKey?: string
}

/** Any action, whatever its types: what is left of it when only its name, settings and schema matter. */
export interface SubmittableAction extends Pick<Action, 'name'> {
  /** Null, like the settings, where only the name is known. */
  readonly pool: PoolName | null
  readonly settings: TaskSettings | null
  readonly input: StandardSchema<unknown, unknown> | null
  readonly run: ((input: never, context: RunContext) => unknown) | null
}

export const LABELS_MAX = 32
const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({})

const KNOWN_OPTIONS = [
  'id',
  'tenant',
  'labels',
  'delay',
  'runAt',
  'deadline',
  'priority',
  'dedupeKey',
  'retryToken',
  'pool',
  'preferredWorker',
  'affinityKey',
] as const satisfies (keyof SubmitOptions)[]

/** An action that is known by its name only: what it declares is for the store or the server to say. */
export function namedAction(name: string): SubmittableAction {
  return { name: actionName(name), pool: null, settings: null, input: null, run: null }
}

/** A payload on its way to the store. */
export interface EncodedInput {
  readonly payload: JsonText
  /** The check against the action's schema; null when it has none: nothing to wait for. */
  readonly validation: Promise<unknown> | null
}

/** Encodes a payload and checks it as the worker will see it: what JSON makes of a Date is a text, also here. */
export function encodeInput(action: SubmittableAction, input: unknown): EncodedInput {
  const payload = encodeJson(input, 'payload')
  return { payload, validation: action.input === null ? null : parseInput(action, decodeJson(payload)) }
}

/** The task on its way to the store. The payload must have been validated. */
export function submissionOf(
  action: SubmittableAction,
  payload: JsonText,
  options: SubmitOptions,
  defaultTenant: TenantId | null,
): Submission {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'submit option')
  // A drawn id is random enough to be the retry token as well; a given one may come again after its task was removed.
  const drawnId = options.id === undefined ? drawTaskId() : null
  const { deadline } = options
  return {
    id: drawnId ?? taskId(options.id ?? ''),
    action: action.name,
    pool: options.pool === undefined ? action.pool : poolName(options.pool),
    tenant: options.tenant === undefined ? defaultTenant : tenantId(options.tenant),
    payload,
    labels: labelsOf(options),
    priority: checkedPriority(options.priority ?? DEFAULT_PRIORITY),
    settings: action.settings,
    retryToken:
      options.retryToken === undefined ? ((drawnId ?? randomUUID()) as RetryToken) : retryToken(options.retryToken),
    dedupeKey: options.dedupeKey === undefined ? null : checkedName('dedupeKey', options.dedupeKey),
    delayMs: options.delay === undefined ? 0 : durationMs(options.delay, 'delay'),
    dueAt: options.runAt === undefined ? null : moment(options.runAt, 'runAt'),
    deadlineAt: deadline instanceof Date ? moment(deadline, 'deadline') : null,
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

function labelsOf({ labels, preferredWorker, affinityKey }: SubmitOptions): Snapshot['labels'] {
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
  if (typeof labels !== 'object' || Array.isArray(labels))
    throw new InvalidError(`Labels are an object of texts, not ${typeof labels}.`)
  const entries = Object.entries(labels)
  if (entries.length > LABELS_MAX) {
    throw new InvalidError(`A task has at most ${LABELS_MAX} labels, not ${entries.length}.`)
  }
  return Object.fromEntries(
    entries.map(([key, value]) => [checkedName('label name', key), checkedName(`label '${key.slice(0, 40)}'`, value)]),
  )
}
