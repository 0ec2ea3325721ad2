// reprise version: which version this is, and on what it runs.

import type { CommandDefinition } from '../command/definition.ts'
import { VERSION } from '../version.ts'

export const version: CommandDefinition = {
  path: ['version'],
  group: 'Set up',
  summary: 'Show the version',
  examples: [
    ['reprise version', 'Which one is this?'],
    ['reprise version -o json', 'With the version of Node, for a program'],
  ],
  async run({ output }) {
    const { node } = process.versions
    const platform = `${process.platform}-${process.arch}`
    output.one({ version: VERSION, node, platform }, ({ line }) =>
      line(`reprise ${VERSION} (node ${node}, ${platform})`),
    )
  },
}
