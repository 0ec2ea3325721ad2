// reprise config check: is the configuration right? Tells everything that is wrong at once.

import type { CommandDefinition } from '../command/definition.ts'
import { problemText } from '../configuration/resolve.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'

export const configCheck: CommandDefinition = {
  path: ['config', 'check'],
  group: 'Set up',
  summary: 'Check flags, environment and configuration file',
  details:
    "Checks flags, environment and configuration file, and reports everything that is wrong with them at once. It opens nothing; 'reprise doctor' checks whether store and server answer. Exit code 2 if something is wrong.",
  settings: ['data', 'host', 'port', 'policies', 'packs'],
  examples: [
    ['reprise config check', 'Before a deployment'],
    ['reprise config check --config deploy/reprise.yaml -o json', 'Another file, for a program'],
  ],
  async run(invocation) {
    const { file, problems, notes } = await invocation.inspectConfiguration()
    const ok = problems.length === 0
    invocation.output.one({ ok, file, problems, notes }, ({ line, paint }) => {
      for (const problem of problems) line(`${paint('red', 'wrong')}  ${plain(problemText(problem))}`)
      for (const note of notes) line(`${paint('yellow', 'note')}   ${plain(note)}`)
      const where = file === null ? 'there is no configuration file' : plain(file)
      if (ok) line(`${paint('green', 'ok')}     The configuration is right (${where}).`)
    })
    return ok ? EXIT.ok : EXIT.usage
  },
}
