// Own rules of classification: an operator's word on what a failure is, looked at before the built-in ones. Rules are plain
// data, so that they can be stored and shown; a list of them is compiled once and then asked for every failure.

import { InvalidError } from '../model/errors.ts'
import { checkedText } from '../model/ids.ts'
import { patternOf, type StepBudget } from '../patterns/pattern.ts'
import { compileGlob, compileGlobs } from '../policy/glob.ts'
import { type FailureReason, isFailureReason } from './failure-reason.ts'
import type { Normalised } from './normalise.ts'

/** All that is given must hold. */
interface RuleCondition {
  /** The failure's code: one of these, with `*` for anything. */
  readonly code?: readonly string[]
  /** The HTTP status that came along: `503`, `5xx` or `520-524`. */
  readonly status?: readonly string[]
  /** A pattern that matches anywhere in the message. See pattern-syntax.ts for what it may say. */
  readonly message?: string
  /** The class of what was thrown, with `*` for anything. */
  readonly name?: readonly string[]
  /** What the built-in rules make of it. */
  readonly reason?: readonly FailureReason[]
}

export interface Rule {
  /** For the record; its place in the list if missing. */
  readonly name?: string
  readonly when: RuleCondition
  /** Retriable as the reason says, unless said here. */
  readonly verdict: { readonly reason: FailureReason; readonly retriable?: boolean }
}

/** What rules look at. */
type RuleSubject = Pick<Normalised, 'code' | 'message'> & Partial<Pick<Normalised, 'httpCode' | 'name'>>

interface RuleHit {
  readonly label: string
  readonly verdict: Rule['verdict']
}

/** What patterns may cost for one failure. */
export interface RuleBudget extends StepBudget {
  /** The rule whose pattern used it up. It and all patterns after it count as not matching. */
  spentBy?: string
}

/** The first rule that holds. `builtIn` tells what the built-in rules say, and is asked only if a rule wants to know. */
export type Rules = (subject: RuleSubject, builtIn: () => FailureReason, budget: RuleBudget) => RuleHit | null

type Test = (subject: RuleSubject, builtIn: () => FailureReason, budget: RuleBudget) => boolean

export const RULES_MAX = 200

/** `InvalidError` naming the rule and the field if one of them can't be. `origin` tells in the record whose rules they are. */
export function compileRules(rules: readonly Rule[], origin: string): Rules {
  if (rules.length > RULES_MAX)
    throw new InvalidError(`There are ${rules.length} rules; at most ${RULES_MAX} are allowed.`)
  const compiled = rules.map((rule, index) => {
    const label = `${origin}:${rule.name === undefined ? index + 1 : checkedText('name of a rule', rule.name, 100)}`
    const tests = testsOf(rule.when)
    if (tests.length === 0)
      throw new InvalidError(`The rule ${label} says nothing under 'when', so it would hold for everything.`)
    if (!isFailureReason(rule.verdict.reason))
      throw new InvalidError(`The rule ${label} gives a reason that does not exist.`)
    return { tests, hit: { label, verdict: rule.verdict } }
  })
  if (compiled.length === 0) return () => null
  return (subject, builtIn, budget) => {
    for (const { tests, hit } of compiled) {
      if (tests.every((holds) => holds(subject, builtIn, budget))) return hit
      if (budget.left <= 0) budget.spentBy ??= hit.label
    }
    return null
  }
}

/** Cheap questions first. */
function testsOf({ code, status, message, name, reason }: RuleCondition): readonly Test[] {
  const tests: Test[] = []
  if (code !== undefined) {
    const matches = compileGlobs(code)
    tests.push((subject) => subject.code !== null && matches(subject.code))
  }
  if (status !== undefined) {
    const ranges = status.map(statusRange)
    tests.push((subject) => {
      const found = statusOf(subject)
      return found !== null && ranges.some(([from, to]) => found >= from && found <= to)
    })
  }
  if (name !== undefined) {
    const globs = name.map(compileGlob)
    tests.push((subject) => globs.some((matches) => matches(subject.name ?? '')))
  }
  if (reason !== undefined) {
    const reasons = new Set(reason)
    tests.push((_, builtIn) => reasons.has(builtIn()))
  }
  if (message !== undefined) {
    const pattern = patternOf(message)
    tests.push((subject, _, budget) => pattern.test(subject.message, budget))
  }
  return tests
}

function statusOf({ httpCode, code }: RuleSubject): number | null {
  const text = httpCode ?? code
  return text?.startsWith('HTTP_') === true ? Number(text.slice(5)) : null
}

/** `503`, `5xx` and `520-524` as numbers; `InvalidError` for anything else. */
export function statusRange(text: string): readonly [from: number, to: number] {
  const found = /^(?:([45])xx|([45]\d\d)(?:-([45]\d\d))?)$/.exec(text)
  if (found === null) throw new InvalidError(`'${text}' is no HTTP status of a failure. Write 503, 5xx or 520-524.`)
  const [, hundreds, from, to] = found
  if (hundreds !== undefined) return [Number(hundreds) * 100, Number(hundreds) * 100 + 99]
  return [Number(from), Number(to ?? from)]
}
