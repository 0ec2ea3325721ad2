// reprise token create, list and revoke: API tokens for programs, or for other people.

import type { OperationInput } from '@reprise/client'
import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Options } from '../command/options.ts'
import { showList } from '../command/rows.ts'
import { LIMIT } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime, shortSpan } from '../output/times.ts'

export const tokenCreate: CommandDefinition = {
  path: ['token', 'create'],
  group: 'Set up',
  summary: 'Make an API token',
  details:
    'Makes an API token with a role (viewer, operator, admin, worker) or with scopes, and writes it to standard output: now and never again. Through a server it can have no right that you do not have yourself. Straight on a store, with --engine, it can have all rights; this is how you make the first token.',
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
    { flags: '--expires <duration>', about: 'The token ends after this long, such as 90d' },
  ],
  examples: [
    ['reprise token create ci --role operator --expires 90d', 'For a pipeline'],
    ['reprise token create me --role admin --engine redis://localhost:6379', 'The first one, straight on the store'],
    ['reprise token create shop --scope submit --tenant acme -q > token', 'Into a file, and nothing else'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const [name = ''] = invocation.arguments
    const created = await api.createToken(requestOf(name, options))
    output.one(created, ({ line }) => line(created.token))
    if (output.isForPeople) output.note('Keep it now: it is not shown again. Use it as REPRISE_TOKEN, or --token.')
  },
}

type TokenRequest = OperationInput<'createToken'>

function requestOf(name: string, options: Options): TokenRequest {
  const role = options.text('role')
  const scopes = options.texts('scope')
  const tenants = options.texts('tenant')
  if ((role === undefined) === (scopes.length === 0)) {
    throw usageError(
      role === undefined ? 'What may it do? Nothing says so.' : '--role and --scope can not stand beside each other.',
      'Give --role viewer, operator, admin or worker, or --scope as often as needed.',
    )
  }
  if (tenants.length > 0 && options.flag('all-tenants')) {
    throw usageError('--tenant and --all-tenants can not stand beside each other.')
  }
  return {
    name,
    // Which roles and scopes there are is for the operation to say.
    ...((role === undefined ? { scopes } : { role }) as Pick<TokenRequest, 'role' | 'scopes'>),
    ...(tenants.length > 0 ? { tenants: [...tenants] } : options.flag('all-tenants') ? { tenants: null } : {}),
    ...present({ expiresIn: options.durationMs('expires') }),
  }
}

export const tokenList: CommandDefinition = {
  path: ['token', 'list'],
  group: 'Set up',
  summary: 'List API tokens, without their secrets',
  options: [LIMIT],
  examples: [
    ['reprise token list', 'Who has which rights?'],
    ["reprise token list -o json | jq '.[] | select(.lastUsedAt == null)'", 'Which were never used?'],
  ],
  async run(invocation) {
    return showList(invocation, {
      read: invocation.api.listTokens,
      key: ({ id }) => id,
      columns: (now) => [
        { title: 'ID', value: ({ id }) => id },
        { title: 'NAME', value: ({ name }) => name, flexible: true },
        { title: 'SCOPES', value: ({ scopes }) => scopes.join(','), flexible: true },
        { title: 'TENANTS', value: ({ tenants }) => tenants?.join(',') ?? 'all', flexible: true },
        {
          title: 'USED',
          value: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : shortSpan(now - lastUsedAt)),
          right: true,
        },
        { title: 'EXPIRES', value: ({ expiresAt }) => (expiresAt === null ? 'never' : relativeTime(expiresAt, now)) },
      ],
      none: 'There is no API token.',
    })
  },
}

export const tokenRevoke: CommandDefinition = {
  path: ['token', 'revoke'],
  group: 'Set up',
  summary: 'Revoke an API token',
  details: 'Revokes an API token by its id, which token list shows. Every server refuses it within a second.',
  arguments: [{ name: '<id>', about: 'The id of the token, not the token itself' }],
  examples: [
    ['reprise token revoke 5f3a0c1e9b7d2468', 'It was in a log'],
    ['reprise token revoke 5f3a0c1e9b7d2468 -o json', 'For a program'],
  ],
  async run(invocation) {
    const [id = ''] = invocation.arguments
    await invocation.api.revokeToken({ id })
    invocation.output.one({ id, revoked: true }, ({ line }) => line(`The token ${plain(id)} is revoked.`))
  },
}
