// reprise cancel: ends tasks that have not ended.

import { changeCommand } from '../operate/changes.ts'

export const cancel = changeCommand({
  verb: 'cancel',
  done: 'cancelled',
  from: ['queued', 'waiting', 'running'],
  byGroup: false,
  summary: 'End tasks that have not ended',
  details:
    'Ends queued, waiting and running tasks. A handler that runs is told; what it settles afterwards counts no more.',
  examples: [
    { command: 'reprise cancel 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', says: 'One task' },
    { command: "reprise cancel --query 'action:report.* age>1d' --dry-run", says: 'How many would that be?' },
    { command: 'reprise cancel --action report.build --tenant acme --yes', says: 'In a script' },
  ],
})
