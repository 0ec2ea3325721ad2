// reprise token revoke: an API token counts no more.

import type { CommandDefinition } from '../frame/definition.ts'
import { tokensOf } from '../operate/tokens.ts'
import { plain } from '../output/plain-text.ts'

export const tokenRevoke: CommandDefinition = {
  path: ['token', 'revoke'],
  group: 'Set up',
  summary: 'Revoke an API token',
  details: 'Revokes an API token by its id, which token list shows. Every server refuses it within a second.',
  arguments: [{ name: '<id>', about: 'The id of the token, not the token itself' }],
  examples: [
    { command: 'reprise token revoke 5f3a0c1e9b7d2468', says: 'It was in a log' },
    { command: 'reprise token revoke 5f3a0c1e9b7d2468 -o json', says: 'For a program' },
  ],
  async run(invocation) {
    const [id = ''] = invocation.arguments
    await (await tokensOf(invocation)).revoke(id)
    invocation.output.one({ id, revoked: true }, ({ line }) => line(`The token ${plain(id)} is revoked.`))
    return undefined
  },
}
