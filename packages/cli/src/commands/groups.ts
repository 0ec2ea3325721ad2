// reprise groups: dead letters by their cause.

import type { CommandDefinition } from '../command/definition.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, WATCH } from '../command/shared-options.ts'
import { groupColumns } from '../views/overview.ts'

export const groups: CommandDefinition = {
  path: ['groups'],
  group: 'Operate',
  summary: 'List dead letters by their cause',
  details:
    'Lists failure groups, the most recent first: dead letters that failed for the same cause have one fingerprint, by which redrive and discard take them all.',
  options: [{ flags: '--action <action>', about: 'Only of this action' }, LIMIT, WATCH],
  examples: [
    { command: 'reprise groups', says: 'What is broken?' },
    { command: "reprise groups --action invoice.send -o json | jq -r '.[].fingerprint'", says: 'For a program' },
  ],
  async run(invocation) {
    const client = await invocation.connect()
    const scope = invocation.options.given('action')
    await showList(invocation, {
      read: (page) => client.listFailureGroups({ ...scope, ...page }),
      key: ({ fingerprint, action }) => `${action} ${fingerprint}`,
      columns: groupColumns,
      none: 'There are no dead letters.',
    })
  },
}
