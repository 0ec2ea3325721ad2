// reprise session list and revoke: browsers that are signed in.

import type { CommandDefinition } from '../command/definition.ts'
import { showList } from '../command/rows.ts'
import { LIMIT } from '../command/shared-options.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime, shortSpan } from '../output/times.ts'

export const sessionList: CommandDefinition = {
  path: ['session', 'list'],
  group: 'Set up',
  summary: 'List browsers that are signed in',
  options: [LIMIT],
  examples: [
    ['reprise session list', 'Who is signed in?'],
    ["reprise session list -o json | jq -r '.[].actor'", 'For a program'],
  ],
  async run(invocation) {
    await showList(invocation, {
      read: invocation.api.listSessions,
      key: ({ id }) => id,
      columns: (now) => [
        { title: 'ID', value: ({ id }) => id },
        { title: 'WHO', value: ({ actor }) => actor, flexible: true },
        { title: 'SINCE', value: ({ startedAt }) => shortSpan(now - startedAt), right: true },
        { title: 'SEEN', value: ({ seenAt }) => shortSpan(now - seenAt), right: true },
        { title: 'ENDS', value: ({ endsAt }) => relativeTime(endsAt, now) },
      ],
      none: 'No browser is signed in.',
    })
  },
}

export const sessionRevoke: CommandDefinition = {
  path: ['session', 'revoke'],
  group: 'Set up',
  summary: 'Sign a browser out',
  details: 'Ends a session by its id, which session list shows. Every server refuses it at its next request.',
  arguments: [{ name: '<id>', about: 'The id of the session' }],
  examples: [
    ['reprise session revoke 5f3a0c1e9b7d2468', 'The laptop was stolen'],
    ['reprise session revoke 5f3a0c1e9b7d2468 -o json', 'For a program'],
  ],
  async run(invocation) {
    const [id = ''] = invocation.arguments
    await invocation.api.revokeSession({ id })
    invocation.output.one({ id, revoked: true }, ({ line }) => line(`The session ${plain(id)} is revoked.`))
  },
}
