// reprise token create: an API token for a program, or for another person.

import type { TokenRequest } from '@reprise/client'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Options } from '../frame/options.ts'
import { tokensOf } from '../operate/tokens.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'

export const tokenCreate: CommandDefinition = {
  path: ['token', 'create'],
  group: 'Set up',
  summary: 'Make an API token',
  details:
    'Makes an API token with a role (viewer, operator, admin, worker) or with scopes, and writes it to standard output: now and never again. Through a server it can have no right that you do not have yourself. Straight on a store, with --engine, it can have all: so the first one is made.',
  arguments: [{ name: '<name>', about: 'What it is for' }],
  options: [
    { flags: '--role <role>', about: 'A name for a set of scopes', choices: ['viewer', 'operator', 'admin', 'worker'] },
    {
      flags: '--scope <scope>',
      about: 'One scope, in place of a role; may be given several times',
      repeatable: true,
    },
    { flags: '--tenant <tenant>', about: 'Only for this tenant; may be given several times', repeatable: true },
    { flags: '--all-tenants', about: 'For all tenants; your own if nothing is said' },
    { flags: '--expires <duration>', about: 'It counts no more after this long, such as 90d' },
  ],
  examples: [
    { command: 'reprise token create ci --role operator --expires 90d', says: 'For a pipeline' },
    {
      command: 'reprise token create me --role admin --engine redis://localhost:6379',
      says: 'The first one, straight on the store',
    },
    {
      command: 'reprise token create shop --scope submit --tenant acme -q > token',
      says: 'Into a file, and nothing else',
    },
  ],
  async run(invocation) {
    const { options, output } = invocation
    const [name = ''] = invocation.arguments
    const request = requestOf(name, options)
    const created = await (await tokensOf(invocation)).create(request)
    const { tokenRecord } = await import('../views/records.ts')
    output.one({ ...tokenRecord(created), token: created.token }, ({ line }) => line(created.token))
    if (output.isForPeople) output.note('Keep it now: it is not shown again. Use it as REPRISE_TOKEN, or --token.')
    return undefined
  },
}

function requestOf(name: string, options: Options): TokenRequest {
  const role = options.text('role')
  const scopes = options.texts('scope')
  const tenants = options.texts('tenant')
  const expiresIn = options.durationMs('expires')
  if ((role === undefined) === (scopes.length === 0)) {
    throw new CommandError(
      role === undefined ? 'What may it do? Nothing says so.' : '--role and --scope can not stand beside each other.',
      { exitCode: EXIT.usage, hint: 'Give --role viewer, operator, admin or worker, or --scope as often as needed.' },
    )
  }
  if (tenants.length > 0 && options.flag('all-tenants')) {
    throw new CommandError('--tenant and --all-tenants can not stand beside each other.', { exitCode: EXIT.usage })
  }
  return {
    name,
    ...(role === undefined ? { scopes } : { role }),
    ...(tenants.length > 0 ? { tenants } : options.flag('all-tenants') ? { tenants: null } : {}),
    ...(expiresIn === undefined ? {} : { expiresIn }),
  }
}
