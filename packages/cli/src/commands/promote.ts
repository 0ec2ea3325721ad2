// reprise promote: makes waiting tasks due now.

import { changeCommand } from '../operate/changes.ts'

export const promote = changeCommand({
  verb: 'promote',
  done: 'made due',
  from: ['waiting'],
  byGroup: false,
  summary: 'Make waiting tasks due now',
  details: 'Makes tasks that wait for a retry or a delay due now. They keep their place in the budget.',
  examples: [
    { command: 'reprise promote 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', says: 'One task' },
    {
      command: 'reprise promote --action invoice.send --yes',
      says: 'All retries of an action, once its service is back',
    },
  ],
})
