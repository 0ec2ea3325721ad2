// reprise retry: runs a failed task once more, within the budget that operators have (A8, A9).

import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { REASON, reasonOf } from '../command/shared-options.ts'
import { plain } from '../output/plain-text.ts'

const RETRIES_MAX = 1_000

export const retry: CommandDefinition = {
  path: ['retry'],
  group: 'Operate',
  summary: 'Run a failed task once more',
  details:
    'Queues the next attempt of a task whose latest attempt failed, if the budget of retries allows it (MAX_RETRIES, or what the action or a policy allows if that is more; --max-retries lowers it). With --policy, that policy counts for the task from now on, until a redrive: its rules, retries, backoff, breaker, quota and SLA. Exit code 3 if there is no such task, 5 if it has not failed or its budget is used up. To send a dead letter back with a fresh budget, use redrive.',
  arguments: [{ name: '<id>', about: 'The task' }],
  options: [
    { flags: '--max-retries <count>', about: 'A smaller budget than the usual one' },
    { flags: '--policy <name>', about: 'Judge its further attempts by this policy, whatever it matches' },
    REASON,
  ],
  examples: [
    ['reprise retry 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'Once more'],
    [
      'reprise retry 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --reason "the bank is back"',
      'Once more, and the journal says why',
    ],
    ['reprise retry 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --policy patient', 'From now on by another policy'],
  ],
  async run(invocation) {
    const [id = ''] = invocation.arguments
    const { api, options, output } = invocation
    const maxRetries = options.whole('max-retries', 0, RETRIES_MAX)
    const policy = options.text('policy')
    const retried = await api.retryExecution({ id, ...reasonOf(options), ...present({ maxRetries, policy }) })
    output.one(retried, ({ line }) => line(`Attempt ${retried.attempt} of ${plain(retried.taskId)} is queued.`))
  },
}
