// Who is responsible for dead letters (B14): the rules `owners` of the book, the first that matches; else the owner that the
// policy of the failure names in its escalation. An operator who takes a case on, or names somebody, counts before both.

import { InvalidError } from '../model/errors.ts'
import { compileGlobs, type Glob } from '../policy/glob.ts'
import type { PolicyBook } from '../policy/policy.ts'
import { policyForFailure } from '../policy/policy-match.ts'

export interface OwnerRule {
  /** A person or a team. */
  readonly owner: string
  /** Each a list of names, of which one must match, with `*` for anything; any at all if missing. */
  readonly match: {
    readonly actions?: readonly string[]
    readonly tenants?: readonly string[]
    readonly codes?: readonly string[]
  }
  /** How long a case may stand before each reminder; as the book says if missing. */
  readonly remindMs?: readonly number[]
}

/** A cause, or one dead letter. The tenant is null for a cause: it may hit many. */
export interface Owned {
  readonly action: string
  readonly tenant: string | null
  readonly code: string
}

export interface Ownership {
  readonly owner: string | null
  /** Ascending. */
  readonly remindMs: readonly number[]
}

export const OWNER_RULES_MAX = 1_000
export const REMINDERS_MAX = 10
const HOUR_MS = 3_600_000
/** Where the book says nothing: a day, three, and a week. */
export const REMIND_MS_DEFAULT: readonly number[] = [24 * HOUR_MS, 72 * HOUR_MS, 168 * HOUR_MS]

interface CompiledRule {
  readonly rule: OwnerRule
  readonly actions: Glob
  /** Null if it matches whatever the tenant. */
  readonly tenants: Glob | null
  readonly codes: Glob
}

const compiledRules = new WeakMap<PolicyBook, readonly CompiledRule[]>()

/** The times of reminders, ascending; `InvalidError` if one stands there twice. */
export function checkedReminders(remindMs: readonly number[]): readonly number[] {
  const sorted = [...remindMs].sort((one, other) => one - other)
  if (new Set(sorted).size < sorted.length) throw new InvalidError('Two reminders come at the same time.')
  return sorted
}

export function ownershipOf(book: PolicyBook, { action, tenant, code }: Owned): Ownership {
  const found = compiled(book).find(
    ({ actions, tenants, codes }) =>
      actions(action) && (tenants === null || (tenant !== null && tenants(tenant))) && codes(code),
  )
  const remindMs = found?.rule.remindMs ?? book.remindMs ?? REMIND_MS_DEFAULT
  if (found !== undefined) return { owner: found.rule.owner, remindMs }
  const subject = { action, tenant: tenant ?? '', settings: {} } as Parameters<typeof policyForFailure>[1]
  return { owner: policyForFailure(book, subject, [code])?.policy.escalation?.owner ?? null, remindMs }
}

function compiled(book: PolicyBook): readonly CompiledRule[] {
  const known = compiledRules.get(book)
  if (known !== undefined) return known
  const made = (book.owners ?? []).map((rule) => ({
    rule,
    actions: compileGlobs(rule.match.actions),
    tenants: rule.match.tenants === undefined ? null : compileGlobs(rule.match.tenants),
    codes: compileGlobs(rule.match.codes),
  }))
  compiledRules.set(book, made)
  return made
}
