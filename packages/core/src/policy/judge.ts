// From an attempt that went wrong to everything its settlement says: the failure as it is stored, the decision, and what
// the store is to look at while it applies it. The one way there, for workers, sweeps and launchers alike. Pure: time and
// chance are given.

import { classifyBuiltIn } from '../failure/classify.ts'
import { classifiedFailure, type Failure, observed } from '../failure/failure.ts'
import { type FailureReason, OUTAGE_REASONS } from '../failure/failure-reason.ts'
import { type Normalised, normalise } from '../failure/normalise.ts'
import type { RuleBudget, Rules } from '../failure/rules.ts'
import { formatDuration } from '../model/duration.ts'
import type { Guards } from '../model/settlement.ts'
import type { TaskSettings, TaskTerms } from '../model/task.ts'
import { stepBudget } from '../patterns/pattern.ts'
import type { Standing } from '../port/leases.ts'
import {
  type Decision,
  type DecisionInput,
  decideFailed,
  decideLost,
  type ParkDecision,
  withoutRetries,
} from './decide.ts'
import { type Policy, type PolicyBook, RULES_STAMP } from './policy.ts'
import { bookRules, deadlineUnder, policyForFailure, settingsUnder } from './policy-match.ts'

/** What is known of an attempt when it ends. `Claimed`, `Overdue` and `Launch` all have it. */
export type JudgedAttempt = Omit<Standing<TaskTerms>, 'deferrals'>

export interface Judgement {
  readonly failure: Failure
  readonly decision: Decision
  readonly guards: Guards
}

/** Chance and time, which a pure function is given. */
export interface Circumstances {
  /** The store's time. */
  readonly now: number
  /** In [0, 1). */
  readonly roll: number
}

/** How often in one generation a task is parked at the most: after that its failures are its own. */
export const PARKS_MAX = 100

/** The handler threw. */
export function judgeThrown(
  book: PolicyBook,
  attempt: JudgedAttempt,
  thrown: unknown,
  circumstances: Circumstances,
): Judgement {
  return failureJudge(book, attempt, thrown)(attempt, circumstances)
}

/**
 * Judges one failure for several attempts of a task. What it is and which policy counts is found out once: neither depends on
 * how often the task has failed.
 */
export function failureJudge(
  book: PolicyBook,
  first: JudgedAttempt,
  thrown: unknown,
): (attempt: JudgedAttempt, circumstances: Circumstances) => Judgement {
  const ruled = rulingOn(book, first, normalise(thrown))
  return (attempt, circumstances) => judgedBy(book, ruled, attempt, circumstances)
}

/**
 * The same for a failure as it is stored, of an attempt of long ago. A status beside a code of its own is no longer known, nor
 * that a handler asked for what it would have got anyway.
 */
export function recordedJudge(
  book: PolicyBook,
  first: JudgedAttempt,
  { code, name, message, stack, retriable, rule, retryAfterMs, details }: Failure,
): (attempt: JudgedAttempt, circumstances: Circumstances) => Judgement {
  const says = rule === 'handler' ? (retriable ? 'retry' : 'dead') : null
  const seen: Normalised = { code, httpCode: null, name, message, stack, says, retryAfterMs, details }
  const ruled = rulingOn(book, first, seen, code === 'deadline' ? NO_RULES : undefined)
  return (attempt, circumstances) => judgedBy(book, ruled, attempt, circumstances)
}

/** Reprise itself found that it failed: it ran or stood for too long, or could not begin. */
export function judgeObserved(
  book: PolicyBook,
  attempt: JudgedAttempt,
  { reason, message }: { readonly reason: FailureReason; readonly message: string },
  circumstances: Circumstances,
): Judgement {
  return judgeFailed(book, attempt, observed(reason, message), circumstances)
}

/** The message of an attempt that ran for too long, the same from worker and sweep: one cause is one group of failures. */
export const timeoutMessage = (timeoutMs: number): string =>
  `The attempt ran past its timeout of ${formatDuration(timeoutMs)}.`

/**
 * Its worker vanished. `hook: 'none'` where nobody can ask a `reconcile` hook, as in a launch pool: it is held then. `code` where
 * somebody knows why it vanished: such losses are failures of their own, and policies may name them.
 */
