// reprise flags: parts of Reprise that can be switched off and on while everything runs (B12).

import type { Flag } from '@reprise/client'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { byOf, REASON } from '../operate/by.ts'
import { unknownVerb } from '../operate/verbs.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'

export const flags: CommandDefinition = {
  path: ['flags'],
  group: 'Operate',
  summary: 'List feature flags, and switch them',
  details:
    'Lists the parts of Reprise that can be switched off and on while everything runs. set <name> on|off switches one: all processes follow within seconds, and the journal tells who did it.',
  arguments: [
    { name: '[verb]', about: 'set' },
    { name: '[name]', about: 'For set: the flag' },
    { name: '[value]', about: 'For set: on or off' },
  ],
  options: [REASON],
  examples: [
    { command: 'reprise flags', says: 'What is switched off?' },
    { command: 'reprise flags set task-retry-queue off --reason "we look into it"', says: 'No automatic retries' },
  ],
  async run(invocation) {
    const [verb, name, value] = invocation.arguments
    if (verb === undefined) return listFlags(invocation)
    if (verb !== 'set') throw unknownVerb('flags', verb, ['set'])
    if (name === undefined || (value !== 'on' && value !== 'off')) {
      throw new CommandError(
        name === undefined ? 'Which flag? Nothing says so.' : `A flag is on or off, not '${value ?? ''}'.`,
        { exitCode: EXIT.usage, hint: "'reprise flags set dlq-inspector off'; 'reprise flags' lists them." },
      )
    }
    const client = await invocation.connect()
    const { flagRecord } = await import('../views/records.ts')
    const flag = flagRecord(await client.flags.set(name, value === 'on', await byOf(invocation)))
    invocation.output.one(flag, ({ line }) => line(`${flag.name} is ${flag.on ? 'on' : 'off'}.`))
    return undefined
  },
}

async function listFlags(invocation: Invocation): Promise<undefined> {
  const client = await invocation.connect()
  const { flagRecord } = await import('../views/records.ts')
  const found = (await client.flags.list()).map(flagRecord)
  invocation.output.list<Flag>(
    found,
    [
      { title: 'FLAG', value: ({ name }) => name },
      { title: 'IS', value: ({ on }) => (on ? 'on' : 'off'), style: (text) => (text === 'on' ? 'green' : 'yellow') },
      { title: 'WHAT IT IS', value: ({ description }) => description, flexible: true, wraps: true },
    ],
    'There are no flags.',
  )
  return undefined
}
