// An action: a kind of work and its settings. defineAction() is where defaults are resolved, once, into complete
// settings; everything after it deals with whole numbers of milliseconds and checked names.

import { type Backoff, checkedBackoff, DEFAULT_BACKOFF } from './backoff.ts'
import { DEFAULT_LOSSES_MAX } from './budget.ts'
import { type Duration, durationMs } from './duration.ts'
import { InvalidError } from './errors.ts'
import {
  type ActionName,
  actionName,
  DEFAULT_POOL,
  type PoolName,
  poolName,
  type RetryToken,
  type TaskId,
  type TenantId,
} from './ids.ts'
import { refuseUnknownKeys } from './options.ts'
import type { SchemaIssue, StandardSchema } from './standard-schema.ts'
import type { TaskSettings } from './task.ts'

/** The global time-out of one attempt, unless the action sets its own (C2). */
export const DEFAULT_TIMEOUT_MS = 300_000
const RETRIES_MAX = 1_000

/** What a handler gets beside its input. */
export interface RunContext {
  readonly taskId: TaskId
  readonly tenant: TenantId
  readonly attempt: number
  /** The same at every attempt: pass it on to make effects idempotent. */
  readonly retryToken: RetryToken
  readonly labels: Readonly<Record<string, string>>
  /** Fires on time-out, cancellation, a lost lease and the end of a graceful stop. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Tells how far it has come: a share from 0 to 1, a note, or both. */
  readonly progress: (fraction: number | null, note?: string) => void
}

export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

const nothing = (): void => undefined

/** Says nothing: what a library does unless it is told to. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

export interface ActionOptions<In, Parsed, Result> {
  readonly name: string
  /** Checks and types the payload: at submission, and again before it runs. */
  readonly input?: StandardSchema<In, Parsed>
  readonly pool?: string
  /** Per attempt; 5 minutes if not given. */
  readonly timeout?: Duration
  readonly maxRetries?: number
  readonly lossesMax?: number
  readonly queueTtl?: Duration
  readonly backoff?: Backoff
  readonly retryUnknown?: boolean
  readonly run?: (input: Parsed, context: RunContext) => Promise<Result> | Result
}

export interface Action<In = unknown, Parsed = In, Result = unknown> {
  readonly name: ActionName
  readonly pool: PoolName
  readonly settings: TaskSettings
  readonly input: StandardSchema<In, Parsed> | null
  /** Null when only the declaration is at hand, as in a process that just submits. */
  readonly run: ((input: Parsed, context: RunContext) => Promise<Result> | Result) | null
}

const KNOWN_OPTIONS = [
  'name',
  'input',
  'pool',
  'timeout',
  'maxRetries',
  'lossesMax',
  'queueTtl',
  'backoff',
  'retryUnknown',
  'run',
] as const satisfies (keyof ActionOptions<never, never, never>)[]

/** With a schema, the payload's types are the schema's; without one, they are the handler's own. */
export function defineAction<In, Parsed, Result = unknown>(
  options: ActionOptions<In, Parsed, Result> & { readonly input: StandardSchema<In, Parsed> },
): Action<In, Parsed, Result>
export function defineAction<Payload = unknown, Result = unknown>(
  options: Omit<ActionOptions<Payload, Payload, Result>, 'input'>,
): Action<Payload, Payload, Result>
export function defineAction<In, Parsed, Result>(
  options: ActionOptions<In, Parsed, Result>,
): Action<In, Parsed, Result> {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'action option')
  const { input, run } = options
  if (input !== undefined && typeof input['~standard']?.validate !== 'function') {
    throw new InvalidError(`The input of action '${options.name}' is not a Standard Schema (zod, valibot, arktype, …).`)
  }
  if (run !== undefined && typeof run !== 'function') {
    throw new InvalidError(`The run of action '${options.name}' must be a function, not ${typeof run}.`)
  }
  return {
    name: actionName(options.name),
    pool: options.pool === undefined ? DEFAULT_POOL : poolName(options.pool),
    settings: resolveSettings(options),
    input: input ?? null,
    run: run ?? null,
  }
}

/**
 * The same action with its handler. Lets a process that only submits import the declaration, without the handler and all
 * that it needs.
 */
export function implement<In, Parsed, Result>(
  declaration: Action<In, Parsed>,
  run: (input: Parsed, context: RunContext) => Promise<Result> | Result,
): Action<In, Parsed, Result> {
  return { ...declaration, run }
}

/** Complete settings of an action that is known by name only. */
export const DEFAULT_SETTINGS: TaskSettings = resolveSettings({})

function resolveSettings(
  options: Omit<ActionOptions<never, never, never>, 'name' | 'input' | 'run' | 'pool'>,
): TaskSettings {
  return {
    timeoutMs:
      options.timeout === undefined ? DEFAULT_TIMEOUT_MS : positive(durationMs(options.timeout, 'timeout'), 'timeout'),
    maxRetries: options.maxRetries === undefined ? null : count(options.maxRetries, 'maxRetries'),
    lossesMax: count(options.lossesMax ?? DEFAULT_LOSSES_MAX, 'lossesMax'),
    queueTtlMs: options.queueTtl === undefined ? null : positive(durationMs(options.queueTtl, 'queueTtl'), 'queueTtl'),
    backoff: checkedBackoff(options.backoff ?? DEFAULT_BACKOFF),
    retryUnknown: flag(options.retryUnknown ?? false, 'retryUnknown'),
  }
}

function flag(value: boolean, what: string): boolean {
  if (typeof value !== 'boolean') throw new InvalidError(`${what} must be true or false, not ${typeof value}.`)
  return value
}

function positive(ms: number, what: string): number {
  if (ms < 1) throw new InvalidError(`The ${what} must be at least 1 ms.`)
  return ms
}

function count(value: number, what: string): number {
  if (!Number.isInteger(value) || value < 0 || value > RETRIES_MAX) {
    throw new InvalidError(`${what} must be a whole number from 0 to ${RETRIES_MAX}, not ${JSON.stringify(value)}.`)
  }
  return value
}

/** The parsed input, or `InvalidError` listing what is wrong with it. */
export async function parseInput<In, Parsed>(
  action: Pick<Action<In, Parsed>, 'name' | 'input'>,
  value: unknown,
): Promise<Parsed> {
  // Without a schema In and Parsed are the same type.
  if (action.input === null) return value as Parsed
  const result = await action.input['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  throw new InvalidError(
    `The payload of action '${action.name}' is not valid: ${result.issues.slice(0, 10).map(issueText).join('; ')}.`,
  )
}

function issueText(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}
