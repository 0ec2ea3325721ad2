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
    { command: 'source <(reprise completion bash)', says: 'In ~/.bashrc' },
    {
      command: 'reprise completion zsh > ~/.zsh/completions/_reprise',
      says: 'Once, for zsh, with that folder in fpath',
    },
    { command: 'reprise completion fish > ~/.config/fish/completions/reprise.fish', says: 'Once, for fish' },
  ],
  async run({ output, arguments: [given = ''], commands }) {
    const shell = SHELLS.find((known) => known === given)
    if (shell === undefined) {
      throw usageError(`There is no completion for '${given.slice(0, 40)}', only for ${SHELLS.join(', ')}.`)
    }
    output.raw(completionScript(shell, commands))
  },
}
