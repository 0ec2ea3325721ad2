// reprise retry: runs a failed task once more, within the budget that operators have (A8, A9).

import type { RetryResult } from '@reprise/client'
import { NotFoundError, RequestError } from '@reprise/core'
import type { CommandDefinition } from '../frame/definition.ts'
import { byOf, REASON } from '../operate/by.ts'
import { plain } from '../output/plain-text.ts'

const RETRIES_MAX = 1_000

export const retry: CommandDefinition = {
  path: ['retry'],
  group: 'Operate',
  summary: 'Run a failed task once more',
  details:
    'Queues the next attempt of a task whose latest attempt failed, if the budget of retries allows it (MAX_RETRIES, or --max-retries). Exit code 3 if there is no such task, 5 if it has not failed or its budget is used up. To send a dead letter back with a fresh budget, use redrive.',
  arguments: [{ name: '<id>', about: 'The task' }],
  options: [{ flags: '--max-retries <count>', about: 'Another budget than the usual one' }, REASON],
  examples: [
    { command: 'reprise retry 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', says: 'Once more' },
    {
      command: 'reprise retry 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --max-retries 5 --reason "the bank is back"',
      says: 'Though its budget is used up',
    },
  ],
  async run(invocation) {
    const [id = ''] = invocation.arguments
    const maxRetries = invocation.options.whole('max-retries', 0, RETRIES_MAX)
    const client = await invocation.connect()
    const result = await client.retry(id, {
      ...(await byOf(invocation)),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    })
    const attempt = attemptOf(id, result)
    invocation.output.one({ taskId: id, attempt, status: 'queued' }, ({ line }) =>
      line(`Attempt ${attempt} of ${plain(id)} is queued.`),
    )
    return undefined
  },
}

function attemptOf(id: string, result: RetryResult): number {
  switch (result.outcome) {
    case 'queued':
      return result.attempt
    case 'not_found':
      throw new NotFoundError('task', id)
    case 'wrong_status':
      throw new RequestError('REPRISE_NOT_RETRYABLE', `cannot retry execution in status '${result.status}'`)
    case 'exhausted':
      throw new RequestError(
        'REPRISE_BUDGET_EXHAUSTED',
        `The retry budget of task '${id}' is used up: operators may ask for ${result.budget} retries. Give --max-retries, or redrive it for a fresh budget.`,
      )
  }
}
