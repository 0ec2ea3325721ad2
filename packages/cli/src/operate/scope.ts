// One lane, or all lanes that agree with what is given: the options that say so. To mean everything, that has to be said.

import type { ScopeQuery } from '@reprise/client'
import type { OptionDefinition } from '../frame/definition.ts'
import type { Options } from '../frame/options.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'

export const SCOPE: readonly OptionDefinition[] = [
  { flags: '--action <action>', about: 'Only of this action' },
  { flags: '--tenant <tenant>', about: 'Only of this tenant' },
  { flags: '--pool <pool>', about: 'Only of this pool' },
]

/** Nothing given means all: for commands that only look. */
export function scopeOf(options: Options): ScopeQuery {
  const action = options.text('action')
  const tenant = options.text('tenant')
  const pool = options.text('pool')
  return {
    ...(action === undefined ? {} : { action }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(pool === undefined ? {} : { pool }),
  }
}

/** For commands that change something: a forgotten option must not mean everything. */
export function statedScope(options: Options, what: string): ScopeQuery {
  const scope = scopeOf(options)
  const isEmpty = Object.keys(scope).length === 0
  if (isEmpty !== options.flag('all')) {
    throw new CommandError(
      isEmpty ? `Which ${what}? Nothing says so.` : `--all means every one of the ${what}: nothing can narrow it.`,
      {
        exitCode: EXIT.usage,
        hint: `Give --action, --tenant or --pool, or --all for all ${what} there are.`,
      },
    )
  }
  return scope
}
