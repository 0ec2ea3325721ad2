// reprise policy publish: brings policies into force for everybody.

import { isRepriseError } from '@reprise/core'
import { type CommandDefinition, DRY_RUN } from '../frame/definition.ts'
import { textOf } from '../operate/input.ts'
import { policiesOf } from '../operate/policies.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'

const NUMBER_MAX = 1_000_000_000

export const policyPublish: CommandDefinition = {
  path: ['policy', 'publish'],
  group: 'Policies',
  summary: 'Bring policies into force',
  details:
    'Makes a file of retry policies the newest version, in force everywhere within seconds. It is checked first; with --dry-run, only that. With --expected <number> only if that is still the newest version: exit code 5 if somebody was faster.',
  arguments: [{ name: '<file>', about: 'The policies, as YAML; - for standard input' }],
  options: [{ flags: '--expected <number>', about: 'The version that the change is made for; 0 for none' }, DRY_RUN],
  examples: [
    { command: 'reprise policy publish config/tasks/retry-policies.yaml --dry-run', says: 'Would it be accepted?' },
    {
      command: 'reprise policy publish retry-policies.yaml --expected 3',
      says: 'Unless somebody changed them meanwhile',
    },
  ],
  async run(invocation) {
    const { options, output } = invocation
    const [file = ''] = invocation.arguments
    const expected = options.whole('expected', 0, NUMBER_MAX)
    const dryRun = options.flag('dry-run')
    const text = await textOf(invocation, file === '-' ? '-' : `@${file}`)
    if (text.trim() === '') {
      throw new CommandError('There is nothing in it: no policies were published.', { exitCode: EXIT.usage })
    }
    const policies = await policiesOf(invocation)
    const result = await policies
      .publish(text, { dryRun, ...(expected === undefined ? {} : { expected }) })
      .catch((error: unknown) => {
        throw withFileName(error, file === '-' ? 'standard input' : file)
      })
    output.one(result, ({ line }) => {
      line(
        result.version === null
          ? 'The policies are right. Nothing was changed.'
          : `Version ${result.version.number} is in force.`,
      )
    })
    if (output.isForPeople) for (const note of result.notes) output.note(note)
    return undefined
  },
}

/** Whoever checks it got the text alone, and calls it `policies`. */
function withFileName(error: unknown, file: string): unknown {
  if (!isRepriseError(error, 'REPRISE_INVALID')) return error
  error.message = error.message.replaceAll(
    /^( *)policies(?= has \d|:\d+:\d+: )/gm,
    (_, indent: string) => indent + file,
  )
  return error
}
