// Options and words that several commands have, and what they mean: which lanes, why, how many, and a verb after a list.

import { usageError } from '../output/errors.ts'
import type { OptionDefinition } from './definition.ts'
import type { Invocation } from './invocation.ts'
import type { Options } from './options.ts'

/** For commands that change much at once. */
export const YES: OptionDefinition = { flags: '-y, --yes', about: 'Do not ask, just do it' }
export const DRY_RUN: OptionDefinition = { flags: '--dry-run', about: 'Say what would be done, and do nothing' }
export const LIMIT: OptionDefinition = { flags: '-n, --limit <count>', about: 'At most this many; 100 if not given' }
export const WATCH: OptionDefinition = { flags: '-w, --watch', about: 'Keep looking, until interrupted' }
export const REASON: OptionDefinition = { flags: '--reason <text>', about: 'Why, for the journal' }

/** Why, as the journal will have it. */
export const reasonOf = (options: Options): { readonly reason: string } => ({
  reason: options.text('reason') ?? 'asked for on the command line',
})

/** One lane, or all lanes that agree with what is given. */
export const SCOPE: readonly OptionDefinition[] = [
  { flags: '--action <action>', about: 'Only of this action' },
  { flags: '--tenant <tenant>', about: 'Only of this tenant' },
  { flags: '--pool <pool>', about: 'Only of this pool' },
]

export type GivenScope = ReturnType<typeof scopeOf>

/** Nothing given means all: for commands that only look. */
export const scopeOf = (options: Options) => options.given('action', 'tenant', 'pool')

/** For commands that change something: to mean everything, that has to be said. */
export function statedScope(options: Options, what: string): GivenScope & { readonly all?: true } {
  const scope = scopeOf(options)
  const isEmpty = Object.keys(scope).length === 0
  if (isEmpty !== options.flag('all')) {
    throw usageError(
      isEmpty ? `Which ${what}? Nothing says so.` : `--all means every one of the ${what}: nothing can narrow it.`,
      `Give --action, --tenant or --pool, or --all for all ${what} there are.`,
    )
  }
  return isEmpty ? { all: true } : scope
}

/** What a verb does, for commands that list things, and with a verb change them, such as lanes and lanes pause. */
export function verbOf<Act>(command: string, verb: string, acts: Readonly<Record<string, Act>>): Act {
  const act = Object.hasOwn(acts, verb) ? acts[verb] : undefined
  if (act !== undefined) return act
  throw usageError(
    `'reprise ${command}' can not '${verb.slice(0, 40)}'.`,
    `It can ${Object.keys(acts).join(', ')}, and list them without a verb.`,
  )
}

/** Options of the list mean nothing beside a verb. */
export function refuseOfList({ options }: Invocation, verb: string): void {
  const beside = ['limit', 'watch'].find((name) => options.isGiven(name))
  if (beside !== undefined) throw usageError(`--${beside} is for the list: it can not stand beside ${verb}.`)
}

/** What a verb is about; `what` is in the plural how the list is called. */
export function named(given: string | undefined, what: string): string {
  if (given !== undefined) return given
  throw usageError(`Which ${what}? Nothing says so.`, `'reprise ${what}s' lists them.`)
}
