// reprise discard: gives dead letters up for good.

import { changeCommand } from '../operate/changes.ts'

export const discard = changeCommand({
  verb: 'discard',
  done: 'given up',
  from: ['dead'],
  byGroup: true,
  summary: 'Give dead letters up for good',
  details: 'Gives dead letters up: they end as discarded, and can not be sent back to work.',
  examples: [
    { command: 'reprise discard 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --reason "sent by hand"', says: 'One task' },
    { command: "reprise discard --query 'code:EINVAL age>30d' --dry-run", says: 'How many would that be?' },
  ],
})
