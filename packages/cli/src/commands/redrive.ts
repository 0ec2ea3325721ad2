// reprise redrive: sends dead letters back to work.

import { changeCommand } from '../operate/changes.ts'

export const redrive = changeCommand({
  verb: 'redrive',
  done: 'sent back to work',
  from: ['dead'],
  byGroup: true,
  summary: 'Send dead letters back to work',
  details: 'Sends dead letters back to work, each in a new generation with a fresh budget of retries.',
  examples: [
    { command: 'reprise redrive 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', says: 'One task' },
    {
      command: 'reprise redrive --fingerprint 5f3a0c1e9b7d2468 --yes',
      says: 'A whole failure group, once its cause is gone',
    },
    { command: 'reprise redrive --action invoice.send --dry-run', says: 'How many would that be?' },
  ],
})
