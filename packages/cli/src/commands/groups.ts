// reprise groups: dead letters by their cause.

import type { CommandDefinition } from '../frame/definition.ts'
import { LIMIT, listed } from '../frame/listing.ts'
import { showRows } from '../operate/rows.ts'
import type { Column } from '../output/table.ts'
import type { GroupRecord } from '../views/records.ts'
import { shortSpan } from '../views/spans.ts'

export const groups: CommandDefinition = {
  path: ['groups'],
  group: 'Operate',
  summary: 'List dead letters by their cause',
  details:
    'Lists failure groups, the most recent first: dead letters that failed for the same cause have one fingerprint, by which redrive and discard take them all.',
  options: [
    { flags: '--action <action>', about: 'Only of this action' },
    LIMIT,
    { flags: '-w, --watch', about: 'Keep looking, until interrupted' },
  ],
  examples: [
    { command: 'reprise groups', says: 'What is broken?' },
    { command: "reprise groups --action invoice.send -o json | jq -r '.[].fingerprint'", says: 'For a program' },
  ],
  async run(invocation) {
    const { groupRecord } = await import('../views/records.ts')
    const client = await invocation.connect()
    const action = invocation.options.text('action')
    await showRows<GroupRecord>(invocation, {
      read: async () => {
        const { items } = await listed(invocation, (page) =>
          client.failureGroups({ ...page, ...(action === undefined ? {} : { action }) }),
        )
        return items.map(groupRecord)
      },
      key: ({ fingerprint, action: name }) => `${name} ${fingerprint}`,
      columns: (_, now) => groupColumns(now),
      none: 'There are no dead letters.',
    })
    return undefined
  },
}

const groupColumns = (now: number): readonly Column<GroupRecord>[] => [
  { title: 'GROUP', value: ({ fingerprint }) => fingerprint },
  { title: 'DEAD', value: ({ count }) => count, right: true },
  { title: 'LAST', value: ({ lastAt }) => `${shortSpan(now - lastAt)} ago`, right: true },
  { title: 'ACTION', value: ({ action }) => action, flexible: true },
  { title: 'FAILURE', value: ({ sample }) => `${sample.code}: ${sample.message}`, flexible: true },
]
