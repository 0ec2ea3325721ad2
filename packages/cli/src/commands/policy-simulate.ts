// reprise policy simulate: what would become of a task that keeps failing the same way, under the policies in force or those
// of a file; with --recorded, of the tasks that really failed in a period. Nothing is run.

import { formatDuration, present } from '@reprise/core'
import type { Simulation } from '@reprise/policies'
import type { CommandDefinition } from '../command/definition.ts'
import { fileText } from '../command/input.ts'
import type { Invocation } from '../command/invocation.ts'
import type { Options } from '../command/options.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'
import type { Simulated } from '../policies/simulation.ts'

export const policySimulate: CommandDefinition = {
  path: ['policy', 'simulate'],
  group: 'Policies',
  summary: 'Try policies on a task that keeps failing the same way',
  details:
    'Says, attempt by attempt, what happens to a task that always fails in the same way: which policy decides, when the task runs again, when it is dead. The policies in force decide, at the server or in the store that the command talks to; with --policies those of a file. With --recorded it takes the tasks that really failed in a period, and says how many would have recovered, when, and at how many attempts: under the version in force, and under a draft (--policies). Nothing is run.',
  arguments: [{ name: '[action]', about: 'The action of the task; with --recorded all actions if missing' }],
  options: [
    { flags: '--policies <file>', about: 'A file of retry policies, in place of those in force' },
    { flags: '--tenant <tenant>', about: 'The tenant of the task' },
    { flags: '--code <code>', about: 'The code of the failure, such as ECONNRESET' },
    { flags: '--status <status>', about: 'Its HTTP status' },
    { flags: '--message <text>', about: 'Its message' },
    { flags: '--name <class>', about: 'The class of what is thrown, such as TypeError' },
    { flags: '--lost', about: 'The worker vanishes instead' },
    { flags: '--attempt-time <duration>', about: 'How long each attempt runs before it fails' },
    { flags: '--attempts <count>', about: 'At most this many attempts' },
    { flags: '--recorded', about: 'Try them on failures that were recorded' },
    { flags: '--since <duration>', about: 'With --recorded: how far back, 1d if missing' },
  ],
  settings: ['policies', 'packs'],
  examples: [
    ['reprise policy simulate invoice.send --status 503', 'A service that is down'],
    ['reprise policy simulate invoice.send --code ECONNRESET --policies retry-policies.yaml', 'Before it is published'],
    ['reprise policy simulate --recorded --since 1d --policies draft.yaml', 'What would it have done yesterday?'],
    ['reprise policy simulate charge-card --lost -o json', 'A worker that dies, for a program'],
  ],
  async run(invocation) {
    const { options } = invocation
    const [action] = invocation.arguments
    if (options.flag('recorded')) return replayed(invocation, action)
    if (options.isGiven('since')) throw usageError('--since goes with --recorded.')
    if (action === undefined)
      throw usageError('Of which action? Nothing says so.', 'reprise policy simulate <action> …')
    const asked = {
      action,
      failure: failureOf(options),
      ...options.given('tenant'),
      ...present({ attempts: options.whole('attempts', 1, 1_000), attemptTime: options.durationMs('attempt-time') }),
    }
    const { simulated } = await import('../policies/simulation.ts')
    const { by, ...result } = await simulated(invocation, asked)
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
  },
}

const MADE_UP = ['code', 'status', 'message', 'name', 'attempt-time', 'attempts', 'tenant'] as const

/** On what really happened. */
async function replayed(invocation: Invocation, action: string | undefined): Promise<undefined> {
  const { options, output, api } = invocation
  const made = MADE_UP.filter((name) => options.isGiven(name))
  if (made.length > 0 || options.flag('lost')) {
    throw usageError('With --recorded the failures are those that happened: leave out what describes one.')
  }
  const { values, origins } = await invocation.configuration()
  const path = origins.policies.kind === 'flag' ? values.policies : null
  const text = path === null ? {} : { text: await fileText(path) }
  const found = await api.replayPolicies({ ...text, ...present({ action }), ...options.given('since') })
  const rows = [
    { what: 'what happened', ...found.actual },
    { what: 'in force', ...found.inForce },
    ...(found.draft === null ? [] : [{ what: 'draft', ...found.draft }]),
  ]
  output.one(found, ({ line, table }) => {
    line(`${found.tasks} tasks failed since ${new Date(found.since).toISOString()}; ${found.sampled} were looked at.`)
    if (!found.isWhole) line('There is more in the journal of this time than one look reads: the rest is not in it.')
    table(rows, [
      { title: 'POLICIES', value: ({ what }) => what },
      { title: 'RECOVERED', value: ({ recovered }) => recovered, right: true },
      { title: 'DEAD', value: ({ dead }) => dead, right: true },
      { title: 'NOT KNOWN', value: ({ unknown }) => unknown, right: true },
      { title: 'RETRIES', value: ({ retries }) => retries, right: true },
      { title: 'MEDIAN', value: (row) => durationText(row.recoveredAfterMs?.median), right: true },
      { title: '95 %', value: (row) => durationText(row.recoveredAfterMs?.p95), right: true },
    ])
    for (const note of found.notes) line(plain(note))
  })
}

const durationText = (ms: number | undefined): string | null => (ms === undefined ? null : formatDuration(ms))

const thenText = ({ decision: { kind, reason, delayMs } }: Simulated['attempts'][number]): string =>
  kind === 'retry' && delayMs !== undefined ? `again in ${formatDuration(delayMs)}` : `${kind}: ${reason}`

function failureOf(options: Options): Simulation['failure'] {
  const failure = {
    ...options.given('code', 'message', 'name'),
    ...present({ status: options.whole('status', 100, 599) }),
  }
  const isSaid = Object.keys(failure).length > 0
  if (options.flag('lost')) {
    if (!isSaid) return 'lost'
    throw usageError('A lost worker says nothing: --lost can not stand beside --code, --status, --message or --name.')
  }
  if (isSaid) return failure
  throw usageError(
    'How does it fail? Nothing says so.',
    'Give --code, --status, --message or --name, or --lost for a worker that vanishes.',
  )
}
