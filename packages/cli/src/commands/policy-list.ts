// reprise policy list: every version of the policies that there was.

import type { PolicyVersion } from '@reprise/client'
import type { CommandDefinition } from '../frame/definition.ts'
import { LIMIT, listed } from '../frame/listing.ts'
import { policiesOf } from '../operate/policies.ts'
import { isoTime } from '../output/times.ts'

export const policyList: CommandDefinition = {
  path: ['policy', 'list'],
  group: 'Policies',
  summary: 'List all versions of the policies',
  details: 'Lists all versions of the policies, oldest first: who brought them in, and when. The last one is in force.',
  options: [LIMIT],
  examples: [
    { command: 'reprise policy list', says: 'Who changed what, and when?' },
    { command: "reprise policy list -o json | jq '.[-1].number'", says: 'The number of the newest' },
  ],
  async run(invocation) {
    const policies = await policiesOf(invocation)
    const { items } = await listed(invocation, (page) => policies.versions(page))
    invocation.output.list<PolicyVersion>(
      items,
      [
        { title: 'VERSION', value: ({ number }) => number, right: true },
        { title: 'SINCE', value: ({ at }) => isoTime(at) },
        { title: 'LINES', value: ({ text }) => text.split('\n').length, right: true },
        { title: 'HASH', value: ({ hash }) => hash.slice(0, 12) },
        { title: 'BY', value: ({ by }) => by, flexible: true },
      ],
      "There are no policies yet. 'reprise policy publish <file>' brings them in.",
    )
    return undefined
  },
}
