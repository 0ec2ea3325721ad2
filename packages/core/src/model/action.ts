// An action: a kind of work and its settings. defineAction() is where defaults are resolved, once, into complete
// settings; everything after it deals with whole numbers of milliseconds and checked names.

import { type BackoffOptions, DEFAULT_BACKOFF, resolveBackoff } from '../policy/backoff.ts'
import { DEFAULT_LOSSES_MAX, RETRIES_MAX } from '../policy/budget.ts'
import { LOST_MEANINGS } from '../policy/policy.ts'
import { type BreakerOptions, type QuotaOptions, resolveBreakers, resolveQuota } from '../policy/safeguards.ts'
import { type Duration, durationMs } from './duration.ts'
import { InvalidError } from './errors.ts'
import {
  type ActionName,
  actionName,
  DEFAULT_POOL,
  knownName,
  type PoolName,
  poolName,
  type RetryToken,
  type TaskId,
  type TenantId,
} from './ids.ts'
import { refuseUnknownKeys } from './options.ts'
import { type OpenSetting, openSettings } from './setting-defaults.ts'
import type { SchemaIssue, StandardSchema } from './standard-schema.ts'
import type { LostMeaning, TaskSettings } from './task.ts'

/** The global time-out of one attempt, unless the action sets its own (C2). */
const DEFAULT_TIMEOUT_MS = 300_000

