// reprise completion: a script that makes a shell complete commands and options. Made from the same definitions as help.

import { completionScript, SHELLS } from '../command/completion.ts'
import type { CommandDefinition } from '../command/definition.ts'
import { usageError } from '../output/errors.ts'

export const completion: CommandDefinition = {
  path: ['completion'],
  group: 'Set up',
  summary: 'Print a script that completes commands in your shell',
  arguments: [{ name: '<shell>', about: SHELLS.join(', ') }],
  examples: [
    ['source <(reprise completion bash)', 'In ~/.bashrc'],
    ['reprise completion zsh > ~/.zsh/completions/_reprise', 'Once, for zsh, with that folder in fpath'],
    ['reprise completion fish > ~/.config/fish/completions/reprise.fish', 'Once, for fish'],
  ],
  async run({ output, arguments: [given = ''], commands }) {
    const shell = SHELLS.find((known) => known === given)
    if (shell === undefined) {
      throw usageError(`There is no completion for '${given.slice(0, 40)}', only for ${SHELLS.join(', ')}.`)
    }
    output.raw(completionScript(shell, commands))
  },
}
