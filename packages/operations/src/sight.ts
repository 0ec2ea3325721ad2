// How a caller sees tasks, and with it what their queries find: secrets are taken out by the rules, and a caller who is limited to
// tenants is told no names of workers. A query is held against what its caller may see. Else what is hidden could be
// guessed, letter by letter, from what is found.

import type { SeenTask } from '@reprise/core'
import type { Caller } from './access/caller.ts'
import type { Context } from './context.ts'
import { NO_REDACTION, type Sight, seenTask } from './views.ts'

/** Whether they may see what rules hide: an export shows it to those who change the rules. */
export const mayReveal = ({ scopes }: Caller): boolean => scopes.has('configure')

/** What is shown to them. `raw` shows what rules hide as well. */
export function sightOf(
  context: Pick<Context, 'redaction' | 'policies' | 'maxRetries'>,
  { tenants }: Caller,
  raw = false,
): Sight {
  const { redaction, policies, maxRetries } = context
  const rules = { book: policies.current(), maxRetries }
  return { ...(raw ? NO_REDACTION : redaction), isLimited: tenants !== null, rules }
}

/** Tasks as their queries find them; undefined for as they are stored. */
export function seenBy(context: Context, caller: Caller): SeenTask | undefined {
  const raw = mayReveal(caller) || context.redaction === NO_REDACTION
  if (raw && caller.tenants === null) return undefined
  const sight = sightOf(context, caller, raw)
  return (task) => seenTask(task, sight)
}
