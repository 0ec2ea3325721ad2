// Tells a passing fault from a real one (C3). The handler's own word wins; then come own rules in their order, then the
// built-in ones: known codes, HTTP statuses, words in the message. What no rule knows is `unknown`, and not retriable.

import { stepBudget } from '../patterns/pattern.ts'
import { remembered } from '../runtime/remembered.ts'
import { REASON_BY_CODE, REASON_BY_WORDS, reasonByStatus } from './built-in-rules.ts'
import { type FailureReason, isFailureReason, isRetriable } from './failure-reason.ts'
import type { Normalised } from './normalise.ts'
import type { RuleBudget, Rules } from './rules.ts'

export interface Verdict {
  readonly reason: FailureReason
  readonly retriable: boolean
  /** The rule that decided, for the record: `code:ECONNRESET`, `message:timed out`, `rule:card-declined`. */
  readonly rule: string
}

type Classified = Pick<Normalised, 'code' | 'message' | 'says'> & Partial<Pick<Normalised, 'httpCode' | 'name'>>

/** `own` are lists of own rules, each of them before the next. */
export function classify(failure: Classified, own: readonly Rules[] = [], budget: RuleBudget = stepBudget()): Verdict {
  const found = byOwnRules(failure, own, budget) ?? classifyBuiltIn(failure)
  if (failure.says === null) return found
  const retriable = failure.says === 'retry'
  const fallback: FailureReason = retriable ? 'transient' : 'permanent'
  const agrees = found.retriable === retriable && found.rule !== 'unknown'
  return { reason: agrees ? found.reason : fallback, retriable, rule: 'handler' }
}

/** What the built-in rules alone make of it, whatever the handler says. */
export function classifyBuiltIn({ code, httpCode, message }: Omit<Classified, 'says'>): Verdict {
  return (
    byCode(code) ??
    byCode(httpCode ?? null) ??
    byWords(message) ?? { reason: 'unknown', retriable: false, rule: 'unknown' }
  )
}

function byOwnRules(failure: Classified, own: readonly Rules[], budget: RuleBudget): Verdict | null {
  let builtIn: FailureReason | undefined
  const reason = (): FailureReason => {
    builtIn ??= classifyBuiltIn(failure).reason
    return builtIn
  }
  for (const rules of own) {
    const hit = rules(failure, reason, budget)
    if (hit !== null) {
      const { reason, retriable } = hit.verdict
      return { reason, retriable: retriable ?? isRetriable(reason), rule: hit.label }
    }
  }
  return null
}

function byCode(code: string | null): Verdict | null {
  if (code === null) return null
  const reason = REASON_BY_CODE.get(code) ?? byStatus(code) ?? (isFailureReason(code) ? code : undefined)
  return reason === undefined ? null : verdict(reason, `code:${code}`)
}

function byStatus(code: string): FailureReason | undefined {
  return /^HTTP_\d{3}$/.test(code) ? reasonByStatus(Number(code.slice(5))) : undefined
}

const byWords = remembered(wordsIn, { textsMax: 200, lengthMax: 1_000 })

function wordsIn(message: string): Verdict | null {
  const text = message.toLowerCase()
  const match = REASON_BY_WORDS.find(([words]) => text.includes(words))
  return match === undefined ? null : verdict(match[1], `message:${match[0]}`)
}

const verdict = (reason: FailureReason, rule: string): Verdict => ({ reason, retriable: isRetriable(reason), rule })
