// What to do with a failure. Pure: (task, failure, now, roll) → decision. Nothing here knows a store, a worker or a clock.

import { backoffMs } from './backoff.ts'
import { automaticRetries, type Spent } from './budget.ts'
import type { FailureReason } from './classify.ts'
import { formatDuration } from './duration.ts'
import type { Failure } from './failure.ts'
import type { TaskSettings } from './task.ts'

export type DeadReason =
  /** The failure is not one that goes away. */
  | 'not_retriable'
  /** Every automatic retry was used. */
  | 'retries_exhausted'
  /** It took down its worker too often. */
  | 'crash_loop'
  /** The next attempt could not make the deadline. */
  | 'deadline'

export type Decision =
  | {
      readonly kind: 'retry'
      readonly delayMs: number
      readonly reason: FailureReason
      readonly rule: string
      readonly sentence: string
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly rule: string; readonly sentence: string }

export interface DecisionInput {
  readonly settings: TaskSettings
  /** Spent in this generation before this failure. */
  readonly spent: Spent
  readonly deadlineAt: number | null
  readonly failure: Failure
  readonly now: number
  /** Chance, in [0, 1). */
  readonly roll: number
}

/** A retry is never asked to wait longer than this, whatever a Retry-After says. */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000

/** For an attempt that failed: the handler threw, timed out, or stood in the queue for too long. */
export function decideFailed(input: DecisionInput): Decision {
  const { settings, spent, failure } = input
  const retriesMax = automaticRetries(settings)
  const { rule } = failure
  const retriable = failure.retriable || (settings.retryUnknown && failure.reason === 'unknown')
  if (!retriable) {
    return {
      kind: 'dead',
      reason: failure.reason === 'deadline' ? 'deadline' : 'not_retriable',
      rule,
      sentence: finalSentence(failure),
    }
  }
  if (spent.failures >= retriesMax) {
    const sentence =
      retriesMax === 0 ? 'The action allows no automatic retry.' : `All ${retriesMax} automatic retries are used up.`
    return { kind: 'dead', reason: 'retries_exhausted', rule, sentence }
  }
  const asked = failure.retryAfterMs
  const delayMs =
    asked === null ? backoffMs(settings.backoff, spent.failures, input.roll) : Math.min(asked, RETRY_AFTER_MS_MAX)
  const source = asked === null ? 'by the backoff' : 'as the failing side asked'
  return inTime(
    input,
    delayMs,
    `Retry ${spent.failures + 1} of ${retriesMax} in ${formatDuration(delayMs)}, ${source}.`,
  )
}

/** For an attempt whose worker vanished. Counted apart, so that a crash does not use up ordinary retries. */
export function decideLost(input: DecisionInput): Decision {
  const { settings, spent, failure } = input
  if (spent.losses >= settings.lossesMax) {
    const sentence = `${spent.losses + 1} attempts were lost with their workers; at most ${settings.lossesMax} are tried again. The task may be what crashes them.`
    return { kind: 'dead', reason: 'crash_loop', rule: failure.rule, sentence }
  }
  // Anywhere up to twice the backoff: tasks that were lost together with the one that killed their worker should not
  // all meet it again.
  const delayMs = Math.round(2 * input.roll * backoffMs(settings.backoff, spent.losses, 0.5))
  return inTime(
    input,
    delayMs,
    `Lost attempt ${spent.losses + 1} of ${settings.lossesMax} allowed; runs again in ${formatDuration(delayMs)}.`,
  )
}

function finalSentence({ reason, rule }: Failure): string {
  if (rule === 'unknown') {
    return 'No rule knows this failure, so it is not retried. Throw Transient, or set retryUnknown on the action.'
  }
  if (rule === 'handler') return 'The handler said that retrying does not help.'
  return `A failure of this kind (${reason}, by rule ${rule}) does not go away by itself.`
}

function inTime(input: DecisionInput, delayMs: number, sentence: string): Decision {
  const { failure, deadlineAt, now } = input
  if (deadlineAt !== null && now + delayMs >= deadlineAt) {
    return {
      kind: 'dead',
      reason: 'deadline',
      rule: failure.rule,
      sentence: `The next attempt would start ${formatDuration(now + delayMs - deadlineAt)} after the deadline.`,
    }
  }
  return { kind: 'retry', delayMs, reason: failure.reason, rule: failure.rule, sentence }
}
