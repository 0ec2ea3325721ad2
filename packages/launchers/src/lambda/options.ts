// The options of the Lambda launcher, checked and completed once; and from an order to the function that is invoked.

import { actionName, check, type Duration, durationMs, InvalidError, type LaunchOrder } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { PLATFORM_CHECKS, type PlatformOptions, type PlatformSettings, platformSettings } from '../platform/options.ts'

/** What runs for an action. */
export interface LambdaFunction {
  /** Name, or the whole ARN. */
  readonly functionName?: string
  /** A version or an alias. */
  readonly qualifier?: string
}

export interface LambdaLauncherOptions extends Omit<PlatformOptions, 'lookEvery' | 'visibleWithin'>, LambdaFunction {
  /** What differs for single actions. Without a function above, only these are launched. */
  readonly actions?: Readonly<Record<string, LambdaFunction>>
  /**
   * `event`: the function calls back, and outlives the orchestrator. `request`: its answer is the result, and comes to this process
   * only. `event` if not given.
   */
  readonly invocation?: 'event' | 'request'
  /** How long launch() waits for the answer to a request before it comes back and the answer is kept for look(). */
  readonly answerWithin?: Duration
  /** By the usual chain of the SDK if not given. */
  readonly region?: string
  /** For another address than that of AWS. */
  readonly endpoint?: string
}

const FUNCTION_CHECKS: check.Table<LambdaFunction> = { functionName: check.text, qualifier: check.text }

const { lookEvery: _look, visibleWithin: _visible, ...OWN_PLATFORM_CHECKS } = PLATFORM_CHECKS

const CHECKS: check.Table<LambdaLauncherOptions> = {
  ...OWN_PLATFORM_CHECKS,
  ...FUNCTION_CHECKS,
  actions: check.anything,
  invocation: check.oneOf('event', 'request'),
  answerWithin: check.anything,
  region: check.text,
  endpoint: check.text,
}

const ANSWER_WITHIN_MS = 2_000

export interface LambdaTarget {
  readonly functionName: string
  readonly qualifier: string | undefined
}

export interface LambdaSettings extends PlatformSettings {
  readonly options: LambdaLauncherOptions
  readonly invocation: 'event' | 'request'
  readonly answerWithinMs: number
  /** Throws `PermanentError` if nothing is to be invoked for this action. */
  readonly targetOf: (order: LaunchOrder) => LambdaTarget
}

export function lambdaSettings(options: LambdaLauncherOptions): LambdaSettings {
  check.options(options, CHECKS, 'Lambda launcher option', [])
  const settings = platformSettings(options, 'lambda')
  const targets = new Map(
    Object.entries(options.actions ?? {}).map(([action, target]) => {
      if (typeof target !== 'object' || target === null) {
        throw new InvalidError(
          `The function of action '${action}' must be an object such as { functionName: 'render' }.`,
        )
      }
      check.options(target, FUNCTION_CHECKS, `option of action '${action}'`, [])
      return [actionName(action), { ...options, ...target }] as const
    }),
  )
  const targetOf = ({ action }: LaunchOrder): LambdaTarget => {
    const { functionName, qualifier } = targets.get(action) ?? options
    if (functionName !== undefined) return { functionName, qualifier }
    throw describedFailure({
      code: 'action_not_found',
      says: 'permanent',
      message: `The launcher '${settings.name}' has no function for action '${action}'. Add one to its actions.`,
    })
  }
  return {
    ...settings,
    options,
    invocation: options.invocation ?? 'event',
    answerWithinMs: durationMs(options.answerWithin ?? ANSWER_WITHIN_MS, 'answerWithin'),
    targetOf,
  }
}
