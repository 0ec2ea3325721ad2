// Commands that list things, and with a verb change them, such as lanes and lanes pause: what goes wrong with the verb.

import type { Invocation } from '../frame/invocation.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'

export function unknownVerb(command: string, verb: string, known: readonly string[]): CommandError {
  return new CommandError(`'reprise ${command}' can not '${verb.slice(0, 40)}'.`, {
    exitCode: EXIT.usage,
    hint: `It can ${known.join(', ')}, and list them without a verb.`,
  })
}

/** Options of the list that mean nothing beside a verb. */
export function refuseBeside({ options }: Invocation, verb: string, names: readonly string[]): void {
  for (const name of names) {
    if (options.text(name) === undefined && !options.flag(name)) continue
    throw new CommandError(`--${name} is for the list: it can not stand beside ${verb}.`, { exitCode: EXIT.usage })
  }
}
