// From what a developer types to what the store takes: options are checked, the payload validated and encoded. The payload is
// stored as it was given; the worker parses it again with the same schema.

import {
  type Action,
  actionName,
  type Duration,
  decodeJson,
  encodeJson,
  InvalidError,
  type JsonText,
  type PoolName,
  parseInput,
  type RunContext,
  refuseUnknownKeys,
  type StandardSchema,
  type TaskSettings,
  type TenantId,
  taskSpecOf,
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
  const { runAt, deadline } = options
  const request = {
    ...options,
    dueAt: runAt === undefined ? undefined : moment(runAt, 'runAt'),
    deadlineAt: deadline instanceof Date ? moment(deadline, 'deadline') : undefined,
    deadline: deadline instanceof Date ? undefined : deadline,
  }
  return taskSpecOf(request, payload, { action, tenant: defaultTenant })
}

function moment(value: Date, what: string): number {
  if (!(value instanceof Date)) throw new InvalidError(`${what} must be a Date, not ${typeof value}.`)
  const at = value.getTime()
  if (Number.isNaN(at)) throw new InvalidError(`${what} is an invalid Date.`)
  return at
}
