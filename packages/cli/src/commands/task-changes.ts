// reprise cancel, promote and discard: change tasks that are named, or all that are found.

import type { CommandDefinition, Example } from '../command/definition.ts'
import { DRY_RUN, REASON, SCOPE, YES } from '../command/shared-options.ts'
import type { Change } from '../tasks/changes.ts'

interface Said extends Change {
  /** Whether they can be named by their failure group. */
  readonly byGroup: boolean
  readonly summary: string
  readonly details: string
  readonly examples: readonly [Example, ...Example[]]
}

const changeCommand = ({ byGroup, summary, details, examples, ...change }: Said): CommandDefinition => ({
  path: [change.verb],
  group: 'Operate',
  summary,
  details: `${details} Name tasks by their ids, or find them by --query or by action, tenant and pool; then the command says how many it found, and asks.`,
  arguments: [{ name: '[ids...]', about: 'The tasks' }],
  options: [
    { flags: '--query <query>', about: 'Those that this query finds, as for list' },
    ...SCOPE,
    ...(byGroup ? [{ flags: '--fingerprint <group>', about: 'Only of this failure group' }] : []),
    { flags: '--all', about: 'All of them' },
    REASON,
    DRY_RUN,
    YES,
  ],
  examples,
  async run(invocation) {
    const { changeTasks } = await import('../tasks/changes.ts')
    return changeTasks(invocation, change)
  },
})

export const cancel = changeCommand({
  verb: 'cancel',
  done: 'cancelled',
  from: ['queued', 'waiting', 'running'],
  byGroup: false,
  summary: 'End tasks that have not ended',
  details:
    'Ends queued, waiting and running tasks. A running handler gets a signal, and its later settlement does not count.',
  examples: [
    ['reprise cancel 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'One task'],
    ["reprise cancel --query 'action:report.* age>1d' --dry-run", 'How many would that be?'],
    ['reprise cancel --action report.build --tenant acme --yes', 'In a script'],
  ],
})

export const promote = changeCommand({
  verb: 'promote',
  done: 'made due',
  from: ['waiting'],
  byGroup: false,
  summary: 'Make waiting tasks due now',
  details: 'Makes tasks that wait for a retry or a delay due now. They keep their place in the budget.',
  examples: [
    ['reprise promote 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'One task'],
    ['reprise promote --action invoice.send --yes', 'All retries of an action, once its service is back'],
  ],
})

export const discard = changeCommand({
  verb: 'discard',
  done: 'given up',
  from: ['dead'],
  byGroup: true,
  summary: 'Give dead letters up for good',
  details: 'Gives dead letters up: they end as discarded. dlq restore takes that back for some days.',
  examples: [
    ['reprise discard 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --reason "sent by hand"', 'One task'],
    ["reprise discard --query 'code:EINVAL age>30d' --dry-run", 'How many would that be?'],
  ],
})
