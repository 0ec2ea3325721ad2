// reprise token list: which API tokens there are.

import type { Token } from '@reprise/client'
import type { CommandDefinition } from '../frame/definition.ts'
import { LIMIT, listed } from '../frame/listing.ts'
import { tokensOf } from '../operate/tokens.ts'
import { relativeTime } from '../output/times.ts'
import { shortSpan } from '../views/spans.ts'

export const tokenList: CommandDefinition = {
  path: ['token', 'list'],
  group: 'Set up',
  summary: 'List API tokens, without their secrets',
  options: [LIMIT],
  examples: [
    { command: 'reprise token list', says: 'Who has which rights?' },
    { command: "reprise token list -o json | jq '.[] | select(.lastUsedAt == null)'", says: 'Which were never used?' },
  ],
  async run(invocation) {
    const tokens = await tokensOf(invocation)
    const { tokenRecord } = await import('../views/records.ts')
    const { output } = invocation
    const { items } = await listed(invocation, (page) => tokens.list(page))
    output.list<Token>(
      items.map(tokenRecord),
      [
        { title: 'ID', value: ({ id }) => id },
        { title: 'NAME', value: ({ name }) => name, flexible: true },
        { title: 'SCOPES', value: ({ scopes }) => scopes.join(','), flexible: true },
        { title: 'TENANTS', value: ({ tenants }) => tenants?.join(',') ?? 'all', flexible: true },
        {
          title: 'USED',
          value: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : shortSpan(output.now() - lastUsedAt)),
          right: true,
        },
        {
          title: 'EXPIRES',
          value: ({ expiresAt }) => (expiresAt === null ? 'never' : relativeTime(expiresAt, output.now())),
        },
      ],
      'There is no API token.',
    )
    return undefined
  },
}