export function judgeLost(
  book: PolicyBook,
  attempt: JudgedAttempt,
  message: string,
  circumstances: Circumstances,
  { hook = 'ours', code = null }: { readonly hook?: 'ours' | 'none'; readonly code?: string | null } = {},
): Judgement {
  const { failure, ruling } = rulingOnLoss(book, attempt, message, code)
  if (hook === 'none' && ruling.settings.onLost === 'reconcile') {
    const decision = stamped(ruling, { ...HELD_WITHOUT_HOOK, rule: failure.rule })
    return { failure, decision, guards: {} }
  }
  const decided = decideLost(inputOf(ruling, attempt, failure, circumstances))
  const decision = stamped(ruling, permitted(book, decided))
  return { failure, decision, guards: quotaGuard(ruling, decision) }
}

const HELD_WITHOUT_HOOK = {
  kind: 'dead',
  reason: 'outcome_unknown',
  sentence:
    'The worker vanished, and a launched worker has no reconcile hook that could say whether the attempt took effect. A person has to look, then redrive or discard the task.',
} as const

/**
 * Null if an attempt may start now. If its deadline or SLA has passed, or comes right now, it is not started: this is what it
 * is settled with instead.
 */
export function mayStart(book: PolicyBook, attempt: JudgedAttempt, now: number): Judgement | null {
  const deadlineAt = deadlineUnder(book, attempt)
  if (deadlineAt === null || now < deadlineAt) return null
  const { snapshot, acceptedAt } = attempt
  const message =
    deadlineAt === snapshot.deadlineAt
      ? `Its deadline passed ${formatDuration(now - deadlineAt)} ago, so it was not started.`
      : `It should have started within ${formatDuration(deadlineAt - acceptedAt)} of being accepted, which was ${formatDuration(now - acceptedAt)} ago, so it was not started.`
  return judgeFailed(book, attempt, observed('deadline', message), { now, roll: 0 })
}

/** A `reconcile` hook could not tell whether a lost attempt took effect: a person has to look. */
export function judgeOutcomeUnknown(book: PolicyBook, attempt: JudgedAttempt, message: string): Judgement {
  const seen: Normalised = { ...observed('permanent', message), code: 'outcome_unknown' }
  const { failure, ruling } = rulingOn(book, attempt, seen, NO_RULES)
  const decision = stamped(ruling, {
    kind: 'dead',
    reason: 'outcome_unknown',
    rule: 'reconcile',
    sentence:
      'An earlier attempt was lost, and its reconcile hook does not know whether it took effect. A person has to look, then redrive or discard the task.',
  })
  return { failure: { ...failure, reason: 'permanent', retriable: false, rule: 'reconcile' }, decision, guards: {} }
}

/** What holds for one failure: the policy, and what the settings come to under it. */
interface Ruling {
  readonly version: number
  readonly policy: Policy | null
  readonly settings: TaskSettings
  readonly deadlineAt: number | null
  /** The rule at which the budget of pattern steps was spent; null if it was enough. */
  readonly spentBy: string | null
}

interface Ruled {
  readonly failure: Failure
  readonly ruling: Ruling
}

// What became of a worker, or of a deadline, is a fact and no matter of classification.
const NO_RULES: readonly Rules[] = []

function judgeFailed(
  book: PolicyBook,
  attempt: JudgedAttempt,
  seen: Normalised,
  circumstances: Circumstances,
): Judgement {
  const ruled = rulingOn(book, attempt, seen, seen.code === 'deadline' ? NO_RULES : undefined)
  return judgedBy(book, ruled, attempt, circumstances)
}

function judgedBy(
  book: PolicyBook,
  { failure, ruling }: Ruled,
  attempt: JudgedAttempt,
  circumstances: Circumstances,
): Judgement {
  const decided = decideFailed(inputOf(ruling, attempt, failure, circumstances))
  const decision = stamped(ruling, permitted(book, decided), failure.rule)
  const guards = quotaGuard(ruling, decision)
  if (failure.reason === 'timeout' && attempt.snapshot.settings.ownTimeout === true) {
    return { failure, decision, guards: { ...guards, excusesWorker: true } }
  }
  const park = parkOf(ruling, attempt, failure, circumstances.now)
  const { breakers } = ruling.settings
  if (park === null || breakers === undefined) return { failure, decision, guards }
  return { failure, decision, guards: { ...guards, outage: { breakers, park: stamped(ruling, park, failure.rule) } } }
}

