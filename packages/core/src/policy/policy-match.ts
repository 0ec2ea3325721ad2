// Which policy counts for a task, and what its settings come to then. A book is compiled once, and what was found for an
// action, tenant and pack is kept, so that asking costs next to nothing. Pure as far as anybody can see.

import { compileRules, type Rules } from '../failure/rules.ts'
import type { LostMeaning, TaskSettings, TaskTerms } from '../model/task.ts'
import { type BreakerRef, breakerName } from './breaker.ts'
import { automaticRetries } from './budget.ts'
import { compileGlobs, type Glob } from './glob.ts'
import type { Policy, PolicyBook } from './policy.ts'

/** What tells whose task it is. */
export type PolicySubject = Pick<TaskTerms, 'action' | 'tenant'> & { readonly settings: Pick<TaskSettings, 'pack'> }

export interface CompiledPolicy {
  readonly policy: Policy
  /** Those of the policy, then those of the book. */
  readonly rules: readonly Rules[]
}

interface Entry extends CompiledPolicy {
  readonly actions: Glob
  readonly tenants: Glob
  readonly packs: Glob
  /** Null if it matches whatever the code. */
  readonly codes: Glob | null
}

interface CompiledBook {
  readonly entries: readonly Entry[]
  readonly rules: readonly Rules[]
  readonly byName: ReadonlyMap<string, Entry>
  /** Those that say whether health matters, in order. */
  readonly onHealth: readonly Entry[]
  /** By action, tenant and pack: what may match, in order, up to the first that matches whatever the code. */
  readonly found: Map<string, readonly Entry[]>
}

const FOUND_MAX = 10_000
const NOTHING: readonly Entry[] = []
const compiledBooks = new WeakMap<PolicyBook, CompiledBook>()

/**
 * The policy for a failure with one of these codes; null if none matches. The one that an operator named for the task counts
 * before all others, while the book has it.
 */
export function policyForFailure(
  book: PolicyBook,
  subject: PolicySubject,
  codes: readonly string[],
  named?: string,
): CompiledPolicy | null {
  const chosen = policyNamed(book, named)
  if (chosen !== null) return chosen
  for (const entry of candidates(book, subject)) {
    if (entry.codes === null || codes.some(entry.codes)) return entry
  }
  return null
}

/** The policy of a task as such: the one named for it, or the first that matches without asking for a code; null if there is none. */
export function policyForTask(book: PolicyBook, subject: PolicySubject, named?: string): CompiledPolicy | null {
  const chosen = policyNamed(book, named)
  if (chosen !== null) return chosen
  const last = candidates(book, subject).at(-1)
  return last?.codes === null ? last : null
}

const policyNamed = (book: PolicyBook, name: string | undefined): CompiledPolicy | null =>
  name === undefined ? null : (compiled(book).byName.get(name) ?? null)

/** Those that may count for a task, whatever its failure. */
export const policiesFor = (book: PolicyBook, subject: PolicySubject): readonly Policy[] =>
  candidates(book, subject).map(({ policy }) => policy)

/** The rules for a failure that no policy is about. */
export const bookRules = (book: PolicyBook): readonly Rules[] => compiled(book).rules

/** The settings of a task under a policy. */
export function settingsUnder(policy: Policy | null, { action, settings }: TaskTerms): TaskSettings {
  if (policy === null) return settings
  const { retries, maxLosses, backoff, retryUnknown, onLost, quota } = policy
  const breakers = breakersUnder(policy, action, settings.breakers)
  const { breakers: _, ...own } = settings
  return {
    ...own,
    ...(retries === undefined ? {} : { maxRetries: retries }),
    ...(maxLosses === undefined ? {} : { maxLosses }),
    ...(backoff === undefined ? {} : { backoff }),
    ...(retryUnknown === undefined ? {} : { retryUnknown }),
    ...(onLost === undefined ? {} : { onLost }),
    ...(quota === undefined ? {} : { quota }),
    ...(breakers === undefined ? {} : { breakers }),
  }
}

/** How often a task is retried by itself under the policies in force: by its last failure, or whatever that may be. */
export function retriesInForce(
  book: PolicyBook,
  terms: TaskTerms,
  failure: { readonly code: string; readonly reason: string } | null = null,
  named?: string,
): number {
  const found =
    failure === null
      ? policyForTask(book, terms, named)
      : policyForFailure(book, terms, [failure.code, failure.reason], named)
  return automaticRetries(settingsUnder(found?.policy ?? null, terms))
}

