// reprise policy show: the policies in force, or a version of them, as they were written.

import { InvalidError, NotFoundError } from '@reprise/core'
import type { CommandDefinition } from '../frame/definition.ts'
import { policiesOf } from '../operate/policies.ts'
import { plainLines } from '../output/plain-text.ts'

export const policyShow: CommandDefinition = {
  path: ['policy', 'show'],
  group: 'Policies',
  summary: 'Show the policies in force, or a version of them',
  details:
    'Writes the policies in force, or the version of this number, as YAML. What should be looked at goes to standard error.',
  arguments: [{ name: '[number]', about: 'A version; the one in force if missing' }],
  examples: [
    { command: 'reprise policy show > retry-policies.yaml', says: 'To change them' },
    { command: 'reprise policy show 3', says: 'As they were' },
  ],
  async run(invocation) {
    const [text] = invocation.arguments
    const number = text === undefined ? null : numberOf(text)
    const { output } = invocation
    const policies = await policiesOf(invocation)
    const { version, notes } =
      number === null ? await policies.current() : { version: await policies.version(number), notes: [] }
    if (version === null) {
      throw new NotFoundError('version of the policies', number === null ? 'in force' : String(number))
    }
    output.one(version, ({ line }) => line(plainLines(version.text.trimEnd())))
    if (output.isForPeople) for (const note of notes) output.note(note)
    return undefined
  },
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidError(`A version of the policies has a number from 1, not '${text.slice(0, 40)}'.`)
}
