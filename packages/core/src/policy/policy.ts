// Policies: what to do with a failure, by action, pack, tenant and error code. A book of them is one version: the
// policies in order, of which the first that matches counts, and the rules of classification that hold for all. Plain data,
// in whole milliseconds. The code that decides takes the book of the moment from a source; policy-match.ts finds the policy.

import type { OwnerRule } from '../cases/owners.ts'
import { compileRules, type Rule } from '../failure/rules.ts'
import { DURATION_MS_MAX } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { checkedText, knownName } from '../model/ids.ts'
import type { LostMeaning } from '../model/task.ts'
import { type Backoff, checkedBackoff } from './backoff.ts'
import { type BreakerSettings, checkedBreaker } from './breaker.ts'
import { LOSSES_MAX, RETRIES_MAX } from './budget.ts'
import { type Escalation, RETRY_AFTER_MS_MAX, type RetryAfterBounds, SEVERITIES } from './decide.ts'
import { checkedQuota, type RetryQuota } from './quota.ts'
import type { TenantRules } from './tenant-limits.ts'

/** Each a list of names, of which one must match, with `*` for anything; any at all if missing. */
interface PolicyMatch {
  readonly actions?: readonly string[]
  readonly packs?: readonly string[]
  readonly tenants?: readonly string[]
  /** The failure's code, or the `HTTP_…` that came along beside one. */
  readonly codes?: readonly string[]
}

/** What is set counts instead of the action's own settings; what is missing is left to them. */
export interface Policy {
  readonly name: string
  readonly match: PolicyMatch
  /** Automatic retries. */
  readonly retries?: number
  readonly maxLosses?: number
  readonly backoff?: Backoff
  readonly retryUnknown?: boolean
  /** Looked at before the book's own. */
  readonly rules?: readonly Rule[]
  /** How long after its acceptance no attempt may start any more. Not for a policy that matches by code. */
  readonly slaMs?: number
  readonly quota?: RetryQuota
  /** Of the breakers that the action names, or of one for the action itself if it names none. */
  readonly breaker?: BreakerSettings | 'off'
  readonly onLost?: LostMeaning
  /** Whether tasks are kept from workers that are not well (C11). Not for a policy that matches by tenant or code. */
  readonly healthAware?: boolean
  readonly retryAfter?: RetryAfterBounds
  readonly escalation?: Escalation
}

export interface PolicyBook {
  /** 0 for none at all; counts up with each change. */
  readonly version: number
  /** The first that matches counts. */
  readonly policies: readonly Policy[]
  /** For every failure, after those of its policy. */
  readonly rules: readonly Rule[]
  /** Who is responsible for dead letters; the first that matches counts. */
  readonly owners?: readonly OwnerRule[]
  /** How long a case may stand before each reminder, ascending; a day, three and a week if missing. */
  readonly remindMs?: readonly number[]
  /** How much each tenant may have. */
  readonly tenants?: TenantRules
  /** Whether automatic retries are switched off, whatever the policies say (B12, see flags.ts); they are on if missing. */
  readonly retriesOff?: boolean
}

export const NO_POLICIES: PolicyBook = { version: 0, policies: [], rules: [] }

export interface PolicySource {
  current(): PolicyBook
}

/** Where nothing beyond the actions' own settings is given. */
export const withoutPolicies: PolicySource = { current: () => NO_POLICIES }

export const LOST_MEANINGS = ['retry', 'hold', 'reconcile'] as const satisfies LostMeaning[]

export const POLICIES_MAX = 1_000
/** What a decision's stamp says when no policy matched, and a rule of the book classified the failure. */
export const RULES_STAMP = 'rules'

/** The book as given if it makes sense; `InvalidError` naming the policy and the field if not. */
export function checkedBook(book: PolicyBook): PolicyBook {
  if (book.policies.length > POLICIES_MAX) {
    throw new InvalidError(`There are ${book.policies.length} policies; at most ${POLICIES_MAX} are allowed.`)
  }
  const names = new Set<string>()
  for (const policy of book.policies) {
    if (names.has(policy.name))
      throw new InvalidError(`Two policies are named '${policy.name}'. Give each its own name.`)
    names.add(checkedPolicy(policy).name)
  }
  compileRules(book.rules, 'rule')
  return book
}

/** The policy as given if it makes sense; `InvalidError` naming it and the field if not. */
export function checkedPolicy(policy: Policy): Policy {
  const name = knownName('name of a policy', policy.name)
  if (name === RULES_STAMP)
    throw new InvalidError(`No policy can be named '${RULES_STAMP}': it stands for the rules of the book.`)
  try {
    checkFields(policy)
  } catch (error) {
    throw new InvalidError(`Policy '${name}': ${error instanceof Error ? error.message : 'it is not valid.'}`)
  }
  return policy
}

function checkFields(policy: Policy): void {
  const { match, retries, maxLosses, slaMs, retryAfter, escalation, onLost } = policy
  for (const globs of [match.actions, match.packs, match.tenants, match.codes]) {
    if (globs === undefined) continue
    if (globs.length === 0) throw new InvalidError('An empty list matches nothing. Leave it out to match any.')
    for (const glob of globs) checkedText('name to match', glob, 200)
  }
  if (retries !== undefined) checkWhole('retries', retries, RETRIES_MAX)
  if (maxLosses !== undefined) checkWhole('maxLosses', maxLosses, LOSSES_MAX)
  if (policy.backoff !== undefined) checkedBackoff(policy.backoff)
  if (policy.rules !== undefined) compileRules(policy.rules, 'policy')
  if (policy.quota !== undefined) checkedQuota(policy.quota)
  if (policy.breaker !== undefined && policy.breaker !== 'off') checkedBreaker(policy.breaker)
  if (slaMs !== undefined) {
    if (!(Number.isInteger(slaMs) && slaMs >= 1 && slaMs <= DURATION_MS_MAX))
      throw new InvalidError('The SLA is at least 1 ms.')
    // An attempt must know its deadline before it starts, when there is no failure yet.
    if (match.codes !== undefined) throw new InvalidError('A policy that matches by code can not set an SLA.')
  }
  if (policy.healthAware !== undefined && (match.codes !== undefined || match.tenants !== undefined)) {
    // A worker that asks for work names actions: whose tasks there are, and how they fail, comes later.
    throw new InvalidError('A policy that matches by tenant or code can not switch health_aware.')
  }
  if (onLost !== undefined && !LOST_MEANINGS.includes(onLost)) {
    throw new InvalidError(`onLost is one of ${LOST_MEANINGS.join(', ')}.`)
  }
  if (retryAfter !== undefined) {
    const { minMs, maxMs } = retryAfter
    if (!(minMs >= 0 && minMs <= maxMs && maxMs <= RETRY_AFTER_MS_MAX)) {
      throw new InvalidError('The bounds of a Retry-After go from 0 or more up to a day at the most.')
    }
  }
  if (escalation !== undefined && !SEVERITIES.includes(escalation.severity)) {
    throw new InvalidError(`The severity is one of ${SEVERITIES.join(', ')}.`)
  }
}

function checkWhole(what: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= most) return
  throw new InvalidError(`${what} is a whole number from 0 to ${most}.`)
}