/** Whether tasks of an action are kept from workers that are not well (C11): by the first policy that says so, or by the action. */
export function healthMatters(
  book: PolicyBook,
  { action, settings }: { readonly action: string; readonly settings: Pick<TaskSettings, 'pack' | 'healthAware'> },
): boolean {
  const pack = settings.pack ?? ''
  const first = compiled(book).onHealth.find(({ actions, packs }) => actions(action) && packs(pack))
  return first?.policy.healthAware ?? settings.healthAware ?? true
}

/** The names of actions, without a `*`, for which a policy switches health off. For those who take tasks of any action. */
export const actionsNamedOnHealth = (book: PolicyBook): readonly string[] =>
  compiled(book).onHealth.flatMap(({ policy }) => (policy.match.actions ?? []).filter((name) => !name.includes('*')))

/**
 * What a lost attempt of this task means, and how many are repeated: for the worker that runs it next, and may have to ask
 * `reconcile` first, or to run it alone.
 */
export function lossTerms(
  book: PolicyBook,
  { settings, ...terms }: TaskTerms,
  named?: string,
): { readonly meaning: LostMeaning; readonly maxLosses: number } {
  const policy = policyForFailure(book, { settings, ...terms }, ['worker_lost'], named)?.policy
  return {
    meaning: policy?.onLost ?? settings.onLost ?? 'retry',
    maxLosses: policy?.maxLosses ?? settings.maxLosses,
  }
}

/** Whether one more loss of this task would be its last: it may kill its workers, so it runs alone. */
export function isSuspect(
  book: PolicyBook,
  { losses, snapshot, policy }: { readonly losses: number; readonly snapshot: TaskTerms; readonly policy?: string },
): boolean {
  return losses > 0 && losses >= lossTerms(book, snapshot, policy).maxLosses
}

/**
 * From when on no attempt may start: the earlier of the task's deadline and its SLA. Null if there is none. It binds the first
 * generation only: an operator who redrives a task wants it to run.
 */
export function deadlineUnder(
  book: PolicyBook,
  attempt: {
    readonly snapshot: TaskTerms
    readonly generation: number
    readonly acceptedAt: number
    readonly policy?: string
  },
): number | null {
  const { snapshot, generation, acceptedAt, policy } = attempt
  if (generation > 1) return null
  const slaMs = policyForTask(book, snapshot, policy)?.policy.slaMs ?? snapshot.settings.slaMs
  if (slaMs === undefined) return snapshot.deadlineAt
  return Math.min(snapshot.deadlineAt ?? Number.POSITIVE_INFINITY, acceptedAt + slaMs)
}

function breakersUnder(
  { breaker }: Policy,
  action: TaskTerms['action'],
  named: readonly BreakerRef[] | undefined,
): readonly BreakerRef[] | undefined {
  if (breaker === undefined) return named
  if (breaker === 'off') return undefined
  if (named === undefined) return [{ name: breakerName('action', action), settings: breaker }]
  return named.map(({ name }) => ({ name, settings: breaker }))
}

function candidates(book: PolicyBook, { action, tenant, settings }: PolicySubject): readonly Entry[] {
  const { entries, found } = compiled(book)
  if (entries.length === 0) return NOTHING
  const pack = settings.pack ?? ''
  // Names hold no line feed.
  const key = `${action}\n${tenant}\n${pack}`
  const known = found.get(key)
  if (known !== undefined) return known
  const matching: Entry[] = []
  for (const entry of entries) {
    if (!entry.actions(action) || !entry.tenants(tenant) || !entry.packs(pack)) continue
    matching.push(entry)
    if (entry.codes === null) break
  }
  if (found.size >= FOUND_MAX) found.clear()
  found.set(key, matching)
  return matching
}

function compiled(book: PolicyBook): CompiledBook {
  const known = compiledBooks.get(book)
  if (known !== undefined) return known
  const rules = book.rules.length === 0 ? [] : [compileRules(book.rules, 'rule')]
  const entries = book.policies.map((policy): Entry => {
    const { match } = policy
    return {
      policy,
      rules: policy.rules === undefined ? rules : [compileRules(policy.rules, `policy:${policy.name}`), ...rules],
      actions: compileGlobs(match.actions),
      tenants: compileGlobs(match.tenants),
      packs: compilePacks(match.packs),
      codes: match.codes === undefined ? null : compileGlobs(match.codes),
    }
  })
  const byName = new Map(entries.map((entry) => [entry.policy.name, entry]))
  const onHealth = entries.filter(({ policy }) => policy.healthAware !== undefined)
  const made: CompiledBook = { entries, rules, byName, onHealth, found: new Map() }
  compiledBooks.set(book, made)
  return made
}

/** An action of no pack is matched by no name of a pack, not even by `*`. */
function compilePacks(packs: readonly string[] | undefined): Glob {
  if (packs === undefined) return () => true
  const matches = compileGlobs(packs)
  return (pack) => pack !== '' && matches(pack)
}
