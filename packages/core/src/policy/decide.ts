// What to do with a failure. Pure: (task, failure, settings, now, roll) → decision. Nothing here knows a store, a worker or a
// clock, nor policies: the caller has put those into the settings already (see judge.ts).

import type { Failure } from '../failure/failure.ts'
import type { FailureReason } from '../failure/failure-reason.ts'
import { isPlainBug, isRefusal, whyNotRetried } from '../failure/plain-bug.ts'
import { formatDuration } from '../model/duration.ts'
import type { TaskSettings, TaskStatus } from '../model/task.ts'
import { backoffMs } from './backoff.ts'
import { automaticRetries, type Spent } from './budget.ts'

/** Why automatic retries ended. */
export const DEAD_REASONS = [
  /** The failure is not one that goes away. */
  'not_retriable',
  /** Every automatic retry was used. */
  'retries_exhausted',
  /** It took down its worker too often. */
  'crash_loop',
  /** The next attempt could not make the deadline. */
  'deadline',
  /** Its worker vanished, and the policy wants a person to look whether it took effect. */
  'outcome_unknown',
  /** It would have been retried, but automatic retries are switched off (B12). */
  'retries_off',
] as const
export type DeadReason = (typeof DEAD_REASONS)[number]

interface DecisionBase {
  /** The rule that classified the failure. */
  readonly rule: string
  /** For people. */
  readonly sentence: string
  /** What decided; missing when it was the action's own settings. */
  readonly policy?: PolicyStamp
}

/** Which policy decided, and of which version of the policies. */
interface PolicyStamp {
  readonly name: string
  readonly version: number
}

export const SEVERITIES = ['low', 'normal', 'high', 'critical'] as const
type Severity = (typeof SEVERITIES)[number]

export const WORK_ORDER_PER = ['group', 'task'] as const
type WorkOrderPer = (typeof WORK_ORDER_PER)[number]

/** What a policy says about a dead letter, for the person who takes it up. */
export interface Escalation {
  readonly severity: Severity
  /** A person or a team. */
  readonly owner?: string
  /** The name of the runbook that helps. */
  readonly runbook?: string
  /** Whether each task gets a work order of its own, or its failure group has one; the group if missing. */
  readonly workOrder?: WorkOrderPer
}

export type Decision = DecisionBase &
  (
    | { readonly kind: 'retry'; readonly delayMs: number; readonly reason: FailureReason }
    /** Back to the queue without being charged: a breaker holds the task's lane. Made by a store, out of `Outage.park`. */
    | { readonly kind: 'park'; readonly reason: FailureReason }
    | { readonly kind: 'dead'; readonly reason: DeadReason; readonly escalation?: Escalation }
  )

export type ParkDecision = Decision & { readonly kind: 'park' }

/** Where a task is once a decision about it was applied. */
export const STATUS_AFTER = { retry: 'waiting', park: 'queued', dead: 'dead' } as const satisfies Record<
  Decision['kind'],
  TaskStatus
>

export interface DecisionInput {
  readonly settings: TaskSettings
  /** Spent in this generation before this failure. */
  readonly spent: Spent
  readonly deadlineAt: number | null
  readonly failure: Failure
  readonly now: number
  /** Chance, in [0, 1). */
  readonly roll: number
  /** How long a Retry-After may make it wait; anything up to a day if missing. */
  readonly retryAfter?: RetryAfterBounds
}

/** A Retry-After outside of these counts as the nearer of the two. */
export interface RetryAfterBounds {
  readonly minMs: number
  readonly maxMs: number
}

/** A retry is never asked to wait longer than this, whatever a Retry-After says. */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000

/** For an attempt that failed: the handler threw, timed out, or stood in the queue for too long. */
export function decideFailed(input: DecisionInput): Decision {
  const { settings, spent, failure } = input
  const maxRetries = automaticRetries(settings)
  const { rule } = failure
  if (!failure.retriable && !retriedThoughUnknown(settings, failure)) {
    return {
      kind: 'dead',
      reason: failure.reason === 'deadline' ? 'deadline' : 'not_retriable',
      rule,
      sentence: whyNotRetried(failure),
    }
  }
  if (spent.failures >= maxRetries) {
    const used = maxRetries === 1 ? 'The one automatic retry is' : `All ${maxRetries} automatic retries are`
    const sentence = maxRetries === 0 ? 'No automatic retry is allowed.' : `${used} used up.`
    return { kind: 'dead', reason: 'retries_exhausted', rule, sentence }
  }
  const { delayMs, source } = delayOf(input)
  return inTime(
    input,
    delayMs,
    `Retry ${spent.failures + 1} of ${maxRetries} in ${formatDuration(delayMs)}, ${source}.`,
  )
}

function delayOf(input: DecisionInput): { readonly delayMs: number; readonly source: string } {
  const { retryAfterMs: asked } = input.failure
  if (asked === null) {
    return { delayMs: backoffMs(input.settings.backoff, input.spent.failures, input.roll), source: 'by the backoff' }
  }
  const { minMs = 0, maxMs = RETRY_AFTER_MS_MAX } = input.retryAfter ?? {}
  const delayMs = Math.max(Math.min(asked, maxMs, RETRY_AFTER_MS_MAX), minMs)
  if (delayMs === asked) return { delayMs, source: 'as the failing side asked' }
  const bound = delayMs < asked ? 'the longest' : 'the shortest'
  return { delayMs, source: `${bound} that is allowed; the failing side asked for ${formatDuration(asked)}` }
}

/** For an attempt whose worker vanished. Counted apart, so that a crash does not use up ordinary retries. */
export function decideLost(input: DecisionInput): Decision {
  const { settings, spent, failure } = input
  if (settings.onLost === 'hold') {
    return {
      kind: 'dead',
      reason: 'outcome_unknown',
      rule: failure.rule,
      sentence:
        'The worker vanished, so nobody knows whether the attempt took effect, and the policy forbids to run it twice. A person has to look, then redrive or discard the task.',
    }
  }
  if (spent.losses >= settings.maxLosses) {
    const sentence = `${spent.losses + 1} attempts were lost with their workers, and at most ${settings.maxLosses} are repeated. The task may crash its workers.`
    return { kind: 'dead', reason: 'crash_loop', rule: failure.rule, sentence }
  }
  // Anywhere up to twice the backoff: tasks that were lost together with the one that killed their worker should not
  // all meet it again.
  const delayMs = Math.round(2 * input.roll * backoffMs(settings.backoff, spent.losses, 0.5))
  const next = settings.onLost === 'reconcile' ? 'its reconcile hook is asked' : 'it runs again'
  return inTime(
    input,
    delayMs,
    `Lost attempt ${spent.losses + 1} of ${settings.maxLosses} allowed; ${next} in ${formatDuration(delayMs)}.`,
  )
}

/** What becomes of a decision while automatic retries are switched off: no retry is scheduled, everything else stays. */
export function withoutRetries(decision: Decision): Decision {
  if (decision.kind !== 'retry') return decision
  return {
    kind: 'dead',
    reason: 'retries_off',
    rule: decision.rule,
    sentence:
      'Automatic retries are switched off (the flag task-retry-queue). Redrive the task once the flag is on again, retry it by hand, or discard it.',
  }
}

/** Unless it is plain that it comes again. */
function retriedThoughUnknown({ retryUnknown }: TaskSettings, failure: Failure): boolean {
  return retryUnknown && failure.reason === 'unknown' && !isPlainBug(failure) && !isRefusal(failure)
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
