// reprise flags: parts of Reprise that can be switched off and on while everything runs (B12).

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { REASON, reasonOf, verbOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'

export const flags: CommandDefinition = {
  path: ['flags'],
  group: 'Operate',
  summary: 'List feature flags, and switch them',
  details:
    'Lists the parts of Reprise that can be switched off and on while everything runs. set <name> on|off switches one: all processes follow within seconds, and the journal has who did it.',
  arguments: [
    { name: '[verb]', about: 'set' },
    { name: '[name]', about: 'For set: the flag' },
    { name: '[value]', about: 'For set: on or off' },
  ],
  options: [REASON],
  examples: [
    ['reprise flags', 'What is switched off?'],
    ['reprise flags set task-retry-queue off --reason "we look into it"', 'No automatic retries'],
  ],
  async run(invocation) {
    const { api, output } = invocation
    const [verb, ...words] = invocation.arguments
    if (verb !== undefined) return verbOf('flags', verb, { set })(invocation, words)
    output.list(
      (await api.listFlags()).items,
      [
        { title: 'FLAG', value: ({ name }) => name },
        { title: 'IS', value: onOrOff, style: (text) => (text === 'on' ? 'green' : 'yellow') },
        { title: 'WHAT IT IS', value: ({ description }) => description, flexible: true, wraps: true },
      ],
      'There are no flags.',
    )
  },
}

async function set({ api, options, output }: Invocation, [name, value]: readonly string[]): Promise<undefined> {
  if (name === undefined || (value !== 'on' && value !== 'off')) {
    throw usageError(
      name === undefined ? 'Which flag? Nothing says so.' : `A flag is on or off, not '${value ?? ''}'.`,
      "'reprise flags set dlq-inspector off'; 'reprise flags' lists them.",
    )
  }
  const flag = await api.setFlag({ name, on: value === 'on', ...reasonOf(options) })
  output.one(flag, ({ line }) => line(`${flag.name} is ${onOrOff(flag)}.`))
}

const onOrOff = ({ on }: { readonly on: boolean }): string => (on ? 'on' : 'off')