function rulingOn(book: PolicyBook, attempt: JudgedAttempt, seen: Normalised, rules?: readonly Rules[]): Ruled {
  const { snapshot } = attempt
  const found = policyForFailure(book, snapshot, codesOf(seen), attempt.policy)
  const own = rules ?? found?.rules ?? bookRules(book)
  const policy = found?.policy ?? null
  const budget: RuleBudget = stepBudget()
  return {
    failure: classifiedFailure(seen, snapshot.action, own, budget),
    ruling: {
      version: book.version,
      policy,
      settings: settingsUnder(policy, snapshot),
      deadlineAt: deadlineUnder(book, attempt),
      spentBy: budget.spentBy ?? null,
    },
  }
}

function rulingOnLoss(book: PolicyBook, attempt: JudgedAttempt, message: string, code: string | null): Ruled {
  const seen = observed('worker_lost', message)
  const ruled = rulingOn(book, attempt, seen, NO_RULES)
  if (code === null) return ruled
  const { reason, retriable, rule } = ruled.failure
  const own = rulingOn(book, attempt, { ...seen, code }, NO_RULES)
  // It is a loss all the same: a policy for lost workers counts, unless there is one for this cause.
  const ruling = own.ruling.policy === null ? ruled.ruling : own.ruling
  return { failure: { ...own.failure, reason, retriable, rule }, ruling }
}

/** Without a code of its own a failure is known by what the built-in rules make of it. */
function codesOf(seen: Normalised): readonly string[] {
  const code = seen.code ?? classifyBuiltIn(seen).reason
  return seen.httpCode === null || seen.httpCode === code ? [code] : [code, seen.httpCode]
}

function inputOf(
  { settings, policy, deadlineAt }: Ruling,
  attempt: JudgedAttempt,
  failure: Failure,
  { now, roll }: Circumstances,
): DecisionInput {
  const bounds = policy?.retryAfter
  return {
    settings,
    spent: attempt,
    deadlineAt,
    failure,
    now,
    roll,
    ...(bounds === undefined ? {} : { retryAfter: bounds }),
  }
}

/** What is decided if a breaker holds the work back; null if the failure does not look like an outage, or not any more. */
function parkOf(
  { settings, deadlineAt }: Ruling,
  attempt: JudgedAttempt,
  failure: Failure,
  now: number,
): ParkDecision | null {
  const { breakers } = settings
  if (breakers === undefined || breakers.length === 0 || attempt.parks >= PARKS_MAX) return null
  if (!failure.retriable || !OUTAGE_REASONS.has(failure.reason)) return null
  // Too late to start again: it would only stand there.
  if (deadlineAt !== null && now >= deadlineAt) return null
  const names = breakers.map(({ name }) => name).join(' and ')
  return {
    kind: 'park',
    reason: failure.reason,
    rule: failure.rule,
    sentence: `This looks like an outage (${failure.reason}): it waits until the breaker ${names} lets work through, and uses up no retry.`,
  }
}

/** Before it is stamped: a dead letter that comes of a switch has its escalation like any other. */
function permitted(book: PolicyBook, decision: Decision): Decision {
  return book.retriesOff === true ? withoutRetries(decision) : decision
}

function quotaGuard({ settings }: Ruling, decision: Decision): Guards {
  return decision.kind === 'retry' && settings.quota !== undefined ? { quota: settings.quota } : {}
}

/** With which policy of which version decided, and for a dead letter what it says about it. */
function stamped<D extends Decision>({ policy, version, spentBy }: Ruling, made: D, rule = ''): D {
  const decision =
    spentBy === null
      ? made
      : {
          ...made,
          sentence: `${made.sentence} The message took too many steps for ${spentBy}: no pattern from there on was tried.`,
        }
  if (policy === null) {
    return rule.startsWith('rule:') ? { ...decision, policy: { name: RULES_STAMP, version } } : decision
  }
  const { escalation } = policy
  return {
    ...decision,
    policy: { name: policy.name, version },
    ...(decision.kind === 'dead' && escalation !== undefined ? { escalation } : {}),
  }
}