/** What a handler gets beside its input. */
export interface RunContext {
  readonly taskId: TaskId
  readonly tenant: TenantId
  readonly attempt: number
  /** The same at every attempt: pass it on to make effects idempotent. */
  readonly retryToken: RetryToken
  readonly labels: Readonly<Record<string, string>>
  /** Fires on time-out, cancellation, a lost lease, the end of a lease that was not renewed, and that of a graceful stop. */
  readonly signal: AbortSignal
  /** How long the lease lasts, by this host's monotonic clock, unless it is renewed; 0 if it may be over. */
  readonly leaseMsLeft: () => number
  /**
   * Asks the store whether this attempt is still this worker's, and renews its lease: right before an effect that must not
   * happen twice. Rejects if the store can't be asked.
   */
  readonly stillMine: () => Promise<boolean>
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

/** What became of an attempt that was lost, as far as the action can find out. */
export type Reconciled<Result> =
  /** It took effect: the task has succeeded, with no result. */
  | 'done'
  | { readonly outcome: 'done'; readonly result: Result }
  /** It did not: run it again. */
  | 'not_done'
  /** Nobody can tell: a person has to look. */
  | 'unknown'

/** Asked before a task runs again whose worker vanished. The retry token is that of the attempts before. */
export type Reconcile<Parsed, Result> = (
  input: Parsed,
  context: RunContext,
) => Promise<Reconciled<Result>> | Reconciled<Result>

interface RetryOptions {
  /** How often a failed task is tried again. Failures that no rule knows count too, unless `unknown` says no. */
  readonly max?: number
  /** The pause before a retry. */
  readonly backoff?: BackoffOptions
  /** Whether failures that no rule knows are retried; true if not given and there are retries. Plain bugs never are. */
  readonly unknown?: boolean
}

export interface ActionOptions<In, Parsed, Result> {
  readonly name: string
  /** Checks and types the payload: at submission, and again before it runs. */
  readonly input?: StandardSchema<In, Parsed>
  /** Checks the result before it is stored, and types it for those who submit. What it makes of the result is not stored. */
  readonly output?: StandardSchema<Result, unknown>
  readonly pool?: string
  /** Per attempt; 5 minutes if not given. */
  readonly timeout?: Duration
  /** What is tried again by itself after a failure; nothing if not given. */
  readonly retry?: RetryOptions
  readonly maxLosses?: number
  readonly queueTtl?: Duration
  /** What it needs to work, such as 'stripe': each has a circuit breaker, shared by all actions that name it. */
  readonly uses?: readonly string[]
  /** Settings of these breakers, or of one for the action alone if it depends on nothing; true for the usual, false for none. */
  readonly breaker?: boolean | BreakerOptions
  /** The most retries in a window of time. Named after the action unless it has a name. */
  readonly retryQuota?: QuotaOptions
  /** What a lost attempt means: `retry` (as if it had not run), `hold` for a person, or `reconcile`. */
  readonly onLost?: LostMeaning
  /** How long after its acceptance no attempt may start any more. */
  readonly sla?: Duration
  /** The pack it belongs to, for policies. */
  readonly pack?: string
  /** What a worker of a directed pool must have to run it, such as `python3`; a label `runtime` of the task counts before it. */
  readonly runtime?: string
  /** Whether its tasks are kept from workers that are not well (C11); true if missing. */
  readonly healthAware?: boolean
  /** Whether the end of each task is an event, `task.succeeded` or `task.dead`. Not if missing: then it costs nothing. */
  readonly notify?: boolean
  /** Needed where `onLost` is `reconcile`. */
  readonly reconcile?: Reconcile<Parsed, Result>
  readonly run?: (input: Parsed, context: RunContext) => Promise<Result> | Result
}

export interface Action<In = unknown, Parsed = In, Result = unknown> {
  readonly name: ActionName
  readonly pool: PoolName
  readonly settings: TaskSettings
  /** What the system may fill in, in place of the defaults that stand in the settings (C11). */
  readonly leftOpen?: readonly OpenSetting[]
  readonly input: StandardSchema<In, Parsed> | null
  readonly output: StandardSchema<Result, unknown> | null
  /** Null when only the declaration is at hand, as in a process that just submits. */
  readonly run: ((input: Parsed, context: RunContext) => Promise<Result> | Result) | null
  /** Null if it has none. */
  readonly reconcile: Reconcile<Parsed, Result> | null
}

const KNOWN_OPTIONS = [
  'name',
  'input',
  'output',
  'pool',
  'timeout',
  'retry',
  'maxLosses',
  'queueTtl',
  'uses',
  'breaker',
  'retryQuota',
  'onLost',
  'sla',
  'pack',
  'runtime',
  'healthAware',
  'notify',
  'reconcile',
  'run',
] as const satisfies (keyof ActionOptions<never, never, never>)[]

const KNOWN_RETRY_OPTIONS = ['max', 'backoff', 'unknown'] as const satisfies (keyof RetryOptions)[]

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
  const { input, output, run, reconcile, onLost } = options
  for (const [name, schema] of Object.entries({ input, output })) {
    if (schema === undefined || typeof schema['~standard']?.validate === 'function') continue
    throw new InvalidError(
      `The ${name} of action '${options.name}' is not a Standard Schema (zod, valibot, arktype, …).`,
    )
  }
  if (run !== undefined && typeof run !== 'function') {
    throw new InvalidError(`The run of action '${options.name}' must be a function, not ${typeof run}.`)
  }
  if (reconcile !== undefined && typeof reconcile !== 'function') {
    throw new InvalidError(`The reconcile of action '${options.name}' must be a function, not ${typeof reconcile}.`)
  }
  if (onLost === 'reconcile' && run !== undefined && reconcile === undefined) {
    throw new InvalidError(
      `Action '${options.name}' says onLost: 'reconcile' and has no reconcile function. Add one, or say 'retry' or 'hold'.`,
    )
  }
  const name = actionName(options.name)
  return {
    name,
    pool: options.pool === undefined ? DEFAULT_POOL : poolName(options.pool),
    settings: resolveSettings(options, name),
    leftOpen: openSettings({ ...options, ...options.retry }),
    input: input ?? null,
    output: output ?? null,
    run: run ?? null,
    reconcile: reconcile ?? null,
  }
}

/**
 * The same action with its handler. Lets a process that only submits import the declaration, without the handler and all
 * that it needs.
 */
