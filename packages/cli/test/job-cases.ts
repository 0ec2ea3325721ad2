// Jobs by the command line, as cases of commands.test.ts.

import { OPERATIONS } from '@reprise/operations'
import { z } from 'zod'
import type { CommandCase } from './command-cases.ts'
import { GREET, SLOW } from './server-and-store.ts'

const Job = OPERATIONS.getJob.output

export const JOBS: readonly CommandCase[] = [
  {
    argv: ['job', 'run', SLOW, '--range', '0..20', '--id', 'job1', '--detach', '-o', 'json'],
    json: Job.extend({ id: z.literal('job1'), total: z.literal(20) }),
  },
  {
    argv: ['job', 'run', SLOW, '--file', 'rows.csv', '--tolerate', '5%', '--id', 'job2', '--detach', '-o', 'json'],
    json: Job.extend({ received: z.literal(2), tolerate: z.literal('5%') }),
  },
  { argv: ['job', 'run', GREET, '--range', '0..3', '--id', 'job1'], exit: 2, says: /Another job has the id 'job1'/ },
  { argv: ['job', 'list', '-o', 'json'], json: z.array(Job).length(2) },
  { argv: ['job', 'show', 'job1', '-o', 'json'], json: Job },
  { argv: ['job', 'show', 'job1', '--failed', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['job', 'resume', 'job1'], exit: 5, says: /only a job that stopped or failed can go on/ },
  { argv: ['job', 'cancel', 'job1', '-o', 'json'], json: Job.extend({ status: z.literal('cancelling') }) },
  { argv: ['job', 'show', 'job1'], text: /cancelled by .*: asked for on the command line/ },
]
