// reprise policy simulate: what would become of a task that keeps failing the same way, under the policies in force or those
// of a file. Nothing is run.

import type { SimulatedAttempt, SimulationRequest } from '@reprise/client'
import { formatDuration } from '@reprise/core'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Options } from '../frame/options.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'

export const policySimulate: CommandDefinition = {
  path: ['policy', 'simulate'],
  group: 'Policies',
  summary: 'Try policies on a task that keeps failing the same way',
  details:
    'Says, attempt by attempt, what would become of a task that keeps failing the same way: which policy decides, when it runs again, when it is given up. The policies in force decide, at the server or in the store that the command talks to; with --policies those of a file. Nothing is run.',
  arguments: [{ name: '<action>', about: 'The action of the task' }],
  options: [
    { flags: '--policies <file>', about: 'A file of retry policies, in place of those in force' },
    { flags: '--tenant <tenant>', about: 'The tenant of the task' },
    { flags: '--code <code>', about: 'The code of the failure, such as ECONNRESET' },
    { flags: '--status <status>', about: 'Its HTTP status' },
    { flags: '--message <text>', about: 'Its message' },
    { flags: '--name <class>', about: 'The class of what is thrown, such as TypeError' },
    { flags: '--lost', about: 'The worker vanishes instead' },
    { flags: '--attempt-time <duration>', about: 'How long each attempt runs before it fails' },
    { flags: '--attempts <count>', about: 'At most so many attempts' },
  ],
  settings: ['policies', 'packs'],
  examples: [
    { command: 'reprise policy simulate invoice.send --status 503', says: 'A service that is down' },
    {
      command: 'reprise policy simulate invoice.send --code ECONNRESET --policies retry-policies.yaml',
      says: 'Before it is published',
    },
    { command: 'reprise policy simulate charge-card --lost -o json', says: 'A worker that dies, for a program' },
  ],
  async run(invocation) {
    const { options } = invocation
    const [action = ''] = invocation.arguments
    const tenant = options.text('tenant')
    const attempts = options.whole('attempts', 1, 1_000)
    const attemptTime = options.durationMs('attempt-time')
    const { simulated } = await import('../operate/simulation.ts')
    const { by, ...result } = await simulated(invocation, {
      action,
      failure: failureOf(options),
      ...(tenant === undefined ? {} : { tenant }),
      ...(attempts === undefined ? {} : { attempts }),
      ...(attemptTime === undefined ? {} : { attemptTime }),
    })
    invocation.output.one({ action, ...result }, ({ line, table }) => {
      table(result.attempts, [
        { title: 'ATTEMPT', value: ({ attempt }) => attempt, right: true },
        { title: 'STARTS AFTER', value: ({ startsAtMs }) => formatDuration(startsAtMs), right: true },
        { title: 'FAILS AS', value: ({ failure }) => failure.code },
        { title: 'POLICY', value: ({ decision }) => decision.policy?.name ?? null },
        { title: 'THEN', value: thenText, style: (text) => (text.startsWith('dead') ? 'red' : null), flexible: true },
      ])
      line(plain(by))
      for (const note of result.notes) line(plain(note))
    })
    return undefined
  },
}

function thenText({ decision }: SimulatedAttempt): string {
  return decision.kind === 'retry'
    ? `again in ${formatDuration(decision.delayMs)}`
    : `${decision.kind}: ${decision.reason}`
}

function failureOf(options: Options): SimulationRequest['failure'] {
  const status = options.whole('status', 100, 599)
  const texts = { code: options.text('code'), message: options.text('message'), name: options.text('name') }
  const given = Object.entries({ ...texts, status }).filter(([, value]) => value !== undefined)
  if (options.flag('lost')) {
    if (given.length === 0) return 'lost'
    throw new CommandError(
      'A lost worker says nothing: --lost can not stand beside --code, --status, --message or --name.',
      {
        exitCode: EXIT.usage,
      },
    )
  }
  if (given.length === 0) {
    throw new CommandError('How does it fail? Nothing says so.', {
      exitCode: EXIT.usage,
      hint: 'Give --code, --status, --message or --name, or --lost for a worker that vanishes.',
    })
  }
  return Object.fromEntries(given)
}