export function implement<In, Parsed, Declared, Result extends Declared>(
  declaration: Action<In, Parsed, Declared>,
  run: (input: Parsed, context: RunContext) => Promise<Result> | Result,
  reconcile?: Reconcile<Parsed, Result>,
): Action<In, Parsed, Result> {
  if (declaration.settings.onLost === 'reconcile' && reconcile === undefined) {
    throw new InvalidError(
      `Action '${declaration.name}' says onLost: 'reconcile'. Give implement() its reconcile function as well.`,
    )
  }
  // Whatever the schema takes of what was declared it takes of this, too.
  const output = declaration.output as StandardSchema<Result, unknown> | null
  return { ...declaration, output, run, reconcile: reconcile ?? null }
}

/** Complete settings of an action that is known by name only. */
export const DEFAULT_SETTINGS: TaskSettings = /* @__PURE__ */ resolveSettings({}, null)

type SettingOptions = Omit<
  ActionOptions<never, never, never>,
  'name' | 'input' | 'output' | 'run' | 'reconcile' | 'pool'
>

function resolveSettings(options: SettingOptions, name: ActionName | null): TaskSettings {
  const { retry = {} } = options
  refuseUnknownKeys(retry, KNOWN_RETRY_OPTIONS, 'retry option')
  return {
    timeoutMs:
      options.timeout === undefined ? DEFAULT_TIMEOUT_MS : positive(durationMs(options.timeout, 'timeout'), 'timeout'),
    maxRetries: retry.max === undefined ? null : count(retry.max, 'retry.max'),
    maxLosses: count(options.maxLosses ?? DEFAULT_LOSSES_MAX, 'maxLosses'),
    queueTtlMs: options.queueTtl === undefined ? null : positive(durationMs(options.queueTtl, 'queueTtl'), 'queueTtl'),
    backoff: retry.backoff === undefined ? DEFAULT_BACKOFF : resolveBackoff(retry.backoff),
    retryUnknown: flag(retry.unknown ?? (retry.max ?? 0) > 0, 'retry.unknown'),
    ...(name === null ? {} : optionalSettings(options, name)),
  }
}

/** Only what is set: settings are stored with every task. */
function optionalSettings(options: SettingOptions, name: ActionName): Partial<TaskSettings> {
  const { uses, breaker, retryQuota, onLost, sla, pack, runtime, healthAware, notify } = options
  const breakers = resolveBreakers(name, uses, breaker)
  if (onLost !== undefined && !LOST_MEANINGS.includes(onLost)) {
    throw new InvalidError(`onLost is one of ${LOST_MEANINGS.join(', ')}, not ${JSON.stringify(onLost)}.`)
  }
  return {
    ...(breakers === undefined ? {} : { breakers }),
    ...(retryQuota === undefined ? {} : { quota: resolveQuota(retryQuota, name) }),
    ...(onLost === undefined || onLost === 'retry' ? {} : { onLost }),
    ...(sla === undefined ? {} : { slaMs: positive(durationMs(sla, 'sla'), 'sla') }),
    ...(pack === undefined ? {} : { pack: knownName('pack', pack) }),
    ...(runtime === undefined ? {} : { runtime: knownName('runtime', runtime) }),
    ...(healthAware === undefined || flag(healthAware, 'healthAware') ? {} : { healthAware: false }),
    ...(notify !== undefined && flag(notify, 'notify') ? { notify: true } : {}),
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
  throw new InvalidError(`The payload of action '${action.name}' is not valid: ${issuesText(result.issues)}.`)
}

/** `InvalidError` listing what is wrong with a result. */
export async function checkOutput(action: Pick<Action, 'name' | 'output'>, value: unknown): Promise<void> {
  const result = await action.output?.['~standard'].validate(value)
  if (result?.issues === undefined) return
  throw new InvalidError(`The result of action '${action.name}' is not valid: ${issuesText(result.issues)}.`)
}

const issuesText = (issues: readonly SchemaIssue[]): string => issues.slice(0, 10).map(issueText).join('; ')

function issueText(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}
