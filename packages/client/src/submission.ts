// From what a developer types to what the store takes: options are checked, the payload validated and encoded. The payload is
// stored as it was given; the worker parses it again with the same schema.

import {
  type Action,
  actionName,
  type DedupeRequest,
  type Duration,
  decodeJson,
  encodeJson,
  InvalidError,
  type JsonText,
  type OpenSetting,
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
import type { StoredResult } from './task-handle.ts'

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
  /** One task at a time for the tenant, the action and this key: until the task has ended or died. */
  readonly dedupeKey?: string
  /** The same with another life of the key: { key: 'order-17', until: '24h' } from acceptance on, or until 'forever'. */
  readonly dedupe?: DedupeRequest
  /** Passed to every attempt. Drawn at random if not given. */
  readonly retryToken?: string
  /** Where it runs; the action's own pool if not given. */
  readonly pool?: string
  /** The worker that should run it, in a pool with directed dispatch: the label preferred_worker_id. */
  readonly preferredWorker?: string
  /** Tasks with one key go to one worker while they can, in a pool with directed dispatch: the label affinity_key. */
  readonly affinityKey?: string
  /** Makes its end an event, `task.succeeded` or `task.dead`. If not given, the action and the webhooks say whether it is one. */
  readonly notify?: boolean
}

/** Any action, whatever its types: what is left of it when only its name, settings and schema matter. */
export interface SubmittableAction extends Pick<Action, 'name'> {
  /** Null, like the settings, where only the name is known. */
  readonly pool: PoolName | null
  readonly settings: TaskSettings | null
  readonly leftOpen?: readonly OpenSetting[]
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
  'dedupe',
  'retryToken',
  'pool',
  'preferredWorker',
  'affinityKey',
  'notify',
] as const satisfies (keyof SubmitOptions)[]

/** What stands behind the action: its payload, which may be left out where nothing is a payload too, and options. */
export type SubmitArguments<In> = unknown extends In
  ? [input?: In, options?: SubmitOptions]
  : [Extract<In, null | undefined>] extends [never]
    ? [input: In, options?: SubmitOptions]
    : [input?: In, options?: SubmitOptions]

/** One of several tasks to submit together, made by `submission()`. */
export interface PlannedTask<Result = unknown> {
  readonly action: string | SubmittableAction
  readonly input: unknown
  readonly options: SubmitOptions
  /** Only for types: nothing stands there. */
  readonly result?: Result
}

/** A task for submitMany, which takes several actions at once: submitMany([submission(ping), submission(render, { page: 1 })]). */
export function submission<Result = unknown>(
  action: string,
  input?: unknown,
  options?: SubmitOptions,
): PlannedTask<Result>
export function submission<In, Parsed, Result>(
  action: Action<In, Parsed, Result>,
  ...rest: SubmitArguments<In>
): PlannedTask<StoredResult<Result>>
export function submission(
  action: string | SubmittableAction,
  input?: unknown,
  options: SubmitOptions = {},
): PlannedTask {
  return { action, input, options }
}

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
  const payload = encodeJson(input ?? null, 'payload')
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
  const { notify = false } = options
  if (typeof notify !== 'boolean') throw new InvalidError(`notify must be true or false, not ${typeof notify}.`)
  const spec = taskSpecOf(options, payload, { action, tenant: defaultTenant })
  // Added to the new record: a copy of each would cost as much as making it.
  return Object.assign(spec, notify ? { leftOpen: action.leftOpen, notify } : { leftOpen: action.leftOpen })
}
